"""How far a judge agrees with people, on pairs that people labelled: is this claim supported by this evidence?"""

from __future__ import annotations

import gzip
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from eval.intervals import SEED, Estimate
from eval.judges import Judge
from eval.runs import Run
from eval.scoring import Judgement
from rag.answer import Answer, Verdict
from rag.errors import InputError
from rag.papers import Paper

RESAMPLES = 1000
Floats = NDArray[np.float64]


class Pair(BaseModel):
    """A claim and its evidence as people labelled them; `orig_label` is the source's finer label."""

    id: str = ""
    part: str = ""
    claim: str
    evidence: str
    label: Literal["supported", "not_supported"]
    orig_label: str = ""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of one judge on one file. `found` and `passed` speak of the pairs that people called not supported."""

    judge: str
    data: str
    n: int
    failed: int
    seconds: float  # a claim
    auc: Estimate
    balanced_accuracy: Estimate
    precision: Estimate  # of "not supported"
    recall: Estimate
    passed: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """For each original label: how many of its pairs the judge calls supported, and how many there are."""


def load_pairs(path: Path, *, part: str = "", limit: int | None = None, seed: int = SEED) -> list[Pair]:
    """Pairs of a `.jsonl` or `.jsonl.gz` file; `limit` draws that many. Raises InputError with file:line."""
    try:
        data = path.read_bytes()
        lines = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8").splitlines()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    pairs = []
    for number, line in enumerate(lines, start=1):
        try:
            pair = Pair.model_validate(json.loads(line))
        except ValidationError as error:
            first = error.errors()[0]
            raise InputError(f"{path}:{number}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
        except json.JSONDecodeError as error:
            raise InputError(f"{path}:{number}: not JSON: {error.msg}") from None
        if not part or pair.part == part:
            pairs.append(pair)
    if not pairs:
        raise InputError(f"{path} has no pairs" + (f" of part {part}" if part else ""))
    if limit is not None and limit < len(pairs):
        chosen = sorted(np.random.default_rng(seed).choice(len(pairs), size=limit, replace=False))
        pairs = [pairs[i] for i in chosen]
    return pairs


def agreement(
    judge: Judge, pairs: Sequence[Pair], *, data: str = "", progress: Callable[[int, int], None] | None = None
) -> Agreement:
    """The judge's word on every pair beside the people's. What it failed on is counted and left out of the rest."""
    judgements: list[Judgement] = []
    started = time.perf_counter()
    for i, pair in enumerate(pairs, start=1):
        judgements.append(judge.judge(pair.claim, [Paper(pair.evidence, id=pair.id or f"pair:{i}")]))
        if progress:
            progress(i, len(pairs))
    seconds = (time.perf_counter() - started) / len(pairs)
    judged = [(pair, item) for pair, item in zip(pairs, judgements, strict=True) if item.supported is not None]
    labels = np.array([pair.label == "supported" for pair, _ in judged], dtype=bool)
    said = np.array([bool(item.supported) for _, item in judged], dtype=bool)
    scores = np.array([item.score for _, item in judged], dtype=np.float64)
    passed: dict[str, tuple[int, int]] = {}
    for pair, item in judged:
        name = pair.orig_label or pair.label
        yes, total = passed.get(name, (0, 0))
        passed[name] = (yes + bool(item.supported), total + 1)

    def over(measure: Callable[[NDArray[np.int_]], float | None]) -> Estimate:
        return _with_interval(measure, len(judged))

    return Agreement(
        judge=judge.name,
        data=data,
        n=len(pairs),
        failed=len(pairs) - len(judged),
        seconds=seconds,
        auc=over(lambda at: roc_auc(labels[at], scores[at])),
        balanced_accuracy=over(lambda at: balanced_accuracy(labels[at], said[at])),
        precision=over(lambda at: _share(~labels[at], ~said[at])),
        recall=over(lambda at: _share(~said[at], ~labels[at])),
        passed=passed,
    )


def roc_auc(labels: NDArray[np.bool_], scores: Floats) -> float | None:
    """Chance that a supported pair scores above one that is not, ties half; None if either kind is missing."""
    positive = int(labels.sum())
    negative = len(labels) - positive
    if not positive or not negative:
        return None
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return float((ranks[labels].sum() - positive * (positive + 1) / 2) / (positive * negative))


def balanced_accuracy(labels: NDArray[np.bool_], said: NDArray[np.bool_]) -> float | None:
    """Mean of the shares of either kind that the judge gets right; None if either kind is missing."""
    right, wrong = _share(said, labels), _share(~said, ~labels)
    return None if right is None or wrong is None else (right + wrong) / 2


def table(results: Sequence[Agreement]) -> str:
    """Markdown: a line a judge and file, and how much of each original label it passes as supported."""
    heads = ["data", "judge", "n", "judge failed", "ROC-AUC", "balanced accuracy"]
    heads += ["precision / recall of *not supported*", "passed as supported", "s a claim"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for item in results:
        passed = ", ".join(f"{name} {yes}/{total}" for name, (yes, total) in sorted(item.passed.items()))
        lines.append(
            f"| {item.data} | {item.judge} | {item.n} | {item.failed} | {item.auc.show(3)} "
            f"| {item.balanced_accuracy.show(3)} | {item.precision.show()} / {item.recall.show()} "
            f"| {passed} | {item.seconds:.3f} |"
        )
    return "\n".join(lines)


def verdict_table(runs: Sequence[Run], labelled: Sequence[Pair]) -> str:
    """Markdown: precision and recall of the verdict *supported* on the sentences of each run that people labelled, and
    the citation recall and precision of its answers by those labels.

    A pair's `id` names its question. Precision is the share of sentences shown as supported that people call so, recall
    the share of those written that people call supported which are shown so and cite something. Citation recall is the
    share of the sentences in the answers, however they are marked, that people call supported and that cite a paper
    which was their evidence; citation precision the share of the papers cited, sentence by sentence, that were evidence
    for a sentence that people call supported (after Gao et al. 2023, with a whole abstract as the passage). *Gold* is
    the share of those cited papers that are gold, of the questions that have gold papers.
    """
    heads = ["run", "sentences labelled", "shown as supported", "precision", "recall"]
    heads += ["in answers", "citation recall", "citation precision", "gold"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for run in runs:
        shown, true, sentences, citations, gold = [], [], [], [], []
        for row in run.rows:
            answer = row.answer or Answer("", "")
            written = _squeezed(answer.draft)
            seen = {_squeezed(one.text): one for one in answer.sentences if one.verdict is not Verdict.META}
            told = {_squeezed(pair.claim): pair for pair in labelled if pair.id == row.question.id}
            for claim, pair in told.items():  # also what was written and not shown
                if claim not in written:
                    continue
                sentence, supported = seen.get(claim), pair.label == "supported"
                cited = {one.paper_id for one in sentence.citations} if sentence else set[str]()
                shown.append(sentence is not None and sentence.verdict is Verdict.SUPPORTED and bool(cited))
                true.append(supported)
                if sentence is not None:
                    evidence = {one.paper.id for one in answer.sources if one.paper.abstract in pair.evidence}
                    sentences.append(supported and not cited.isdisjoint(evidence))
                    citations += [supported and paper in evidence for paper in sorted(cited)]
                    gold += [paper in row.question.gold for paper in sorted(cited) if row.question.gold]
        said, labels = np.array(shown, dtype=bool), np.array(true, dtype=bool)
        precision = _with_interval(lambda at: _share(labels[at], said[at]), len(said))  # noqa: B023
        recall = _with_interval(lambda at: _share(said[at], labels[at]), len(said))  # noqa: B023
        cells = [run.name, str(len(said)), str(int(said.sum())), precision.show(2), recall.show(2), str(len(sentences))]
        cells += [_mean(one).show(2) for one in (sentences, citations, gold)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _mean(right: Sequence[bool]) -> Estimate:
    values = np.array(right, dtype=bool)
    return _with_interval(lambda at: float(values[at].mean()), len(values))


def _squeezed(text: str) -> str:
    """Letters and digits alone, citation marks aside: a draft still has its marks between the words."""
    return "".join(re.findall(r"\w+", re.sub(r"\[[\d,;\s]+\]|<[^<>]*>", " ", text))).lower()


def _share(of: NDArray[np.bool_], among: NDArray[np.bool_]) -> float | None:
    total = int(among.sum())
    return float((of & among).sum() / total) if total else None


def _with_interval(measure: Callable[[NDArray[np.int_]], float | None], n: int) -> Estimate:
    """The measure on all pairs and its percentile bootstrap interval over pairs."""
    value = measure(np.arange(n)) if n else None
    if value is None:
        return Estimate(None, None, None, 0)
    generator = np.random.default_rng(SEED)
    drawn = [measure(generator.integers(0, n, size=n)) for _ in range(RESAMPLES)]
    low, high = np.quantile([item for item in drawn if item is not None], [0.025, 0.975])
    return Estimate(value, float(low), float(high), n)
