"""Agreement with people, beside scikit-learn, and the pairs file."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, precision_recall_fscore_support, roc_auc_score

from eval.agreement import Pair, agreement, balanced_accuracy, load_pairs, roc_auc, table
from eval.judges import LocatedJudge
from eval.scoring import Judgement
from rag.errors import InputError
from rag.papers import Paper

LABELLED = st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.4, 0.5, 0.5001, 0.9, 1.0])), max_size=60)


@given(LABELLED)
@settings(max_examples=100, deadline=None)
def test_auc_and_balanced_accuracy_agree_with_scikit_learn(rows: list[tuple[bool, float]]) -> None:
    labels = np.array([label for label, _ in rows], dtype=bool)
    scores = np.array([score for _, score in rows], dtype=float)
    if len(set(labels.tolist())) < 2:
        assert roc_auc(labels, scores) is None
        assert balanced_accuracy(labels, scores > 0.45) is None
        return
    assert roc_auc(labels, scores) == pytest.approx(roc_auc_score(labels, scores))
    assert balanced_accuracy(labels, scores > 0.45) == pytest.approx(balanced_accuracy_score(labels, scores > 0.45))


class Scripted:
    """Says what the claim tells it to: a score, or "fail"."""

    name = "scripted"

    def judge(self, claim: str, papers: Sequence[Paper]) -> Judgement:
        if claim == "fail":
            return Judgement(None, note="half a JSON")
        return Judgement(float(claim) > 0.45, float(claim))


@given(LABELLED)
@settings(max_examples=15, deadline=None)
def test_precision_and_recall_of_unsupported(rows: list[tuple[bool, float]]) -> None:
    assume(len({label for label, _ in rows}) == 2 and any(score < 0.45 for _, score in rows))
    pairs = [
        Pair(claim=str(score), evidence="e", label="supported" if label else "not_supported") for label, score in rows
    ]
    found = agreement(Scripted(), pairs)
    precision, recall, _, _ = precision_recall_fscore_support(
        [not label for label, _ in rows], [score <= 0.45 for _, score in rows], average="binary"
    )
    assert (found.precision.value, found.recall.value) == (pytest.approx(precision), pytest.approx(recall))


def test_a_judge_that_failed_is_counted_apart() -> None:
    pairs = [
        Pair(claim="0.9", evidence="e", label="supported"),
        Pair(claim="0.1", evidence="e", label="not_supported", orig_label="refuted"),
        Pair(claim="0.9", evidence="e", label="not_supported", orig_label="off topic"),
        Pair(claim="fail", evidence="e", label="supported"),
    ]
    found = agreement(Scripted(), pairs, data="mine")
    assert (found.n, found.failed, found.auc.n) == (4, 1, 3)
    assert found.auc.value == 0.75
    assert found.passed == {"supported": (1, 1), "refuted": (0, 1), "off topic": (1, 1)}
    assert "| mine | scripted | 4 | 1 | 0.750 [" in table([found])


def test_a_judge_that_always_fails_has_no_figures() -> None:
    found = agreement(Scripted(), [Pair(claim="fail", evidence="e", label="supported")])
    assert found.failed == 1
    assert (found.auc.value, found.balanced_accuracy.value, found.recall.value) == (None, None, None)
    assert "| – | – | – / – |" in table([found])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ('{"claim": "c", "label": "supported"}', "evidence: Field required"),
        ('{"claim": "c", "evidence": "e", "label": "true"}', "label: Input should be"),
    ],
)
def test_a_bad_pair_is_named(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"claim": "c", "evidence": "e", "label": "supported"}\n' + line + "\n")
    with pytest.raises(InputError, match=f"{path}:2: {reason}"):
        load_pairs(path)


def test_part_and_limit(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl.gz"
    rows = [
        {"claim": str(i), "evidence": "e", "label": "supported", "part": "fit" if i % 2 else "test"} for i in range(40)
    ]
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    drawn = load_pairs(path, part="test", limit=5)
    assert len(drawn) == 5 and all(int(pair.claim) % 2 == 0 for pair in drawn)
    assert drawn == load_pairs(path, part="test", limit=5)
    with pytest.raises(InputError, match="no pairs of part dev"):
        load_pairs(path, part="dev")


def test_located_beats_chance_on_experts_labels(shared: Path) -> None:
    pairs = load_pairs(shared / "faith" / "scifact.jsonl.gz", part="test", limit=120)
    found = agreement(LocatedJudge(), pairs)
    assert found.failed == 0
    assert found.auc.low is not None and found.auc.low > 0.6
