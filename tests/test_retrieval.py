"""Hybrid retrieval: exact terms first, filters, other scripts, any size of corpus; fusion as it is defined."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from encoders import HashEmbedder
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import SettingsError
from rag.fulltext import FullText, match_expression, rarity
from rag.papers import Paper
from rag.retrieval import Filters, Retriever, fuse
from rag.settings import load_settings
from rag.store import Store

PAPERS = [
    Paper("Interleukin signals rise with age; IL-6 drives inflammation in the joints.", title="A cytokine"),
    Paper(
        "IL-2 and six other cytokines were measured; none of 6 interleukins mattered, IL even less.",
        title="Other cytokines",
    ),
    Paper("Plaques of β-amyloid precede memory loss by a decade.", title="Plaques"),
    Paper("Starch and other amyloid bodies, of which beta cells hold many.", title="Amyloid bodies"),
    Paper("Mutated p53 fails to halt the division of damaged cells.", title="A guardian"),
    Paper("The page 53 of the code book lists p 53 items about cell division.", title="A book"),
    Paper("Capture of CO₂ from air costs energy; the sorbent is cheap.", title="Capture from air"),
    Paper("Emission of CO2 by ships fell in a year.", title="Ships"),
    Paper("Carbon monoxide and 2 other gases leak from stoves.", title="Stoves"),
    Paper("GPT-4 answers exams at the level of a student.", title="Exams"),
    Paper("GPT models of 4 sizes answer quiz items; GPT-3 is the weakest.", title="Quiz"),
    Paper("C2Seg is a benchmark for segmentation across cities.", title="Cross-city images"),
    Paper("Segmentation of images with two kinds of sensors across cities.", title="Sensors"),
    Paper("本文提出一种用于蛋白质结构预测的图神经网络。", title="图神经网络"),
    Paper("我们研究大型语言模型在医学问答中的幻觉问题。", title="幻觉"),
    Paper("Sörensen's naïve estimator converges slowly for Poincaré maps.", title="Estimators"),
    Paper("A gain of $\\alpha$-divergence with \\textbf{boosting} is 5\\%.", title="Markup"),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    opened = Store(load_settings(data=tmp_path_factory.mktemp("data")), HashEmbedder())
    opened.sync("list", PAPERS)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def retriever(store: Store) -> Retriever:
    return Retriever(store)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("IL-6", {"A cytokine"}),
        ("What does IL-6 drive?", {"A cytokine"}),
        ("β-amyloid", {"Plaques"}),
        ("p53", {"A guardian"}),
        ("what happens when p53 is mutated", {"A guardian"}),
        ("CO2", {"Capture from air", "Ships"}),
        ("CO₂", {"Capture from air", "Ships"}),
        ("GPT-4", {"Exams"}),
        ("gpt-4", {"Exams"}),
        ("C2Seg", {"Cross-city images"}),
        ("c2seg benchmark", {"Cross-city images"}),
        ("蛋白质结构预测", {"图神经网络"}),
        ("什么是蛋白质", {"图神经网络"}),
        ("蛋白", {"图神经网络"}),
        ("如何减少语言模型的幻觉？", {"幻觉"}),
        ("naive Sorensen estimator", {"Estimators"}),
        ("poincaré", {"Estimators"}),
        ("boosting", {"Markup"}),
        ("α-divergence", {"Markup"}),
    ],
)
def test_exact_terms_come_first(retriever: Retriever, question: str, first: set[str]) -> None:
    hits = retriever.search(question, top_k=len(PAPERS)).hits
    assert {hit.paper.title for hit in hits[: len(first)]} == first


@pytest.mark.parametrize(
    "question",
    [
        *('"', "AND OR NOT", "NEAR(a b)", "title:x", "a*", "(", "IL-6)", "^x", "{}", "' OR 1=1 --", "\x00", "🙂", "%"),
        *("-", "*" * 50),
    ],
)  # fmt: skip
def test_no_question_is_a_syntax_error(retriever: Retriever, question: str) -> None:
    assert len(retriever.search(question, top_k=3).hits) <= 3


@given(st.text(max_size=60))
def test_any_text_can_be_searched_for(store: Store, question: str) -> None:
    full_text = FullText(store.catalogue)
    words = dict.fromkeys(question.casefold().split(), 1)
    assert all(score > 0 for score in full_text.search(question, words, 5).values())


@pytest.mark.parametrize("top_k", [1, 3, len(PAPERS), 200])
def test_top_k_beyond_the_corpus_gives_the_corpus(retriever: Retriever, top_k: int) -> None:
    ranking = retriever.search("cells", top_k=top_k)
    assert len(ranking.hits) == min(top_k, len(PAPERS))
    assert len({hit.paper.id for hit in ranking.hits}) == len(ranking.hits)
    scores = [hit.score for hit in ranking.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_an_empty_store_gives_nothing() -> None:
    store = Store(load_settings(), HashEmbedder())
    ranking = Retriever(store).search("anything", top_k=5)
    assert (ranking.hits, ranking.allowed, ranking.total) == ((), 0, 0)
    store.close()


def test_the_passage_is_the_sentence_that_matches(store: Store, retriever: Retriever) -> None:
    (source,) = retriever.search("sorbent", top_k=1).sources
    assert source.passage == "Capture of CO₂ from air costs energy; the sorbent is cheap."
    assert source.paper.abstract[source.start : source.end] == source.passage


def test_frequency_counts_papers(store: Store) -> None:
    full_text = FullText(store.catalogue)
    assert full_text.frequency(["segment", "citi", "xyzzy"]) == {"segment": 2, "citi": 2, "xyzzy": 0}
    weights = rarity(full_text.frequency(["segment", "plaqu", "xyzzy"]), store.count())
    assert weights["xyzzy"] > weights["plaqu"] > weights["segment"] > 0


def test_a_large_library_is_searched_for_the_rarest_words(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    full_text = FullText(store.catalogue)
    question = "cells cytokines plaques"
    frequency = full_text.frequency(["cell", "cytokin", "plaqu"])
    assert sorted(frequency.values()) == [1, 2, 3]
    rare = {paper for paper, words in (("Plaques", "plaqu"), ("A cytokine", "cytokin")) if frequency[words] < 3}
    expressions = {}
    for most in (0, 1, 3, 100):
        monkeypatch.setattr("rag.fulltext._MOST_ROWS", most)
        expressions[most] = match_expression(question, frequency)
        found = {store.paper(paper).title for paper in full_text.search(question, frequency, 10)}
        assert "Plaques" in found
        assert (rare <= found) is (most >= 3)
    assert expressions == {
        0: '"plaques"',  # something has to be searched for
        1: '"plaques"',
        3: '"plaques" OR "cytokines"',
        100: '"plaques" OR "cytokines" OR "cells"',
    }


def test_a_word_that_no_paper_has_leaves_out_no_other(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.fulltext._MOST_ROWS", 0)
    full_text = FullText(store.catalogue)
    found = full_text.search("xyzzy cells", full_text.frequency(["xyzzi", "cell"]), 10)
    assert len(found) == 3


# -- filters ----------------------------------------------------------------------------------------------------------

FILTERED = [
    Paper("Storms at sea.", title="a", year=2019, venue="Journal of Storms", keywords=("Sea_Level", "wind")),
    Paper("Storms on land.", title="b", year=2022, venue="ICLR 2022", keywords=("wind", "100% rain")),
    Paper("Storms in the air.", title="c", year=2024, venue="ICLR 2024"),
    Paper("Storms of no known year.", title="d", venue="iclr workshop"),
]


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    opened = Store(load_settings(data=tmp_path_factory.mktemp("data")), HashEmbedder())
    opened.sync("/lists/first.csv", FILTERED[:2])
    opened.sync("/lists/second_part.csv", FILTERED[1:])
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("filters", "titles"),
    [
        (Filters(), "abcd"),
        (Filters(year="2022"), "b"),
        (Filters(year="2019-2022"), "ab"),
        (Filters(year="2019–2022"), "ab"),
        (Filters(year=" 2020 - "), "bc"),
        (Filters(year="-2022"), "ab"),
        (Filters(year="1999"), ""),
        (Filters(venue="ICLR"), "bcd"),
        (Filters(venue="iclr 2024"), "c"),
        (Filters(venue="_"), ""),
        (Filters(keyword="WIND"), "ab"),
        (Filters(keyword="sea_level"), "a"),
        (Filters(keyword="seaXlevel"), ""),
        (Filters(keyword="100%"), "b"),
        (Filters(source="first"), "ab"),
        (Filters(source="second_part"), "bcd"),
        (Filters(source="second", year="2024", venue="iclr"), "c"),
        (Filters(source="first", year="2024"), ""),
    ],
)
def test_filters(filtered: Store, filters: Filters, titles: str) -> None:
    ranking = Retriever(filtered).search("storms", top_k=10, filters=filters)
    assert "".join(sorted(hit.paper.title for hit in ranking.hits)) == titles
    assert ranking.allowed == len(titles)


@pytest.mark.parametrize("year", ["soon", "20", "-", "2020-21", "20202024", "2024-2020", "²⁰²⁰"])
def test_what_is_no_year_is_said(filtered: Store, year: str) -> None:
    with pytest.raises(SettingsError, match="2020-2024"):
        Retriever(filtered).search("storms", top_k=1, filters=Filters(year=year))


@pytest.mark.nightly
def test_a_wide_filter_over_many_chunks_finds_the_same(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Beyond a few thousand chunks the filter is applied after the vector search."""
    store = Store(load_settings(data=tmp_path_factory.mktemp("data")), HashEmbedder())
    many = [
        Paper(f"Record{n} stands alone.", url=f"https://openreview.net/forum?id=r{n}", year=2000 + n % 2)
        for n in range(8400)
    ]
    store.sync("many", many)
    retriever = Retriever(store)
    ranking = retriever.search("Record4711", top_k=3, filters=Filters(year="2001"))
    assert ranking.allowed == 4200
    assert ranking.hits[0].paper == many[4711]
    assert {hit.paper.year for hit in ranking.hits} == {2001}
    assert many[4712] not in [
        hit.paper for hit in retriever.search("Record4712", top_k=3, filters=Filters(year="2001")).hits
    ]
    store.close()


