"""The collection: chunks, vectors and flat metadata in Chroma, embedded or behind a server.

LlamaIndex's ChromaVectorStore reads it as it is (a test does). It is not written through that class, because that
sends more records in a call than Chroma takes and stores every chunk's text twice.
"""

from __future__ import annotations

import json
import logging
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
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


@dataclass(eq=False)
class _Connection:
    """A client with the collection it opened, and how many calls are using it now."""

    client: Client
    chunks: ChromaCollection | None = None
    users: int = 0
    retired: bool = False


class Collection:
    """The Chroma collection of one store; its connection is opened on first use. Safe to use from several threads.

    `fingerprint` names the embedding model whose vectors it may hold; it is asked for when the collection is opened.
    Raises StoreDamaged when the folder cannot be opened, ServerUnavailable when the server does not answer,
    StoreMismatch when the vectors there are another model's.
    """

    def __init__(self, settings: Settings, fingerprint: Callable[[], str]) -> None:
        self._settings = settings
        self._fingerprint = fingerprint
        self._lock = threading.Lock()
        self._connection: _Connection | None = None

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
        with self._connected() as connection:
            step = connection.client.get_max_batch_size()
            for start in range(0, len(ids), step):
                part = slice(start, start + step)
                self._chunks(connection).upsert(
                    ids=ids[part],
                    embeddings=vectors[part],
                    documents=documents[part],
                    metadatas=metadatas[part],  # type: ignore[arg-type]
                )

    def delete(self, ids: Sequence[str]) -> None:
        with self._connected() as connection:
            step = connection.client.get_max_batch_size()
            for start in range(0, len(ids), step):
                self._chunks(connection).delete(ids=list(ids[start : start + step]))

    def nearest(self, vector: Vectors, count: int, among: Sequence[str] | None = None) -> list[ChunkHit]:
        """The `count` chunks nearest to the vector (shape (dimension,)), best first; `among` limits to these chunks."""
        if count <= 0 or (among is not None and not among):
            return []
        with self._connected() as connection:
            result = self._chunks(connection).query(
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
        with self._connected() as connection:
            return int(self._chunks(connection).count())

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
        with self._connected() as connection:
            if self._settings.chroma_collection in {item.name for item in connection.client.list_collections()}:
                connection.client.delete_collection(self._settings.chroma_collection)
            connection.chunks = None

    def close(self) -> None:
        """Let go of the connection once no call uses it; the next call opens another, and sees what others wrote."""
        with self._lock:
            connection, self._connection = self._connection, None
            unused = connection is not None and connection.users == 0
            if connection is not None:
                connection.retired = True
        if connection is not None and unused:
            connection.client.close()

    def _pages(self, include: list[Any]) -> Iterator[Any]:
        offset = 0
        while True:
            with self._connected() as connection:
                page = self._chunks(connection).get(limit=_READ_BATCH, offset=offset, include=include)
            if not page["ids"]:
                return
            yield page
            offset += len(page["ids"])

    @contextmanager
    def _connected(self) -> Iterator[_Connection]:
        """The connection, kept open during the block; what Chroma raises becomes one line with what to do."""
        connection = None
        try:
            with self._lock:
                if self._connection is None:
                    self._connection = _Connection(_client(self._settings))
                connection = self._connection
                connection.users += 1
            yield connection
        except BaseException as error:
            if isinstance(error, RagError) or not _is_chromas(error):
                raise
            self.close()
            raise self._readable(error) from error
        finally:
            if connection is not None:
                self._release(connection)

    def _release(self, connection: _Connection) -> None:
        with self._lock:
            connection.users -= 1
            last = connection.retired and connection.users == 0
        if last:
            connection.client.close()

    def _chunks(self, connection: _Connection) -> ChromaCollection:
        if connection.chunks is None:
            wanted = self._fingerprint()
            chunks = connection.client.get_or_create_collection(
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
            connection.chunks = chunks
        return connection.chunks

    def _readable(self, error: BaseException) -> RagError:
        first_line = (str(error) or type(error).__name__).splitlines()[0][:200]
        if self._settings.chroma_url:
            return ServerUnavailable(
                f"the Chroma server at {self.where} failed: {first_line}",
                hint="is it running? `chroma run --host 127.0.0.1 --port 8000 --path DIR` starts one",
            )
        return StoreDamaged(
            f"the collection in {self.where} cannot be used: {first_line}",
            hint="rag rebuild makes it anew from the catalogue; the damaged folder is kept",
        )


def _is_chromas(error: BaseException) -> bool:
    """Whether it is a failure and no interruption; a panic of Chroma's Rust core is no Exception to Python."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def _client(settings: Settings) -> Client:
    import chromadb
    from chromadb.config import Settings as ChromaSettings

    logging.getLogger("chromadb").setLevel(logging.ERROR)
    place = {"tenant": settings.chroma_tenant, "database": settings.chroma_database}
    if not settings.chroma_url:
        settings.chroma_path.mkdir(parents=True, exist_ok=True)
        local = chromadb.PersistentClient(
            _spelling(settings.chroma_path), settings=ChromaSettings(anonymized_telemetry=False), **place
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


def _spelling(folder: Path) -> str:
    """The folder, spelt as nobody else does: all clients of one spelling share one cached index in this process, and
    none would see what other processes wrote as long as another is open."""
    return str(folder) + "".join("/." if bit == "1" else "/" for bit in f"{secrets.randbits(48):b}")


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
