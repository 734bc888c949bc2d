"""Answers: what is read, counted and kept."""

from __future__ import annotations

import json

import pytest

from rag.answer import (
    Answer,
    Citation,
    Reason,
    Refusal,
    Sentence,
    Source,
    Timings,
    Verdict,
    answer_from_dict,
)
from rag.papers import Paper

ONE, TWO = Paper("Reefs recover within 12 years.", year=2020, authors=("A",)), Paper("Kelp grows.", keywords=("k",))


def cite(number: int, paper: Paper = ONE) -> Citation:
    return Citation(number, paper.id, 0, 5, paper.abstract[:5], 0.9)


@pytest.mark.parametrize(
    ("text", "numbers", "marked"),
    [
        ("Reefs recover.", [1], "Reefs recover [1]."),
        ("Reefs recover", [1], "Reefs recover [1]"),
        ("Do they?!", [2, 1], "Do they [2][1]?!"),
        ("珊瑚恢复。", [1], "珊瑚恢复 [1]。"),
        ("Twice.", [1, 1], "Twice [1]."),
        ("None.", [], "None."),
        ("…", [1], "… [1]"),
    ],
)
def test_markers_stand_before_the_full_stop(text: str, numbers: list[int], marked: str) -> None:
    assert Sentence(text, Verdict.SUPPORTED, tuple(map(cite, numbers))).marked == marked


ANSWER = Answer(
    question="How long?",
    standalone="How long do reefs need?",
    sentences=(
        Sentence("Reefs recover.", Verdict.SUPPORTED, (cite(1),)),
        Sentence("Kelp flies.", Verdict.NOT_FOUND, (), "\n- ", "flies"),
    ),
    sources=(Source(ONE, 0.9, 0, 5, 1), Source(TWO, 0.1)),
    timings=Timings(0.1, 0.2, 0.3),
    notices=("note",),
)


def test_text_cited_and_counts() -> None:
    assert ANSWER.text == "Reefs recover [1].\n- Kelp flies."
    assert [source.paper for source in ANSWER.cited] == [ONE]
    assert ANSWER.sources[0].passage == "Reefs"
    assert (ANSWER.count(Verdict.SUPPORTED), ANSWER.count(Verdict.NOT_FOUND, Verdict.SUPPORTED)) == (1, 2)


@pytest.mark.parametrize(
    "answer", [ANSWER, Answer("q", "q", refusal=Refusal(Reason.NO_PAPERS, "None.", "rag ingest FILE"), draft="d")]
)
def test_through_json_and_back(answer: Answer) -> None:
    assert answer_from_dict(json.loads(json.dumps(answer.to_dict()))) == answer


def test_a_refusal_reads_as_its_message() -> None:
    assert Answer("q", "q", refusal=Refusal(Reason.NO_PAPERS, "None.")).text == "None."
