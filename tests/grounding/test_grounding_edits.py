"""Edited sentences of abstracts: changed ones are not supported, reworded ones are."""

from __future__ import annotations

import csv
import gzip
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from eval.edits import Edit, corpus_sentences, faithful_edits, figure_edits, flip_edits
from rag.answer import Verdict
from rag.embedding import Embedder, Remembered
from rag.grounding import Grounder
from rag.papers import Paper

pytestmark = pytest.mark.nightly  # hundreds of sentences, minutes on two cores

ROOT = Path(__file__).parents[2]


def paper(row: dict[str, object]) -> Paper:
    return Paper(**{key: tuple(value) if isinstance(value, list) else value for key, value in row.items()})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def corpus() -> list[Paper]:
    lines = (ROOT / "rag" / "data" / "iclr2026_sample.jsonl").read_text(encoding="utf-8").splitlines()
    return [paper(json.loads(line)) for line in lines]


def share(edits: Sequence[Edit], papers: Sequence[Paper], embedder: Embedder, *, supported: bool) -> float:
    """Share of edits that are (not) supported by their paper, retrieved with two others."""
    grounder = Grounder(Remembered(embedder, 20_000))
    right = 0
    for edit in edits:
        others = random.Random(edit.edited).sample([one for one in papers if one.id != edit.paper.id], 2)
        checked = grounder.open([edit.paper, *others]).check(edit.edited)
        right += (checked.verdict is Verdict.SUPPORTED) == supported
    return right / len(edits)


def test_edits_are_seeded_and_change_something(corpus: list[Paper]) -> None:
    for make in (figure_edits, flip_edits, faithful_edits):
        edits = make(corpus, 30, 1)
        assert edits == make(corpus, 30, 1)
        assert len({edit.edited for edit in edits}) == 30
        assert all(edit.edited != edit.original for edit in edits)


def test_sentences_are_whole(corpus: list[Paper]) -> None:
    found = corpus_sentences(corpus)
    assert len(found) > 100
    assert all(sentence[0].isupper() and sentence[-1] in ".!" for _, sentence in found)


def test_changed_figures_and_names_are_not_supported(corpus: list[Paper], embedder: Embedder) -> None:
    assert share(figure_edits(corpus, 100, 2), corpus, embedder, supported=False) >= 0.99


def test_flipped_statements_are_not_supported(corpus: list[Paper], embedder: Embedder) -> None:
    assert share(flip_edits(corpus, 100, 2), corpus, embedder, supported=False) >= 0.9


def test_rewordings_stay_supported(corpus: list[Paper], embedder: Embedder) -> None:
    assert share(faithful_edits(corpus, 100, 2), corpus, embedder, supported=True) >= 0.95


def written(label: str) -> Iterator[tuple[str, str]]:
    with (ROOT / "eval" / "data" / "paraphrases.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["label"] == label:
                yield row["claim"], row["paper"]


@pytest.mark.parametrize(("label", "least"), [("supported", 0.95), ("not supported", 0.95)])
def test_claims_written_by_hand(corpus: list[Paper], embedder: Embedder, label: str, least: float) -> None:
    by_id = {one.id: one for one in corpus}
    edits = [Edit(by_id[source], "", claim, "hand", "") for claim, source in written(label)]
    assert len(edits) >= 50
    assert share(edits, corpus, embedder, supported=label == "supported") >= least


MAKERS = [(figure_edits, False, 0.99), (flip_edits, False, 0.9), (faithful_edits, True, 0.95)]


@pytest.mark.nightly
@pytest.mark.parametrize(("make", "supported", "least"), MAKERS)
def test_300_of_each_from_the_conference(
    shared: Path,
    embedder: Embedder,
    make: Callable[[Sequence[Paper], int, int], list[Edit]],
    supported: bool,
    least: float,
) -> None:
    with gzip.open(shared / "corpora" / "iclr2026_papers.csv.gz", "rt", encoding="utf-8") as rows:
        papers = [Paper(abstract=row["abstract"], title=row["title"]) for row in csv.DictReader(rows)]
    random.Random(7).shuffle(papers)
    papers = papers[:600]
    assert share(make(papers, 300, 1), papers, embedder, supported=supported) >= least
