"""The formats there are, and which of them a text is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from rag.papers import Paper, Skipped
from rag.readers import jsonlines, table, textlist
from rag.readers.encodings import Text

Read = Callable[[Text, Mapping[str, str]], Iterator[Paper | Skipped]]


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file: its name for people, its suffixes, and what reads it."""

    name: str
    suffixes: tuple[str, ...]
    read: Read


TEXT = Format("text list", (".txt", ".md"), textlist.read)
TABLE = Format("CSV or TSV", (".csv", ".tsv", ".tab"), table.read)
JSONL = Format("JSON Lines", (".jsonl", ".ndjson"), jsonlines.read)


def detect(text: Text, mapping: Mapping[str, str]) -> Format:
    """The format of `text`: by its content; its suffix decides only where that is open."""
    head = text.head().lstrip("\ufeff \t\r\n")
    if head.startswith("{"):
        return JSONL
    if text.blob.suffix in TABLE.suffixes or table.header_delimiter(head, mapping):
        return TABLE
    return TEXT
