"""Fixtures: every test gets its own data folder; nothing here reaches beyond this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings as hypothesis_settings
from servers import faulty, local_model, ollama  # noqa: F401  (fixtures)

from rag.embedding import Embedder
from rag.engine import Engine
from rag.papers import Paper
from rag.readers import sources
from rag.settings import load_settings
from rag.store import Store

# `make test` tries the same examples every time; `make nightly` draws new ones. Machines are too uneven for deadlines.
hypothesis_settings.register_profile("same", derandomize=True, deadline=None, max_examples=60)
hypothesis_settings.register_profile("new", deadline=None, max_examples=500)
hypothesis_settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "rag" / "data" / "iclr2026_sample.jsonl"


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No RAG_* of the developer's, no key, no `.env`: the data folder is a temporary one."""
    for name in list(os.environ):
        if name.startswith("RAG_") and name != "RAG_SHARED":
            monkeypatch.delenv(name)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RAG_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("RAG_LLM", "extractive")
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    """The real packaged MiniLM, loaded once."""
    return Embedder()


@pytest.fixture(scope="session")
def sample_data(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Path:
    """A data folder with the 19 sample papers, embedded once. Read it only; `shutil.copytree` makes one to change."""
    folder = tmp_path_factory.mktemp("sample") / "data"
    store = Store(load_settings(data=folder, llm="extractive"), embedder)
    for source in sources([str(SAMPLE)]):
        store.sync(source.name, source.papers())
    store.close()
    return folder


@pytest.fixture
def sample_copy(sample_data: Path, tmp_path: Path) -> Path:
    """A copy of that folder, for a test to change."""
    return Path(shutil.copytree(sample_data, tmp_path / "sample"))


@pytest.fixture(scope="session")
def sample(sample_data: Path, embedder: Embedder) -> Iterator[Engine]:
    """An engine over the sample papers; the extractive writer unless a test names a model."""
    settings = load_settings(data=sample_data, llm="extractive")
    engine = Engine(Store(settings, embedder), settings)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def over(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[list[Paper], Any], Engine]]:
    """Makes an engine over some papers, with the extractive writer: `over(papers, embedder)`; closed by itself."""
    opened: list[Engine] = []

    def over(papers: list[Paper], embedder: Any) -> Engine:
        settings = load_settings(data=tmp_path_factory.mktemp("data"), llm="extractive")
        store = Store(settings, embedder)
        store.sync("list.bib", papers)
        opened.append(Engine(store, settings))
        return opened[-1]

    yield over
    for engine in opened:
        engine.close()


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder with real corpora and labelled claims; they are not part of the project."""
    folder = Path(os.environ.get("RAG_SHARED", ROOT.parent / "shared"))
    if not (folder / "corpora").is_dir():
        pytest.skip(f"real corpora are not here ({folder}); set RAG_SHARED to their folder")
    return folder
