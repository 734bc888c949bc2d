"""Intervals, beside scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from eval.intervals import RESAMPLES, estimate, paired

SAMPLES = {
    "mostly right": [1.0] * 45 + [0.0] * 5,
    "half right": [1.0, 0.0] * 20,
    "shares": [0.1, 0.25, 0.5, 0.5, 0.75, 0.9, 1.0, 1.0, 1.0, 1.0, 0.33, 0.8],
    "seconds, skewed": [0.1, 0.12, 0.11, 0.13, 0.1, 0.9, 0.15, 2.5, 0.12, 0.14, 0.2, 0.3],
}


@pytest.mark.parametrize("method", ["bca", "percentile"])
@pytest.mark.parametrize("name", SAMPLES)
def test_agrees_with_scipy(name: str, method: str) -> None:
    sample = SAMPLES[name]
    reference = stats.bootstrap(
        (np.array(sample),), np.mean, n_resamples=RESAMPLES, method={"bca": "BCa"}.get(method, method), rng=1
    ).confidence_interval
    ours = estimate(sample, method=method)  # type: ignore[arg-type]
    width = reference.high - reference.low
    assert ours.value == pytest.approx(np.mean(sample))
    assert ours.low == pytest.approx(reference.low, abs=0.08 * width)
    assert ours.high == pytest.approx(reference.high, abs=0.08 * width)


@pytest.mark.parametrize(("right", "n"), [(20, 20), (0, 20), (1, 1), (5, 5)])
def test_all_alike_is_not_certain(right: int, n: int) -> None:
    exact = stats.binomtest(right, n).proportion_ci(0.95, method="exact")
    ours = estimate([1.0] * right + [0.0] * (n - right))
    assert (ours.low, ours.high) == (pytest.approx(exact.low), pytest.approx(exact.high))


def test_nothing_measured_is_a_dash_and_not_a_number() -> None:
    nothing = estimate([])
    assert (nothing.value, nothing.n, str(nothing)) == (None, 0, "–")


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
@settings(max_examples=40, deadline=None)
def test_the_mean_is_inside_and_nothing_is_nan(sample: list[float]) -> None:
    ours = estimate(sample)
    assert ours.value is not None and ours.low is not None and ours.high is not None
    assert -1e-9 <= ours.low <= ours.value + 1e-9 and ours.value - 1e-9 <= ours.high <= 1 + 1e-9


@pytest.mark.parametrize(
    ("old", "new", "higher", "verdict"),
    [
        ([0.5] * 30, [0.5] * 30, True, "cannot tell"),
        ([1.0] * 30, [1.0] * 20 + [0.0] * 10, True, "worse"),
        ([1.0] * 20 + [0.0] * 10, [1.0] * 30, True, "better"),
        ([0.0] * 30, [1.0] * 12 + [0.0] * 18, False, "worse"),
        ([1.0] * 30, [1.0] * 29 + [0.0], True, "cannot tell"),
        ([0.0], [1.0], True, "cannot tell"),
        ([], [], True, "cannot tell"),
    ],
    ids=["itself", "a third lost", "a third won", "more errors", "one of thirty", "one question", "none in common"],
)
def test_paired_verdict(old: list[float], new: list[float], higher: bool, verdict: str) -> None:
    assert paired(old, new, higher_is_better=higher).verdict == verdict


def test_pairing_beats_the_spread_between_questions() -> None:
    """Hard and easy questions differ far more than the change does; only the pairs show it."""
    old = [i / 40 for i in range(40)]
    new = [value + 0.02 + 0.001 * (i % 3) for i, value in enumerate(old)]
    assert paired(old, new).verdict == "better"
    assert estimate(old).high > estimate(new).low  # type: ignore[operator]


def test_pairs_must_match() -> None:
    with pytest.raises(ValueError, match="2 values against 1"):
        paired([1.0, 0.0], [1.0])
