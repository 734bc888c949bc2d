"""Who runs in `rag eval speed`: ours, bare encoding, and LlamaIndex's own pipeline, each in a process of its own.

    python -m eval.contestants ours|bare|peer DATA PAPERS.jsonl QUESTIONS EMBED_MODEL PRECISION

prints one line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from eval.memory import peak_memory_mb
from rag.errors import RagError
from rag.papers import Paper
from rag.settings import Settings, load_settings

TOP_K = 5
_WARM_UP = ["a sentence to warm up with"] * 32


def _ours(data: Path, papers: Sequence[Paper], questions: int, settings: Settings) -> dict[str, Any]:
    from rag.retrieval import Retriever
    from rag.store import Store

    store = Store(settings)
    store.embedder.encode(_WARM_UP)
    seconds = timed(lambda: store.sync("speed", papers))
    no_change = timed(lambda: store.sync("speed", papers))
    retriever = Retriever(store)
    asked = [paper.label for paper in papers[:questions]]
    encode = store.embedder.encode_question
    for text in asked[:3]:
        retriever.search(text, top_k=TOP_K)
    times = search_times(partial(retriever.search, top_k=TOP_K), encode, asked)
    precision = store.embedder.precision
    store.close()
    return {
        "seconds": seconds,
        "no_change": no_change,
        **times,
        "precision": precision,
        "store_mb": folder_mb(data),
    }


def _bare(data: Path, papers: Sequence[Paper], questions: int, settings: Settings) -> dict[str, Any]:
    """The same chunks through SentenceTransformer.encode at the same precision, and nothing else."""
    import torch
    from sentence_transformers import SentenceTransformer

    from rag.chunks import chunk_papers
    from rag.embedding import Embedder

    embedder = Embedder(settings.embed_model, settings.embed_precision)
    texts = [chunk.text for some in chunk_papers(papers, embedder.token_counts, embedder.window) for chunk in some]
    dtype = torch.bfloat16 if embedder.precision == "bf16" else torch.float32
    model = SentenceTransformer(weights(settings.embed_model), device="cpu", model_kwargs={"dtype": dtype})
    model.encode(_WARM_UP)
    return {"seconds": timed(lambda: model.encode(texts, show_progress_bar=False)), "chunks": len(texts)}


def _peer(data: Path, papers: Sequence[Paper], questions: int, settings: Settings) -> dict[str, Any]:
    """LlamaIndex as its documentation shows it: documents → VectorStoreIndex over ChromaVectorStore."""
    import chromadb
    from chromadb.config import Settings as ChromaSettings
    from llama_index.core import Document, StorageContext, VectorStoreIndex
    from llama_index.embeddings.huggingface import HuggingFaceEmbedding
    from llama_index.vector_stores.chroma import ChromaVectorStore

    embedding = HuggingFaceEmbedding(model_name=weights(settings.embed_model))
    embedding.get_text_embedding_batch(_WARM_UP)
    client = chromadb.PersistentClient(str(data), ChromaSettings(anonymized_telemetry=False))
    context = StorageContext.from_defaults(
        vector_store=ChromaVectorStore(chroma_collection=client.create_collection("abstracts"))
    )
    documents = [Document(text=paper.abstract, metadata={"title": paper.title}) for paper in papers]

    def index() -> None:
        VectorStoreIndex.from_documents(documents, storage_context=context, embed_model=embedding)

    return {"seconds": timed(index), "store_mb": folder_mb(data)}


def weights(embed_model: str) -> str:
    """What sentence-transformers loads for it: a folder for the packaged model. Nothing is fetched."""
    from rag.embedding import PACKAGED, packaged_folder, quiet_hub

    quiet_hub(offline=True)
    return str(packaged_folder()) if embed_model == PACKAGED else embed_model


def read_papers(file: Path) -> list[Paper]:
    """Papers as `rag eval speed` and `rag eval scale` write them for their processes, one a line."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [Paper(**{**row, "authors": tuple(row["authors"]), "keywords": tuple(row["keywords"])}) for row in rows]


def search_times(
    search: Callable[[str], object], encode: Callable[[str], object], asked: Sequence[str]
) -> dict[str, float]:
    """Milliseconds of searching for each text, median and p95, and of embedding it, in turn with each other."""
    pairs = [(timed(partial(search, text)), timed(partial(encode, text))) for text in asked]
    searches, embeddings = sorted(pair[0] for pair in pairs), sorted(pair[1] for pair in pairs)
    return {
        "search_median_ms": 1000 * searches[len(searches) // 2],
        "search_p95_ms": 1000 * searches[int(0.95 * (len(searches) - 1))],
        "embed_median_ms": 1000 * embeddings[len(embeddings) // 2],
    }


def timed(action: Callable[[], object]) -> float:
    """Seconds."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def folder_mb(folder: Path) -> float:
    """Size of all files, in MB."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def _main(arguments: Sequence[str]) -> None:
    name, data, file, questions, model, precision = arguments
    settings = load_settings(
        data=Path(data), embed_model=model, embed_precision=precision, llm="extractive", chroma_url=""
    )
    papers = read_papers(Path(file))
    contestant = {"ours": _ours, "bare": _bare, "peer": _peer}[name]
    found = contestant(Path(data), papers, int(questions), settings)
    sys.stdout.write(json.dumps({**found, "memory": peak_memory_mb()}) + "\n")


if __name__ == "__main__":
    try:
        _main(sys.argv[1:])
    except (RagError, ImportError) as error:
        raise SystemExit(f"{type(error).__name__}: {error}") from error
