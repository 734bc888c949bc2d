"""The conversation in the terminal."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from rag.chat import converse
from rag.embedding import Embedder
from rag.engine import Engine
from rag.settings import load_settings
from rag.store import Store


@pytest.fixture
def talk(sample_copy: Path, embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """What a conversation of these lines prints; it has to end by itself."""

    def printed(*lines: str) -> str:
        left = list(lines)
        monkeypatch.setattr("builtins.input", lambda _prompt: left.pop(0))
        settings = load_settings(data=sample_copy, llm="extractive")
        engine, shown = Engine(Store(settings, embedder), settings), io.StringIO()
        converse(engine, Console(file=shown, width=200), {})
        engine.close()
        assert not left
        return shown.getvalue()

    return printed


@pytest.mark.parametrize("word", ["/quit", "/q", "/exit", "exit", "quit", "Exit", "QUIT"])
def test_it_ends_when_it_is_told_to(talk: Callable[..., str], word: str) -> None:
    assert "not in these abstracts" not in talk(word)


def test_a_question_that_is_refused_stays_what_is_talked_about(talk: Callable[..., str]) -> None:
    shown = talk("How many GPUs did TNT need?", "How fast is it?", "/quit")
    assert "17×" in shown
    assert "How fast is it? (TNT)" in shown


def test_new_forgets(talk: Callable[..., str]) -> None:
    assert "17×" not in talk("How fast is TNT?", "/new", "Tell me more", "/quit").rpartition("forgotten")[2]
