"""Streams from real servers, those that answer and those that fail in every way a server can."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from llama_index.core.base.llms.types import CompletionResponse, CompletionResponseGen, LLMMetadata
from llama_index.core.llms import CustomLLM
from servers import OLLAMA_MODEL, FaultyServer, free_port

from rag.errors import ModelUnavailable
from rag.generation import streaming
from rag.generation.models import Message, Model
from rag.generation.providers import choose_model
from rag.generation.streaming import complete, stream
from rag.settings import load_settings

HELLO = [Message("system", "Be brief."), Message("user", "Name three colours.")]
PROTOCOLS = ["ollama", "openai-compatible", "openai", "anthropic", "google"]
Chooser = Callable[..., Model]


@pytest.fixture
def choose(faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> Chooser:
    """A model of the faulty server by protocol, with short time-outs."""
    monkeypatch.setenv("OPENAI_BASE_URL", f"{faulty.url}/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", faulty.url)
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", faulty.url)
    monkeypatch.setattr(streaming, "RETRY_DELAYS", (0.02, 0.05))
    names = {"openai": "gpt-4o-mini", "anthropic": "claude-haiku-4-5", "google": "gemini-2.5-flash"}

    def chosen(protocol: str, **values: Any) -> Model:
        short = {"first_token_seconds": 5, "between_tokens_seconds": 5, **values}
        return choose_model(
            load_settings(
                llm=f"{protocol}/{names.get(protocol, 'small')}",
                llm_key="sk-secret",
                llm_url=f"{faulty.url}/v1",
                ollama_url=faulty.url,
                **short,
            )
        )

    return chosen


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    yield
    deadline = time.monotonic() + 2
    while streams() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not streams()


def streams() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("stream ")]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_streams_and_counts(protocol: str, choose: Chooser) -> None:
    deltas = stream(choose(protocol), HELLO)
    assert list(deltas) == ["One ", "two ", "three."]
    assert (deltas.tokens_in, deltas.tokens_out) == (11, 3)
    assert not deltas.stopped


@pytest.mark.parametrize(
    ("protocol", "field"),
    [
        ("ollama", lambda body: body["options"]["num_predict"]),
        ("openai-compatible", lambda body: body["max_tokens"]),
        ("openai", lambda body: body["max_tokens"]),
        ("anthropic", lambda body: body["max_tokens"]),
        ("google", lambda body: body["generationConfig"]["maxOutputTokens"]),
    ],
)
def test_complete_bounds_the_answers_length(
    protocol: str, field: Callable[[Any], int], choose: Chooser, faulty: FaultyServer
) -> None:
    model = choose(protocol)
    assert complete(model, HELLO, max_tokens=7) == "One two three."
    assert field(faulty.calls[0][0]) == 7
    list(stream(model, HELLO))
    assert field(faulty.calls[1][0]) >= model.answer_tokens


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("step", "says"),
    [
        (401, "refused the API key"),
        (404, "model"),
        (429, "allows no more requests"),
        (500, "failed with 500: .*something went wrong"),
        (503, "overloaded"),
        ("reset", "closed the connection"),
        ("break", "broke off in mid-answer"),
        ("html", r"web page \(HTML\)|no chat answer"),
        ("rubbish", "no chat answer"),
        ("empty", "no chat answer"),
    ],
)
def test_every_fault_is_one_line_that_says_where(
    protocol: str, step: str | int, says: str, choose: Chooser, faulty: FaultyServer
) -> None:
    faulty.script = [step]
    with pytest.raises(ModelUnavailable, match=says) as caught:
        list(stream(choose(protocol), HELLO))
    assert faulty.url in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.hint
    assert "sk-secret" not in str(caught.value)


def test_ollama_says_in_mid_stream_what_went_wrong(choose: Chooser, faulty: FaultyServer) -> None:
    faulty.script, faulty.detail = ["error"], "model runner has unexpectedly stopped"
    with pytest.raises(ModelUnavailable, match="model runner has unexpectedly stopped"):
        list(stream(choose("ollama"), HELLO))


def test_an_ollama_answer_without_its_end_is_no_answer(choose: Chooser, faulty: FaultyServer) -> None:
    faulty.script = ["cut"]
    deltas = stream(choose("ollama"), HELLO)
    assert next(deltas) == "One "
    with pytest.raises(ModelUnavailable, match="mid-answer"):
        next(deltas)


def test_a_prompt_that_is_too_long_names_the_setting(choose: Chooser, faulty: FaultyServer) -> None:
    faulty.script, faulty.detail = [400], "the request exceeds the available context size"
    with pytest.raises(ModelUnavailable, match="too long") as caught:
        list(stream(choose("openai-compatible"), HELLO))
    assert "RAG_CONTEXT" in caught.value.hint


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("step", [429, 503])
def test_a_busy_server_is_asked_again(protocol: str, step: int, choose: Chooser, faulty: FaultyServer) -> None:
    faulty.script = [step, step, "words"]
    assert "".join(stream(choose(protocol), HELLO)) == "One two three."
    assert len(faulty.calls) == 3


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("step", [400, 401, 404, 500, "reset", "break", "html"])
def test_nothing_else_is_tried_twice(protocol: str, step: str | int, choose: Chooser, faulty: FaultyServer) -> None:
    faulty.script = [step, "words"]
    with pytest.raises(ModelUnavailable):
        list(stream(choose(protocol), HELLO))
    assert len(faulty.calls) == 1


def test_a_long_wait_is_reported_and_not_waited_for(choose: Chooser, faulty: FaultyServer) -> None:
    faulty.script, faulty.retry_after = [429, "words"], "120"
    with pytest.raises(ModelUnavailable) as caught:
        list(stream(choose("openai"), HELLO))
    assert "120 s" in caught.value.hint
    assert len(faulty.calls) == 1


def test_a_server_that_stopped_since_it_was_chosen(choose: Chooser, faulty: FaultyServer) -> None:
    model = choose("ollama")
    faulty.shutdown()
    faulty.server_close()
    with pytest.raises(ModelUnavailable, match="Ollama does not answer at") as caught:
        list(stream(model, HELLO))
    assert "ollama serve" in caught.value.hint


def test_an_address_where_nobody_listens(choose: Chooser) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}/v1"
    model = choose_model(load_settings(llm="openai-compatible/x", llm_url=nowhere))
    with pytest.raises(ModelUnavailable, match="Nothing answers at") as caught:
        list(stream(model, HELLO))
    assert "RAG_LLM_URL" in caught.value.hint


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("step", "says"), [("hang", "did not begin for 0.3 s"), ("pause", "paused in mid-answer for 0.3 s")]
)
def test_both_time_outs(protocol: str, step: str, says: str, choose: Chooser, faulty: FaultyServer) -> None:
    faulty.script = [step]
    model = choose(protocol, first_token_seconds=0.3 if step == "hang" else 5, between_tokens_seconds=0.3)
    deltas = stream(model, HELLO)
    before = time.monotonic()
    with pytest.raises(ModelUnavailable, match=says):
        list(deltas)
    assert time.monotonic() - before < 4
    assert faulty.hung_up.wait(1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("step", ["hang", "pause"])
def test_stop_hangs_up_at_once_whether_or_not_a_word_came(
    protocol: str, step: str, choose: Chooser, faulty: FaultyServer
) -> None:
    faulty.script = [step]
    stop = threading.Event()
    deltas = stream(choose(protocol), HELLO, stop=stop)
    got = [next(deltas)] if step == "pause" else []
    while not faulty.calls:
        time.sleep(0.01)
    before = time.monotonic()
    stop.set()
    got += deltas
    assert time.monotonic() - before < 0.3
    assert deltas.stopped
    assert got == (["One "] if step == "pause" else [])
    assert faulty.hung_up.wait(1)


def test_leaving_a_stream_hangs_up(choose: Chooser, faulty: FaultyServer) -> None:
    faulty.script = ["pause"]
    for word in stream(choose("ollama"), HELLO):
        assert word == "One "
        break
    assert faulty.hung_up.wait(1)


def test_after_a_stop_the_same_model_answers(choose: Chooser, faulty: FaultyServer) -> None:
    faulty.script = ["pause", "words"]
    model = choose("ollama")
    with stream(model, HELLO) as deltas:
        next(deltas)
    assert "".join(stream(model, HELLO)) == "One two three."


def test_stopping_one_stream_leaves_another_alone(choose: Chooser, faulty: FaultyServer) -> None:
    faulty.script = ["pause", "words"]
    model = choose("openai-compatible")
    first = stream(model, HELLO)
    assert next(first) == "One "
    second = stream(model, HELLO)
    assert next(second) == "One "
    first.close()
    assert list(second) == ["two ", "three."]


def test_stop_during_the_pause_before_another_try(
    choose: Chooser, faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "RETRY_DELAYS", (30.0,))
    monkeypatch.setattr(streaming, "_LONGEST_WAIT", 60.0)
    faulty.script = [503]
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    before = time.monotonic()
    assert list(stream(choose("ollama"), HELLO, stop=stop)) == []
    assert time.monotonic() - before < 3


def test_settings_override_the_time_outs(choose: Chooser, faulty: FaultyServer) -> None:
    faulty.script = ["hang"]
    with pytest.raises(ModelUnavailable, match=r"0\.2 s"):
        list(stream(choose("ollama"), HELLO, settings=load_settings(first_token_seconds=0.2)))


def test_any_llamaindex_model_streams() -> None:
    class Parrot(CustomLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata()

        def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
            return CompletionResponse(text="Polly")

        def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponseGen:
            for letter in "Polly":
                yield CompletionResponse(text="", delta=letter)

    model = Model("parrot/x", llm=Parrot())
    assert list(stream(model, HELLO)) == list("Polly")
    assert complete(model, HELLO, max_tokens=9) == "Polly"


def test_the_extractive_writer_cannot_be_streamed() -> None:
    with pytest.raises(ValueError, match="no language model"):
        stream(Model("extractive"), HELLO)


# ── a real model ──


@pytest.mark.model
def test_a_real_model_over_the_ollama_protocol(ollama: str) -> None:
    model = choose_model(load_settings(llm="auto", ollama_url=ollama))
    assert model.name == f"ollama/{OLLAMA_MODEL}"
    deltas = stream(model, HELLO)
    words = list(deltas)
    assert len(words) > 3
    assert any(colour in "".join(words).lower() for colour in ("red", "blue", "green", "yellow"))
    assert deltas.tokens_in > 10
    assert deltas.tokens_out >= len(words)


@pytest.mark.model
def test_a_real_model_over_the_openai_protocol(local_model: str) -> None:
    model = choose_model(load_settings(llm="openai-compatible/small", llm_url=local_model))
    stop = threading.Event()
    deltas = stream(model, [Message("user", "Count from 1 to 200.")], stop=stop)
    next(deltas)
    before = time.monotonic()
    stop.set()
    list(deltas)
    assert time.monotonic() - before < 0.5
    assert complete(model, [Message("user", "Say only: yes")], max_tokens=5).lower().startswith("yes")


@pytest.mark.model
def test_a_real_models_slow_first_token_is_waited_for_and_can_be_given_up(local_model: str) -> None:
    model = choose_model(load_settings(llm="openai-compatible/small", llm_url=local_model, first_token_seconds=0.2))
    with pytest.raises(ModelUnavailable, match="did not begin"):
        list(stream(model, [Message("user", "Name colours. " * 150)]))
