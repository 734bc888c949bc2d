"""The fitted numbers."""

from collections.abc import Sequence
from math import exp

INTERCEPT = -4.2
WEIGHTS = (4.0, 1.0, -1.0, 0, 1.0, 0, 2.0, 0.0, 0, 0.5, -1.5, 0, -1.0, 0, -1.5, 0, -1.5, -2.0, -0.5, 0, -0.3, -0.7, 0.0)
SUPPORTED = 0.5
PARTLY = 0.25


def probability(features: Sequence[float]) -> float:
    return 1 / (1 + exp(-INTERCEPT - sum(w * x for w, x in zip(WEIGHTS, features, strict=True))))
