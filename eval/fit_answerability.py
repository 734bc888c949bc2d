"""Fit the decision "do these abstracts answer the question?" and print its two error rates.

    [RAG_LLM=…] python -m eval.fit_answerability [CORPUS] [--odds]

Fits on the "tune" half of the ICLR question set, where CORPUS (its list of papers) is given, and on every second
question of the sample set; the other halves are only reported on. The numbers go into `rag/answerability.py` by hand.

With --odds the model is asked, for one token, whether the five sentences nearest to a question answer it; its odds are
reported alone and together with the words, each with the threshold that is best on the halves fitted on.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from eval.dataset import Question, load
from eval.systems import ingest
from rag.answerability import THRESHOLD, Encode, Evidence, weigh
from rag.embedding import Remembered
from rag.evidence import read_paper
from rag.generation.logprobs import first_token
from rag.generation.models import Message
from rag.generation.providers import choose_model
from rag.grounding.odds import log_odds
from rag.retrieval import Ranking, Retriever
from rag.settings import load_settings
from rag.store import Store

SAMPLE = Path(__file__).parents[1] / "rag" / "data" / "iclr2026_sample.jsonl"
Row = tuple[Question, Evidence, float]
_NEAREST = 5
_SECONDS = 120


def measured(question_set: str, corpus: Path, odds: Callable[[str, str], float]) -> Iterator[Row]:
    """The evidence for each English question that stands alone, and what `odds` makes of the nearest sentences."""
    store = Store(ingest(corpus, load_settings()))
    retriever, encode = Retriever(store), Remembered(store.embedder)
    for question in load(question_set).questions:
        if question.language == "en" and not question.history:
            ranking = retriever.search(question.question, top_k=5)
            yield question, weigh(ranking, encode), odds(nearest(ranking, encode), question.question)
    store.close()


def nearest(ranking: Ranking, encode: Encode) -> str:
    """The sentences of the retrieved papers nearest to the question, in reading order, each paper a paragraph."""
    papers = [read_paper(hit.paper) for hit in ranking.hits]
    places = [(number, at) for number, paper in enumerate(papers) for at in range(len(paper.sentences))]
    if not places:
        return ""
    cosines = encode([papers[number].sentences[at].text for number, at in places]) @ ranking.vector
    chosen = sorted(places[at] for at in np.argsort(-cosines)[:_NEAREST])
    return "\n\n".join(
        " ".join(papers[number].sentences[at].text for owner, at in chosen if owner == number)
        for number in sorted({number for number, _ in chosen})
    )


def model_odds() -> Callable[[str, str], float]:
    """Natural log-odds of yes, by the configured model."""
    model = choose_model(load_settings())
    if model.llm is None:
        raise SystemExit(f"--odds needs a language model: {model.reason}")

    def odds(passage: str, question: str) -> float:
        prompt = (
            f"Document:\n{passage}\n\nQuestion: {question}\n\n"
            "Does the document answer every part of the question? Answer yes or no."
        )
        return log_odds(first_token(model, [Message("user", prompt)], seconds=_SECONDS) or {})

    return odds


def halves(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Those to fit on and those to report on: by `half` where a set says it, else every second question."""
    marked = [row for row in rows if row[0].half]
    if marked:
        return [row for row in rows if row[0].half == "tune"], [row for row in rows if row[0].half == "test"]
    return list(rows[::2]), list(rows[1::2])


def report(name: str, rows: Sequence[Row], probabilities: Sequence[float], threshold: float) -> str:
    """One line: AUC, answerable questions refused, unanswerable ones let through."""
    answerable = np.array([bool(question.gold) for question, _, _ in rows])
    chance = np.asarray(probabilities)
    refused = float((chance[answerable] < threshold).mean())
    passed = float((chance[~answerable] >= threshold).mean())
    auc = roc_auc_score(answerable, chance)
    return f"{name:14} n={len(rows):3}  AUC {auc:.3f}  refused wrongly {refused:.3f}, rightly {1 - passed:.3f}"


def features(rows: Sequence[Row], *, words: bool = True, odds: bool = False) -> NDArray[np.float64]:
    """Shape (len(rows), features)."""
    return np.array(
        [[*(astuple(evidence) if words else ()), *([ratio] if odds else [])] for _, evidence, ratio in rows]
    )


def fitted(rows: Sequence[Row], **chosen: bool) -> LogisticRegression:
    model = LogisticRegression(C=3, class_weight="balanced")
    return model.fit(features(rows, **chosen), [bool(question.gold) for question, _, _ in rows])


def best_threshold(rows: Sequence[Row], chances: NDArray[np.float64]) -> float:
    """That with the least sum of both error rates."""
    answerable = np.array([bool(question.gold) for question, _, _ in rows])

    def errors(threshold: float) -> float:
        return float((chances[answerable] < threshold).mean() + (chances[~answerable] >= threshold).mean())

    return min((float(value) for value in np.linspace(0.05, 0.95, 91)), key=errors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?")
    parser.add_argument("--odds", action="store_true", help="also ask the configured model")
    options = parser.parse_args()
    odds = model_odds() if options.odds else lambda _passage, _question: 0.0
    sets = [("sample", SAMPLE), *([("iclr2026", options.corpus)] if options.corpus else [])]
    fit: list[Row] = []
    parts: list[tuple[str, list[Row]]] = []
    for name, corpus in sets:
        tune, test = halves(list(measured(name, corpus, odds)))
        fit += tune
        parts += [(f"{name} tune", tune), (f"{name} test", test)]
    model = fitted(fit)
    print("fitted:", dict(zip([field.name for field in fields(Evidence)], model.coef_[0].round(2), strict=True)))
    print("intercept:", model.intercept_.round(2)[0])
    for threshold in (0.4, 0.45, 0.5, 0.55):
        for name, rows in parts:
            print(f"t={threshold:.2f}", report(name, rows, model.predict_proba(features(rows))[:, 1], threshold))
    for name, rows in parts:
        print("in use:", report(name, rows, [evidence.probability for _, evidence, _ in rows], THRESHOLD))
    for words in (True, False) if options.odds else ():
        model = fitted(fit, words=words, odds=True)
        bound = best_threshold(fit, model.predict_proba(features(fit, words=words, odds=True))[:, 1])
        for name, rows in parts:
            chances = model.predict_proba(features(rows, words=words, odds=True))[:, 1]
            print("words and odds:" if words else "odds alone:", report(name, rows, chances, bound))


if __name__ == "__main__":
    main()
