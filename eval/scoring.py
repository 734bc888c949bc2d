"""From one question and its answer to its values: what applies, what a refusal counts, what the judge failed on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from eval import metrics
from eval.dataset import Question
from eval.intervals import Estimate, estimate
from rag.answer import Answer, Reason, Sentence
from rag.papers import Paper

Values = dict[str, float | None]
Judging = Callable[[str, Sequence[Paper]], "Judgement"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's word on one claim: `supported` is None, and `note` says why, when the judge failed.

    `score` is higher for better supported, 0 to 1; only its order has a meaning.
    """

    supported: bool | None
    score: float = 0.0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """`verdicts` holds the judge's word on each sentence of the answer; "" for one that states nothing."""

    values: Values
    verdicts: tuple[str, ...] = ()
    judge_failures: tuple[str, ...] = field(default=())


def refused(answer: Answer) -> bool:
    """Whether the question was declined for lack of evidence (a missing model is a failure, not a refusal)."""
    return answer.refusal is not None and answer.refusal.reason is not Reason.MODEL_UNAVAILABLE


def score(question: Question, answer: Answer, ranked: Sequence[str], judge: Judging) -> Score:
    """Every value of one answer. Faithfulness is judged by all that was retrieved, citations by what they cite."""
    values: Values = {**_retrieval(question, ranked), **_cost(answer)}
    if refused(answer):
        return Score({**values, **_refused(question)})
    failures: list[str] = []

    def supported(claim: str, papers: Sequence[Paper]) -> bool | None:
        judgement = judge(claim, papers)
        if judgement.supported is None:
            failures.append(judgement.note or "no word from the judge")
        return judgement.supported

    factual = [sentence for sentence in answer.sentences if metrics.is_factual(sentence)]
    everything = {source.paper.id: source.paper for source in answer.sources}
    verdicts = [supported(sentence.text, [*everything.values()]) if everything else False for sentence in factual]
    support = metrics.support(verdicts)
    citations = metrics.citation_scores([(item.text, _cited(item, everything)) for item in factual], supported)
    values |= _answered(question, answer) | {
        "faithfulness": support.score,
        "claims": float(support.claims),
        "citation precision": citations.precision,
        "citation recall": citations.recall,
        "quotes": metrics.quotes_verbatim(answer),
    }
    words = iter(_WORDS[verdict] for verdict in verdicts)
    return Score(
        values,
        tuple(next(words) if metrics.is_factual(sentence) else "" for sentence in answer.sentences),
        tuple(failures),
    )


def summary(values: Sequence[Values]) -> dict[str, Estimate]:
    """Mean and 95 % interval of every metric over these questions; metrics that never apply are left out."""
    result = {}
    for key, metric in metrics.METRICS.items():
        known = [value for row in values if (value := row.get(key)) is not None]
        if known:
            result[key] = estimate(known, bounded=metric.share)
    return result


_WORDS = {True: "supported", False: "not supported", None: "judge failed"}


def _cited(sentence: Sentence, retrieved: dict[str, Paper]) -> list[Paper]:
    """The papers it cites, each once; one that was not retrieved is empty and supports nothing."""
    ids = dict.fromkeys(citation.paper_id for citation in sentence.citations)
    return [retrieved.get(paper_id) or Paper("", id=paper_id) for paper_id in ids]


def _retrieval(question: Question, ranked: Sequence[str]) -> Values:
    return {
        "hit@1": metrics.hit_at(1, ranked, question.gold),
        **{f"recall@{k}": metrics.recall_at(k, ranked, question.gold) for k in (1, 5, 20)},
        "mrr": metrics.reciprocal_rank(ranked, question.gold),
        "ndcg@10": metrics.ndcg_at(10, ranked, question.gold),
    }


def _cost(answer: Answer) -> Values:
    counted = answer.tokens_in > 0 or answer.model == "extractive"  # else the server or the peer does not tell
    return {
        "first_words_seconds": answer.timings.first_words or answer.timings.total,
        "total_seconds": answer.timings.total,
        "tokens_in": float(answer.tokens_in) if counted else None,
        "tokens_out": float(answer.tokens_out) if counted else None,
    }


def _refused(question: Question) -> Values:
    """Right: 1 in all that judges the answer. Wrong: it has no facts, and nothing whose faith could be judged."""
    if question.answerable is False:
        full = (
            "right",
            "facts",
            "numbers",
            "language",
            "faithfulness",
            "citation precision",
            "citation recall",
            "quotes",
        )
        return {**dict.fromkeys(full, 1.0), "refusal": 1.0, "answered_unanswerable": 0.0}
    if question.answerable is None:
        return {}
    return {
        "right": 0.0,
        "facts": 0.0 if question.facts else None,
        "numbers": 0.0 if metrics.figures(question.facts) else None,
        "refused_answerable": 1.0,
    }


def _answered(question: Question, answer: Answer) -> Values:
    text = metrics.plain_answer(answer)
    values: Values = {"language": metrics.language_right(question.language, text)}
    if question.answerable is False:
        return {**values, "right": 0.0, "facts": 0.0, "numbers": 0.0, "refusal": 0.0, "answered_unanswerable": 1.0}
    if question.answerable is None:
        return values
    facts = metrics.facts_present(question.facts, text)
    cites_gold = any(citation.paper_id in question.gold for citation in answer.citations)
    return {
        **values,
        "right": float(cites_gold if facts is None else facts == 1),
        "facts": facts,
        "numbers": metrics.facts_present(metrics.figures(question.facts), text),
        "refused_answerable": 0.0,
    }
