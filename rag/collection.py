"""The collection: chunks, vectors and flat metadata in Chroma, embedded or behind a server.

LlamaIndex's ChromaVectorStore reads it as it is (a test does). It is not written through that class, because that
sends more records in a call than Chroma takes and stores every chunk's text twice.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import numpy as np

from rag.catalogue import chunk_id, chunk_owner, paper_version
from rag.chunks import Chunk
from rag.embedding import Vectors
from rag.errors import RagError, ServerUnavailable, StoreDamaged, StoreMismatch
from rag.papers import Paper

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection as ChromaCollection

    from rag.settings import Settings

_READ_BATCH = 2000


@dataclass(frozen=True, slots=True)
class ChunkHit:
    """A chunk near the question; `similarity` is the cosine, -1 to 1."""

    paper_id: str
    version: str
    similarity: float


class Collection:
    """One connection to the Chroma collection.

    `fingerprint` names the embedding model whose vectors it may hold; it is asked for when the collection is opened.
    Raises StoreDamaged when the folder cannot be opened, ServerUnavailable when the server does not answer,
    StoreMismatch when the vectors there are another model's.
    """

    def __init__(self, settings: Settings, fingerprint: Callable[[], str]) -> None:
        self._settings = settings
        self._fingerprint = fingerprint
        self._client: Client | None = None
        self._chunks: ChromaCollection | None = None

    @property
    def where(self) -> str:
        return self._settings.chroma_url or str(self._settings.chroma_path)

    def upsert(self, papers: Sequence[Paper], chunks: Sequence[Sequence[Chunk]], vectors: Vectors) -> None:
        """Write the chunks of these papers; `vectors` has one row a chunk, in order."""
        ids: list[str] = []
        documents: list[str] = []
        metadatas: list[dict[str, Any]] = []
        for paper, some in zip(papers, chunks, strict=True):
            version = paper_version(paper)
            for index, chunk in enumerate(some):
                ids.append(chunk_id(paper.id, version, index))
                documents.append(chunk.text)
                metadatas.append(_metadata(paper, chunk, whole=index == 0))
        with self._errors():
            step = self._open().get_max_batch_size()
            for start in range(0, len(ids), step):
                part = slice(start, start + step)
                self._collection().upsert(
                    ids=ids[part],
                    embeddings=vectors[part],
                    documents=documents[part],
                    metadatas=metadatas[part],  # type: ignore[arg-type]
                )

    def delete(self, ids: Sequence[str]) -> None:
        with self._errors():
            step = self._open().get_max_batch_size()
            for start in range(0, len(ids), step):
                self._collection().delete(ids=list(ids[start : start + step]))

    def nearest(self, vector: Vectors, count: int, among: Sequence[str] | None = None) -> list[ChunkHit]:
        """The `count` chunks nearest to the vector (shape (dimension,)), best first; `among` limits to these chunks."""
        if count <= 0 or (among is not None and not among):
            return []
        with self._errors():
            result = self._collection().query(
                query_embeddings=vector[np.newaxis, :],
                n_results=count,
                ids=list(among) if among is not None else None,
                include=["distances"],
            )
        distances = result["distances"] or [[]]
        return [
            ChunkHit(*chunk_owner(chunk)[:2], similarity=1.0 - float(distance))
            for chunk, distance in zip(result["ids"][0], distances[0], strict=True)
        ]

    def count(self) -> int:
        with self._errors():
            return int(self._collection().count())

    def ids(self) -> Iterator[str]:
        """The ids of all chunks."""
        for page in self._pages([]):
            yield from page["ids"]

    def papers(self) -> Iterator[Paper]:
        """The papers as they were written; what a lost catalogue is rebuilt from."""
        for page in self._pages(["metadatas"]):
            for metadata in page["metadatas"] or ():
                if "record" in metadata:
                    fields = json.loads(str(metadata["record"]))
                    yield Paper(
                        **{**fields, "authors": tuple(fields["authors"]), "keywords": tuple(fields["keywords"])}
                    )

    def clear(self) -> None:
        """Delete everything, so that it can be built anew."""
        with self._errors():
            if self._settings.chroma_collection in {item.name for item in self._open().list_collections()}:
                self._open().delete_collection(self._settings.chroma_collection)
        self._chunks = None

    def close(self) -> None:
        """Let go of the connection; the next call opens it again, and then sees what other processes wrote."""
        if self._client is not None:
            self._client.close()
        self._client = self._chunks = None

    def _pages(self, include: list[Any]) -> Iterator[Any]:
        offset = 0
        while True:
            with self._errors():
                page = self._collection().get(limit=_READ_BATCH, offset=offset, include=include)
            if not page["ids"]:
                return
            yield page
            offset += len(page["ids"])

    def _collection(self) -> ChromaCollection:
        if self._chunks is None:
            wanted = self._fingerprint()
            chunks = self._open().get_or_create_collection(
                self._settings.chroma_collection,
                configuration={"hnsw": {"space": "cosine", "ef_search": 200}},
                metadata={"fingerprint": wanted},
                embedding_function=None,
            )
            found = str((chunks.metadata or {}).get("fingerprint", wanted))
            if found != wanted:
                raise StoreMismatch(
                    f"the collection in {self.where} was made with the embedding model {found}, not {wanted}",
                    hint="rag rebuild embeds every paper anew; or set RAG_EMBED_MODEL back; nothing was changed",
                )
            self._chunks = chunks
        return self._chunks

    def _open(self) -> Client:
        if self._client is None:
            self._client = _client(self._settings)
        return self._client

    def _errors(self) -> _ReadableErrors:
        return _ReadableErrors(self)


class _ReadableErrors:
    """Turns what Chroma raises into one line that says where and what to do."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, RagError) or not isinstance(error, Exception):
            return
        self._collection.close()
        where = self._collection.where
        first_line = (str(error) or type(error).__name__).splitlines()[0][:200]
        if where.startswith("http"):
            raise ServerUnavailable(
                f"the Chroma server at {where} failed: {first_line}",
                hint="is it running? `chroma run --host 127.0.0.1 --port 8000 --path DIR` starts one",
            ) from error
        raise StoreDamaged(
            f"the collection in {where} cannot be used: {first_line}",
            hint="rag rebuild makes it anew from the catalogue; the damaged folder is kept",
        ) from error


