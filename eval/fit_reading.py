"""Fit how much a model's odds weigh beside what was located (`READ_*` in `rag/grounding/weights.py`).

    RAG_LLM=… python -m eval.fit_reading FOLDER [--limit 60] [--readings FILE.json]

FOLDER is that of `eval.fit_grounding`; pairs are drawn from the parts marked *fit* alone, the same number from each set
and label. One logistic regression for all sets on the log-odds of the located probability and on the log-likelihood
ratio that the model's odds amount to. Its table comes from five-fold cross-validation by evidence.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from eval.fit_grounding import Matrix, Pair, cross_validated, fit, read_pairs, table
from rag.embedding import Embedder, Remembered
from rag.errors import RagError
from rag.generation.providers import choose_model
from rag.grounding import Grounder
from rag.grounding.evidence import Encode
from rag.grounding.odds import NoOpinion, Odds
from rag.grounding.weights import bounded_logit
from rag.papers import Paper
from rag.settings import load_settings
from rag.verification import make_odds

SEED = 7
_STRENGTH = 1.0


def drawn(pairs: Sequence[Pair], limit: int) -> list[Pair]:
    """At most `limit` pairs of each set, half of either label."""
    generator = random.Random(SEED)
    kept = []
    for name in sorted({pair.name for pair in pairs}):
        for supported in (True, False):
            some = [pair for pair in pairs if pair.name == name and pair.supported is supported]
            kept += generator.sample(some, min(limit // 2, len(some)))
    return kept


def measured(pairs: Sequence[Pair], encode: Encode, odds: Odds, file: Path | None) -> Iterator[tuple[int, list[float]]]:
    """Positions of pairs, and the two features of each; pairs that the model says neither yes nor no to are left out.

    Log-odds are kept in `file`, so that a run that was broken off goes on.
    """
    known: dict[str, float] = json.loads(file.read_text(encoding="utf-8")) if file and file.exists() else {}
    calibration = odds.calibration
    for place, pair in enumerate(pairs):
        grounding = Grounder(encode).open([Paper(abstract=pair.evidence, id="pair")])
        checked = grounding.located(pair.claim)
        reading = grounding.reading(pair.claim, checked)
        if reading is None or calibration is None:
            continue
        key = f"{odds.model} {hash_of(reading.passage, reading.claim)}"
        if key not in known:
            try:
                known[key] = odds.odds(reading.passage, reading.claim)
            except (NoOpinion, RagError) as error:
                print(f"{pair.name}: {error}", file=sys.stderr)
                continue
            if file:
                file.write_text(json.dumps(known), encoding="utf-8")
        yield place, [bounded_logit(checked.score), calibration.reading(known[key])]


def hash_of(passage: str, claim: str) -> str:
    """A key for a pair as it is put to a model."""
    return hashlib.sha256(f"{passage}\n\n{claim}".encode()).hexdigest()[:16]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=60, help="pairs of each set")
    parser.add_argument("--readings", type=Path, help="keep the model's log-odds in this file between runs")
    options = parser.parse_args()
    settings = load_settings()
    odds = make_odds(settings, choose_model(settings))
    calibration = odds.measure()
    if calibration is None:
        raise SystemExit("the model could not be measured")
    print(f"{odds.model}: {calibration.worth}")
    pairs = drawn(list(read_pairs(options.folder, ["fit"])), options.limit)
    started = time.monotonic()
    rows = dict(measured(pairs, Remembered(Embedder(), 20_000), odds, options.readings))
    print(f"{(time.monotonic() - started) / max(1, len(rows)):.2f} s a pair")
    kept, x = [pairs[place] for place in rows], np.array(list(rows.values()))
    columns = {"located": x[:, 0], "odds alone": x[:, 1], "both": cross_validated(x, kept, _STRENGTH)}
    print(table(kept, columns))
    weights, intercept = fit(x, kept, _STRENGTH)
    numbers = ", ".join(f"{value:.2f}" for value in (intercept, *weights))
    print(f"\nREAD_INTERCEPT, READ_LOCATED, READ_READING = {numbers}")
    show_thresholds(x, kept, weights, intercept)


def show_thresholds(x: Matrix, pairs: Sequence[Pair], weights: Matrix, intercept: float) -> None:
    """For some probabilities: how much of either label is at or above them."""
    scores = 1 / (1 + np.exp(-(x @ weights + intercept)))
    truth = np.array([pair.supported for pair in pairs])
    print("\n| from | supported | not supported |\n|---|---|---|")
    for bound in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        above = scores >= bound
        print(f"| {bound} | {above[truth].mean():.2f} | {above[~truth].mean():.2f} |")


if __name__ == "__main__":
    main()
