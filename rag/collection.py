"""The collection: chunks, vectors and flat metadata in Chroma, embedded or behind a server.

LlamaIndex's ChromaVectorStore reads it as it is (a test does). It is not written through that class, because that
sends more records in a call than Chroma takes and stores every chunk's text twice.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rag import chroma
from rag.catalogue import Origin, chunk_id, chunk_owner, paper_version
from rag.chunks import Chunk
from rag.embedding import Vectors
from rag.errors import RagError, StoreDamaged, StoreMismatch
from rag.metadata import Recorded, chunk_metadata, record_metadata, recorded_in
from rag.papers import Paper

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection as ChromaCollection

    from rag.settings import Settings

_READ_BATCH = 2000
_AGAIN = (0.05, 0.1, 0.2, 0.4, 0.8)  # seconds between the tries of a read that meets a write of another process
_T = TypeVar("_T")


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
        return chroma.where(self._settings)

    def upsert(
        self,
        papers: Sequence[Paper],
        chunks: Sequence[Sequence[Chunk]],
        vectors: Vectors,
        origins: Mapping[str, Sequence[Origin]] | None = None,
    ) -> None:
        """Write the chunks of these papers; `vectors` has one row a chunk, in order. `origins` (by paper id) says
        which rows of which sources stand for them."""
        ids: list[str] = []
        documents: list[str] = []
        metadatas: list[dict[str, Any]] = []
        now = time.time()
        for paper, some in zip(papers, chunks, strict=True):
            version = paper_version(paper)
            recorded = Recorded(paper, tuple((origins or {}).get(paper.id, ())), len(some), now)
            for index, chunk in enumerate(some):
                ids.append(chunk_id(paper.id, version, index))
                documents.append(chunk.text)
                metadatas.append({**chunk_metadata(paper, chunk), **(record_metadata(recorded) if not index else {})})
        with self._connected() as connection:
            for part in self._slices(connection, len(ids)):
                self._chunks(connection).upsert(
                    ids=ids[part],
                    embeddings=vectors[part],
                    documents=documents[part],
                    metadatas=metadatas[part],  # type: ignore[arg-type]
                )

    def tell(self, recorded: Sequence[Recorded]) -> None:
        """Write anew what the collection says of these papers; their vectors stay."""
        ids = [chunk_id(one.paper.id, paper_version(one.paper), 0) for one in recorded]
        metadatas = [record_metadata(one) for one in recorded]
        with self._connected() as connection:
            for part in self._slices(connection, len(ids)):
                self._chunks(connection).update(ids=ids[part], metadatas=metadatas[part])  # type: ignore[arg-type]

    def delete(self, ids: Sequence[str]) -> None:
        with self._connected() as connection:
            for part in self._slices(connection, len(ids)):
                self._chunks(connection).delete(ids=list(ids[part]))

    def nearest(self, vector: Vectors, count: int, among: Sequence[str] | None = None) -> list[ChunkHit]:
        """The `count` chunks nearest to the vector (shape (dimension,)), best first; `among` limits to these chunks."""
        if count <= 0 or (among is not None and not among):
            return []
        count = min(count, self._most)
        result = self._read(
            lambda chunks: chunks.query(
                query_embeddings=vector[np.newaxis, :],
                n_results=count,
                ids=list(among) if among is not None else None,
                include=["distances"],
            )
        )
        distances = result["distances"] or [[]]
        return [
            ChunkHit(*chunk_owner(chunk)[:2], similarity=1.0 - float(distance))
            for chunk, distance in zip(result["ids"][0], distances[0], strict=True)
        ]

    def count(self) -> int:
        return int(self._read(lambda chunks: chunks.count()))

    def ids(self) -> Iterator[str]:
        """The ids of all chunks."""
        for page in self._pages([]):
            yield from page["ids"]

    def recorded(self) -> Iterator[Recorded]:
        """What was written of each version of a paper; a lost catalogue is made anew from it."""
        for page in self._pages(["metadatas"]):
            yield from filter(None, map(recorded_in, page["metadatas"] or ()))

    def papers(self) -> Iterator[Paper]:
        """The papers as they were written."""
        for found in self.recorded():
            yield found.paper

    def clear(self) -> None:
        """Delete everything, so that it can be built anew.

        The empty collection is there again at once: a reader with another embedding model must not make it first.
        """
        with self._connected() as connection:
            if self._settings.chroma_collection in {item.name for item in connection.client.list_collections()}:
                connection.client.delete_collection(self._settings.chroma_collection)
            connection.chunks = None
            self._chunks(connection)

    def look_up_again(self) -> None:
        """Ask for the collection by its name before the next call; the connection stays."""
        with self._lock:
            if self._connection is not None:
                self._connection.chunks = None

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
        offset, limit = 0, min(_READ_BATCH, self._most)
        while (page := self._page(limit, offset, include))["ids"]:
            yield page
            offset += len(page["ids"])

    def _page(self, limit: int, offset: int, include: list[Any]) -> Any:
        return self._read(lambda chunks: chunks.get(limit=limit, offset=offset, include=include))

    def _read(self, call: Callable[[ChromaCollection], _T]) -> _T:
        """What a call gives that only reads.

        Chroma writes its index's files in place. A reader of another process that opens them in that moment finds half
        a file, which the next try finds whole; a folder that stays unreadable is damaged.
        """
        for pause in _AGAIN:
            try:
                with self._connected() as connection:
                    return call(self._chunks(connection))
            except StoreDamaged:
                time.sleep(pause)
        with self._connected() as connection:
            return call(self._chunks(connection))

    @property
    def _most(self) -> int:
        """Records that one call may bring back."""
        return chroma.CLOUD_MOST if chroma.is_cloud(self._settings) else sys.maxsize

    def _slices(self, connection: _Connection, count: int) -> Iterator[slice]:
        """Parts of `count` records that one call takes."""
        step = min(connection.client.get_max_batch_size(), self._most)
        return (slice(start, start + step) for start in range(0, count, step))

    @contextmanager
    def _connected(self) -> Iterator[_Connection]:
        """The connection, kept open during the block; what Chroma raises becomes one line with what to do."""
        connection = None
        try:
            with self._lock:
                if self._connection is None:
                    self._connection = _Connection(chroma.open_client(self._settings))
                connection = self._connection
                connection.users += 1
            yield connection
        except BaseException as error:
            if isinstance(error, RagError) or not chroma.is_failure(error):
                raise
            self.close()
            raise chroma.readable(error, self._settings) from error
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
