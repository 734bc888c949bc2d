"""Pictures of the page in both widths and themes. SCREENSHOTS=docs/images keeps them for the documentation."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from running import Start
from standin import sample_papers

from rag.embedding import Embedder
from rag.engine import Engine
from rag.settings import Settings
from rag.store import Store

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]
QUESTIONS = (
    "By what factor does TNT speed up training, and by what factor does EF21-Muon cut communication?",
    "How do language models and people trade compression for meaning?",
)
DONE = "article.turn:not(.live) .status"


@pytest.mark.parametrize(
    "dark", [pytest.param(False, id="light"), pytest.param(True, id="dark", marks=pytest.mark.nightly)]
)
@pytest.mark.parametrize("width", [390, 1280])
def test_pictures(
    start: Start, open_page: Callable[..., Any], tmp_path: Path, embedder: Embedder, width: int, dark: bool
) -> None:
    settings = Settings(data=tmp_path / "data", llm="extractive")
    store = Store(settings, embedder)
    store.sync("iclr2026_sample.jsonl", sample_papers())
    height = 844 if width == 390 else 800
    page = open_page(
        start(engine=Engine(store, settings), settings=settings).url, width=width, height=height, dark=dark
    )
    page.wait_for_selector(".example")
    for number, question in enumerate(QUESTIONS[-1:] if width == 390 else QUESTIONS):
        page.fill("#question textarea", question)
        page.keyboard.press("Enter")
        page.wait_for_function(f"document.querySelectorAll('{DONE}').length > {number}", timeout=60_000)
    names = {"answer": take(page, tmp_path, f"answer-{width}-{'dark' if dark else 'light'}")}
    page.locator("article.turn").last.locator(".cite").last.click()
    page.wait_for_selector(".panel mark.on")
    page.wait_for_timeout(700)
    page.mouse.move(5, 5)
    names["evidence"] = take(page, tmp_path, f"evidence-{width}-{'dark' if dark else 'light'}")
    if width == 390:
        page.click(".close-sheet")
        page.wait_for_timeout(300)
    page.get_by_role("tab", name="Library").click()
    page.locator(".row-open").nth(2).click()
    page.wait_for_selector("#paper .abstract")
    page.wait_for_timeout(300)
    names["library"] = take(page, tmp_path, f"library-{width}-{'dark' if dark else 'light'}")
    assert len({path.read_bytes() for path in names.values()}) == 3
    for path in names.values():
        assert struct.unpack(">II", path.read_bytes()[16:24]) == (width, height)


def take(page: Any, folder: Path, name: str) -> Path:
    kept = None if name.startswith("answer-1280") else os.environ.get("SCREENSHOTS")  # the evidence shows the same
    target = (ROOT / kept if kept else folder) / f"{name}.png"
    target.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(target))
    return target
