"""Citation markers in a model's words, parsed while they stream.

Models write `[1]`, `[1, 2]`, `[1-3]`, `【1】`, `[[1]]`, `[^1]`, `[1](url)`, `(Source 2)`, `[Source 2]`, and these in
backticks; the same brackets also stand for intervals, array indices and the abstracts' own references. Thoughts
between `<think>` and `</think>` are neither answer nor citation. Whether a piece of text is a marker may be decided
by what follows, so text is held back until it is decided: nothing that was shown has to be taken back, but for
thoughts that are only found to be thoughts by their closing tag (`Reset`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rag.generation.markers import (
    CLOSING,
    JOINT,
    JOINT_BEGUN,
    OwnBrackets,
    cannot_be_marker,
    closing_index,
    is_marker,
    is_maths,
    link_end,
    numbers_in,
)
from rag.generation.pieces import Cited, Piece, Reset, Text, append, cited, merged, shown
from rag.generation.prompts import REFUSAL
from rag.generation.verbatim import FENCE, verbatim_end

_BRACKET_WINDOW = 90  # characters a marker may have

_MAY_OPEN_MARKER = {*CLOSING, "`", "\\"}
_SPACE = re.compile(r"[ \t\u00a0]+")
_ORDINARY = re.compile(r"[^\[【［(（`$<\\N \t\u00a0⁰¹²³⁴-⁹]+")
_TAGS = ("<think>", "<thinking>", "<reasoning>", "</think>", "</thinking>", "</reasoning>")
_CLOSE_TAG = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_LONGEST_TAG = max(map(len, _TAGS))
_SUPERSCRIPT = re.compile(r"[¹²³⁴-⁹][⁰¹²³⁴-⁹]?")
_SUPERSCRIPT_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


class Markers:
    """Turns a stream of text deltas into pieces.

    `n_sources` is how many sources the model was given; other numbers are dropped. `texts` are the abstracts: a
    bracket that one of them has after the same word is that abstract's own text and no citation.
    `refused` tells that the model wrote the sentinel for "not in these abstracts", which is never shown.
    """

    def __init__(self, n_sources: int, texts: Iterable[str] = ()) -> None:
        self.refused = False
        self._n = n_sources
        self._own = OwnBrackets(texts)
        self._buffer = ""
        self._shown = 0  # characters since the start or the last reset
        self._tail = ""  # the last of them, and of the text in this round
        self._thinking = False
        self._fenced = False

    def feed(self, delta: str) -> list[Piece]:
        """The pieces that are certain after this delta."""
        self._buffer += delta
        return self._take(end=False)

    def finish(self) -> list[Piece]:
        """The rest; what was held back turns out to be text."""
        return self._take(end=True)

    def _take(self, *, end: bool) -> list[Piece]:
        pieces: list[Piece] = []
        at = 0
        while at < len(self._buffer):
            step = self._next(at, end)
            if step is None:
                break
            at, piece = step
            if isinstance(piece, Reset):
                self.refused, self._shown, self._tail = False, 0, ""
                pieces.append(piece)
            elif isinstance(piece, Text):
                self._shown += len(piece.text)
                self._tail = (self._tail + piece.text)[-40:]
                append(pieces, piece)
            elif piece is not None:
                self._tail += " "  # a bracket right after a marker is no index
                if piece.numbers:
                    pieces.append(Cited(piece.numbers, self._shown))
        self._buffer = self._buffer[at:]
        return pieces

    def _next(self, at: int, end: bool) -> tuple[int, Piece | None] | None:
        """Where the next piece ends and what it is (None: nothing to show); None when more text must come first."""
        if self._thinking:
            return self._thought(at, end)
        if self._fenced:
            return self._code(at, end)
        first = self._buffer[at]
        if ordinary := _ORDINARY.match(self._buffer, at):
            return ordinary.end(), Text(ordinary.group())
        if first in " \t\u00a0":
            return self._space(at, end)
        if first == "<":
            return self._tag(at, end)
        if first in "`$\\":
            return self._quoted(at, end)
        if first == "N":
            return self._sentinel(at, end)
        if first in CLOSING:
            return self._bracket(at, end)
        return self._raised(at, end)

    def _space(self, at: int, end: bool) -> tuple[int, Piece | None] | None:
        """Space goes with a marker that follows it: "text [1]." is read "text."."""
        space = _SPACE.match(self._buffer, at)
        after = space.end() if space else at + 1
        if after == len(self._buffer):
            return (after, Text(self._buffer[at:after])) if end else None
        if self._buffer[after] not in _MAY_OPEN_MARKER:
            return after, Text(self._buffer[at:after])
        step = self._peek(after, end)
        if step is None:
            return None
        return step if isinstance(step[1], Cited) else (after, Text(self._buffer[at:after]))

    def _peek(self, at: int, end: bool) -> tuple[int, Piece | None] | None:
        """What would come at `at`, after a space or a marker, without taking it."""
        kept = self._tail, self._fenced
        self._tail += " "
        try:
            return self._next(at, end)
        finally:
            self._tail, self._fenced = kept

    def _bracket(self, at: int, end: bool) -> tuple[int, Piece] | None:
        literal = at + 1, Text(self._buffer[at])
        close = closing_index(self._buffer, at, _BRACKET_WINDOW)
        if close is None:
            hopeless = cannot_be_marker(self._buffer[at : at + _BRACKET_WINDOW])
            return literal if end or hopeless or self._exhausted(at, _BRACKET_WINDOW) else None
        whole = self._buffer[at : close + 1]
        after = close + 1
        if not is_marker(whole):
            return (after, Text(whole)) if is_maths(whole) else literal
        if whole[0] == "[" and (self._is_index() or self._own.has(self._tail, whole)):
            return after, Text(whole)
        if whole[0] == "[":
            linked = link_end(self._buffer, after, end)
            if linked is None:
                return None
            return self._joined(linked, end, numbers_in(whole, self._n))
        return after, Cited(numbers_in(whole, self._n), self._shown)

    def _joined(self, at: int, end: bool, numbers: tuple[int, ...]) -> tuple[int, Piece] | None:
        """The marker with what joins it to a next one: "[1] and [2]", "[1]–[3]" are one."""
        mark = at, Cited(numbers, self._shown)
        joint = JOINT.match(self._buffer, at)
        if joint is None:
            begun = JOINT_BEGUN.fullmatch(self._buffer[at : at + 12])
            return None if begun and at + 12 > len(self._buffer) and not end else mark
        step = self._peek(joint.end(), end)
        if step is None:
            return None
        after, piece = step
        if not isinstance(piece, Cited):
            return mark
        if joint["dash"] and numbers and piece.numbers:
            between = tuple(range(numbers[-1] + 1, piece.numbers[0]))
            numbers += between
        return after, Cited(tuple(dict.fromkeys((*numbers, *piece.numbers))), self._shown)

    def _quoted(self, at: int, end: bool) -> tuple[int, Piece] | None:
        """Code and maths, which stay as they are unless a marker is all that is in them: `[1]`, \\[1\\]."""
        after = verbatim_end(self._buffer, at, end)
        if after is None:
            return None
        whole = self._buffer[at:after]
        if whole == FENCE:
            self._fenced = True
        inner = f"[{whole[2:-2]}]" if whole.startswith("\\[") else whole.strip("` ")
        if len(whole) > 2 and whole[0] in "`\\" and is_marker(inner) and not self._own.has(self._tail, inner):
            return after, Cited(numbers_in(inner, self._n), self._shown)
        return after, Text(whole)

    def _raised(self, at: int, end: bool) -> tuple[int, Piece] | None:
        """A superscript is a marker after punctuation ("so.¹"), else a power or a charge."""
        figure = _SUPERSCRIPT.match(self._buffer, at)
        if figure is None or not self._tail.endswith((".", ",", ";", "!", "?", "。", "，")):
            return at + 1, Text(self._buffer[at])
        if figure.end() == len(self._buffer) and not end:
            return None
        number = int(figure.group().translate(_SUPERSCRIPT_DIGITS))
        return figure.end(), Cited((number,) if number <= self._n else (), self._shown)

    def _sentinel(self, at: int, end: bool) -> tuple[int, Piece | None] | None:
        found = self._buffer[at : at + len(REFUSAL)]
        if found == REFUSAL:
            self.refused = True
            return at + len(REFUSAL), None
        if len(found) < len(REFUSAL) and REFUSAL.startswith(found) and not end:
            return None
        return at + 1, Text("N")

    def _tag(self, at: int, end: bool) -> tuple[int, Piece | None] | None:
        found = self._buffer[at : at + _LONGEST_TAG].lower()
        for tag in _TAGS:
            if found.startswith(tag):
                if tag.startswith("</"):
                    return at + len(tag), Reset()
                self._thinking = True
                return at + len(tag), None
        if not end and any(tag.startswith(found) for tag in _TAGS):
            return None
        return at + 1, Text("<")

    def _thought(self, at: int, end: bool) -> tuple[int, Piece | None] | None:
        close = _CLOSE_TAG.search(self._buffer, at)
        if close:
            self._thinking = False
            return close.end(), None
        kept = at if end else max(at, len(self._buffer) - _LONGEST_TAG)
        return (len(self._buffer), None) if end else ((kept, None) if kept > at else None)

    def _code(self, at: int, end: bool) -> tuple[int, Piece] | None:
        close = self._buffer.find(FENCE, at)
        if close >= 0:
            self._fenced = False
            return close + 3, Text(self._buffer[at : close + 3])
        kept = len(self._buffer) if end else max(at, len(self._buffer.rstrip("`")))
        return (kept, Text(self._buffer[at:kept])) if kept > at else None

    def _exhausted(self, at: int, window: int) -> bool:
        return "\n" in self._buffer[at : at + window] or len(self._buffer) - at >= window

    def _is_index(self) -> bool:
        """After a one-letter variable or a bracketed expression: x[1], a[0][1]."""
        return re.search(r"(?:(?<![\w-])[a-z]|[\]}])\Z", self._tail) is not None


def parse(text: str, n_sources: int, texts: Sequence[str] = ()) -> list[Piece]:
    """The pieces of a text that is there as a whole."""
    markers = Markers(n_sources, texts)
    return merged([*markers.feed(text), *markers.finish()])


__all__ = ["Cited", "Markers", "Piece", "Reset", "Text", "cited", "merged", "parse", "shown"]
