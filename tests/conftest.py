"""Fixtures: every test gets its own data folder; nothing here reaches beyond this machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from servers import faulty, local_model, ollama  # noqa: F401  (fixtures)

ROOT = Path(__file__).parents[1]


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
def shared() -> Path:
    """Folder with real corpora and labelled claims; they are not part of the project."""
    folder = Path(os.environ.get("RAG_SHARED", ROOT.parent / "shared"))
    if not (folder / "corpora").is_dir():
        pytest.skip(f"real corpora are not here ({folder}); set RAG_SHARED to their folder")
    return folder
