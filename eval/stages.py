"""The steps of `rag eval scale`, each in a process of its own, so that its memory is its own.

    python -m eval.stages STEP PLAN

prints one line of JSON.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from eval.contestants import TOP_K, folder_mb, read_papers, search_times, timed, weights
from eval.memory import peak_memory_mb, resident_memory_mb
from eval.variation import VaryingEmbedder, vary
from rag.embedding import Embedder, Vectors
from rag.errors import RagError
from rag.papers import Paper
from rag.settings import Settings, load_settings

NEAREST = 10
_PAGE = 2000
_SLAB = 2000
_SEED = 7
_PEER_COLLECTION = "peer"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a step needs to know. `folder` holds the papers, the vectors and the stores; `papers` is the size to reach,
    `system` is ours or peer."""

    folder: str
    papers: int
    questions: int
    embed_model: str
    precision: str
    system: str = "ours"

    @property
    def data(self) -> Path:
        return Path(self.folder, self.system)

    @property
    def settings(self) -> Settings:
        return load_settings(
            data=self.data,
            embed_model=self.embed_model,
            embed_precision=self.precision,
            llm="extractive",
            chroma_url="",
        )

    def real(self) -> list[Paper]:
        return read_papers(Path(self.folder, "papers.jsonl"))

    def embedder(self) -> VaryingEmbedder:
        kept = np.load(Path(self.folder, "vectors.npz"))
        return VaryingEmbedder(kept["titles"].tolist(), kept["vectors"], self.embed_model, self.precision)

    def asked(self) -> list[str]:
        """Questions of both shipped sets in English, in one random order."""
        from eval.dataset import load

        texts = [
            item.question for name in ("iclr2026", "sample") for item in load(name).questions if item.question.isascii()
        ]
        random.Random(_SEED).shuffle(texts)
        return texts[: self.questions]


def vectors(plan: Plan) -> dict[str, Any]:
    """Embed the real papers once: all stores are filled from these vectors."""
    from rag.chunks import chunk_papers

    embedder = Embedder(plan.embed_model, plan.precision)
    chunks = [
        chunk.text for some in chunk_papers(plan.real(), embedder.token_counts, embedder.window) for chunk in some
    ]
    titles = [text.split("\n", 1)[0] for text in chunks]
    np.savez(Path(plan.folder, "vectors.npz"), titles=np.array(titles), vectors=embedder.encode(chunks))
    return {}


def write(plan: Plan) -> dict[str, Any]:
    """Bring the store to `papers`, and sync once more with nothing to do."""
    add, count, close = _writer(plan)
    missing = plan.papers - count()
    seconds = timed(add)
    no_change = timed(add)
    close()
    return {"write_rate": missing / seconds, "no_change_seconds": no_change, "write_peak_mb": peak_memory_mb()}


def use(plan: Plan) -> dict[str, Any]:
    """Search as the app does, in a process that has just started."""
    search, encode = _searcher(plan)
    asked = plan.asked()
    search(asked[0])
    rest = resident_memory_mb()
    return {
        **search_times(search, encode, asked),
        "rest_mb": rest,
        "peak_mb": peak_memory_mb(),
        "store_mb": folder_mb(plan.data),
    }


