"""Metrics beside reference implementations, and by hand where there is none."""

from __future__ import annotations

from collections.abc import Sequence

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import RR, R, Success, nDCG
from sklearn.metrics import ndcg_score

from eval.metrics import (
    changed,
    citation_scores,
    facts_present,
    hit_at,
    is_factual,
    language_right,
    ndcg_at,
    plain_answer,
    quotes_verbatim,
    recall_at,
    reciprocal_rank,
    support,
)
from rag.answer import Answer, Citation, Reason, Refusal, Sentence, Source, Verdict
from rag.papers import Paper

PAPERS = [f"p{i}" for i in range(30)]
RANKINGS = st.lists(st.sampled_from(PAPERS), unique=True, min_size=1, max_size=25)
GOLD = st.lists(st.sampled_from(PAPERS), unique=True, min_size=1, max_size=6)


@given(RANKINGS, GOLD)
@settings(max_examples=150, deadline=None)
def test_ranking_metrics_agree_with_trec_eval(ranked: list[str], gold: list[str]) -> None:
    run = {"q": {paper_id: float(-rank) for rank, paper_id in enumerate(ranked)}}
    measures = {
        R @ 5: recall_at(5, ranked, gold),
        R @ 20: recall_at(20, ranked, gold),
        RR: reciprocal_rank(ranked, gold),
        nDCG @ 10: ndcg_at(10, ranked, gold),
        Success @ 1: hit_at(1, ranked, gold),
    }
    reference = ir_measures.calc_aggregate(list(measures), {"q": dict.fromkeys(gold, 1)}, run)
    assert reference == pytest.approx(measures)


@given(st.permutations(PAPERS), GOLD)
@settings(max_examples=60, deadline=None)
def test_ndcg_agrees_with_scikit_learn(ranked: list[str], gold: list[str]) -> None:
    truth = np.array([[float(paper_id in gold) for paper_id in PAPERS]])
    scores = np.array([[-float(ranked.index(paper_id)) for paper_id in PAPERS]])
    assert ndcg_at(10, ranked, gold) == pytest.approx(ndcg_score(truth, scores, k=10))


def test_without_gold_there_is_nothing_to_measure() -> None:
    assert [recall_at(5, ["a"], []), reciprocal_rank(["a"], []), ndcg_at(10, ["a"], []), hit_at(1, ["a"], [])] == [
        None
    ] * 4
    assert facts_present([], "anything") is None


SAYS = {"p": {"a"}, "q": {"b"}, "r": {"a", "b"}, "s": {"c"}}


def entails(claim: str, passages: Sequence[str]) -> bool | None:
    """A claim is the letters it states; a passage entails what it holds. "!" makes the judge fail."""
    if "!" in claim:
        return None
    return set(claim) <= set().union(*(SAYS[passage] for passage in passages))


@pytest.mark.parametrize(
    ("sentences", "precision", "recall"),
    [
        ([("a", ["p"])], 1, 1),
        ([("a", ["q"])], 0, 0),
        ([("a", [])], None, 0),
        ([("ab", ["p", "q"])], 1, 1),  # each is needed
        ([("ab", ["r", "s"])], 1 / 2, 1),  # s adds nothing
        ([("a", ["p", "r"])], 1, 1),  # each is enough
        ([("ab", ["p", "r"])], 1 / 2, 1),  # p is neither needed nor enough
        ([("ab", ["p", "s"])], 0, 0),  # no recall, so no citation of it is relevant
        ([("a", ["p"]), ("b", ["p"]), ("c", [])], 1 / 2, 1 / 3),
        ([], None, None),
    ],
)
def test_citations_by_alces_definition(
    sentences: list[tuple[str, list[str]]], precision: float | None, recall: float | None
) -> None:
    scores = citation_scores(sentences, entails)
    assert (scores.precision, scores.recall, scores.failed) == (precision, recall, 0)


