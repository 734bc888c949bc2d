"""Markup (LaTeX, HTML, Markdown) to readable plain text, with the way back to the original characters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag.language.scanner import Scanner

_MAYBE = re.compile(r"[\\$&<*_`~{\[#>^]|''|--")  # without one of these there is no markup


@dataclass(frozen=True, slots=True)
class Plain:
    """Readable text and where it comes from.

    `starts[i]` and `ends[i]` bound the piece of `markup` that shows `text[i]`; both have `len(text) + 1` entries, the
    last is `len(markup)`. `groups` are the outer bounds of constructs with readable content ("**…**", "\\emph{…}").
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    markup: str
    groups: tuple[tuple[int, int], ...] = ()

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The span of `markup` that shows `text[start:end]`: as tight as can be with nothing cut in half.

        Read on its own, that span holds `text[start:end]`; where nothing is markup it is `(start, end)` itself.
        """
        start = max(0, min(start, len(self.text)))
        end = max(start, min(end, len(self.text)))
        if start == end:
            return self.starts[start], self.starts[start]
        first, last = self.starts[start], self.ends[end - 1]
        if isinstance(self.starts, range):
            return first, last
        # A sign may be markup only in company ("``…''", "# …"): then a wider span is tried.
        for boundary in ("", "\n", "\n\n"):
            first, last = self._widened(first, last, boundary)
            if self.text[start:end] in plain(self.markup[first:last]).text:
                return first, last
        return 0, len(self.markup)

    def _widened(self, first: int, last: int, boundary: str) -> tuple[int, int]:
        """The span out to the next `boundary` on both sides, then until every group is inside, outside or around."""
        if boundary:
            before, after = self.markup.rfind(boundary, 0, first), self.markup.find(boundary, last)
            first = before + len(boundary) if before >= 0 else 0
            last = after if after >= 0 else len(self.markup)
        changed = True
        while changed:
            changed = False
            for start, end in self.groups:
                if start < first < end < last:
                    first, changed = start, True
                elif first < start < last < end:
                    last, changed = end, True
        return first, last


@lru_cache(maxsize=1024)
def plain(markup: str) -> Plain:
    """`markup` as readable text: LaTeX, HTML entities and tags, Markdown emphasis, links and headings removed.

    What is not certainly markup stays: "$5 million and $6 million", "a<b", "2*3*4", "snake_case". White space and
    line breaks are kept. Never raises; a formula that cannot be read is shown as it is.
    """
    if _MAYBE.search(markup) is not None:
        scanner = Scanner(markup)
        scanner.scan(0, len(markup))
        text = "".join(scanner.pieces)
        if text != markup:
            scanner.starts.append(len(markup))
            scanner.ends.append(len(markup))
            return Plain(text, scanner.starts, scanner.ends, markup, tuple(sorted(set(scanner.groups))))
    return Plain(markup, range(len(markup) + 1), range(1, len(markup) + 2), markup)


def plain_text(markup: str) -> str:
    """`plain(markup).text`."""
    return plain(markup).text
