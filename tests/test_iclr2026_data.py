"""The questions over the ICLR 2026 list are well formed, balanced, and true to the abstracts they cite."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from rag.papers import Paper

DATA = Path(__file__).parents[1] / "eval" / "data" / "iclr2026.jsonl"
TYPES = {"fact", "number", "method", "comparison", "multi-paper", "unanswerable"}
KINDS = {"in the list", "near", "far"}  # of unanswerable questions, named first in their note
RUN = 8  # words in a row that no question, fact or note may share with an abstract

Fact = str | dict[str, object]


def read_lines() -> list[dict[str, object]]:
    return [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]


LINES = read_lines()
ANSWERABLE = [line for line in LINES if line["type"] != "unanswerable"]
UNANSWERABLE = [line for line in LINES if line["type"] == "unanswerable"]


def readable(text: str) -> str:
    r"""`text` as a fact is looked for in it: lower case, without LaTeX and Markdown marks, "10{,}000" as 10000."""
    text = re.sub(r"\\(?:times|approx|sim)\b", " ", text)
    text = re.sub(r"\\(?:textbf|textit|emph|mathbf|text|texttt)\b", "", text)
    text = re.sub(r"[\\${}*`~]", "", text)
    text = text.translate(str.maketrans("–—−‑’", "----'"))
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    return re.sub(r"\s+", " ", text).casefold()


def has_number(number: str, text: str) -> bool:
    """Whether `text` has a figure of the same value (28 for 28.0, never 28 in 128 or 2.8)."""
    figures = re.findall(r"(?<![\d.])\d+(?:\.\d+)?(?!\d)", readable(text))
    return any(Decimal(figure) == Decimal(number) for figure in figures)


def holds(fact: Fact, text: str) -> bool:
    """Whether `text` states `fact` in at least one of the forms the fact allows."""
    if isinstance(fact, str):
        return readable(fact) in readable(text)
    if "any" in fact:
        return any(holds(choice, text) for choice in fact["any"])  # type: ignore[attr-defined]
    if "number" in fact:
        return has_number(str(fact["number"]), text)
    return re.search(str(fact["pattern"]), text) is not None


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def runs(text: str, length: int = RUN) -> set[tuple[str, ...]]:
    found = words(text)
    return {tuple(found[i : i + length]) for i in range(len(found) - length + 1)}


def kind(line: dict[str, object]) -> str:
    return str(line["note"]).partition(":")[0]


@pytest.fixture(scope="module")
def corpus(shared: Path) -> dict[str, Paper]:
    with gzip.open(shared / "corpora" / "iclr2026_papers.csv.gz", "rt", encoding="utf-8", newline="") as file:
        papers = [Paper(r["abstract"], title=r["title"], url=r["openreview_url"]) for r in csv.DictReader(file)]
    return {paper.id: paper for paper in papers}


@pytest.mark.parametrize("line", LINES, ids=lambda line: line["id"])
def test_line_has_the_agreed_fields(line: dict[str, object]) -> None:
    assert list(line) == ["id", "question", "type", "gold", "facts", "half", "note"]
    assert line["type"] in TYPES
    assert line["half"] in {"tune", "test"}
    assert str(line["question"]).strip() == line["question"] and str(line["question"]).endswith("?")
    for fact in line["facts"]:  # type: ignore[attr-defined]
        if isinstance(fact, str):
            assert fact.strip()
        elif "number" in fact:
            assert set(fact) == {"number", "unit"} and Decimal(fact["number"]).is_finite()
        elif "any" in fact:
            assert set(fact) == {"any"} and fact["any"] and all(isinstance(choice, str) for choice in fact["any"])
        else:
            assert set(fact) == {"pattern"} and re.compile(fact["pattern"])


def test_ids_and_questions_are_unique() -> None:
    for field in ("id", "question"):
        assert [value for value, n in Counter(str(line[field]).casefold() for line in LINES).items() if n > 1] == []


def test_there_are_enough_questions_of_each_sort() -> None:
    types = Counter(line["type"] for line in LINES)
    assert len(ANSWERABLE) >= 72
    assert len(UNANSWERABLE) >= 36
    assert all(types[name] >= 12 for name in TYPES - {"multi-paper"})
    assert 4 <= types["multi-paper"] <= 10


def test_each_type_is_split_evenly() -> None:
    halves = Counter((line["type"], line["half"]) for line in LINES)
    for name in TYPES:
        assert abs(halves[name, "tune"] - halves[name, "test"]) <= 1, name


def test_an_answerable_question_has_gold_and_facts() -> None:
    assert [line["id"] for line in ANSWERABLE if not line["gold"] or not line["facts"]] == []
    assert [line["id"] for line in ANSWERABLE if line["type"] == "multi-paper" and len(line["gold"]) < 2] == []  # type: ignore[arg-type]


def test_an_unanswerable_question_has_neither() -> None:
    assert [line["id"] for line in UNANSWERABLE if line["gold"] or line["facts"]] == []


def test_unanswerable_questions_are_a_third_each_kind() -> None:
    kinds = Counter(kind(line) for line in UNANSWERABLE)
    assert set(kinds) == KINDS
    assert max(kinds.values()) - min(kinds.values()) <= 2


def test_gold_papers_are_in_the_list(corpus: dict[str, Paper]) -> None:
    named = {paper for line in LINES for paper in line["gold"]}  # type: ignore[attr-defined]
    noted = {paper for line in UNANSWERABLE for paper in re.findall(r"openreview:[\w-]+", str(line["note"]))}
    assert sorted((named | noted) - set(corpus)) == []


@pytest.mark.parametrize("line", ANSWERABLE, ids=lambda line: line["id"])
def test_facts_are_in_a_gold_paper(line: dict[str, object], corpus: dict[str, Paper]) -> None:
    texts = [f"{corpus[paper].title}\n{corpus[paper].abstract}" for paper in line["gold"]]  # type: ignore[attr-defined]
    missing = [fact for fact in line["facts"] if not any(holds(fact, text) for text in texts)]  # type: ignore[attr-defined]
    assert missing == []


def test_every_gold_paper_is_needed(corpus: dict[str, Paper]) -> None:
    """Each gold paper holds at least one of the facts, else it would not help to answer."""
    idle = [
        (line["id"], paper)
        for line in ANSWERABLE
        for paper in line["gold"]  # type: ignore[attr-defined]
        if not any(holds(fact, f"{corpus[paper].title}\n{corpus[paper].abstract}") for fact in line["facts"])  # type: ignore[attr-defined]
    ]
    assert idle == []


def test_unanswerable_detail_is_about_a_paper_of_the_list() -> None:
    unnamed = [line["id"] for line in UNANSWERABLE if kind(line) == "in the list" and "openreview:" not in line["note"]]  # type: ignore[operator]
    assert unnamed == []


def test_no_wording_of_an_abstract_is_copied(corpus: dict[str, Paper]) -> None:
    ours = {run: line["id"] for line in LINES for run in runs(f"{line['question']} | {line['note']}")}
    copied = [
        (ours[run], paper.id, " ".join(run)) for paper in corpus.values() for run in runs(paper.abstract) if run in ours
    ]
    assert copied == []


@pytest.mark.parametrize(
    ("fact", "text", "expected"),
    [
        ({"number": "14.3", "unit": "%"}, r"a relative **14.3\% mIoU** gain", True),
        ({"number": "100000", "unit": "facts"}, "scaled to 100,000 facts", True),
        ({"number": "125", "unit": "x"}, r"by up to $\times 125$ and", True),
        ({"number": "28", "unit": "%"}, "about 128 of 2.28 and 28.5", False),
        ({"number": "1", "unit": "%"}, "less than 1% of all", True),
        ("Wright–Fisher", "the Wright-Fisher model", True),
        ("geometric mean", "the arithmetic mean", False),
        ({"any": ["LAP", "linear assignment"]}, "the Linear\nAssignment Problem", True),
        ({"pattern": r"\\ell_2"}, r"the $\ell_2$-margin", True),
    ],
)
def test_fact_is_found_or_not(fact: Fact, text: str, expected: bool) -> None:
    assert holds(fact, text) is expected
