"""A running app for a test, and Debian's Chromium to look at it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from running import App, Seen, Start, free_port
from standin import SAMPLE, Standin, sample_papers

from rag.embedding import Embedder
from rag.papers import Paper
from rag.settings import Settings
from rag.store import Store
from ui.app import serve

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return Embedder("minilm", "auto")


@pytest.fixture
def store(tmp_path: Path, embedder: Embedder) -> Iterator[Store]:
    """A store with the sample corpus."""
    settings = Settings(data=tmp_path / "data", llm="extractive")
    store = Store(settings, embedder)
    store.sync(str(SAMPLE), sample_papers())
    yield store
    store.close()


@pytest.fixture
def start(tmp_path: Path, embedder: Embedder) -> Iterator[Start]:
    """Starts apps: `start(papers=…, engine=…, auth=…, mcp=…)`; they end with the test."""
    running: list[App] = []

    def start(papers: list[Paper] | None = None, engine: Any = None, **options: Any) -> App:
        settings = options.pop("settings", None) or Settings(data=tmp_path / "data", llm="extractive")
        if engine is None:
            engine = Standin(papers)
            engine.store = Store(settings, embedder)
            if not engine.store.count():
                engine.store.sync(str(SAMPLE), list(engine.papers))
        port = options.pop("port", 0) or free_port()
        blocks = serve(settings, port=port, engine=engine, block=False, **options)
        running.append(App(f"http://127.0.0.1:{port}/", engine, settings, blocks))
        return running[-1]

    yield start
    for app in running:
        app.blocks.close(verbose=False)


@pytest.fixture
def app(start: Start) -> App:
    return start()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser; tests that want it are skipped where it is missing."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    if not CHROMIUM:
        pytest.skip("chromium is not here: apt-get install chromium, or set CHROMIUM to its path")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Opens pages, each in a browser profile of its own: `open_page(url, width=…, dark=…)`.

    The page's `seen` has the hosts it asked and the errors it met; `context` may be given to share a profile.
    """
    contexts: list[Any] = []

    def open_page(url: str, *, width: int = 1280, height: int = 800, dark: bool = False, context: Any = None) -> Any:
        if context is None:
            context = chromium.new_context(
                viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
            )
            context.set_default_timeout(15_000)
            contexts.append(context)
        page = context.new_page()
        page.seen = Seen(set(), [])
        page.on(
            "request", lambda request: page.seen.hosts.add(request.url.split("/")[2] if "//" in request.url else "")
        )
        page.on("pageerror", lambda error: page.seen.errors.append(str(error)))
        page.on("console", lambda said: page.seen.errors.append(said.text) if said.type == "error" else None)
        page.on("dialog", lambda dialog: (page.seen.errors.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.goto(url)
        page.wait_for_selector("#question textarea")
        return page

    yield open_page
    for context in contexts:
        context.close()
