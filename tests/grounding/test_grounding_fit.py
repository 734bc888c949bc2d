"""The script that fits the numbers: what it measures, and that it never learns from the test parts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from eval.fit_grounding import Pair, balanced_accuracy, fit, measured, read_pairs, table
from rag.embedding import Embedder
from rag.grounding.features import NAMES
from rag.grounding.weights import WEIGHTS, probability

ROWS = [("fit", "Aspirin reduced mortality.", "supported"), ("fit", "Aspirin raised mortality.", "not_supported"),
        ("test", "Fever was rare.", "supported")]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [
        json.dumps({"part": part, "claim": claim, "evidence": "Aspirin reduced mortality in adults. Fever was rare.",
                    "label": label, "orig_label": label})
        for part, claim, label in ROWS
    ]  # fmt: skip
    with gzip.open(tmp_path / "tiny.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return tmp_path


def pair(name: str, supported: bool) -> Pair:
    return Pair(name, "fit", "a", "b", supported, str(supported), "g")


def test_only_the_asked_parts_are_read(folder: Path) -> None:
    assert [one.claim for one in read_pairs(folder, ["fit"])] == [claim for part, claim, _ in ROWS if part == "fit"]


def test_the_weights_are_those_of_the_features() -> None:
    assert tuple(WEIGHTS) == NAMES


def test_what_is_measured_tells_the_two_apart(folder: Path, embedder: Embedder) -> None:
    good, bad = measured(list(read_pairs(folder, ["fit"])), embedder.encode)
    assert probability(list(good)) > probability(list(bad))


def test_evidence_that_states_nothing_measures_nothing(embedder: Embedder) -> None:
    assert measured([Pair("a", "fit", "Fever was rare.", "Yes", False, "no", "g")], embedder.encode).tolist() == [
        [0.0] * len(NAMES)
    ]


def test_a_fit_finds_the_slope_in_spite_of_the_level_of_each_set() -> None:
    chance = np.random.default_rng(0)
    x = chance.normal(size=(800, 2))
    easy = np.arange(800) < 400
    truth = x[:, 0] + np.where(easy, 1.0, -1.0) + chance.normal(size=800) > 0
    pairs = [pair("easy" if one else "hard", bool(label)) for one, label in zip(easy, truth, strict=True)]
    weights, _ = fit(x, pairs, 1.0)
    assert weights[0] > 1
    assert abs(weights[1]) < 0.4


def test_balanced_accuracy_is_scikit_learns() -> None:
    chance = np.random.default_rng(1)
    truth = [bool(value) for value in chance.integers(0, 2, 60)]
    scores = chance.normal(size=60)
    assert balanced_accuracy(truth, scores, 0.2) == pytest.approx(balanced_accuracy_score(truth, scores >= 0.2))
    assert balanced_accuracy(truth, scores) >= balanced_accuracy(truth, scores, 0.2)


def test_the_table_has_a_row_for_each_set_and_the_mean() -> None:
    pairs = [pair("one", True), pair("one", False), pair("two", True), pair("two", False)]
    shown = table(pairs, {"good": np.array([1.0, 0.0, 1.0, 0.0]), "bad": np.array([0.0, 1.0, 1.0, 0.0])})
    assert "| one | 2 | 1.000 / 1.000 | 0.000 / 0.500 |" in shown
    assert shown.endswith("| mean | | 1.000 | 0.500 |")
