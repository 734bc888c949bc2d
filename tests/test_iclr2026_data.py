"""The questions over the ICLR 2026 list are well formed, balanced, and true to the abstracts they cite."""

from __future__ import annotations

import csv
import gzip
import re
from collections import Counter
from pathlib import Path

import pytest

from eval.dataset import Question, load
from eval.facts import Fact, Figure, holds
from rag.papers import Paper

QUESTIONS = load("iclr2026").questions
ANSWERABLE = [question for question in QUESTIONS if question.type != "unanswerable"]
UNANSWERABLE = [question for question in QUESTIONS if question.type == "unanswerable"]
TYPES = {"fact", "number", "method", "comparison", "multi-paper", "unanswerable"}
SORTS = {"in the list", "near", "far"}  # of unanswerable questions: what their note begins with
RUN = 8  # words in a row that a question or note may not share with an abstract

every_question = pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
every_answerable = pytest.mark.parametrize("question", ANSWERABLE, ids=lambda question: question.id)


def unmarked(text: str) -> str:
    r"""`text` without LaTeX and Markdown marks, so that `$\times 125$` and `\textbf{50}\%` read as figures."""
    text = re.sub(r"\\times\b", "×", text)
    text = re.sub(r"\\(?:textbf|textit|emph|mathbf|text|href|approx)\b", "", text)
    return re.sub(r"\s+", " ", re.sub(r"[\\${}*`~]", "", text))


def text_of(paper: Paper) -> str:
    return unmarked(f"{paper.title}\n{paper.abstract}")


def sort_of(question: Question) -> str:
    return question.note.partition(":")[0]


def runs(text: str, length: int = RUN) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[i : i + length]) for i in range(len(words) - length + 1)}


@pytest.fixture(scope="module")
def corpus(shared: Path) -> dict[str, Paper]:
    with gzip.open(shared / "corpora" / "iclr2026_papers.csv.gz", "rt", encoding="utf-8", newline="") as file:
        papers = [Paper(row["abstract"], title=row["title"], url=row["openreview_url"]) for row in csv.DictReader(file)]
    return {paper.id: paper for paper in papers}


@every_question
def test_question_has_its_fields(question: Question) -> None:
    assert question.type in TYPES
    assert question.half in {"tune", "test"}
    assert question.question.endswith("?")
    assert question.note
    assert all(paper.startswith("openreview:") for paper in question.gold)


@every_answerable
def test_answerable_question_has_gold_and_facts(question: Question) -> None:
    assert question.gold
    assert question.facts
    assert len(set(question.gold)) == len(question.gold)
    if question.type == "multi-paper":
        assert len(question.gold) > 1
    if question.type == "number":
        assert any(isinstance(fact, Figure) for fact in question.facts)


def test_unanswerable_questions_have_neither() -> None:
    assert [question.id for question in UNANSWERABLE if question.gold or question.facts] == []


def test_nothing_is_asked_twice() -> None:
    assert max(Counter(question.id for question in QUESTIONS).values()) == 1
    assert max(Counter(question.question.casefold() for question in QUESTIONS).values()) == 1


def test_there_are_enough_of_each_type() -> None:
    types = Counter(question.type for question in QUESTIONS)
    assert len(ANSWERABLE) >= 72
    assert len(UNANSWERABLE) >= 36
    assert all(types[name] >= 12 for name in ("fact", "number", "method", "comparison"))
    assert 4 <= types["multi-paper"] <= 10


@pytest.mark.parametrize("name", sorted(TYPES))
def test_each_type_is_split_evenly(name: str) -> None:
    halves = Counter(question.half for question in QUESTIONS if question.type == name)
    assert abs(halves["tune"] - halves["test"]) <= 1


@pytest.mark.parametrize("half", ["tune", "test"])
def test_each_sort_of_unanswerable_is_about_a_third(half: str) -> None:
    sorts = Counter(sort_of(question) for question in UNANSWERABLE if question.half == half)
    assert set(sorts) == SORTS
    assert max(sorts.values()) - min(sorts.values()) <= 2


def test_an_unmentioned_detail_names_its_paper() -> None:
    details = [question for question in UNANSWERABLE if sort_of(question) == "in the list"]
    assert [question.id for question in details if "openreview:" not in question.note] == []


def test_papers_are_in_the_list(corpus: dict[str, Paper]) -> None:
    gold = {paper for question in QUESTIONS for paper in question.gold}
    noted = {paper for question in QUESTIONS for paper in re.findall(r"openreview:[\w-]+", question.note)}
    assert sorted((gold | noted) - set(corpus)) == []


@every_answerable
def test_facts_are_in_a_gold_paper(question: Question, corpus: dict[str, Paper]) -> None:
    texts = [text_of(corpus[paper]) for paper in question.gold]
    assert [fact for fact in question.facts if not any(holds(fact, text) for text in texts)] == []


@every_answerable
def test_each_gold_paper_holds_a_fact(question: Question, corpus: dict[str, Paper]) -> None:
    idle = [paper for paper in question.gold if not any(holds(fact, text_of(corpus[paper])) for fact in question.facts)]
    assert idle == []


def test_no_wording_of_an_abstract_is_copied(corpus: dict[str, Paper]) -> None:
    ours = {run: question.id for question in QUESTIONS for run in runs(f"{question.question} {question.note}")}
    copied = [(ours[run], paper.id) for paper in corpus.values() for run in runs(paper.abstract) & ours.keys()]
    assert copied == []


@pytest.mark.parametrize(
    ("fact", "text", "expected"),
    [
        (Figure(number="14.3", unit="%"), r"a relative **14.3\% mIoU** gain", True),
        (Figure(number="50", unit="×"), r"(\textbf{50}$\mathbf{\times}$ more)", True),
        (Figure(number="100000"), "scaled to 100,000 facts", True),
        (Figure(number="100000"), "scaled to $100{,}000$ facts", True),
        (Figure(number="125", unit="times fewer"), r"by up to $\times 125$ and", True),
        (Figure(number="28", unit="%"), r"128\%, 2.28\% and 28.5\%", False),
        ("linear assignment", "the\nLinear Assignment Problem", True),
        ("geometric mean", "the arithmetic mean", False),
    ],
)
def test_facts_are_found_through_markup(fact: Fact, text: str, expected: bool) -> None:
    assert holds(fact, unmarked(text)) is expected
