"""The fitted numbers of the located verifier; `python -m eval.fit_grounding` makes WEIGHTS and INTERCEPT.

Fitted on the parts marked *fit* of six sets of human-labelled pairs of claim and evidence, one model for all. The
thresholds are set on reworded sentences of abstracts (`eval/edits.py`, `eval/data/paraphrases.jsonl`) against sentences
whose own was taken out of the abstract; what is changed in a sentence is for the exact guards to find.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

INTERCEPT = -1.39
WEIGHTS = {
    "cosine": -0.34,
    "explained": 3.21,
    "words": 0.49,
    "words_squared": 0.40,
    "worst": -0.73,
    "names_absent": -0.48,
    "figures_absent": -0.40,
    "figures_lost": -0.26,
    "negation": -1.10,
    "parity": -0.53,
    "direction": 1.37,
    "direction_near": -4.39,
    "tendency": 1.10,
    "length": 0.00,
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


# With a model that reads: the log-odds of the located probability, and the log-likelihood ratio that the model's odds
# of yes amount to (`calibration`), in one logistic regression, fitted on the same parts by the same script.
READ_INTERCEPT, READ_LOCATED, READ_READING = -0.05, 0.66, 0.38
# What words alone call supported stays so from this probability on; what they do not has to be read far more clearly,
# since small models say yes to many a sentence that is right in part.
READ_SUPPORTED, READ_LIFTED, READ_PARTLY = 0.5, 0.85, 0.3
# A log-likelihood ratio from which a passage on the same thing is read as saying otherwise.
READ_AGAINST = -1.5


def read_probability(located: float, reading: float) -> float:
    """Probability of support, 0 to 1, from the located one and a log-likelihood ratio."""
    return 1 / (1 + exp(-READ_INTERCEPT - READ_LOCATED * bounded_logit(located) - READ_READING * reading))


def bounded_logit(probability: float) -> float:
    """Natural log-odds of a probability, between those of 0.02 and 0.98."""
    bounded = min(max(probability, 0.02), 0.98)
    return log(bounded / (1 - bounded))
