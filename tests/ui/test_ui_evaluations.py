"""The Evaluations tab in a browser: runs of the real engine started, watched, cancelled, opened and compared."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from running import Start

from rag.settings import Settings

pytestmark = pytest.mark.browser
Open = Callable[..., Any]


@pytest.fixture
def page(start: Start, open_page: Open, tmp_path: Path) -> Any:
    app = start(settings=Settings(data=tmp_path / "data", llm="extractive"))
    page = open_page(app.url)
    page.get_by_role("tab", name="Evaluations").click()
    page.wait_for_selector("#runs .empty")
    return page


def run(page: Any, limit: int) -> None:
    """Start a run of the sample's questions and wait for its end."""
    page.get_by_label("At most so many questions").fill(str(limit))
    page.click("#eval-start")
    page.wait_for_selector(f"#eval-progress :text('Done: {limit} questions, 0 failed.')", timeout=60_000)


def test_runs_are_started_opened_and_compared(page: Any, tmp_path: Path) -> None:
    run(page, 4)
    page.wait_for_selector("#runs tbody tr")
    run(page, 6)
    page.wait_for_function("document.querySelectorAll('#runs tbody tr').length === 2")
    assert page.locator("#runs [data-action=compare]").count() == 0  # nothing is open to compare with

    page.locator("#runs [data-action=run]", has_text="sample").first.click()
    page.wait_for_selector("#run .questions details")
    kept = [json.loads(file.read_text()) for file in (tmp_path / "data" / "evaluations").glob("*/run.json")]
    asked = page.locator("#run .questions details").count()
    assert sorted(about["finished"] for about in kept) == [4, 6]
    assert asked in (4, 6)

    page.locator("#runs [data-action=compare]").click()
    heading = page.locator("#run h2")
    heading.filter(has_text=re.compile("cannot tell|better|worse", re.IGNORECASE)).wait_for()
    assert "cannot tell" in heading.inner_text().lower()  # the same setup, asked the same questions
    assert "4 questions in common" in page.locator("#run").inner_text()
    assert page.seen.errors == []


def test_a_cancelled_run_keeps_what_is_done(page: Any, tmp_path: Path) -> None:
    page.click("#eval-start")
    page.wait_for_selector("#eval-progress :text-matches('^[1-9][0-9]* of ')", timeout=60_000)
    assert page.locator("#eval-start").is_hidden()
    page.click("#eval-cancel")
    said = page.locator("#eval-progress .report").filter(has_text="Cancelled")
    said.wait_for(timeout=30_000)
    done = int(re.findall(r"\d+", said.inner_text())[0])
    (rows,) = (tmp_path / "data" / "evaluations").glob("*/rows.jsonl")
    assert 0 < done == len(rows.read_text().splitlines()) < 149
    page.wait_for_selector("#eval-start")
    assert page.locator("#eval-cancel").is_hidden()
    assert page.seen.errors == []
