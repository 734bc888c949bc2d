"""Settings: where a value comes from, and what is said of one that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.errors import SettingsError
from rag.settings import Settings, load_settings, origins, unknown


def test_order_of_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Environment before .env before rag.toml before the default."""
    (tmp_path / "rag.toml").write_text("top_k = 3\ncandidates = 33\ncontext = 3333\n")
    (tmp_path / ".env").write_text("RAG_TOP_K=4\nRAG_CANDIDATES=44\n")
    monkeypatch.setenv("RAG_TOP_K", "6")
    settings = load_settings()
    assert (settings.top_k, settings.candidates, settings.context, settings.answer_tokens) == (6, 44, 3333, 400)
    where = {origin.variable: origin.where for origin in origins(settings)}
    assert [where[f"RAG_{name}"] for name in ("TOP_K", "CANDIDATES", "CONTEXT", "ANSWER_TOKENS")] == [
        "environment", ".env", "rag.toml", "default",
    ]  # fmt: skip
    assert load_settings(top_k=7).top_k == 7
    assert load_settings(top_k=None).top_k == 6


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("RAG_TOP_K", "0", "RAG_TOP_K"),
        ("RAG_TOP_K", "five", "'five'"),
        ("RAG_EMBED_PRECISION", "fp8", "'fp32' or 'bf16'"),
        ("RAG_UNSUPPORTED", "hide", "'mark' or 'drop'"),
        ("RAG_CHROMA_COLLECTION", "ab", "at least 3"),
        ("RAG_CONTEXT", "10", "1024"),
    ],
)
def test_a_value_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as error:
        load_settings()
    assert name in error.value.message
    assert said in error.value.message
    assert "\n" not in error.value.message


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "rag.toml").write_text("top_k = = 3")
    with pytest.raises(SettingsError, match=r"rag\.toml cannot be read"):
        load_settings()


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        (":9000", "http://127.0.0.1:9000"),
        ("box", "http://box:11434"),
        ("http://box", "http://box:80"),
        ("https://box/", "https://box:443"),
        ("http://box:1/", "http://box:1"),
        ("[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_ollama_host_as_ollama_reads_it(monkeypatch: pytest.MonkeyPatch, host: str, url: str) -> None:
    monkeypatch.setenv("OLLAMA_HOST", host)
    assert load_settings().ollama_url == url


def test_secrets_are_masked_everywhere() -> None:
    settings = load_settings(llm_key="sk-hush-1", chroma_token="tok-hush-2")
    assert "hush" not in f"{settings!r}{origins(settings)}"


@pytest.mark.parametrize("name", ["chroma_url", "ollama_url", "llm_url"])
def test_a_login_within_an_address_is_masked(name: str) -> None:
    shown = {one.variable: one.value for one in origins(load_settings(**{name: "https://me:hush@host:1/a@b"}))}
    assert shown[f"RAG_{name.upper()}"] == "https://…@host:1/a@b"


def test_what_is_no_setting_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("RAG_LMM=extractive\nPATH_TO=x\n")
    (tmp_path / "rag.toml").write_text("top_k = 3\nquite_another = 2\n")
    monkeypatch.setenv("RAG_TOPK", "3")
    monkeypatch.setenv("RAG_TOP_K", "3")
    monkeypatch.setenv("RAG_AUTH", "ann:secret")
    assert list(unknown()) == [
        "RAG_LMM is no setting; RAG_LLM is",
        "RAG_QUITE_ANOTHER is no setting; rag config shows them all",
        "RAG_TOPK is no setting; RAG_TOP_K is",
    ]


def test_every_setting_is_described() -> None:
    assert [name for name, declared in Settings.model_fields.items() if not declared.description] == []
