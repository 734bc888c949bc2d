"""The fitted numbers of the located verifier; `python -m eval.fit_grounding` makes WEIGHTS and INTERCEPT.

Fitted on the parts marked *fit* of six sets of human-labelled pairs of claim and evidence, one model for all. The
thresholds are set on reworded sentences of abstracts (`eval/edits.py`, `eval/data/paraphrases.jsonl`) against sentences
whose own was taken out of the abstract; what is changed in a sentence is for the exact guards to find.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

INTERCEPT = -1.27
WEIGHTS = {
    "cosine": -0.48,
    "explained": 3.30,
    "words": 0.39,
    "words_squared": 0.45,
    "worst": -0.78,
    "names_absent": -0.48,
    "figures_absent": -0.41,
    "figures_lost": -0.25,
    "negation": -1.10,
    "parity": -0.51,
    "direction": 1.82,
    "direction_near": -5.00,
    "tendency": 1.11,
    "length": -0.01,
}
# A claim whose guards all pass is supported from this probability and coverage by the window on …
SUPPORTED, COVERED = 0.42, 0.66
# … and partly supported from these.
PARTLY, COVERED_PARTLY = 0.30, 0.45
# Coverage from which a window speaks of the same thing, so that what conflicts is a contradiction.
ON_TOPIC = 0.6


def probability(features: Sequence[float]) -> float:
    """Probability of support, 0 to 1, of one claim's features in the order of WEIGHTS."""
    return 1 / (1 + exp(-INTERCEPT - sum(weight * x for weight, x in zip(WEIGHTS.values(), features, strict=True))))
