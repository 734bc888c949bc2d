"""Files of every kind → papers: `sources(["papers.csv", "library/", "more.zip"])`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from rag.papers import Paper, Skipped
from rag.readers.encodings import decoded
from rag.readers.inputs import Blob, Limits, blobs
from rag.readers.registry import detect

__all__ = ["Limits", "Source", "sources"]


@dataclass(frozen=True, slots=True)
class Source:
    """One file that papers come from; `name` is its absolute path ("-", or "a.zip!inner.csv" in an archive)."""

    name: str
    _blob: Blob = field(repr=False)
    _mapping: Mapping[str, str] = field(repr=False)

    def papers(self) -> Iterator[Paper | Skipped]:
        """Its papers in their order, and every row that gave none. Raises InputError where it cannot be read at all."""
        text = decoded(self._blob)
        yield from detect(text, self._mapping).read(text, self._mapping)


def sources(
    inputs: Sequence[str],
    *,
    mapping: Mapping[str, str] | None = None,
    stdin: BinaryIO | None = None,
    limits: Limits | None = None,
) -> Iterator[Source]:
    """The files that `inputs` name: paths, folders (recursive), globs, .gz, .zip (its members) and "-" (`stdin`).

    `mapping` says which column or key holds a field, {"title": "Name of paper"}. Raises InputError for an input that
    names nothing; what is wrong inside a file shows when its papers are read.
    """
    for blob in blobs(inputs, stdin=stdin, limits=limits or Limits()):
        yield Source(blob.name, blob, dict(mapping or {}))
