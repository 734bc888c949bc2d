"""Citation markers: every spelling, everything that only looks like one, and any way of cutting the stream."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rag.generation.citations import Cited, Markers, Piece, Reset, Text, cited, merged, parse, shown
from rag.generation.prompts import REFUSAL


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It grows [1].", [1]),
        ("It grows[1].", [1]),
        ("It grows [ 2 ].", [2]),
        ("It grows [1, 2].", [1, 2]),
        ("It grows [1,2,2].", [1, 2]),
        ("It grows [1; 2].", [1, 2]),
        ("It grows [1 and 3].", [1, 3]),
        ("It grows [1][2].", [1, 2]),
        ("It grows [1] [2].", [1, 2]),
        ("It grows [1], [2].", [1, 2]),
        ("It grows [1] and [2].", [1, 2]),
        ("It grows [1]–[3].", [1, 2, 3]),
        ("It grows [1-3].", [1, 2, 3]),
        ("It grows [1–3].", [1, 2, 3]),
        ("It grows [3-1].", [1, 2, 3]),
        ("It grows [1-3, 5].", [1, 2, 3, 5]),
        ("It grows 【1】.", [1]),
        ("It grows 【2†source】.", [2]),
        ("It grows ［2］.", [2]),
        ("It grows [[1]].", [1]),
        ("It grows [[1], [2]].", [1, 2]),
        ("It grows `[1]`.", [1]),
        ("It grows `[1, 2]`.", [1, 2]),
        ("It grows (Source 2).", [2]),
        ("It grows (source 2).", [2]),
        ("It grows (Sources 1 and 3).", [1, 3]),
        ("It grows (Abstract 4).", [4]),
        ("It grows (see [1], [2]).", [1, 2]),
        ("It grows [Source 2].", [2]),
        ("It grows [Source 1, Source 3].", [1, 3]),
        ("It grows [Sources 1-2].", [1, 2]),
        ("It grows [^1].", [1]),
        ("It grows [1](https://example.org/a).", [1]),
        ("It grows [1](#source-1).", [1]),
        ("It grows \\[1\\].", [1]),
        ("It grows.¹ ", [1]),
        ("它增长了【1】。", [1]),
        ("它增长了（来源2）。", [2]),
        ("它增长了 [来源 1，来源 3]。", [1, 3]),
    ],
)
def test_spellings_of_a_marker(text: str, numbers: list[int]) -> None:
    pieces = parse(text, 5)
    assert list(cited(pieces)) == numbers
    assert shown(pieces).strip() in ("It grows.", "它增长了。")


@pytest.mark.parametrize(
    "text",
    [
        "a value in [0, 1].",
        "a value in [0, 2] and (1, 2].",
        "a threshold of [0.5].",
        "weights of [0.1, 0.9].",
        "shifted to [-1, 1].",
        "the slice [1:3] of it.",
        "the vector [n] and [i+1].",
        "see `x[1]` there.",
        "where x[1] is the first.",
        "the cell a[0][1] of it.",
        "```python\nx[1] = y[2]\n```",
        "the matrix $[1]$ and $x_{[2]}$.",
        r"the matrix \(A[1]\) and \[B[2]\].",
        "(1) first, (2) second.",
        "the [MASK] token, [CLS] and [SEP].",
        "in [2024], they say.",
        "p < 0.05, a<b, <b>bold</b>.",
        "it costs $5 or $6 [sic].",
        "m² and 10⁻³ and Ca²⁺.",
        "``quoted'' text.",
        "Never, NO, Not NOT_YET.",
        "a backtick ` alone.",
        "an open [1",
        "an open (Source 2",
        "see (Sourcing 2) of it",
        "",
    ],
)
def test_what_is_no_marker_stays_as_it_is(text: str) -> None:
    assert parse(text, 5) == ([Text(text)] if text else [])


@pytest.mark.parametrize(
    ("text", "numbers", "left"),
    [
        ("So it is [7].", [], "So it is."),
        ("So it is [1, 7].", [1], "So it is."),
        ("So it is [4-9].", [4, 5], "So it is."),
        ("So it is [Source 12].", [], "So it is."),
        ("It costs $5 [1] and $6 [2].", [1, 2], "It costs $5 and $6."),
        ("P < 0.05 [1] in [0, 1] [2].", [1, 2], "P < 0.05 in [0, 1]."),
        ("Good [1](see below).", [1], "Good(see below)."),
        ("- one [1]\n- two [2]", [1, 2], "- one\n- two"),
    ],
)
def test_numbers_beyond_the_sources_are_dropped(text: str, numbers: list[int], left: str) -> None:
    pieces = parse(text, 5)
    assert list(cited(pieces)) == numbers
    assert shown(pieces) == left


def test_a_bracket_of_the_abstracts_own_text_is_no_citation() -> None:
    abstract = "Median age was 12 [3, 5] years; the interval [1, 2] was used."
    pieces = parse("The median age was 12 [3, 5] years [1].", 5, [abstract])
    assert shown(pieces) == "The median age was 12 [3, 5] years."
    assert list(cited(pieces)) == [1]
    assert list(cited(parse("The age was known [3, 5].", 5, [abstract]))) == [3, 5]


def test_a_citation_tells_where_it_stood() -> None:
    assert parse("One [1]. Two [2, 3].", 5) == [
        Text("One"),
        Cited((1,), 3),
        Text(". Two"),
        Cited((2, 3), 8),
        Text("."),
    ]


@pytest.mark.parametrize(
    ("text", "left", "numbers"),
    [
        ("<think>[2] or [3]?</think>It is so [1].", "It is so.", [1]),
        ("<THINKING>\n[2]\n</THINKING>\n\nIt is so [1].", "\n\nIt is so.", [1]),
        ("It is so [1]. <think>or [2]?", "It is so. ", [1]),
        ("Hm, [2] < [3].</think>It is so [1].", "It is so.", [1]),
        ("a</think>b</think>c", "c", []),
        ("<think>", "", []),
    ],
)
def test_thoughts_are_hidden(text: str, left: str, numbers: list[int]) -> None:
    pieces = parse(text, 5)
    assert shown(pieces) == left
    assert list(cited(pieces)) == numbers


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        (REFUSAL, True),
        (f"**{REFUSAL}**.", True),
        (f"So it is [1]. {REFUSAL}", True),
        (f"<think>{REFUSAL}?</think>So it is [1].", False),
        (f"{REFUSAL}</think>So it is [1].", False),
        ("NOT_IN", False),
    ],
)
def test_the_refusal_is_noticed_and_never_shown(text: str, refused: bool) -> None:
    markers = Markers(5)
    left = shown([*markers.feed(text), *markers.finish()])
    assert markers.refused is refused
    assert REFUSAL not in left


FRAGMENTS = st.sampled_from(
    [
        *("[", "]", "[1]", "[1, 2]", "[1 - 3]", "[[1], [2]]", "[1](https://a.b)", "【", "】", "(", ")", "1", "2", "7"),
        *(
            "(Source",
            "Sources",
            "来源",
            "see ",
            "and",
            "0",
            "0.5",
            ",",
            ";",
            "–",
            "-",
            ".",
            "。",
            " ",
            "  ",
            "\n",
            "\t",
        ),
        *(
            "`",
            "``",
            "```",
            "$",
            "$$",
            "\\",
            "\\[",
            "\\]",
            "\\(",
            "\\)",
            "¹",
            "²",
            "^",
            "#",
            ":",
            "†",
            "(https://a.b/c)",
        ),
        *("<", ">", "<think>", "</think>", "<thi", "nk>", "N", "NO", "NOT_IN", REFUSAL, "word", "x", "a"),
    ]
)
ANSWERS = st.one_of(
    st.lists(FRAGMENTS, max_size=25).map("".join), st.text(alphabet="[](0123,–` $\\<>think/N_xs¹\n", max_size=40)
)


def fed(text: str, cuts: list[int]) -> list[Piece]:
    markers = Markers(3)
    bounds = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    pieces = [piece for start, end in pairwise(bounds) for piece in markers.feed(text[start:end])]
    return [*pieces, *markers.finish()]


@settings(max_examples=400, deadline=None)
@given(ANSWERS, st.lists(st.integers(0, 200), max_size=8))
@example("It grows [1](https://a.b) and [2].", [10, 11, 12, 20])
@example("a</think>b", [3])
def test_any_way_of_cutting_gives_the_same_pieces(text: str, cuts: list[int]) -> None:
    whole = parse(text, 3)
    assert merged(fed(text, cuts)) == whole
    assert merged(fed(text, list(range(len(text))))) == whole


@settings(max_examples=300, deadline=None)
@given(ANSWERS)
def test_what_was_shown_is_never_taken_back(text: str) -> None:
    """Letter by letter the shown text only grows, so that no half marker was ever in it."""
    markers = Markers(3)
    so_far = ""
    final = shown(fed(text, list(range(len(text)))))
    if any(isinstance(piece, Reset) for piece in fed(text, [])):
        return  # thoughts that only their end gives away
    for letter in text:
        so_far += shown(markers.feed(letter))
        assert final.startswith(so_far)


@settings(max_examples=300, deadline=None)
@given(ANSWERS)
def test_pieces_are_tidy(text: str) -> None:
    pieces = parse(text, 3)
    position = 0
    for index, piece in enumerate(pieces):
        if isinstance(piece, Text):
            assert piece.text
            assert index == 0 or not isinstance(pieces[index - 1], Text)
            position += len(piece.text)
        else:
            assert isinstance(piece, Cited)
            assert piece.position == position
            assert piece.numbers
            assert all(1 <= number <= 3 for number in piece.numbers)


def test_long_texts_take_time_in_proportion() -> None:
    """A stream that never closes its bracket does not become slow."""
    markers = Markers(3)
    text = "[(`$ " * 4000
    pieces = [piece for letter in text for piece in markers.feed(letter)]
    assert shown([*pieces, *markers.finish()]) == text
