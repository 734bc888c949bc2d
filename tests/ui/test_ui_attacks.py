"""Every address of a running app, tried by who has no password, by who wants another file, and by who wants the app
to fetch something."""

from __future__ import annotations

import io
import json
import re
import socket
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio_client import Client
from running import App, Start

from rag.embedding import Embedder
from rag.engine import Engine
from rag.settings import Settings
from rag.store import Store

TITLE = "A title that only those with a password may see"
ABSTRACT = "Marmots whistle at hawks in 93 % of encounters, whatever the weather."
# What the page of the login needs, and what says nothing of the library.
OPEN = {
    "/", "/healthz", "/theme.css", "/gradio_api/theme.css", "/favicon.ico", "/robots.txt", "/manifest.json",
    "/openapi.json", "/gradio_api/app_id", "/gradio_api/startup-events", "/gradio_api/token", "/gradio_api/user",
    "/logout", "/gradio_api/cancel", "/gradio_api/reset",
}  # fmt: skip


def routes(app: App) -> list[tuple[str, str]]:
    """Method and path of all that the server answers to, streams without an end left out."""

    def within(found: Any) -> Iterator[tuple[str, str]]:
        for route in found:
            inner = getattr(route, "routes", None) or getattr(getattr(route, "original_router", None), "routes", None)
            if inner:
                yield from within(inner)
            else:
                for method in sorted(getattr(route, "methods", None) or ()):
                    yield method, str(route.path)

    found = set(within(app.blocks.app.routes))
    assert len(found) > 60
    assert ("POST", "/gradio_api/queue/join") in found
    return sorted((method, path) for method, path in found if "heartbeat" not in path)


@pytest.fixture
def library(start: Start, tmp_path: Path, embedder: Embedder) -> Any:
    """Starts an app whose one paper is recognised wherever it comes out."""

    def begin(**options: Any) -> App:
        settings = Settings(data=tmp_path / "library", llm="extractive")
        store = Store(settings, embedder)
        file = tmp_path / "list.csv"
        file.write_text(f'title,abstract\n"{TITLE}","{ABSTRACT}"\n', encoding="utf-8")
        from rag.readers import sources

        for source in sources([str(file)]):
            store.sync(source.name, source.papers())
        return start(engine=Engine(store, settings), settings=settings, **options)

    return begin


def test_with_a_password_every_address_is_shut_or_says_nothing(library: Any) -> None:
    app = library(auth=("ann", "secret"))
    with httpx.Client(base_url=app.url, timeout=20) as browser:
        for method, path in routes(app):
            url = re.sub(r"\{\w+(:path)?\}", "ask", path)
            body = {"data": ["How do marmots whistle?"], "session_hash": "x", "event_id": "x", "fn_index": 0}
            answer = browser.request(method, url, json=body if method == "POST" else None)
            if answer.status_code < 400:
                assert path.rstrip("/") in {one.rstrip("/") for one in OPEN}, f"{method} {path} is open"
            for secret in (TITLE, "Marmots", str(app.settings.data)):
                assert secret not in answer.text, f"{method} {path}"
        wrong = browser.post("/login", data={"username": "ann", "password": "guess"})
        assert wrong.status_code == 400
        assert browser.get("/config").status_code == 401
    client = Client(app.url, auth=("ann", "secret"), verbose=False)
    assert "93 %" in client.predict("How often do marmots whistle at hawks?", api_name="/ask")["text"]


UP = ["../" * 12, "..%2f" * 12, "%2e%2e/" * 12, "....//" * 12, "..\\" * 12, "/", "%00/", "file:///"]


def test_no_address_gives_a_file_of_the_machine(library: Any, tmp_path: Path) -> None:
    app = library()
    (tmp_path / "outside.txt").write_text("what nobody may read", encoding="utf-8")
    wanted = [tmp_path / "outside.txt", app.settings.catalogue_path, Path("/etc/passwd")]
    tried = 0
    with httpx.Client(base_url=app.url, timeout=5) as browser:
        for method, path in routes(app):
            if "{" not in path or method == "HEAD":
                continue
            for up in UP:
                for file in wanted:
                    url = re.sub(r"\{\w+(:path)?\}", lambda _, to=f"{up}{str(file)[1:]}": to, path)
                    tried += 1
                    try:
                        answer = browser.request(method, url, json={} if method == "POST" else None)
                    except httpx.TransportError:  # a stream of events that nobody sends, or an address that is none
                        continue
                    for secret in (b"what nobody may read", b"SQLite format 3", b"root:x:0:0"):
                        assert secret not in answer.content, f"{method} {url}"
    assert tried > 300


def file_data(path: str, **more: str) -> dict[str, Any]:
    """What the page sends for an uploaded file; here it names another one."""
    return {"path": path, "orig_name": "x.csv", "meta": {"_type": "gradio.FileData"}, **more}


