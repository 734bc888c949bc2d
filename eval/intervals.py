"""How far a mean could be off: bootstrap intervals over questions, alone and paired."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 5000
SEED = 20260
LEVEL = 0.95
_NORMAL = NormalDist()

Verdict = Literal["better", "worse", "cannot tell"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `n` questions with the bounds of its interval; `n == 0` has no value and prints as a dash."""

    value: float | None
    low: float | None
    high: float | None
    n: int

    def __str__(self) -> str:
        return self.show()

    def show(self, digits: int = 2) -> str:
        if self.value is None or self.low is None or self.high is None:
            return "–"
        return f"{self.value:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean of (new − old) over the questions that both have, its interval and what that means."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    verdict: Verdict


def estimate(
    values: Sequence[float],
    *,
    level: float = LEVEL,
    method: Literal["bca", "percentile"] = "bca",
    seed: int = SEED,
    bounded: bool = True,
) -> Estimate:
    """The mean of `values` and its bootstrap interval (bias-corrected and accelerated by default).

    Where all values are equal a bootstrap would claim certainty. If they are all 0 or all 1 and `bounded` (the
    metric is a share), the exact binomial bound takes its place: 20 of 20 is 1.00 [0.83, 1.00].
    """
    if not values:
        return Estimate(None, None, None, 0)
    sample = np.asarray(values, dtype=np.float64)
    n, mean = len(sample), float(sample.mean())
    if np.ptp(sample) == 0:
        low, high = _constant_bounds(float(sample[0]), n, level) if bounded else (mean, mean)
        return Estimate(mean, low, high, n)
    means = np.sort(_resampled_means(sample, seed))
    lower, upper = (1 - level) / 2, (1 + level) / 2
    if method == "bca":
        lower, upper = _bca_levels(sample, means, mean, level)
    low, high = np.quantile(means, [lower, upper])
    return Estimate(mean, float(low), float(high), n)


def paired(
    old: Sequence[float], new: Sequence[float], *, higher_is_better: bool = True, level: float = LEVEL, seed: int = SEED
) -> Difference:
    """Paired percentile bootstrap over the same questions; `old[i]` and `new[i]` belong to question i.

    The verdict is better or worse only if the whole interval lies on that side of 0.
    """
    if len(old) != len(new):
        raise ValueError(f"{len(old)} values against {len(new)}: they must be of the same questions")
    if not old:
        return Difference(None, None, None, 0, "cannot tell")
    gains = np.asarray(new, dtype=np.float64) - np.asarray(old, dtype=np.float64)
    mean = float(gains.mean())
    if np.ptp(gains) == 0:
        low = high = mean
    else:
        low, high = (
            float(bound) for bound in np.quantile(_resampled_means(gains, seed), [(1 - level) / 2, (1 + level) / 2])
        )
    verdict: Verdict = "cannot tell"
    if len(gains) > 1 and (low > 0 or high < 0):
        verdict = "better" if (low > 0) == higher_is_better else "worse"
    return Difference(mean, low, high, len(gains), verdict)


def _resampled_means(sample: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    generator = np.random.default_rng(seed)
    chunk = max(1, 2_000_000 // len(sample))  # keeps the index matrix under 16 MB
    parts = [
        sample[generator.integers(0, len(sample), size=(min(chunk, RESAMPLES - done), len(sample)))].mean(axis=1)
        for done in range(0, RESAMPLES, chunk)
    ]
    return np.concatenate(parts)


def _bca_levels(
    sample: NDArray[np.float64], means: NDArray[np.float64], mean: float, level: float
) -> tuple[float, float]:
    """The two quantile levels of Efron (1987): z0 from the share of resamples below the mean, a from the jackknife."""
    below = (np.count_nonzero(means < mean) + np.count_nonzero(means <= mean)) / (2 * len(means))
    bias = _NORMAL.inv_cdf(min(max(below, 1 / len(means)), 1 - 1 / len(means)))
    away = sample.mean() - (sample.sum() - sample) / (len(sample) - 1)  # minus (jackknife mean − its mean)
    spread = float((away**2).sum())
    acceleration = float((away**3).sum()) / (6 * spread**1.5) if spread else 0.0

    def corrected(probability: float) -> float:
        shifted = bias + _NORMAL.inv_cdf(probability)
        return _NORMAL.cdf(bias + shifted / (1 - acceleration * shifted))

    return corrected((1 - level) / 2), corrected((1 + level) / 2)


def _constant_bounds(value: float, n: int, level: float) -> tuple[float, float]:
    """Clopper and Pearson's bounds for n of n (value 1) or 0 of n (value 0); any other constant stands as it is."""
    tail = ((1 - level) / 2) ** (1 / n)
    if value == 1:
        return tail, 1.0
    if value == 0:
        return 0.0, 1 - tail
    return value, value
