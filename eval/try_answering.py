"""Would a model's odds of yes to "do these abstracts answer the question?" decide better than word coverage does?

    RAG_LLM=… python -m eval.try_answering CORPUS [--readings FILE.json]

Asks about the ICLR question set over CORPUS, fits coverage and odds together on the half *tune*, and reports both error
rates on the half *test*, beside those of the decision in use.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from eval.dataset import Question, load
from eval.fit_reading import hash_of
from eval.systems import ingest
from rag.answerability import THRESHOLD, weigh
from rag.embedding import Remembered
from rag.errors import RagError
from rag.evidence import read_paper
from rag.generation import prompts
from rag.generation.logprobs import first_token
from rag.generation.models import Message, Model
from rag.generation.providers import choose_model
from rag.grounding.odds import NoOpinion, log_odds
from rag.grounding.weights import bounded_logit
from rag.retrieval import Ranking, Retriever
from rag.settings import load_settings
from rag.store import Store

_PAPERS, _SENTENCES = 3, 3
_SECONDS = 120.0


def passages(ranking: Ranking, encode: Remembered) -> list[tuple[str, str]]:
    """Title and the three sentences nearest to the question, in reading order, of each of the three best papers."""
    found = []
    for hit in ranking.hits[:_PAPERS]:
        sentences = read_paper(hit.paper).sentences
        close = encode([sentence.text for sentence in sentences]) @ ranking.vector
        nearest = sorted(np.argsort(-close)[:_SENTENCES])
        found.append((hit.paper.title, " ".join(sentences[place].text for place in nearest)))
    return found


def measured(model: Model, corpus: Path, file: Path | None) -> Iterator[tuple[Question, float, float]]:
    """Question, probability by coverage, log-odds by the model; kept in `file`."""
    known: dict[str, float] = json.loads(file.read_text(encoding="utf-8")) if file and file.exists() else {}
    store = Store(ingest(corpus, load_settings()))
    retriever, encode = Retriever(store), Remembered(store.embedder)
    for question in load("iclr2026").questions:
        ranking = retriever.search(question.question, top_k=5)
        prompt = prompts.answerable(question.question, passages(ranking, encode))
        key = f"{model.name} {hash_of(prompt, '')}"
        if key not in known:
            try:
                tokens = first_token(model, [Message("user", prompt)], seconds=_SECONDS)
                known[key] = log_odds(tokens or {})
            except (NoOpinion, RagError) as error:
                print(f"{question.id}: {error}", file=sys.stderr)
                known[key] = 0.0
            if file:
                file.write_text(json.dumps(known), encoding="utf-8")
        yield question, weigh(ranking, encode).probability, known[key]
    store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--readings", type=Path, help="keep the model's log-odds in this file between runs")
    options = parser.parse_args()
    model = choose_model(load_settings())
    started = time.monotonic()
    rows = list(measured(model, options.corpus, options.readings))
    print(f"{model.name}: {(time.monotonic() - started) / len(rows):.2f} s a question")
    tune = np.array([question.half == "tune" for question, _, _ in rows])
    truth = np.array([bool(question.gold) for question, _, _ in rows])
    coverage = np.array([probability for _, probability, _ in rows])
    x = np.array([[bounded_logit(probability), odds] for _, probability, odds in rows])
    both = LogisticRegression(class_weight="balanced").fit(x[tune], truth[tune])
    alone = LogisticRegression(class_weight="balanced").fit(x[tune][:, 1:], truth[tune])
    columns = {
        "coverage (in use)": coverage - THRESHOLD,
        "odds": alone.predict_proba(x[:, 1:])[:, 1] - 0.5,
        "coverage and odds": both.predict_proba(x)[:, 1] - 0.5,
    }
    print("| | half | answerable, yet refused | unanswerable, yet answered | sum |\n|---|---|---|---|---|")
    for name, margin in columns.items():
        for half, chosen in (("tune", tune), ("test", ~tune)):
            refused = float((margin[chosen & truth] < 0).mean())
            answered = float((margin[chosen & ~truth] >= 0).mean())
            print(f"| {name} | {half} | {refused:.2f} | {answered:.2f} | {refused + answered:.2f} |")


if __name__ == "__main__":
    main()
