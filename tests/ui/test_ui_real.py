"""The page over the real engine and its extractive writer, on the sample corpus."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from running import Start
from standin import SAMPLE, sample_papers

from rag.embedding import Embedder
from rag.engine import Engine
from rag.markup import plain_text
from rag.settings import Settings
from rag.store import Store

pytestmark = pytest.mark.browser
Open = Callable[..., Any]
DONE = "article.turn:not(.live) .status"


@pytest.fixture
def page(start: Start, open_page: Open, tmp_path: Path, embedder: Embedder) -> Any:
    settings = Settings(data=tmp_path / "data", llm="extractive")
    store = Store(settings, embedder)
    store.sync(str(SAMPLE), sample_papers())
    app = start(engine=Engine(store, settings), settings=settings)
    page = open_page(app.url)
    page.app = app
    return page


def ask(page: Any, question: str) -> None:
    before = page.locator(DONE).count()
    page.fill("#question textarea", question)
    page.keyboard.press("Enter")
    page.wait_for_function(f"document.querySelectorAll({json.dumps(DONE)}).length > {before}", timeout=60_000)


def test_ask_click_and_see_the_quoted_sentence(page: Any) -> None:
    ask(page, "By how much does TNT speed up training?")
    assert "17" in page.locator(".answer").inner_text()
    kept = page.app.engine.ask("By how much does TNT speed up training?")
    for citation in kept.citations:
        paper = page.app.engine.paper(citation.paper_id)
        assert paper.abstract[citation.start : citation.end] == citation.quote
    page.locator(".cite").first.click()
    page.wait_for_selector(".panel mark.on")
    assert "".join(page.locator(".panel mark.on").all_inner_texts()) == plain_text(kept.citations[0].quote)
    assert "located in" in page.locator(".status").inner_text()


def test_refusals_greetings_and_filters(page: Any) -> None:
    ask(page, "What is the capital of Peru?")
    ask(page, "hello")
    page.click("[data-drawer=settings]")
    page.locator("#drawer-settings").get_by_label("Year").fill("1850")
    page.keyboard.press("Escape")
    page.wait_for_timeout(500)
    ask(page, "What is TNT?")
    reasons = [node.get_attribute("data-reason") for node in page.locator(".refusal").all()]
    assert reasons == ["not in these abstracts", "no question", "filter too narrow"]
    assert page.locator(".cite").count() == 0


def test_a_year_that_is_none_is_an_error_and_the_page_goes_on(page: Any) -> None:
    page.click("[data-drawer=settings]")
    page.locator("#drawer-settings").get_by_label("Year").fill("soon")
    page.keyboard.press("Escape")
    page.wait_for_timeout(500)
    page.fill("#question textarea", "What is TNT?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".refusal.error")
    assert "is no year" in page.locator(".refusal.error").inner_text()
    assert page.locator("#send").is_visible()


@pytest.mark.parametrize(
    "question", ["word " * 3000, "😀😀😀", "?", "¿Qué es TNT?", "[1] [2]", "' OR 1=1 --", 'NEAR("x']
)
def test_odd_questions_are_answered_or_refused(page: Any, question: str) -> None:
    ask(page, question)
    assert page.locator(".refusal, .answer").count() == 1
    assert page.seen.errors == []


def test_papers_uploaded_in_the_page_can_be_asked_about(page: Any, tmp_path: Path) -> None:
    file = tmp_path / "bees.csv"
    words = "Honey bees of the alpine valley dance 14 times a minute to tell where the flowers are."
    file.write_text(f"title,abstract\nDancing bees,{words}\n", encoding="utf-8")
    page.get_by_role("tab", name="Library").click()
    page.set_input_files("#upload input[type=file]", str(file))
    page.wait_for_function("document.querySelector('#report').innerText.includes('1 new')", timeout=60_000)
    page.get_by_role("tab", name="Ask").click()
    ask(page, "How often do honey bees dance a minute?")
    assert "14 times a minute" in page.locator(".answer").inner_text()
