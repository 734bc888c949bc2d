"""Plain text: abstracts separated by blank lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rag.papers import Paper, Skipped
from rag.readers.encodings import Text
from rag.readers.fields import paper_of


@dataclass(frozen=True, slots=True)
class Block:
    """Lines between blank lines, stripped; `line` is where it starts."""

    line: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.lines)


def blocks(text: Text) -> Iterator[Block]:
    """The paragraphs of a text."""
    kept: list[str] = []
    start = 1
    for number, line in enumerate(text.lines(), 1):
        if stripped := line.strip("\ufeff\u200b").strip():
            if not kept:
                start = number
            kept.append(stripped)
        elif kept:
            yield Block(start, tuple(kept))
            kept = []
    if kept:
        yield Block(start, tuple(kept))


def read(text: Text, mapping: Mapping[str, str]) -> Iterator[Paper | Skipped]:
    """The papers of a list; `mapping` has no meaning here."""
    first = True
    for block in blocks(text):
        heading = first and len(block.lines) == 1 and len(block.text) < 120 and block.text[-1] not in ".!?。！？"
        first = False
        if not heading:
            yield paper_of({"abstract": block.text}, source=text.name, line=block.line, encoding=text.encoding)
