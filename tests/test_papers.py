"""Papers: who they are, and when there is something to do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.papers import Paper, Skipped, normal_doi, normal_text
from rag.readers import sources


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("10.1000/ABC", "10.1000/abc"),
        ("https://doi.org/10.1000/abc", "10.1000/abc"),
        ("doi:10.1000/abc.", "10.1000/abc"),
        ("http://dx.doi.org/10.1000%2Fabc", "10.1000/abc"),
        ("10.1/too-short", ""),
        ("none", ""),
        ("", ""),
    ],
)
def test_normal_doi(text: str, doi: str) -> None:
    assert normal_doi(text) == doi


@pytest.mark.parametrize(
    ("fields", "identity"),
    [
        ({"doi": "10.1000/X", "url": "https://arxiv.org/abs/2401.00001"}, "doi:10.1000/x"),
        ({"url": "https://openreview.net/forum?id=aB_1-c"}, "openreview:aB_1-c"),
        ({"url": "https://openreview.net/pdf?id=aB1"}, "openreview:aB1"),
        ({"url": "https://arxiv.org/abs/2401.00001v3"}, "arxiv:2401.00001"),
        ({"url": "http://arxiv.org/pdf/hep-th/9901001"}, "arxiv:hep-th/9901001"),
        ({"url": "https://pubmed.ncbi.nlm.nih.gov/123/"}, "pmid:123"),
    ],
)
def test_identity(fields: dict[str, str], identity: str) -> None:
    assert Paper("text", **fields).id == identity  # type: ignore[arg-type]


def test_without_an_id_equal_wording_is_one_paper() -> None:
    assert Paper("A  gain, of 5 %!").id == Paper("a gain of 5 %").id != Paper("a gain of 6 %").id
    assert Paper("Text", title="One").id != Paper("Text", title="Two").id


@pytest.mark.parametrize(
    "change",
    [
        *({"title": "t"}, {"abstract": "b"}, {"authors": ("x",)}, {"year": 1}),
        *({"venue": "v"}, {"url": "u"}, {"keywords": ("k",)}),
    ],
)
def test_every_field_counts_for_the_content_hash(change: dict[str, object]) -> None:
    one = Paper("a", id="x")
    assert replace(one, **change).content_hash != one.content_hash == replace(one).content_hash  # type: ignore[arg-type]


@given(st.text())
def test_normal_text_is_stable(text: str) -> None:
    assert normal_text(normal_text(text)) == normal_text(text)


def test_label() -> None:
    assert Paper("x", title="T").label == "T"
    assert (
        Paper("one two three four five six seven eight nine ten").label
        == "one two three four five six seven eight nine…"
    )


def test_the_list_this_is_made_for(shared: Path) -> None:
    """19 papers; the heading line is not one."""
    (source,) = sources([str(shared / "corpora" / "iclr2026_list.txt")])
    items = list(source.papers())
    assert [item for item in items if isinstance(item, Skipped)] == []
    assert len({item.id for item in items if isinstance(item, Paper)}) == len(items) == 19
    heading = (shared / "corpora" / "iclr2026_list.txt").read_text(encoding="utf-8").splitlines()[0]
    assert not any(heading in item.abstract for item in items if isinstance(item, Paper))


def test_no_paper_of_the_conference_is_lost(shared: Path) -> None:
    (source,) = sources([str(shared / "corpora" / "iclr2026_papers.csv.gz")])
    items = list(source.papers())
    assert [item for item in items if isinstance(item, Skipped)] == []
    papers = [item for item in items if isinstance(item, Paper)]
    assert len({paper.id for paper in papers}) == len(papers) == 4302
    assert all(paper.title and paper.abstract and paper.id.startswith("openreview:") for paper in papers)
