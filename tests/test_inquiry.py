"""What a question asks of the records narrows the papers, or is told from them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from encoders import HashEmbedder

from rag.engine import Engine
from rag.inquiry import inquire
from rag.papers import Paper
from rag.retrieval import Filters

PAPERS = [
    Paper("Marmots whistle when a fox comes.", title="Whistles", authors=("Ada Berg",), year=2019, venue="Alps"),
    Paper("Marmots sleep for seven months.", title="Sleep", authors=("Ada Berg", "Li Wei"), year=2021, venue="Alps"),
    Paper("Foxes sleep by day.", title="Foxes", authors=("Noor Khan",), year=2021),
]


@pytest.fixture(scope="module")
def engine(over: Callable[[list[Paper], Any], Engine]) -> Engine:
    return over(PAPERS, HashEmbedder())


@pytest.mark.parametrize(
    ("question", "asked", "year"),
    [
        ("papers from 2021 on marmots", "papers on marmots", "2021"),
        ("Which papers published since 2020 study foxes?", "Which papers study foxes?", "2020-"),
        ("studies after 2019 about sleep", "studies about sleep", "2020-"),
        ("papers that were published before 2020 on foxes", "papers on foxes", "-2019"),
        ("How many marmots were there in 2021?", "How many marmots were there in 2021?", ""),
    ],
)
def test_years_narrow_the_papers(engine: Engine, question: str, asked: str, year: str) -> None:
    inquiry = inquire(question, Filters(), engine.store.catalogue)
    assert (inquiry.question, inquiry.filters) == (asked, Filters(year=year))


def test_a_year_that_was_chosen_stays(engine: Engine) -> None:
    chosen = Filters(year="2019")
    assert inquire("papers from 2021 on foxes", chosen, engine.store.catalogue).filters == chosen


@pytest.mark.parametrize(
    ("question", "begins", "titles"),
    [
        ("Which papers were published in 2021?", "From 2021 are “", {"Foxes", "Sleep"}),
        ("papers by Berg from 2019", "By Berg from 2019 is “", {"Whistles"}),
        ("list all papers before 2020", "Before 2020 is “", {"Whistles"}),
    ],
)
def test_where_only_they_are_asked_for_papers_are_listed(
    engine: Engine, question: str, begins: str, titles: set[str]
) -> None:
    refusal = engine.ask(question).refusal
    assert refusal is not None
    assert refusal.message.startswith(f"Only their records say that. {begins}")
    assert set(re.findall("“(.+?)”", refusal.message)) == titles