def _client(settings: Settings) -> Client:
    import chromadb
    from chromadb.config import Settings as ChromaSettings

    logging.getLogger("chromadb").setLevel(logging.ERROR)
    place = {"tenant": settings.chroma_tenant, "database": settings.chroma_database}
    if not settings.chroma_url:
        settings.chroma_path.mkdir(parents=True, exist_ok=True)
        local = chromadb.PersistentClient(
            str(settings.chroma_path), settings=ChromaSettings(anonymized_telemetry=False), **place
        )
        return cast("Client", local)
    address = urlsplit(settings.chroma_url if "://" in settings.chroma_url else f"http://{settings.chroma_url}")
    token = settings.chroma_token.get_secret_value()
    secure = address.scheme == "https"
    remote = chromadb.HttpClient(
        host=address.hostname or "127.0.0.1",
        port=address.port or (443 if secure else 8000),
        ssl=secure,
        headers={"Authorization": f"Bearer {token}", "X-Chroma-Token": token} if token else None,
        settings=ChromaSettings(anonymized_telemetry=False),
        **place,
    )
    return cast("Client", remote)


def _metadata(paper: Paper, chunk: Chunk, *, whole: bool) -> dict[str, Any]:
    """Flat metadata, for filters of other programs that read the collection; the first chunk carries the paper."""
    metadata: dict[str, Any] = {
        "paper": paper.id,
        "document_id": paper.id,  # what LlamaIndex deletes by
        "title": paper.title,
        "start": chunk.start,
        "end": chunk.end,
    }
    if paper.year is not None:
        metadata["year"] = paper.year
    for key in ("venue", "url"):
        if value := getattr(paper, key):
            metadata[key] = value
    if whole:
        metadata["record"] = json.dumps(asdict(paper), ensure_ascii=False)
    return metadata
