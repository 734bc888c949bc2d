"""Reading a language model's verdict: JSON, JSON in a string, in a fenced block, or with prose around it.

Strict in what counts: one object with one known verdict. "Yes and no", half an object or two that differ are no
verdict, and are raised as JudgeFailed so that they are counted apart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rag.answer import Verdict

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": ["supported", "partly", "not_found", "contradicted"]},
        "reason": {"type": "string"},
    },
    "required": ["verdict"],
    "additionalProperties": False,
}
_VERDICTS = {
    "supported": Verdict.SUPPORTED,
    "partly": Verdict.PARTLY,
    "not found": Verdict.NOT_FOUND,
    "contradicted": Verdict.CONTRADICTED,
}
_ALIASES = {
    "support": "supported",
    "supports": "supported",
    "fully supported": "supported",
    "partially supported": "partly",
    "partly supported": "partly",
    "partial": "partly",
    "not supported": "not found",
    "unsupported": "not found",
    "not enough information": "not found",
    "contradicts": "contradicted",
    "contradict": "contradicted",
    "refuted": "contradicted",
}
_THINK = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[\w-]*\s*\n?(.*?)```", re.DOTALL)


class JudgeFailed(ValueError):
    """The model gave no verdict that can be read; str() says why."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and the model's reason for it."""

    verdict: Verdict
    reason: str = ""


def parse_judgement(reply: str) -> Judgement:
    """The one verdict in `reply`. Raises JudgeFailed when there is none, or more than one that differ."""
    found: list[Judgement] = []
    for value in parse_json(reply):
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, Mapping) and "verdict" in item:
                found.append(_judgement(item))
    if not found:
        raise JudgeFailed(f"no verdict in the reply: {reply.strip()[:80]!r}")
    if len({judgement.verdict for judgement in found}) > 1:
        raise JudgeFailed(f"verdicts that differ in the reply: {reply.strip()[:80]!r}")
    return found[0]


def _judgement(item: Mapping[str, Any]) -> Judgement:
    word = " ".join(re.findall(r"[a-z]+", str(item["verdict"]).lower()))
    word = _ALIASES.get(word, word)
    if word not in _VERDICTS:
        raise JudgeFailed(f"unknown verdict {item['verdict']!r}")
    return Judgement(_VERDICTS[word], str(item.get("reason", "")))


def parse_json(reply: str) -> list[Any]:
    """The JSON objects and lists in `reply`, outermost only, in order; [] for none. Never raises."""
    text = _THINK.sub("", reply)
    if "</think" in text.lower():
        text = re.split(r"</think(?:ing)?>", text, flags=re.IGNORECASE)[-1]
    text = text.strip()
    for _ in range(3):  # a JSON string that holds JSON, perhaps twice
        try:
            value = json.loads(text)
        except ValueError:
            break
        if not isinstance(value, str):
            return [value] if isinstance(value, dict | list) else []
        text = value.strip()
    for block in _FENCE.findall(text):
        if found := list(_objects(block)):
            return found
    return list(_objects(text))


def _objects(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    at = 0
    while (match := re.search(r"[{\[]", text[at:])) is not None:
        start = at + match.start()
        try:
            value, end = decoder.raw_decode(text, start)
        except ValueError:
            at = start + 1
            continue
        if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict) for item in value)):
            yield value
        at = max(end, start + 1)
