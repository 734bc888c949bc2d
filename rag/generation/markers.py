"""Which brackets are citation markers, and which numbers they hold."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_WORDS: Final = re.findall(
    r"\S+",
    "abstract abstracts citation citations doc docs document documents paper papers quelle quellen ref refs reference "
    "references source sources 来源 文献 摘要 论文",
)
_WORD = rf"(?:(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))})(?![^\W\d_])\.?\s*[:：#]?\s*)"
_NUMBER = r"[1-9]\d{0,2}"
_DASH = r"\s*[-‐‑–—]\s*"
_ITEM = rf"\^?{_WORD}?\#?{_NUMBER}(?:{_DASH}{_WORD}?{_NUMBER})?(?:†[^\]】]{{0,40}})?"
_BETWEEN = r"\s*(?:[,;，、；&]\s*(?:and\s+)?|\band\b|\bund\b|和|及)\s*"
_LIST = rf"{_ITEM}(?:{_BETWEEN}{_ITEM})*"
_NESTED = rf"\[\s*{_LIST}\s*\](?:\s*[,;]?\s*\[\s*{_LIST}\s*\])*"
_LEAD = r"(?:see|cf\.?|from|per|siehe|见)?\s*"
_MARKER = re.compile(
    rf"\[\s*(?:{_LIST}|{_NESTED})\s*\]|【\s*{_LIST}\s*】|［\s*{_LIST}\s*］"
    rf"|[(（]\s*{_LEAD}(?:{_WORD}{_LIST}|{_WORD}?{_NESTED})\s*[)）]",
    re.IGNORECASE,
)
JOINT = re.compile(r"[ \t]*(?:(?P<dash>[-‐‑–—])|[,;&]|and\b)?[ \t]*(?=\[)", re.IGNORECASE)
JOINT_BEGUN = re.compile(r"[ \t]*(?:[-‐‑–—,;&]|a(?:nd?)?)?[ \t]*", re.IGNORECASE)
_RANGE = re.compile(rf"({_NUMBER})(?:{_DASH}{_WORD}?({_NUMBER}))?", re.IGNORECASE)
_MATHS_LIST = re.compile(r"\[[\s\d.,;:+\-−–*/^…\[\]]*\]")
_LINK = re.compile(r"\((?:(?:[a-z][a-z0-9+.-]*:|#|/|www\.)[^()\s]*)?\)", re.IGNORECASE)
_LINK_WINDOW = 300
_LEADS = (*_WORDS, "see", "cf", "from", "per", "siehe", "见")
CLOSING = {"[": "]", "【": "】", "［": "］", "(": ")", "（": "）"}
_OWN = re.compile(r"(\w+)\W{0,2}(\[[\d,;\s–-]{1,40}\])")
_BEFORE = re.compile(r"(\w+)\W{0,2}\Z")


def is_marker(text: str) -> bool:
    """Whether the whole of `text` is a marker: "[1, 2]", "[[1]]", "(Source 2)"."""
    return _MARKER.fullmatch(text) is not None


def is_maths(text: str) -> bool:
    """Whether a bracket holds figures that cannot all be sources: "[0, 1]", "[0.5]", "[1:3]"."""
    return _MATHS_LIST.fullmatch(text) is not None


def closing_index(text: str, at: int, window: int) -> int | None:
    """The index of the bracket that closes the one at `at`, on the same line and within the window."""
    opening, closing, depth = text[at], CLOSING[text[at]], 0
    for index in range(at, min(at + window, len(text))):
        if text[index] == "\n":
            return None
        depth += (text[index] == opening) - (text[index] == closing)
        if depth == 0:
            return index
    return None


def link_end(text: str, at: int, complete: bool) -> int | None:
    """Where the address of a Markdown link, "(https://…)" or "(#source-1)", that begins at `at` ends.

    `at` itself where there is none, None where more text must come before this can be told.
    """
    rest = text[at : at + _LINK_WINDOW]
    if not rest:
        return at if complete else None
    body = re.match(r"\([^()\s]*", rest)
    if body is None:
        return at
    if body.end() < len(rest):
        whole = rest[: body.end() + 1]
        return at + len(whole) if _LINK.fullmatch(whole) else at
    return at if complete or len(rest) == _LINK_WINDOW else None


def numbers_in(marker: str, most: int) -> tuple[int, ...]:
    """The numbers from 1 to `most` that a marker holds, each once; ranges are filled."""
    found: list[int] = []
    for low, high in _RANGE.findall(re.sub(r"†[^\]】]*", "", marker)):
        ends = int(low), int(high or low)
        found += range(min(ends), min(max(ends), most) + 1)
    return tuple(dict.fromkeys(number for number in found if 1 <= number <= most))


class OwnBrackets:
    """The bracketed figures that the abstracts themselves have, each with the word before it."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._known = {(word.casefold(), _squeezed(bracket)) for text in texts for word, bracket in _OWN.findall(text)}

    def has(self, before: str, bracket: str) -> bool:
        """Whether `bracket` after the text `before` is as in one of the abstracts."""
        word = _BEFORE.search(before)
        return bool(word and (word.group(1).casefold(), _squeezed(bracket)) in self._known)


def cannot_be_marker(opening: str) -> bool:
    """Whether what follows the bracket is certain to be no marker, so that it need not be held back."""
    body = opening[1:].lstrip(" \t[^#")
    word = re.match(r"[^\W\d_]+", body)
    if word is None:
        return bool(body) and not body[0].isdigit()
    begun = word.group().casefold()
    if word.end() < len(body):
        return not any(begun == lead or (not lead.isascii() and begun.startswith(lead)) for lead in _LEADS)
    return not any(lead.startswith(begun) or begun.startswith(lead) for lead in _LEADS)


def _squeezed(bracket: str) -> str:
    return re.sub(r"\s+", "", bracket)
