"""Which model is chosen and why, and what is said when it cannot be."""

from __future__ import annotations

import time
from typing import Any

import pytest
from servers import FaultyServer, free_port

from rag.errors import ModelUnavailable, SettingsError
from rag.generation import providers
from rag.generation.models import Message, is_loopback
from rag.generation.providers import choose_model, list_models, stream
from rag.settings import Settings, load_settings

NOWHERE = f"http://127.0.0.1:{free_port()}"
HELLO = [Message("user", "Hello")]


def settings(**values: Any) -> Settings:
    return load_settings(**{"llm": "auto", "ollama_url": NOWHERE, **values})


def test_extractive_needs_nothing() -> None:
    model = choose_model(settings(llm="extractive"))
    assert (model.name, model.llm) == ("extractive", None)
    assert "RAG_LLM=extractive" in model.reason


@pytest.mark.parametrize("llm", ["llama3", "ollama/", "/x", "azure/gpt", "openai"])
def test_a_name_that_is_none_is_refused_with_those_that_are(llm: str) -> None:
    with pytest.raises(SettingsError, match=r"ollama/NAME"):
        choose_model(settings(llm=llm))


# ── auto ──


def test_auto_takes_ollamas_first_chat_model(faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    faulty.models = {
        "nomic-embed-text:latest": {"capabilities": ["embedding"]},
        "llama3.2:latest": {"capabilities": ["completion", "tools"]},
        "qwen3:4b": {"capabilities": ["completion", "thinking"]},
    }
    model = choose_model(settings(ollama_url=faulty.url))
    assert model.name == "ollama/llama3.2:latest"
    assert model.reason == (
        f"Ollama answers at {faulty.url} and has llama3.2:latest, the most recent of its 2 chat models"
    )


def test_auto_knows_embedding_models_of_an_old_ollama(faulty: FaultyServer) -> None:
    faulty.models = {"all-minilm:latest": {"details": {"family": "bert"}}}
    model = choose_model(settings(ollama_url=faulty.url))
    assert model.name == "extractive"
    assert "has no chat model" in model.reason
    assert "ollama pull" in model.reason


@pytest.mark.parametrize(
    ("variables", "key", "name"),
    [
        ({"OPENAI_API_KEY": "sk-x"}, "", "openai/"),
        ({"ANTHROPIC_API_KEY": "sk-ant-x"}, "", "anthropic/"),
        ({"GOOGLE_API_KEY": "AIzax"}, "", "google/"),
        ({"GEMINI_API_KEY": "AIzax"}, "", "google/"),
        ({}, "sk-ant-x", "anthropic/"),
        ({}, "AIzax", "google/"),
        ({}, "sk-x", "openai/"),
        ({}, "", "extractive"),
    ],
)
def test_auto_without_ollama_takes_the_model_whose_key_is_set(
    variables: dict[str, str], key: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    model = choose_model(settings(llm_key=key))
    assert model.name.startswith(name)
    assert f"Ollama does not answer at {NOWHERE}" in model.reason


def test_auto_says_which_package_a_key_would_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-x")
    monkeypatch.setitem(providers._MODULES, "anthropic", "llama_index.llms.not_installed")
    model = choose_model(settings())
    assert model.name == "extractive"
    assert "pip install 'askabstracts[hosted]'" in model.reason


@pytest.mark.parametrize("step", ["hang", "html", "rubbish"])
def test_auto_is_not_held_up_by_something_else_on_the_port(
    step: str, faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler: Any = faulty.RequestHandlerClass
    monkeypatch.setattr(handler, "do_GET", getattr(handler, f"_{step}"))
    before = time.monotonic()
    assert choose_model(settings(ollama_url=faulty.url)).name == "extractive"
    assert time.monotonic() - before < 1.5


# ── by name ──


def test_ollama_is_asked_for_the_window_and_length_that_are_set(faulty: FaultyServer) -> None:
    model = choose_model(
        settings(llm="ollama/small", ollama_url=faulty.url, context=4096, answer_tokens=99, temperature=0.25)
    )
    assert "".join(stream(model, HELLO)) == "One two three."
    body = faulty.calls[0][0]
    assert body["options"] == {"num_ctx": 4096, "num_predict": 99, "temperature": 0.25}
    assert body["model"] == "small"
    assert body.get("keep_alive") is None  # the server's own default
    assert "think" not in body


def test_a_models_own_smaller_window_is_respected(faulty: FaultyServer) -> None:
    faulty.models["small:latest"]["model_info"] = {"general.architecture": "x", "x.context_length": 2048}
    model = choose_model(settings(llm="ollama/small", ollama_url=faulty.url, context=8192))
    assert model.context == 2048


def test_thinking_is_switched_off_where_the_model_can(faulty: FaultyServer) -> None:
    faulty.models["small:latest"]["capabilities"] = ["completion", "thinking"]
    list(stream(choose_model(settings(llm="ollama/small", ollama_url=faulty.url)), HELLO))
    assert faulty.calls[0][0]["think"] is False


def test_ollama_that_is_not_running() -> None:
    with pytest.raises(ModelUnavailable) as caught:
        choose_model(settings(llm="ollama/llama3.2"))
    assert NOWHERE in caught.value.message
    assert "\n" not in caught.value.message
    assert "ollama serve" in caught.value.hint
    assert caught.value.exit_code == 3


def test_a_model_that_is_not_pulled(faulty: FaultyServer) -> None:
    faulty.models = {"llama3.2:latest": {}, "qwen3:4b": {}}
    with pytest.raises(ModelUnavailable) as caught:
        choose_model(settings(llm="ollama/mistral", ollama_url=faulty.url))
    assert caught.value.message == (
        f"Ollama at {faulty.url} has no model mistral; there are: llama3.2:latest, qwen3:4b"
    )
    assert "`ollama pull mistral`" in caught.value.hint


@pytest.mark.parametrize(
    ("llm", "variable"),
    [
        ("openai/gpt-4o", "OPENAI_API_KEY"),
        ("anthropic/claude", "ANTHROPIC_API_KEY"),
        ("google/gemini", "GOOGLE_API_KEY"),
    ],
)
def test_a_hosted_model_without_a_key(llm: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    with pytest.raises(ModelUnavailable) as caught:
        choose_model(settings(llm=llm))
    assert variable in caught.value.hint
    assert "RAG_LLM_KEY" in caught.value.hint


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google", "openai-compatible"])
def test_a_hosted_model_whose_package_is_missing(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(providers._MODULES, provider, "llama_index.llms.not_installed")
    with pytest.raises(ModelUnavailable, match=r"pip install 'askabstracts\[hosted\]'"):
        choose_model(settings(llm=f"{provider}/x", llm_key="k", llm_url=NOWHERE))


def test_an_openai_compatible_server_needs_its_address() -> None:
    with pytest.raises(SettingsError, match="RAG_LLM_URL"):
        choose_model(settings(llm="openai-compatible/x"))


def test_a_key_for_one_provider_is_not_sent_to_another(faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    model = choose_model(settings(llm="openai-compatible/x", llm_url=f"{faulty.url}/v1"))
    list(stream(model, HELLO))
    assert "sk-secret" not in str(faulty.calls[0][1])
    assert "sk-secret" not in repr(model)


def test_a_model_newer_than_the_librarys_list_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    assert choose_model(settings(llm="openai/gpt-99-nano")).name == "openai/gpt-99-nano"


# ── lists and proxies ──


def test_the_list_of_models_for_the_drawer(faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-x")
    faulty.models = {"embed:latest": {"capabilities": ["embedding"]}, "llama3.2:latest": {}}
    names = list_models(settings(llm="openai-compatible/mine", ollama_url=faulty.url))
    assert names == ["ollama/llama3.2:latest", "anthropic/claude-haiku-4-5", "openai-compatible/mine", "extractive"]
    assert list_models(settings())[-1] == "extractive"


def test_this_machine_is_not_reached_through_a_proxy(faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(variable, NOWHERE)
    assert choose_model(settings(ollama_url=faulty.url)).name == "ollama/small:latest"
    for llm in ("ollama/small", "openai-compatible/x"):
        model = choose_model(settings(llm=llm, ollama_url=faulty.url, llm_url=f"{faulty.url}/v1"))
        assert "".join(stream(model, HELLO)) == "One two three."


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:11434", True),
        ("http://127.0.1.1", True),
        ("http://localhost:8080/v1", True),
        ("http://[::1]:11434", True),
        ("http://0.0.0.0:11434", True),
        ("http://192.168.1.5:11434", False),
        ("https://api.openai.com/v1", False),
        ("http://localhost.example.org", False),
    ],
)
def test_which_addresses_are_on_this_machine(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected
