"""Finished sentences out of a stream of text, each with the white space or list mark that led to it.

Nothing is lost: the leads and texts of all pieces, put together, are the stream, but for white space at its end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from rag.text import sentences

_LEAD = re.compile(r"\s*(?:(?:[-*•–+‣◦]|\(?\d{1,2}[.)]|\(?[a-z]\)|>)[ \t]+)?")
_OPEN_LINE = re.compile(r"[^\s.!?:;。！？：；|…]\s*$")  # a line that may go on in the next
_LIST = re.compile(r"\s*(?:[-*•–+‣◦]\s|\(?\d{1,2}[.)]\s|\||#|>|```)")
_SETTLED = 3  # characters that must follow a sentence before it counts as finished


@dataclass(frozen=True, slots=True)
class Piece:
    """One sentence (or heading, table row, list item) and what stood before it."""

    text: str
    lead: str = ""


class SentenceStream:
    """Feed deltas, get sentences as they finish.

    A sentence ends where `rag.text.sentences` ends it, at a blank line, at the end of a list item, heading or table
    row. A line that breaks off in mid-sentence goes on in the next one.
    """

    def __init__(self) -> None:
        self._buffer = ""

    def feed(self, text: str) -> list[Piece]:
        """The pieces that `text` finishes, in order."""
        self._buffer += text
        return self._take(final=False)

    def finish(self) -> list[Piece]:
        """What is left at the end of the stream."""
        return self._take(final=True)

    def _take(self, *, final: bool) -> list[Piece]:
        found: list[Piece] = []
        while (block := self._block(final)) is not None:
            end, complete = block
            lines = self._buffer[:end]
            lead = _LEAD.match(lines)
            start = lead.end() if lead else 0
            body = lines[start:]
            if not body.strip():
                break
            spans = [(0, len(body.rstrip()))] if _row(body) else [(span.start, span.end) for span in sentences(body)]
            ready = spans if complete else [s for s, after in pairwise(spans) if _settled(s, after)]
            if not ready:
                break
            at = 0
            for first, last in ready:
                found.append(Piece(body[first:last], (lines[:start] if not at else "") + body[at:first]))
                at = last
            self._buffer = self._buffer[start + at :]
            if not complete:
                break
        return found

    def _block(self, final: bool) -> tuple[int, bool] | None:
        """Where the first paragraph, item or row ends in the buffer, and whether it is complete."""
        text = self._buffer
        if not text.strip():
            return None
        at = len(text) - len(text.lstrip())
        while (newline := text.find("\n", at)) >= 0:
            line, rest = text[at:newline], text[newline + 1 :]
            if not rest.strip() and "\n" not in rest and not final and _OPEN_LINE.search(line):
                return newline, False
            goes_on = (
                _OPEN_LINE.search(line)
                and not _row(text[:newline].strip())
                and rest[:1] not in ("", "\n")
                and rest.lstrip()[:1].islower()
                and not _LIST.match(rest)
            )
            if not goes_on:
                return newline, True
            at = newline + 1
        return len(text), final


def _row(body: str) -> bool:
    return body.lstrip().startswith(("|", "#", "```"))


def _settled(span: tuple[int, int], after: tuple[int, int]) -> bool:
    return after[1] - after[0] >= _SETTLED
