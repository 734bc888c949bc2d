"""The sample corpus and the questions over it: whole, true to the originals, in our own words."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from rag.papers import Paper

ROOT = Path(__file__).parents[1]
TYPES = ("fact", "number", "method", "comparison", "multi-paper", "follow-up", "other-language", "unanswerable")
KEYS = ["id", "question", "type", "gold", "facts", "history", "language", "note"]
KINDS = ("in the list: ", "neighbouring: ", "general knowledge")  # how the note of an unanswerable question begins
UNITS = {"%": r"\s*(%|per ?cent)", "×": r"\s*(×|x\b|times)", "pp": r"\s*(pp\b|percentage points|points)"}
SHARED_RUN = 8  # words in a row that count as copied


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _paper(row: Mapping[str, Any]) -> Paper:
    return Paper(**{**row, "keywords": tuple(row["keywords"])})


def _readable(text: str) -> str:
    return " ".join(text.replace("$", "").replace(r"\times", "×").split())


def _holds(text: str, fact: Any) -> bool:
    """Whether `text` contains the fact, in any of its alternatives."""
    match fact:
        case str():
            return fact.casefold() in text.casefold()
        case {"any": [*alternatives]}:
            return any(_holds(text, alternative) for alternative in alternatives)
        case {"pattern": str(pattern)}:
            return bool(re.search(pattern, text, re.IGNORECASE | re.DOTALL))
        case {"number": str(number)}:
            value = rf"(?<![\d.,]){re.escape(number)}(?![\d]|[.,]\d)"
            unit = UNITS[fact["unit"]] if "unit" in fact else ""
            return bool(re.search(value + unit, text, re.IGNORECASE))
    return False


def _faults(row: Mapping[str, Any], corpus: Mapping[str, str]) -> list[str]:
    """What is wrong with one question; `corpus` maps ids of papers to their title and abstract."""
    if list(row) != KEYS:
        return ["keys"]
    faults = []
    if row["type"] not in TYPES:
        faults.append("type")
    if unknown := [paper for paper in row["gold"] if paper not in corpus]:
        return [*faults, f"not in the corpus: {unknown}"]
    texts = [corpus[paper] for paper in row["gold"]]
    if row["type"] == "unanswerable":
        if row["gold"] or row["facts"]:
            faults.append("unanswerable, yet with gold or facts")
        if not row["note"].startswith(KINDS):
            faults.append("note")
    else:
        faults += ["no gold"] * (not row["gold"]) + ["no facts"] * (not row["facts"])
        faults += [f"no gold paper says {fact}" for fact in row["facts"] if not any(_holds(t, fact) for t in texts)]
        faults += ["a gold paper bears no fact" for t in texts if not any(_holds(t, fact) for fact in row["facts"])]
    if row["type"] == "multi-paper" and len(row["gold"]) < 2:
        faults.append("one paper only")
    if row["type"] == "follow-up" and not row["history"]:
        faults.append("no history")
    if any(list(turn) != ["question", "answer"] or not all(turn.values()) for turn in row["history"]):
        faults.append("history")
    if (row["language"] == "zh") != bool(re.search(r"[\u4e00-\u9fff]", row["question"])):
        faults.append("language")
    if (row["type"] == "other-language") and row["language"] == "en":
        faults.append("English")
    return faults


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def longest_shared_run(one: str, other: str) -> str:
    """The longest sequence of words that both texts contain, case and punctuation left out."""
    first, second = _words(one), _words(other)
    best: list[str] = []
    lengths = [0] * (len(second) + 1)
    for i, word in enumerate(first, 1):
        row = [0] * (len(second) + 1)
        for j, match in enumerate(second, 1):
            if word == match:
                row[j] = lengths[j - 1] + 1
                if row[j] > len(best):
                    best = first[i - row[j] : i]
        lengths = row
    return " ".join(best)


def numbers(text: str) -> set[str]:
    """Figures as they are written, and number words from three to twelve ("two" is too common a word)."""
    words = "three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    return set(re.findall(rf"\d+(?:\.\d+)?|\b(?:{words})\b", text.casefold()))


@pytest.fixture(scope="module")
def papers() -> list[Paper]:
    return [_paper(row) for row in _rows(ROOT / "rag" / "data" / "iclr2026_sample.jsonl")]


@pytest.fixture(scope="module")
def corpus(papers: Iterable[Paper]) -> dict[str, str]:
    return {paper.id: _readable(f"{paper.title}\n{paper.abstract}") for paper in papers}


@pytest.fixture(scope="module")
def questions() -> list[dict[str, Any]]:
    return _rows(ROOT / "eval" / "data" / "sample.jsonl")


@pytest.fixture(scope="module")
def originals(shared: Path) -> list[str]:
    _heading, *abstracts = (shared / "corpora" / "iclr2026_list.txt").read_text(encoding="utf-8").strip().split("\n\n")
    # The fourth bears the numbers of two footnotes.
    return [re.sub(r"\b(code|datasets) ?\d", r"\1", abstract) for abstract in abstracts if abstract.strip()]


def test_corpus_has_nineteen_papers_of_one_conference(papers: list[Paper]) -> None:
    assert len({paper.id for paper in papers}) == 19
    assert {(paper.year, paper.venue) for paper in papers} == {(2026, "ICLR 2026")}
    assert Counter(paper.id.partition(":")[0] for paper in papers) == {"openreview": 16, "hash": 3}
    assert all(paper.title and paper.keywords for paper in papers)


def test_abstracts_are_as_long_as_abstracts_are(papers: list[Paper]) -> None:
    assert {paper.title: n for paper in papers if not 120 <= (n := len(paper.abstract.split())) <= 240} == {}


def test_titles_and_links_are_the_real_ones(papers: list[Paper], shared: Path) -> None:
    with (shared / "corpora" / "iclr2026_titles.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    link = "https://openreview.net/forum?id="
    expected = [(row["title"], link + row["openreview_id"] if row["openreview_id"] else "") for row in rows]
    assert [(paper.title, paper.url) for paper in papers] == expected


def test_no_sentence_of_the_originals_is_copied(papers: list[Paper], originals: list[str]) -> None:
    runs = [longest_shared_run(*pair) for pair in zip(originals, (p.abstract for p in papers), strict=True)]
    assert [run for run in runs if len(run.split()) >= SHARED_RUN] == []


def test_every_number_of_the_originals_is_kept_and_none_added(papers: list[Paper], originals: list[str]) -> None:
    pairs = zip(originals, papers, strict=True)
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
    assert numbers("Gains of 20.39% on twelve sets, 17$\\times$ as fast; one is no figure.") == {
        "20.39",
        "twelve",
        "17",
    }


def test_questions_are_without_fault(questions: list[dict[str, Any]], corpus: dict[str, str]) -> None:
    assert {row["id"]: faults for row in questions if (faults := _faults(row, corpus))} == {}


def test_questions_have_ids_and_wording_of_their_own(questions: list[dict[str, Any]]) -> None:
    for key in ("id", "question"):
        assert [value for value, n in Counter(row[key] for row in questions).items() if n > 1] == []


def test_questions_are_many_enough_of_every_type(questions: list[dict[str, Any]]) -> None:
    counts = Counter(row["type"] for row in questions)
    least = {"fact": 20, "number": 15, "method": 12, "follow-up": 8, "other-language": 8, "unanswerable": 22}
    assert {name: counts[name] for name, n in least.items() if counts[name] < n} == {}
    assert counts["comparison"] + counts["multi-paper"] >= 8
    assert sum(row["language"] == "zh" for row in questions if row["gold"]) >= 8
    assert len(questions) >= 84


def test_unanswerable_questions_are_of_three_kinds(questions: list[dict[str, Any]]) -> None:
    notes = [row["note"] for row in questions if row["type"] == "unanswerable"]
    assert min(sum(note.startswith(kind) for note in notes) for kind in KINDS) >= 5


def test_every_paper_is_asked_about(questions: list[dict[str, Any]], corpus: dict[str, str]) -> None:
    asked = Counter(paper for row in questions for paper in row["gold"])
    assert {paper: asked[paper] for paper in corpus if asked[paper] < 3} == {}


def test_questions_do_not_quote_the_abstracts(questions: list[dict[str, Any]], corpus: dict[str, str]) -> None:
    runs = {row["id"]: longest_shared_run(row["question"], corpus[paper]) for row in questions for paper in row["gold"]}
    assert {name: run for name, run in runs.items() if len(run.split()) > 5} == {}


GOOD = {
    "id": "x",
    "question": "How much faster is it?",
    "type": "number",
    "gold": ["a"],
    "facts": [{"number": "17", "unit": "×"}],
    "history": [],
    "language": "en",
    "note": "",
}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({}, None),
        ({"gold": ["b"]}, "not in the corpus"),
        ({"gold": []}, "no gold"),
        ({"facts": []}, "no facts"),
        ({"facts": [{"number": "7", "unit": "×"}]}, "no gold paper says"),
        ({"facts": [{"number": "17", "unit": "%"}]}, "no gold paper says"),
        ({"facts": [{"any": ["slower", "twice"]}]}, "no gold paper says"),
        ({"facts": [{"any": ["slower", "FASTER"]}]}, None),
        ({"facts": [{"pattern": r"\bfast\b"}]}, "no gold paper says"),
        ({"facts": [{"figure": "17"}]}, "no gold paper says"),
        ({"gold": ["a", "c"]}, "a gold paper bears no fact"),
        ({"type": "riddle"}, "type"),
        ({"type": "unanswerable"}, "unanswerable, yet"),
        ({"type": "multi-paper"}, "one paper only"),
        ({"type": "follow-up"}, "no history"),
        ({"type": "other-language"}, "English"),
        ({"language": "zh"}, "language"),
        ({"history": [{"question": "What?", "answer": ""}]}, "history"),
        ({"extra": 1}, "keys"),
    ],
)
def test_planted_faults_are_found(change: dict[str, Any], fault: str | None) -> None:
    faults = _faults({**GOOD, **change}, {"a": "It is 17× faster.", "c": "Nothing of the kind."})
    assert any(fault in found for found in faults) if fault else faults == []
