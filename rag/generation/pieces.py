"""What a model's words are made of: text and citations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """Words to show."""

    text: str


@dataclass(frozen=True, slots=True)
class Cited:
    """A marker with its source numbers; `position` counts the characters of text before it."""

    numbers: tuple[int, ...]
    position: int


@dataclass(frozen=True, slots=True)
class Reset:
    """All pieces up to here were thoughts: forget them."""


Piece = Text | Cited | Reset


def merged(pieces: Iterable[Piece]) -> list[Piece]:
    """What is left of the pieces in the end: neighbouring text joined, thoughts that were reset gone."""
    kept: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Reset):
            kept = []
        else:
            append(kept, piece)
    return kept


def shown(pieces: Iterable[Piece]) -> str:
    """The words without markers."""
    return "".join(piece.text for piece in merged(pieces) if isinstance(piece, Text))


def cited(pieces: Iterable[Piece]) -> Iterator[int]:
    """The source numbers in the order they are cited."""
    for piece in merged(pieces):
        if isinstance(piece, Cited):
            yield from piece.numbers


def append(pieces: list[Piece], piece: Piece) -> None:
    """Add a piece; text is joined with text before it, empty text is nothing."""
    last = pieces[-1] if pieces else None
    if isinstance(piece, Text) and isinstance(last, Text):
        pieces[-1] = Text(last.text + piece.text)
    elif piece != Text(""):
        pieces.append(piece)
