"""Markup (LaTeX, HTML, Markdown) to readable plain text, with the way back to the original characters."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_ENTITY = re.compile(r"&#?\w{1,31};")


@dataclass(frozen=True, slots=True)
class Plain:
    """Readable text; `starts[i]` and `ends[i]` bound the piece of the original that shows `text[i]`."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original that shows `text[start:end]`."""
        if end <= start:
            return self.starts[start], self.starts[start]
        return self.starts[start], self.ends[end - 1]


@lru_cache(maxsize=1024)
def plain(markup: str) -> Plain:
    """`markup` as readable text. Never raises."""
    chars: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for match in _ENTITY.finditer(markup):
        for i in range(at, match.start()):
            chars.append(markup[i])
            starts.append(i)
            ends.append(i + 1)
        for char in html.unescape(match.group()):
            chars.append(char)
            starts.append(match.start())
            ends.append(match.end())
        at = match.end()
    for i in range(at, len(markup)):
        chars.append(markup[i])
        starts.append(i)
        ends.append(i + 1)
    return Plain("".join(chars), (*starts, len(markup)), (*ends, len(markup)))


def plain_text(markup: str) -> str:
    """`plain(markup).text`."""
    return plain(markup).text
