"""Fit the decision "do these abstracts answer the question?" and print its two error rates.

    [RAG_LLM=…] python -m eval.fit_answerability [CORPUS] [--odds [--readings FILE.json]]

Fits on the "tune" half of the ICLR question set, where CORPUS (its list of papers) is given, and on every second
question of the sample set; the other halves are only reported on. The numbers go into `rag/answerability.py` by hand.

With --odds the configured model is asked, for one token, whether the five sentences nearest to a question answer it. A
second decision is fitted on the log-odds of the first and on what the model's odds amount to (READ_*), its threshold on
the least sum of both error rates.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from eval.dataset import Question, load
from eval.fit_reading import hash_of
from eval.systems import ingest
from rag.answerability import READ_THRESHOLD, THRESHOLD, Evidence, Read, nearest, read_probability, weigh
from rag.embedding import Remembered
from rag.generation.providers import choose_model
from rag.grounding.verifiers import LONGEST
from rag.grounding.weights import bounded_logit
from rag.retrieval import Retriever
from rag.settings import load_settings
from rag.store import Store
from rag.verification import make_odds, question_reader

SAMPLE = Path(__file__).parents[1] / "rag" / "data" / "iclr2026_sample.jsonl"
Row = tuple[Question, Evidence, float]


def measured(question_set: str, corpus: Path, read: Read) -> Iterator[Row]:
    """The evidence for each English question that stands alone, and what `read` makes of the nearest sentences."""
    store = Store(ingest(corpus, load_settings()))
    retriever, encode = Retriever(store), Remembered(store.embedder)
    for question in load(question_set).questions:
        if question.language == "en" and not question.history:
            ranking = retriever.search(question.question, top_k=5)
            yield question, weigh(ranking, encode), read(nearest(ranking, encode), ranking.question) or 0.0
    store.close()


def reader(file: Path | None) -> Read:
    """The configured model; what it said is kept in `file`, so that a run that was broken off goes on."""
    settings = load_settings()
    odds = make_odds(settings, choose_model(settings))
    odds.measure()
    ask = question_reader(odds, LONGEST)
    known: dict[str, float | None] = json.loads(file.read_text(encoding="utf-8")) if file and file.exists() else {}

    def read(passage: str, question: str) -> float | None:
        key = hash_of(passage, question)
        if key not in known and ask is not None:
            known[key] = ask(passage, question)
            if file:
                file.write_text(json.dumps(known), encoding="utf-8")
        return known.get(key)

    return read


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


def best_threshold(rows: Sequence[Row], chances: NDArray[np.float64]) -> float:
    """That with the least sum of both error rates, the middle one where several are as good."""
    answerable = np.array([bool(question.gold) for question, _, _ in rows])
    bounds = np.linspace(0.05, 0.95, 91)
    errors = [(chances[answerable] < bound).mean() + (chances[~answerable] >= bound).mean() for bound in bounds]
    return float(np.median(bounds[np.isclose(errors, min(errors))]))


def fit_read(fit: Sequence[Row], parts: Sequence[tuple[str, Sequence[Row]]]) -> None:
    """Fit and print the second decision."""

    def features(rows: Sequence[Row]) -> list[tuple[float, float]]:
        return [(bounded_logit(evidence.probability), ratio) for _, evidence, ratio in rows]

    model = LogisticRegression(C=1, class_weight="balanced")
    model.fit(features(fit), [bool(question.gold) for question, _, _ in fit])
    bound = best_threshold(fit, model.predict_proba(features(fit))[:, 1])
    numbers = [*model.intercept_, *model.coef_[0], bound]
    print("READ_INTERCEPT, READ_WORDS, READ_READING, READ_THRESHOLD =", ", ".join(f"{x:.2f}" for x in numbers))
    for name, rows in parts:
        print("words and odds:", report(name, rows, model.predict_proba(features(rows))[:, 1], bound))
    for name, rows in parts:
        chances = [read_probability(evidence.probability, ratio) for _, evidence, ratio in rows]
        print("in use with odds:", report(name, rows, chances, READ_THRESHOLD))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?")
    parser.add_argument("--odds", action="store_true", help="also ask the configured model")
    parser.add_argument("--readings", type=Path, help="keep what the model said in this file between runs")
    options = parser.parse_args()
    read: Read = reader(options.readings) if options.odds else lambda _passage, _question: None
    sets = [("sample", SAMPLE), *([("iclr2026", options.corpus)] if options.corpus else [])]
    fit: list[Row] = []
    parts: list[tuple[str, list[Row]]] = []
    for name, corpus in sets:
        tune, test = halves(list(measured(name, corpus, read)))
        fit += tune
        parts += [(f"{name} tune", tune), (f"{name} test", test)]
    model = LogisticRegression(C=3, class_weight="balanced")
    model.fit([astuple(evidence) for _, evidence, _ in fit], [bool(question.gold) for question, _, _ in fit])
    print("fitted:", dict(zip([field.name for field in fields(Evidence)], model.coef_[0].round(2), strict=True)))
    print("intercept:", model.intercept_.round(2)[0])
    for threshold in (0.4, 0.45, 0.5, 0.55):
        for name, rows in parts:
            chances = model.predict_proba([astuple(evidence) for _, evidence, _ in rows])[:, 1]
            print(f"t={threshold:.2f}", report(name, rows, chances, threshold))
    for name, rows in parts:
        print("in use:", report(name, rows, [evidence.probability for _, evidence, _ in rows], THRESHOLD))
    if options.odds:
        fit_read(fit, parts)


if __name__ == "__main__":
    main()