def called(app: App, function: int, data: list[Any]) -> str:
    """The events of one call of one of the app's functions, as the page makes it."""
    session = f"s{function}"
    with httpx.Client(base_url=app.url, timeout=30) as browser:
        body = {"data": data, "fn_index": function, "session_hash": session, "trigger_id": None, "event_data": None}
        joined = browser.post("/gradio_api/queue/join", json=body)
        if joined.status_code != 200:
            return joined.text
        said, deadline = "", time.monotonic() + 5
        with browser.stream("GET", "/gradio_api/queue/data", params={"session_hash": session}) as events:
            for line in events.iter_lines():
                said += line
                ended = any(word in line for word in ("process_completed", "close_stream", "unexpected_error"))
                if ended or time.monotonic() > deadline:
                    break
        return said


def functions(app: App) -> list[tuple[int, int]]:
    """Number and count of inputs of each function that takes input from the page."""
    config = httpx.get(f"{app.url}config").json()
    return [(one["id"], len(one["inputs"])) for one in config["dependencies"] if one["inputs"] and one["backend_fn"]]


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hosts whose names are looked up, other than this machine."""
    names: list[str] = []
    original = socket.getaddrinfo

    def lookup(host: Any, *rest: Any, **options: Any) -> Any:
        if host not in (None, "localhost", "127.0.0.1", "::1", b"127.0.0.1"):
            names.append(str(host))
            raise socket.gaierror("no network in this test")
        return original(host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    # Gradio's client, which asks here, would greet the hub. That the app does not is shown by tests/test_offline.py.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    return names


def test_no_call_makes_the_app_fetch_an_address(library: Any, looked_up: list[str]) -> None:
    app = library()
    with pytest.raises(socket.gaierror):  # what is watched is really what would be asked
        socket.getaddrinfo("watched.example", 80)
    looked_up.clear()
    refused = 0
    for function, inputs in functions(app):
        for files in (file_data("http://evil.example/list.csv"), [file_data("https://evil.example/list.csv")]):
            refused += "not fetched" in called(app, function, [files] * inputs)
    bad = file_data("x.csv", url="http://evil.example/list.csv")
    for route in ("ask", "search", "paper"):
        for data in ([file_data("http://evil.example/x")], [bad]):
            posted = httpx.post(f"{app.url}gradio_api/call/{route}", json={"data": data})
            if posted.status_code == 200:
                event = posted.json()["event_id"]
                httpx.get(f"{app.url}gradio_api/call/{route}/{event}", timeout=30)
    assert refused > 5
    assert looked_up == []


def test_an_address_in_a_question_or_a_paper_is_not_fetched(library: Any, tmp_path: Path, looked_up: list[str]) -> None:
    app = library()
    listed = tmp_path / "links.csv"
    rows = "Links,http://evil.example/p.pdf,See http://evil.example/data.zip for the whistles of 12 marmots."
    listed.write_text(f"title,url,abstract\n{rows}\n", encoding="utf-8")
    from rag.readers import sources

    for source in sources([str(listed)]):
        app.engine.store.sync(source.name, source.papers())
    client = Client(app.url, verbose=False)
    for question in ("http://evil.example/whistles of marmots?", "Where is the data of 12 marmots' whistles?"):
        client.predict(question, api_name="/ask")
        client.predict(question, api_name="/search")
    assert looked_up == []


def test_no_call_reads_a_file_of_the_machine(library: Any, tmp_path: Path) -> None:
    app = library()
    outside = tmp_path / "outside.csv"
    outside.write_text("title,abstract\nStolen,What nobody may read is in this abstract of 12 words at least.\n")
    for function, inputs in functions(app):
        for files in (file_data(str(outside)), [file_data(str(outside))]):
            assert "nobody may read" not in called(app, function, [files] * inputs)
    for route in ("ask", "search", "paper"):
        httpx.post(f"{app.url}gradio_api/call/{route}", json={"data": [file_data(str(outside))]})
    assert outside.exists()
    assert app.engine.store.count() == 1


def test_a_bomb_that_is_uploaded_is_refused_and_the_app_goes_on(start: Start, store: Store, tmp_path: Path) -> None:
    from ui.uploads import Outcome, ingest

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"title,abstract\n" + b"x" * (64 * 2**20))
    bomb = tmp_path / "bomb.zip"
    bomb.write_bytes(packed.getvalue())
    before = store.count()
    *_, last = ingest(store, bomb, "bomb.zip", tmp_path / "uploads")
    assert isinstance(last, Outcome)
    assert last.error is not None
    assert "expands to more than" in last.error.message
    assert str(tmp_path) not in str(last.error)
    assert store.count() == before
    assert not list((tmp_path / "uploads").iterdir())
    assert start(engine=Engine(store, store.settings), settings=store.settings).url


def test_the_login_is_not_in_the_page(library: Any) -> None:
    app = library(auth=("ann", "a-password-of-ours"))
    page = httpx.get(app.url).text
    assert "a-password-of-ours" not in page
    assert json.dumps("ann") not in page