def test_what_the_judge_failed_on_is_counted_apart() -> None:
    scores = citation_scores([("a", ["p"]), ("a!", ["p"]), ("a!", ["p", "q"])], entails)
    assert (scores.precision, scores.recall, scores.failed) == (1, 1, 2)
    assert support([True, None, False]) == support([True, False, None])
    assert (support([True, None, False]).score, support([True, None, False]).failed) == (0.5, 1)
    assert support([None]).score is None


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "The model is better than the one before.", 1),
        ("de", "Das Modell ist besser als die anderen und wird nicht größer.", 1),
        ("de", "The model is better than the one before.", 0),
        ("en", "该模型在 ImageNet 上提高了 5 %，而且更快。", 0),
        ("zh", "该模型在 ImageNet 上提高了 5 %，而且更快。", 1),
        ("zh", "The model is better than the one before.", 0),
        ("fr", "Le modèle est plus rapide que les autres pour une tâche.", 1),
        ("en", "HunyuanVideo, Flux", None),
        ("en", "42 %", None),
        ("sw", "Mtindo huu ni bora", None),
    ],
)
def test_language(language: str, text: str, expected: float | None) -> None:
    assert language_right(language, text) == expected


@pytest.mark.parametrize(
    ("text", "verdict", "factual"),
    [
        ("It is faster.", Verdict.NOT_FOUND, True),
        ("Here is what the abstracts say:", Verdict.META, False),
        ("Here it gains 12 %.", Verdict.META, True),  # called meta by mistake
        ("…", Verdict.NOT_FOUND, False),
    ],
)
def test_factual(text: str, verdict: Verdict, factual: bool) -> None:
    assert is_factual(Sentence(text, verdict)) is factual


def answer(*sentences: Sentence, papers: Sequence[Paper] = ()) -> Answer:
    return Answer("q", "q", sentences, tuple(Source(paper, 1.0, number=1) for paper in papers))


PAPER = Paper("It is 7 times faster.", id="p1")
EXACT = Citation(1, "p1", 6, 13, "7 times", 1.0)


@pytest.mark.parametrize(
    ("citation", "expected"),
    [
        (EXACT, 1),
        (Citation(1, "p1", 6, 13, "8 times", 1.0), 0),
        (Citation(1, "p1", 5, 12, "7 times", 1.0), 0),
        (Citation(1, "p2", 6, 13, "7 times", 1.0), 0),
        (Citation(1, "p1", 6, 6, "", 1.0), 0),
        (Citation(1, "p1", -8, -1, "faster", 1.0), 0),
    ],
    ids=["exact", "a digit off", "a place off", "a paper that was not retrieved", "empty", "counted from the end"],
)
def test_quotes(citation: Citation, expected: float) -> None:
    assert quotes_verbatim(answer(Sentence("x", Verdict.SUPPORTED, (citation,)), papers=[PAPER])) == expected


def test_no_quote_no_share() -> None:
    assert quotes_verbatim(answer(Sentence("x", Verdict.NOT_FOUND))) is None


def test_plain_answer() -> None:
    said = answer(Sentence("A.", Verdict.SUPPORTED, (EXACT,)), Sentence("B.", Verdict.NOT_FOUND, lead=" "))
    assert plain_answer(said) == "A. B."
    assert plain_answer(Answer("q", "q", refusal=Refusal(Reason.NOT_IN_ABSTRACTS, "It says 20 %."))) == ""


def test_changes_between_repetitions() -> None:
    cited = answer(Sentence("A is B.", Verdict.SUPPORTED, (EXACT,)))
    reworded = answer(Sentence("B it is.", Verdict.SUPPORTED, (EXACT,)))
    uncited = answer(Sentence("A is B", Verdict.NOT_FOUND))
    assert changed([cited]) is None
    assert changed([cited, cited]) == {"answer_changed": 0, "citations_changed": 0, "verdicts_changed": 0}
    assert changed([cited, reworded, uncited]) == {
        "answer_changed": 0.5,
        "citations_changed": 0.5,
        "verdicts_changed": 0.5,
    }