# -- fusion -----------------------------------------------------------------------------------------------------------

SCORES = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-5, 50), max_size=8)


@pytest.mark.parametrize(
    ("lexical", "dense", "fused"),
    [
        ({}, {}, {}),
        ({"a": 4.0}, {}, {"a": 0.5}),
        ({"a": 4.0, "b": 2.0}, {"b": 0.9, "c": 0.1}, {"a": 0.5, "b": 0.5, "c": 0.0}),
        ({"a": 3.0, "b": 2.0, "c": 1.0}, {"a": 0.9, "b": 0.5, "c": 0.1}, {"a": 1.0, "b": 0.5, "c": 0.0}),
    ],
)
def test_fusion_is_min_max_half_and_half(
    lexical: dict[str, float], dense: dict[str, float], fused: dict[str, float]
) -> None:
    assert fuse(lexical, dense) == pytest.approx(fused)


def test_the_weakest_of_all_matches_counts_more_than_none() -> None:
    assert fuse({"a": 4.0, "b": 1.0}, {}, all_found=True) == pytest.approx({"a": 0.5, "b": 0.125})


@given(SCORES, SCORES, st.floats(0.1, 10), st.floats(-5, 5))
def test_fusion_keeps_order_and_does_not_depend_on_scale(
    lexical: dict[str, float], dense: dict[str, float], factor: float, shift: float
) -> None:
    fused = fuse(lexical, dense)
    assert fused.keys() == lexical.keys() | dense.keys()
    assert all(0 <= score <= 1 for score in fused.values())
    if len(set(lexical.values())) > 1 and max(lexical.values()) - min(lexical.values()) > 1e-3:
        scaled = fuse({paper: score * factor + shift for paper, score in lexical.items()}, dense)
        assert scaled == pytest.approx(fused, abs=1e-6)
