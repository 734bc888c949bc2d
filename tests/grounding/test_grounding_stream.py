"""Sentences out of a stream: nothing lost, nothing cut in the middle, whatever the pieces are."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.grounding import Piece, SentenceStream

TEXTS = [
    pytest.param("It rose by 5.2 %. It fell.", ["It rose by 5.2 %.", "It fell."], id="decimals"),
    pytest.param("Smith et al. found it. Others did not.", ["Smith et al. found it.", "Others did not."], id="et al."),
    pytest.param("Some, e.g. GPT-4, work. Few fail.", ["Some, e.g. GPT-4, work.", "Few fail."], id="abbreviation"),
    pytest.param("有 52B 个词元。另有一个。", ["有 52B 个词元。", "另有一个。"], id="Chinese"),
    pytest.param("Found:\n- one thing\n- another thing\n", ["Found:", "one thing", "another thing"], id="bullets"),
    pytest.param("1. First point.\n2. Second point.", ["First point.", "Second point."], id="numbers"),
    pytest.param("| a | b |\n|---|---|\n| 1.5 | 2. x |\n", ["| a | b |", "|---|---|", "| 1.5 | 2. x |"], id="table"),
    pytest.param("We find that\nthe model works. Good.", ["We find that\nthe model works.", "Good."], id="wrapped"),
    pytest.param("# Results\nIt works.", ["# Results", "It works."], id="heading"),
    pytest.param("First part\n\nSecond part", ["First part", "Second part"], id="paragraphs"),
]


def streamed(chunks: list[str]) -> list[Piece]:
    stream = SentenceStream()
    return [piece for chunk in chunks for piece in stream.feed(chunk)] + stream.finish()


@pytest.mark.parametrize(("text", "expected"), TEXTS)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_sentences_do_not_depend_on_the_chunks(text: str, expected: list[str], size: int) -> None:
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    assert [piece.text for piece in streamed(chunks)] == expected


def test_a_sentence_comes_as_soon_as_the_next_one_has_begun() -> None:
    stream = SentenceStream()
    assert stream.feed("The first is done. Th") == []
    assert [piece.text for piece in stream.feed("e second")] == ["The first is done."]


def test_leads_keep_list_marks_and_white_space() -> None:
    assert streamed(["Two:\n- one thing\n- two things"]) == [
        Piece("Two:", ""),
        Piece("one thing", "\n- "),
        Piece("two things", "\n- "),
    ]


@given(st.text(alphabet="ab .。!?\n-|#1A,", max_size=80), st.lists(st.integers(0, 80), max_size=6))
def test_nothing_is_lost_or_invented(text: str, cuts: list[int]) -> None:
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = streamed([text[start:end] for start, end in pairwise(edges)])
    joined = "".join(piece.lead + piece.text for piece in pieces)
    assert text.startswith(joined)
    assert not text[len(joined) :].strip(" \n\t-|#1.>") or not pieces or text[len(joined) :].strip() == ""