def recall(plan: Plan) -> dict[str, Any]:
    """Share of the ten exactly nearest chunks that the vector index, asked for as many as the app asks, puts first."""
    import chromadb
    from chromadb.config import Settings as ChromaSettings

    peer = plan.system == "peer"
    place = plan.data if peer else plan.settings.chroma_path
    name = _PEER_COLLECTION if peer else plan.settings.chroma_collection
    client = chromadb.PersistentClient(str(place), ChromaSettings(anonymized_telemetry=False))
    chunks = client.get_collection(name)
    wanted = TOP_K if peer else round(1.7 * plan.settings.candidates)
    embedder = Embedder(plan.embed_model, plan.precision)
    questions = np.stack([embedder.encode_question(text) for text in plan.asked()])
    exact = [_Best(NEAREST) for _ in questions]
    for offset in range(0, chunks.count(), _PAGE):
        page = chunks.get(limit=_PAGE, offset=offset, include=["embeddings"])
        rows = np.asarray(page["embeddings"], dtype=np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        for best, scores in zip(exact, questions @ rows.T, strict=True):
            best.add(page["ids"], scores)
    shares = []
    for vector, best in zip(questions, exact, strict=True):
        found = chunks.query(query_embeddings=vector[np.newaxis, :], n_results=max(wanted, NEAREST), include=[])
        shares.append(len(best.ids & set(found["ids"][0][:NEAREST])) / NEAREST)
    return {"chunks": chunks.count(), "recall": float(np.mean(shares))}


class _Best:
    """The ids with the highest scores so far."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._kept: list[tuple[float, str]] = []

    def add(self, ids: Sequence[str], scores: Vectors) -> None:
        top = np.argsort(-scores)[: self._count]
        self._kept = sorted([*self._kept, *((float(scores[i]), ids[i]) for i in top)], reverse=True)[: self._count]

    @property
    def ids(self) -> set[str]:
        return {name for _, name in self._kept}


def _writer(plan: Plan) -> tuple[Callable[[], object], Callable[[], int], Callable[[], None]]:
    """How to bring the store to the size, how many papers it has, and how to close it."""
    embedder, real = plan.embedder(), plan.real()
    embedder.token_counts(["so that the tokenizer is loaded"])
    if plan.system == "peer":
        return _peer_writer(plan, embedder, real)
    from rag.store import Store

    store = Store(plan.settings, embedder)
    return lambda: store.sync("scale", vary(real, plan.papers)), store.count, store.close


def _peer_writer(
    plan: Plan, embedder: VaryingEmbedder, real: Sequence[Paper]
) -> tuple[Callable[[], object], Callable[[], int], Callable[[], None]]:
    """LlamaIndex's IngestionPipeline with a document store, so that it knows what it has already."""
    from llama_index.core import Document
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.core.storage.docstore import SimpleDocumentStore

    class Given(BaseEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_text_embeddings([text])[0]

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            made: list[list[float]] = embedder.encode(texts).tolist()
            return made

        def _get_query_embedding(self, query: str) -> list[float]:
            raise NotImplementedError

        async def _aget_query_embedding(self, query: str) -> list[float]:
            raise NotImplementedError

    kept = plan.data / "documents.json"
    documents = SimpleDocumentStore.from_persist_path(str(kept)) if kept.exists() else SimpleDocumentStore()
    pipeline = IngestionPipeline(
        transformations=[SentenceSplitter(), Given()],
        vector_store=_peer_vectors(plan),
        docstore=documents,
        docstore_strategy=DocstoreStrategy.UPSERTS,
        disable_cache=True,
    )

    def add() -> None:
        for some in _batches(vary(real, plan.papers), _SLAB):  # all at once exceeds what Chroma takes in a call
            pipeline.run(
                documents=[
                    Document(text=paper.abstract, id_=paper.id, metadata={"title": paper.title}) for paper in some
                ]
            )

    return add, lambda: len(documents.docs), lambda: documents.persist(str(kept))


def _batches(papers: Iterator[Paper], size: int) -> Iterator[list[Paper]]:
    while some := list(islice(papers, size)):
        yield some


def _peer_vectors(plan: Plan) -> Any:
    import chromadb
    from chromadb.config import Settings as ChromaSettings
    from llama_index.vector_stores.chroma import ChromaVectorStore

    client = chromadb.PersistentClient(str(plan.data), ChromaSettings(anonymized_telemetry=False))
    return ChromaVectorStore(chroma_collection=client.get_or_create_collection(_PEER_COLLECTION))


def _searcher(plan: Plan) -> tuple[Callable[[str], object], Callable[[str], object]]:
    """How to search, and how to embed a question."""
    if plan.system == "peer":
        from llama_index.core import VectorStoreIndex
        from llama_index.embeddings.huggingface import HuggingFaceEmbedding

        embedding = HuggingFaceEmbedding(model_name=weights(plan.embed_model))
        index = VectorStoreIndex.from_vector_store(_peer_vectors(plan), embed_model=embedding)
        return index.as_retriever(similarity_top_k=TOP_K).retrieve, embedding.get_query_embedding
    from rag.retrieval import Retriever
    from rag.store import Store

    store = Store(plan.settings)
    return partial(Retriever(store).search, top_k=TOP_K), store.embedder.encode_question


def _main(step: str, plan: str) -> None:
    found = {"vectors": vectors, "write": write, "use": use, "recall": recall}[step](Plan(**json.loads(plan)))
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    try:
        _main(*sys.argv[1:])
    except (RagError, ImportError) as error:
        raise SystemExit(f"{type(error).__name__}: {error}") from error
