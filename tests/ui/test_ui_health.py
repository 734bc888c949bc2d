"""`/healthz` of a running app: what it says when all is well, and when a part that it asks is not."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from running import Start

from rag.embedding import Embedder
from rag.engine import Engine
from rag.errors import EmbeddingUnavailable
from rag.settings import Settings
from rag.store import Store
from ui.health import Heart


@pytest.fixture
def engine(store: Store) -> Iterator[Engine]:
    """The real engine over the sample papers."""
    yield Engine(store, store.settings)


def ask(url: str) -> httpx.Response:
    return httpx.get(f"{url}healthz", timeout=30)


def test_a_healthy_app_says_so_and_nothing_else(start: Start, engine: Engine) -> None:
    app = start(engine=engine, settings=engine.settings)
    answer = ask(app.url)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    said = answer.json()
    assert said["status"] == "ok"
    assert sorted(said) == ["seconds", "status"]
    assert httpx.head(f"{app.url}healthz").status_code == 200
    assert httpx.post(f"{app.url}healthz").status_code >= 400


def test_it_needs_no_login_and_opens_nothing_else(start: Start, engine: Engine) -> None:
    app = start(engine=engine, settings=engine.settings, auth=("ann", "secret"))
    assert ask(app.url).json()["status"] == "ok"
    for path in ("healthz/", "healthz/config", "healthz/../config", "healthz%2f..%2fconfig"):
        answer = httpx.get(f"{app.url}{path}")
        assert answer.status_code in (401, 404) or "Login" in answer.text
        assert "dependencies" not in answer.text


def test_a_store_of_another_model_is_unavailable_without_its_path(start: Start, store: Store) -> None:
    store.catalogue.set_meta("fingerprint", "another/3/abc")
    store.catalogue.count_change()
    settings = store.settings
    answer = ask(start(engine=lambda: Engine.open(settings), settings=settings).url)
    assert answer.status_code == 503
    assert "another embedding model" in answer.json()["reason"]
    assert str(settings.data) not in answer.text


def test_a_broken_catalogue_is_unavailable(start: Start, tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "broken", llm="extractive")
    settings.data.mkdir()
    settings.catalogue_path.write_bytes(b"this is no database, whatever its name says" * 100)
    answer = ask(start(engine=lambda: Engine.open(settings), settings=settings).url)
    assert answer.status_code == 503
    assert answer.json()["status"] == "unavailable"
    assert "\n" not in answer.json()["reason"]
    assert "broken" not in answer.json()["reason"]
    assert str(tmp_path) not in answer.text


def test_passages_that_are_gone_are_noticed_while_it_runs(
    start: Start, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.health.REMEMBERED", 0.0)
    app = start(engine=engine, settings=engine.settings)
    assert ask(app.url).status_code == 200
    gone = list(engine.store.collection.ids())
    engine.store.collection.delete(gone[:1])
    broken = ask(app.url)
    assert (broken.status_code, broken.json()["reason"]) == (503, "the store is damaged")
    engine.store.repair()
    assert ask(app.url).status_code == 200


def test_a_catalogue_that_is_taken_away_is_noticed(
    start: Start, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.health.REMEMBERED", 0.0)
    app = start(engine=engine, settings=engine.settings)
    assert ask(app.url).status_code == 200
    with sqlite3.connect(engine.settings.catalogue_path) as database:
        database.execute("DROP TABLE meta")
    assert ask(app.url).status_code == 503


def test_an_embedding_model_that_cannot_be_loaded_is_told(start: Start, store: Store) -> None:
    class Missing(Embedder):
        def load_for_questions(self) -> None:
            raise EmbeddingUnavailable("the model in /somewhere/secret cannot be read")

    engine = Engine(Store(store.settings, Missing()), store.settings)
    answer = ask(start(engine=engine, settings=store.settings).url)
    assert (answer.status_code, answer.json()["reason"]) == (503, "the embedding model cannot be loaded")


def test_an_empty_library_is_healthy(start: Start, tmp_path: Path, embedder: Embedder) -> None:
    settings = Settings(data=tmp_path / "empty", llm="extractive")
    engine = Engine(Store(settings, embedder), settings)
    assert ask(start(engine=engine, settings=settings).url).status_code == 200


def test_who_waits_for_an_engine_that_is_still_opening_is_told(
    start: Start, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.health.PATIENCE", 0.2)
    opened = threading.Event()

    def slow() -> Engine:
        opened.wait(30)
        return engine

    app = start(engine=slow, settings=engine.settings)
    answer = ask(app.url)
    assert (answer.status_code, answer.json()["reason"]) == (503, "no answer within 0.2 s")
    assert httpx.get(app.url).status_code == 200  # the page is there meanwhile
    opened.set()
    deadline = time.monotonic() + 30
    while ask(app.url).status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_many_who_ask_at_once_cost_one_look() -> None:
    looks = []
    go_on = threading.Event()

    def look() -> None:
        looks.append(1)
        go_on.wait(10)

    heart = Heart(look)
    asked = [heart.ask() for _ in range(50)]
    go_on.set()
    assert all(one.result(10).well for one in asked)
    assert heart.ask().result(10).well
    assert len(looks) == 1
