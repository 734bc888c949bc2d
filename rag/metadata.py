"""What the collection says of a paper beside its vectors: flat metadata for other programs, and in the first chunk a
record of everything the catalogue knows of it, so that a lost catalogue can be made anew.

A record is JSON, cut into pieces of a size that Chroma Cloud takes ("record", "record_1", …).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rag.catalogue import Origin, paper_from_record
from rag.chunks import Chunk
from rag.papers import Paper

_PIECE = 4000  # bytes; Chroma Cloud takes values up to 4,096
_EXTRA = ("origins", "chunks", "written")
_decoder = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Recorded:
    """A paper as the collection holds it. `chunks` is how many its version has and `written` when that was (seconds
    since 1970); both are 0, and `origins` empty, in what older versions of this program wrote."""

    paper: Paper
    origins: tuple[Origin, ...] = ()
    chunks: int = 0
    written: float = 0.0


def chunk_metadata(paper: Paper, chunk: Chunk) -> dict[str, Any]:
    """Flat metadata of a chunk, for filters of other programs that read the collection."""
    metadata: dict[str, Any] = {
        "paper": paper.id,
        "document_id": paper.id,  # what LlamaIndex deletes by
        "title": _piece(paper.title),
        "start": chunk.start,
        "end": chunk.end,
    }
    if paper.year is not None:
        metadata["year"] = paper.year
    for key in ("venue", "url"):
        if value := getattr(paper, key):
            metadata[key] = _piece(value)
    return metadata


def record_metadata(recorded: Recorded) -> dict[str, str]:
    """What the first chunk bears besides."""
    fields = {
        **asdict(recorded.paper),
        "origins": [
            [origin.source, origin.key, origin.hash, asdict(origin.said) if origin.said else None]
            for origin in recorded.origins
        ],
        "chunks": recorded.chunks,
        "written": recorded.written,
    }
    pieces = _pieces(json.dumps(fields, ensure_ascii=False))
    return {f"record_{number}" if number else "record": piece for number, piece in enumerate(pieces)}


def recorded_in(metadata: Mapping[str, Any]) -> Recorded | None:
    """The record that a chunk's metadata bears; None for other chunks than the first."""
    if "record" not in metadata:
        return None
    names = ["record"]
    while f"record_{len(names)}" in metadata:
        names.append(f"record_{len(names)}")
    # a longer record that stood here before may have left its last pieces behind the end of this one
    fields, _ = _decoder.raw_decode("".join(str(metadata[name]) for name in names))
    origins, chunks, written = (fields.pop(name, None) for name in _EXTRA)
    return Recorded(
        paper_from_record(fields),
        tuple(
            Origin(source, key, content, paper_from_record(said) if said else None)
            for source, key, content, said in origins or ()
        ),
        chunks or 0,
        written or 0.0,
    )


def _pieces(text: str) -> Iterator[str]:
    data = text.encode("utf-8", "surrogatepass")
    start = 0
    while start < len(data):
        end = _cut(data, start + _PIECE)
        yield data[start:end].decode("utf-8", "surrogatepass")
        start = end


def _piece(text: str) -> str:
    """As much of `text` as a value may hold."""
    if len(text) * 4 <= _PIECE:
        return text
    return next(_pieces(text), "")


def _cut(data: bytes, end: int) -> int:
    """The last place up to `end` where a character ends."""
    if end >= len(data):
        return len(data)
    while data[end] & 0xC0 == 0x80:
        end -= 1
    return end
