"""The sample corpus and the questions over it: whole, true to the originals, in our own words."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from eval.dataset import Question, load
from eval.facts import holds, is_figure
from rag.papers import Paper

SAMPLE = Path(__file__).parents[1] / "rag" / "data" / "iclr2026_sample.jsonl"
LINK = "https://openreview.net/forum?id="
COPIED = 8  # words in a row, shared with an original abstract
QUOTED = 5  # words in a row, shared by a question and an abstract of ours
LEAST = {
    "fact": 20,
    "number": 15,
    "method": 12,
    "comparison": 8,
    "multi-paper": 8,
    "follow-up": 8,
    "other-language": 10,
    "unanswerable": 22,
}
SORTS = ("in the list", "near", "far")  # of unanswerable questions: what their note begins with


def _papers() -> list[Paper]:
    rows = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    return [Paper(**{**row, "keywords": tuple(row["keywords"])}) for row in rows]


def _text(paper: Paper) -> str:
    return f"{paper.title}\n{paper.abstract}".replace("$", "").replace(r"\times", "×")


PAPERS = _papers()
TEXTS = {paper.id: _text(paper) for paper in PAPERS}
QUESTIONS = load("sample").questions
ANSWERABLE = [question for question in QUESTIONS if question.answerable]
UNANSWERABLE = [question for question in QUESTIONS if not question.answerable]

every_question = pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
every_answerable = pytest.mark.parametrize("question", ANSWERABLE, ids=lambda question: question.id)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def longest_shared_run(one: str, other: str) -> str:
    """The longest sequence of words that both texts contain, case and punctuation left out."""
    first, second = _words(one), _words(other)
    best: list[str] = []
    above = [0] * (len(second) + 1)  # length of the run that ends at the word before and at each word of `second`
    for i, word in enumerate(first, 1):
        here = [0] * (len(second) + 1)
        for j, match in enumerate(second, 1):
            if word == match:
                here[j] = above[j - 1] + 1
                if here[j] > len(best):
                    best = first[i - here[j] : i]
        above = here
    return " ".join(best)


def numbers(text: str) -> set[str]:
    """Figures as they are written, and number words from three to twelve ("two" is too common a word)."""
    words = "three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    return set(re.findall(rf"\d+(?:\.\d+)?|\b(?:{words})\b", text.casefold()))


@pytest.fixture(scope="module")
def originals(shared: Path) -> list[str]:
    _heading, *abstracts = (shared / "corpora" / "iclr2026_list.txt").read_text(encoding="utf-8").strip().split("\n\n")
    # The fourth bears the numbers of two footnotes.
    return [re.sub(r"\b(code|datasets) ?\d", r"\1", abstract) for abstract in abstracts if abstract.strip()]


def test_corpus_has_nineteen_papers_of_one_conference() -> None:
    assert len(TEXTS) == len(PAPERS) == 19
    assert {(paper.year, paper.venue) for paper in PAPERS} == {(2026, "ICLR 2026")}
    assert Counter(paper.id.partition(":")[0] for paper in PAPERS) == {"openreview": 16, "hash": 3}
    assert [paper.id for paper in PAPERS if not (paper.title and paper.keywords)] == []


def test_abstracts_are_as_long_as_abstracts_are() -> None:
    assert {paper.title: n for paper in PAPERS if not 120 <= (n := len(paper.abstract.split())) <= 240} == {}


def test_titles_and_links_are_the_real_ones(shared: Path) -> None:
    with (shared / "corpora" / "iclr2026_titles.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    expected = [(row["title"], LINK + row["openreview_id"] if row["openreview_id"] else "") for row in rows]
    assert [(paper.title, paper.url) for paper in PAPERS] == expected


def test_no_sentence_of_the_originals_is_copied(originals: list[str]) -> None:
    runs = [longest_shared_run(text, paper.abstract) for text, paper in zip(originals, PAPERS, strict=True)]
    assert [run for run in runs if len(run.split()) >= COPIED] == []


def test_every_number_of_the_originals_is_kept_and_none_added(originals: list[str]) -> None:
    pairs = zip(originals, PAPERS, strict=True)
    assert {paper.title: odd for text, paper in pairs if (odd := numbers(text) ^ numbers(paper.abstract))} == {}


@pytest.mark.parametrize(
    ("one", "other", "run"),
    [
        ("We saw a Cat, asleep.", "there was a cat asleep on it", "a cat asleep"),
        ("one two three", "three two one", "one"),
        ("$N$-step returns", "the N-step return", "n step"),
        ("alpha", "beta", ""),
        ("", "", ""),
    ],
)
def test_longest_shared_run(one: str, other: str, run: str) -> None:
    assert longest_shared_run(one, other) == run


def test_numbers_are_told_apart() -> None:
    assert numbers("Gains of 20.39% on twelve sets, $17\\times$ as fast; one is no figure.") == {
        "20.39",
        "twelve",
        "17",
    }


def test_gold_papers_are_in_the_corpus() -> None:
    load("sample").check_gold(TEXTS.__contains__)
    noted = {paper for question in QUESTIONS for paper in re.findall(r"(?:openreview|hash):[\w-]+", question.note)}
    assert noted - TEXTS.keys() == set()


@every_answerable
def test_facts_are_in_a_gold_paper(question: Question) -> None:
    assert question.facts
    texts = [TEXTS[paper] for paper in question.gold]
    assert [fact for fact in question.facts if not any(holds(fact, text) for text in texts)] == []


@every_answerable
def test_each_gold_paper_holds_a_fact(question: Question) -> None:
    assert len(set(question.gold)) == len(question.gold)
    assert [paper for paper in question.gold if not any(holds(fact, TEXTS[paper]) for fact in question.facts)] == []


@every_answerable
def test_a_question_does_not_give_its_answer_away(question: Question) -> None:
    assert not all(holds(fact, question.question) for fact in question.facts)


@every_answerable
def test_a_question_does_not_quote_the_abstract(question: Question) -> None:
    runs = [longest_shared_run(question.question, TEXTS[paper]) for paper in question.gold]
    assert [run for run in runs if len(run.split()) > QUOTED] == []


@every_question
def test_language_is_the_one_of_the_question(question: Question) -> None:
    assert (question.language == "zh") == bool(re.search(r"[\u4e00-\u9fff]", question.question))
    assert question.type != "other-language" or question.language != "en"


def test_a_number_question_asks_for_a_figure() -> None:
    numeric = [question for question in QUESTIONS if question.type == "number"]
    assert [question.id for question in numeric if not any(map(is_figure, question.facts))] == []


def test_a_multi_paper_question_has_several_gold_papers() -> None:
    assert [question.id for question in QUESTIONS if question.type == "multi-paper" and len(question.gold) < 2] == []


def test_nothing_is_asked_twice() -> None:
    asked = Counter((question.question.casefold(), question.history) for question in QUESTIONS)
    assert [question for question, times in asked.items() if times > 1] == []


@pytest.mark.parametrize(("name", "least"), LEAST.items(), ids=LEAST)
def test_there_are_enough_of_each_type(name: str, least: int) -> None:
    assert sum(question.type == name for question in QUESTIONS) >= least


def test_there_are_enough_chinese_questions() -> None:
    assert sum(question.language == "zh" for question in ANSWERABLE) >= 8


@pytest.mark.parametrize("sort", SORTS)
def test_there_are_enough_of_each_sort_of_unanswerable(sort: str) -> None:
    assert {question.note.partition(":")[0] for question in UNANSWERABLE} == set(SORTS)
    assert sum(question.note.startswith(f"{sort}: ") for question in UNANSWERABLE) >= 5


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.id)
def test_every_paper_is_asked_about(paper: Paper) -> None:
    assert sum(paper.id in question.gold for question in QUESTIONS) >= 4
