"""Fit the decision "do these abstracts answer the question?" and print its two error rates.

    python -m eval.fit_answerability [CORPUS]

Fits on the "tune" half of the ICLR question set, where CORPUS (its list of papers) is given, and on every second
question of the sample set; the other halves are only reported on. The numbers go into `rag/answerability.py` by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from eval.dataset import Question, load
from eval.systems import ingest
from rag.answerability import THRESHOLD, Evidence, weigh
from rag.embedding import Remembered
from rag.retrieval import Retriever
from rag.settings import load_settings
from rag.store import Store

SAMPLE = Path(__file__).parents[1] / "rag" / "data" / "iclr2026_sample.jsonl"
Row = tuple[Question, Evidence]


def measured(question_set: str, corpus: Path) -> Iterator[Row]:
    """The evidence for each English question that stands alone."""
    store = Store(ingest(corpus, load_settings()))
    retriever, encode = Retriever(store), Remembered(store.embedder)
    for question in load(question_set).questions:
        if question.language == "en" and not question.history:
            yield question, weigh(retriever.search(question.question, top_k=5), encode)
    store.close()


def halves(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Those to fit on and those to report on: by `half` where a set says it, else every second question."""
    marked = [row for row in rows if row[0].half]
    if marked:
        return [row for row in rows if row[0].half == "tune"], [row for row in rows if row[0].half == "test"]
    return list(rows[::2]), list(rows[1::2])


def report(name: str, rows: Sequence[Row], probabilities: Sequence[float], threshold: float) -> str:
    """One line: AUC, answerable questions refused, unanswerable ones let through."""
    answerable = np.array([bool(question.gold) for question, _ in rows])
    chance = np.asarray(probabilities)
    refused = float((chance[answerable] < threshold).mean())
    passed = float((chance[~answerable] >= threshold).mean())
    auc = roc_auc_score(answerable, chance)
    return f"{name:14} n={len(rows):3}  AUC {auc:.3f}  refused wrongly {refused:.3f}, rightly {1 - passed:.3f}"


def main(arguments: Sequence[str]) -> None:
    sets = [("sample", SAMPLE)] + [("iclr2026", Path(argument)) for argument in arguments]
    fit: list[Row] = []
    parts: list[tuple[str, list[Row]]] = []
    for name, corpus in sets:
        tune, test = halves(list(measured(name, corpus)))
        fit += tune
        parts += [(f"{name} tune", tune), (f"{name} test", test)]
    model = LogisticRegression(C=3, class_weight="balanced")
    model.fit([astuple(evidence) for _, evidence in fit], [bool(question.gold) for question, _ in fit])
    print("fitted:", dict(zip([field.name for field in fields(Evidence)], model.coef_[0].round(2), strict=True)))
    print("intercept:", model.intercept_.round(2)[0])
    for threshold in (0.4, 0.45, 0.5, 0.55):
        for name, rows in parts:
            chances = model.predict_proba([astuple(evidence) for _, evidence in rows])[:, 1]
            print(f"t={threshold:.2f}", report(name, rows, chances, threshold))
    for name, rows in parts:
        print("in use:", report(name, rows, [evidence.probability for _, evidence in rows], THRESHOLD))


if __name__ == "__main__":
    main(sys.argv[1:])
