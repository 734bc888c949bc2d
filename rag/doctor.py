"""One look at everything an answer depends on."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from rag import __version__
from rag.embedding import Embedder
from rag.errors import RagError
from rag.generation.models import EXTRACTIVE
from rag.generation.providers import choose_model, list_models
from rag.grounding.calibration import Calibration
from rag.grounding.odds import Odds
from rag.settings import Settings
from rag.store import Health, Store
from rag.verification import make_verifier

_LEAST_FREE = 500 * 2**20  # bytes


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: what was looked at, what was found, and whether that is as it should be."""

    name: str
    text: str
    good: bool = True
    hint: str = ""


def examine(settings: Settings) -> Iterator[Finding]:
    """The findings one after the other, as each check ends; none of them changes the store."""
    yield Finding("program", f"askabstracts {__version__}, Python {platform.python_version()}, {_versions()}")
    yield from _guarded("data folder", lambda: _disk(settings))
    yield from _guarded("store", lambda: _store(settings))
    yield from _guarded("embedding", lambda: _embedding(settings))
    yield from _guarded("models", lambda: _models(settings))
    yield from _guarded("writes with", lambda: _model(settings))
    yield from _guarded("checks with", lambda: _verifier(settings))


def check_alive(store: Store) -> None:
    """The little that every question needs: both sides of the store answer and agree in number, and the embedding
    model reads. Raises RagError. Takes milliseconds once the model is loaded; `examine` looks closer."""
    store.refresh()
    store.check_complete(again=True)
    store.embedder.encode_question("alive?")


def describe(health: Health) -> Finding:
    """The state of the store in words."""
    problems = []
    if health.integrity != "ok":
        problems.append(f"catalogue: {health.integrity}")
    if health.pending:
        problems.append(f"{health.pending} papers wait to be indexed")
    if health.missing:
        problems.append(f"{len(health.missing)} papers lack chunks")
    if health.orphans:
        problems.append(f"{len(health.orphans)} chunks belong to no paper")
    counts = f"{health.papers:,} papers, {health.chunks:,} chunks"
    if not problems:
        return Finding("store", f"{counts}, both sides agree")
    damaged = health.integrity != "ok" or health.catalogue_is_lost
    hint = "rag rebuild --catalogue makes it anew" if damaged else "rag doctor --repair mends it"
    return Finding("store", f"{counts}; {'; '.join(problems)}", good=False, hint=hint)


def _guarded(name: str, check: Callable[[], Finding]) -> Iterator[Finding]:
    try:
        yield check()
    except RagError as error:
        yield Finding(name, error.message, good=False, hint=error.hint)


def _disk(settings: Settings) -> Finding:
    folder = settings.data
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        text = f"{folder} cannot be used: {existing} is {'not writable' if existing.is_dir() else 'no folder'}"
        return Finding("data folder", text, good=False, hint="RAG_DATA names another folder")
    free = shutil.disk_usage(existing).free
    text = f"{folder}, {free / 2**30:.1f} GiB free"
    if free < _LEAST_FREE:
        return Finding("data folder", text, good=False, hint="an ingest needs room; RAG_DATA names another folder")
    return Finding("data folder", text)


def _store(settings: Settings) -> Finding:
    if not settings.catalogue_path.exists():
        taken = "; rag rebuild --catalogue takes over what the Chroma server holds" if settings.chroma_url else ""
        return Finding("store", "empty", hint=f"rag ingest FILE adds papers{taken}")
    store = Store(settings)
    try:
        return describe(store.check())
    finally:
        store.close()


def _embedding(settings: Settings) -> Finding:
    embedder = Embedder(settings.embed_model, settings.embed_precision)
    started = time.monotonic()
    embedder.encode_question("does it work?")
    loaded = time.monotonic() - started
    return Finding("embedding", f"{embedder.name}, {embedder.precision}, loaded in {loaded:.1f} s")


def _models(settings: Settings) -> Finding:
    names = [name for name in list_models(settings) if name != EXTRACTIVE]
    asked = f"Ollama asked at {settings.ollama_url}"
    if not names:
        return Finding("models", f"none found ({asked}, no API key set); the extractive writer needs none")
    return Finding("models", f"{', '.join(names)} ({asked})")


def _model(settings: Settings) -> Finding:
    model = choose_model(settings)
    return Finding("writes with", f"{model.name}: {model.reason}")


def _verifier(settings: Settings) -> Finding:
    """Measures a model that has not been measured as a checker: the only thing a look at everything writes."""
    wanted = settings.verifier_llm or settings.llm
    model = choose_model(settings.model_copy(update={"llm": wanted}))
    verifier = make_verifier(settings, model)
    if not isinstance(verifier, Odds):
        words = "words, figures and names located in the abstracts"
        return Finding("checks with", words if verifier.name == "located" else f"{verifier.name}, after {words}")
    try:
        found = verifier.measure()
    except RagError as error:
        return Finding("checks with", f"words alone: {error.message}", good=settings.verifier == "auto")
    worth = found.worth if found else "it could not be measured"
    return Finding(
        "checks with", f"the odds of {verifier.model}: {worth}", good=settings.verifier == "auto" or _reads(found)
    )


def _reads(found: Calibration | None) -> bool:
    return found is not None and found.reads


def _versions() -> str:
    names = ["chromadb", "llama-index-core", "sentence-transformers", "torch", "gradio"]
    found = [f"{name} {_version(name)}" for name in names]
    return ", ".join([*found, f"SQLite {sqlite3.sqlite_version}", sys.platform])


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"
