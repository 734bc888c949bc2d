"""A compound sentence cut where each part states something of its own."""

from __future__ import annotations

import re

from rag.grounding.analysis import analyse
from rag.text import named_terms

_CUT = re.compile(
    r"\s*;\s*(?:and\s+|but\s+|whereas\s+|while\s+|however,?\s+)?"
    r"|,?\s+(?:whereas|while|although|but|yet)\s+"
    r"|(?:,\s+(?:and|so|which|including|as well as)|,?\s+including)\s+|,\s+(?:thereby|thus|because|since|with)\s+"
    r"|\s+and\s+(?=(?:it|they|we|the|this|these|that|also|then|\w+s|\w+ed)\s)"
)
_BOTH = re.compile(r"^Both (?P<first>[^,]{2,60}?) and (?P<rest>.+)$", re.DOTALL)
_OPENING = re.compile(r"^(?:While|Although|Whereas|Though)\s+(.*?),\s+(.*)$", re.DOTALL)


_TAIL = re.compile(
    r",?\s+(?:including|as well as|such as|along with|together with|in addition to|at the (?:cost|expense) of)\s+"
    r"(?P<tail>[^;]+)$",
    re.IGNORECASE,
)


_HEAD = re.compile(r",?\s+(?:as|because|since|so that|which|where|by)\s+", re.IGNORECASE)


def heads(text: str) -> list[str]:
    """What a sentence says before it gives a reason, a means or a description ("X is kept in line | by using …")."""
    return [head for match in _HEAD.finditer(text) if _states(head := text[: match.start()].strip(" ,"))]


def tail(text: str) -> str:
    """What is added at a sentence's end ("…, including higher prices of aluminium"), or ""."""
    match = _TAIL.search(text)
    return match["tail"].rstrip(" .!") if match else ""


def clauses(text: str) -> list[str]:
    """The parts with at least three content words or figures each; a shorter one stays with the part before it.

    "Both A and B do X" is two statements.
    """
    if (match := _BOTH.match(text)) and (names := named_terms(match["rest"])) and names[0].start == 0:
        second = names[0]
        rest = match["rest"][second.end :].strip()
        return [f"{match['first']} {rest}", f"{second.text} {rest}"] if rest else [text]
    if match := _OPENING.match(text):
        return [part for piece in match.groups() for part in clauses(piece)]
    parts: list[str] = []
    at = 0
    cuts = [*_CUT.finditer(text), None]
    for cut in cuts:
        end = cut.start() if cut else len(text)
        piece = text[at:end].strip(" ,;.")
        if piece and _states(piece):
            parts.append(piece)
            at = cut.end() if cut else end
        elif cut is None and parts and piece:
            parts[-1] = f"{parts[-1]} {text[at:end].strip()}"
    return parts or [text]


def _states(piece: str) -> bool:
    found = analyse(piece)
    return len(found.content) + len(found.quantities) >= 3
