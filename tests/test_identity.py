"""When two records are one paper, and what remains of both."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.identity import merge, near_identical, same_paper
from rag.papers import Paper

TEXT = (
    "Bees find their way home by the polarised light of the sky. We trained forty of them in a tunnel, turned the "
    "light, and saw that thirty-one followed it. This holds for cloudy days as well, though fewer came back by night."
)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        pytest.param(TEXT, True, id="equal"),
        pytest.param(TEXT.upper().replace(",", " ;"), True, id="case and punctuation"),
        pytest.param(TEXT.replace("thirty-one", "thirty-two"), True, id="one word"),
        pytest.param(TEXT.replace(" ", "\n"), True, id="line ends"),
        pytest.param(TEXT[:150] + "…", True, id="cut off"),
        pytest.param(TEXT[:150], True, id="cut off in a word"),
        pytest.param(TEXT[:60], False, id="only its first sentence"),
        pytest.param(
            "Rivers carry more sediment after a fire has burnt the slopes of the hills they run through.",
            False,
            id="other",
        ),
        pytest.param("", False, id="nothing"),
    ],
)
def test_near_identical(other: str, same: bool) -> None:
    assert near_identical(TEXT, other) is same
    assert near_identical(other, TEXT) is same


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        pytest.param(
            Paper(title="A", abstract="x y", doi="https://doi.org/10.1000/AbC."),
            Paper(title="B", abstract="z", doi="doi:10.1000/abc"),
            True,
            id="DOI spelled otherwise",
        ),
        pytest.param(
            Paper(title="Bees: Home!", abstract=TEXT),
            Paper(title="bees home", abstract=TEXT + " End."),
            True,
            id="title",
        ),
        pytest.param(Paper(title="Bees", abstract=TEXT), Paper(title="Fire", abstract=TEXT), False, id="other title"),
        pytest.param(
            Paper(title="Bees", abstract=TEXT), Paper(title="Bees", abstract="Quite another."), False, id="other text"
        ),
        pytest.param(Paper(abstract=TEXT), Paper(title="Bees", abstract=TEXT), True, id="no title on one side"),
        pytest.param(
            Paper(title="Bees", abstract=TEXT, url="https://openreview.net/forum?id=aaaaaaaa"),
            Paper(title="Bees", abstract=TEXT, url="https://openreview.net/forum?id=bbbbbbbb"),
            False,
            id="two OpenReview papers",
        ),
        pytest.param(
            Paper(title="Bees", abstract=TEXT, url="https://openreview.net/forum?id=aaaaaaaa"),
            Paper(title="Bees", abstract=TEXT, url="https://arxiv.org/abs/2401.01234"),
            True,
            id="OpenReview and arXiv",
        ),
        pytest.param(
            Paper(title="Bees", abstract=TEXT, doi="10.1000/a"),
            Paper(title="Bees", abstract=TEXT, doi="10.1000/b"),
            False,
            id="two DOIs",
        ),
        pytest.param(
            Paper(title="Bees", abstract=TEXT, doi="10.48550/arXiv.2401.01234"),
            Paper(title="Bees", abstract=TEXT, doi="10.1000/b"),
            True,
            id="preprint and journal",
        ),
    ],
)
def test_same_paper(a: Paper, b: Paper, same: bool) -> None:
    assert same_paper(a, b) is same
    assert same_paper(b, a) is same


def test_merge_keeps_the_longest_abstract_and_fills_what_is_empty() -> None:
    listed = Paper(title="Bees", abstract=TEXT[:150] + "…", year=2024, url="https://openreview.net/forum?id=aaaaaaaa")
    full = Paper(
        title="BEES", abstract=TEXT, authors=("Ann Lee",), year=2023, doi="10.1000/A", keywords=("bee",), venue="Days"
    )
    merged = merge(listed, full)
    assert merged == Paper(
        title="Bees",
        abstract=TEXT,
        authors=("Ann Lee",),
        year=2024,
        venue="Days",
        url="https://openreview.net/forum?id=aaaaaaaa",
        doi="10.1000/a",
        keywords=("bee",),
        id="doi:10.1000/a",
    )
    assert merge(merged, listed) == merged


def test_merge_takes_a_real_id_over_a_hash() -> None:
    known = Paper(abstract=TEXT, url="https://arxiv.org/abs/2401.01234")
    assert merge(Paper(abstract=TEXT), known).id == merge(known, Paper(abstract=TEXT)).id == "arxiv:2401.01234"


@given(st.text(max_size=200), st.text(max_size=200))
def test_likeness_has_no_order(a: str, b: str) -> None:
    assert near_identical(a, b) == near_identical(b, a)
    assert near_identical(a, a)
