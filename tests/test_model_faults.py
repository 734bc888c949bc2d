"""A model's server that fails in mid-use: the question ends in one line, in time, and the next one is answered."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from encoders import HashEmbedder
from servers import FaultyServer
from test_store import TEN, abstract

from rag.answer import Reason
from rag.engine import Engine
from rag.generation import streaming
from rag.settings import load_settings
from rag.store import Store

QUESTION = "What is Topic3 about?"
PATIENCE, SECONDS = 20.0, 1.5  # of both time-outs, where a fault needs none and where it does
WAITS = ("hang", "pause", "blanks")
FAULTS: list[tuple[str | int, int]] = [  # what happens, and how many calls it may cost
    (401, 1),
    (404, 1),
    (429, 3),
    (500, 1),
    (503, 3),
    ("hang", 1),
    ("pause", 1),
    ("reset", 1),
    ("break", 1),
    ("html", 1),
    ("rubbish", 1),
    ("garble", 1),
    ("empty", 1),
    ("blanks", 1),
    ("endless", 1),
]


@pytest.fixture(params=["ollama", "openai-compatible"])
def engine(request: pytest.FixtureRequest, faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setattr(streaming, "RETRY_DELAYS", (0.02, 0.05))
    monkeypatch.setattr(streaming, "_LONGEST", 20_000)
    faulty.words = [f"{abstract(3)[:-1]} ", "[1]."]
    settings = load_settings(
        llm=f"{request.param}/small",
        llm_url=f"{faulty.url}/v1",
        ollama_url=faulty.url,
        first_token_seconds=PATIENCE,
        between_tokens_seconds=PATIENCE,
    )
    store = Store(settings, HashEmbedder())
    store.sync("list", TEN)
    engine = Engine(store, settings)
    assert engine.ask(QUESTION).citations[0].quote == abstract(3)
    faulty.calls.clear()
    yield engine
    engine.close()


@pytest.mark.parametrize(("fault", "calls"), FAULTS)
def test_the_question_ends_in_a_line_and_the_next_is_answered(
    engine: Engine, faulty: FaultyServer, fault: str | int, calls: int
) -> None:
    if fault in WAITS:
        limits = {"first_token_seconds": SECONDS, "between_tokens_seconds": SECONDS}
        engine = Engine(engine.store, engine.settings.model_copy(update=limits))
    faulty.script = [fault]
    before = time.monotonic()
    refusal = engine.ask(QUESTION).refusal
    assert time.monotonic() - before < PATIENCE, "it ended by itself"
    assert refusal and refusal.reason is Reason.MODEL_UNAVAILABLE
    assert "\n" not in refusal.message
    assert "Traceback" not in refusal.message
    assert refusal.hint
    assert len(faulty.calls) == calls
    faulty.script = ["words"]
    assert engine.ask(QUESTION).citations[0].quote == abstract(3)


def test_a_server_that_goes_away_and_comes_back(engine: Engine, faulty: FaultyServer) -> None:
    port = faulty.server_address[1]
    faulty.shutdown()
    faulty.server_close()
    refusal = engine.ask(QUESTION).refusal
    assert refusal and str(port) in refusal.message
    back = FaultyServer(int(port))
    back.words = faulty.words
    thread = threading.Thread(target=back.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        assert engine.ask(QUESTION).citations[0].quote == abstract(3)
    finally:
        back.closing.set()
        back.shutdown()
        back.server_close()
        thread.join(5)
