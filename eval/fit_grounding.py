"""Fit the numbers of `rag/grounding/weights.py` on human-labelled pairs, and print how well they do.

    python -m eval.fit_grounding FOLDER [--test] [--cache FILE.npz]

FOLDER holds `NAME.jsonl.gz`, one pair a line: `part` (fit or test), `claim`, `evidence`, `label`, `orig_label`. One
model is fitted for all sets together, on the parts marked *fit* alone, every set and label with the same weight.
Without `--test` the table comes from five-fold cross-validation by evidence on those parts. Beside it stand three
baselines: (a) share of the claim's content words in the evidence, (b) largest cosine to a sentence, and (c) a logistic
regression on both with mismatches of numbers, names and negations, as one model and for each set by itself.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from rag.embedding import Embedder
from rag.grounding.analysis import analyse
from rag.grounding.evidence import Encode, Evidence, Vectors
from rag.grounding.features import NAMES, features, locate
from rag.markup import plain_text
from rag.papers import Paper
from rag.text import named_terms, sentences, stems

Matrix = NDArray[np.float64]
_SET_SCALE = 3.0  # makes the penalty on the intercepts of sets small
_NEGATIVE = re.compile(r"\b(?:no|not|never|without|neither|nor|cannot|\w+n't|fail\w*|lack\w*|unable)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_SMALL = frozenset((
    "a", "an", "the", "of", "in", "to", "and", "or", "is", "are", "was", "were", "be", "for", "on", "with", "by", "as",
    "at", "from", "that", "this", "it", "its", "which", "has", "have", "had", "can",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pair:
    """One labelled pair; `group` keeps pairs with the same evidence in one fold."""

    name: str
    part: str
    claim: str
    evidence: str
    supported: bool
    label: str
    group: str


class Cached:
    """An `encode` that keeps what it has seen, in memory and in a file between runs."""

    def __init__(self, encode: Encode, file: Path | None) -> None:
        self._encode, self._file = encode, file
        self._rows: dict[str, Vectors] = {}
        if file and file.exists():
            with np.load(file) as stored:
                if "texts" in stored:  # a file of an older version has pickled ones, which are not read
                    texts = json.loads(stored["texts"].tobytes())
                    self._rows = dict(zip(texts, stored["v"].astype(np.float32), strict=True))

    def __call__(self, texts: Sequence[str]) -> Vectors:
        new = list(dict.fromkeys(text for text in texts if text not in self._rows))
        if new:
            self._rows.update(zip(new, self._encode(new), strict=True))
        return np.stack([self._rows[text] for text in texts])

    def save(self) -> None:
        if self._file:
            texts = np.frombuffer(json.dumps(list(self._rows)).encode(), dtype=np.uint8)
            np.savez(self._file, texts=texts, v=np.stack(list(self._rows.values())).astype(np.float16))


def read_pairs(folder: Path, parts: Sequence[str]) -> Iterator[Pair]:
    """The labelled pairs of all sets in `folder` that belong to `parts`."""
    for file in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if row["part"] in parts:
                    yield Pair(
                        file.name.removesuffix(".jsonl.gz"),
                        row["part"],
                        plain_text(row["claim"]).strip(),
                        row["evidence"],
                        row["label"] == "supported",
                        row["orig_label"],
                        row["evidence"][:200],
                    )


def measured(pairs: Sequence[Pair], encode: Encode) -> Matrix:
    """Shape (pairs, features): what the checker measures of each; zeros where the evidence states nothing at all."""
    rows = []
    for pair in pairs:
        evidence = Evidence([Paper(abstract=pair.evidence, id="pair")], encode)
        claim = analyse(pair.claim, evidence.names)
        located = locate(claim, evidence, evidence.similarities(pair.claim))
        rows.append(features(claim, located[0], evidence) if located else [0.0] * len(NAMES))
    return np.array(rows)


def simple(pairs: Sequence[Pair], encode: Encode) -> Matrix:
    """Shape (pairs, 5): the baselines' word share, largest cosine, and number, name and negation mismatches."""
    rows = []
    for pair in pairs:
        text = plain_text(pair.evidence)
        words = set(stems(text))
        content = [s for w in re.findall(r"\w+", pair.claim) if w.lower() not in _SMALL for s in stems(w)]
        spans = [text[span.start : span.end] for span in sentences(text)]
        cosines = encode(spans) @ encode([pair.claim])[0]
        numbers = set(_NUMBER.findall(pair.claim)) - set(_NUMBER.findall(text))
        names = {token.text.lower() for token in named_terms(pair.claim)}
        there = text.lower()
        nearest = spans[int(cosines.argmax())]
        rows.append(
            [
                sum(word in words for word in content) / max(1, len(content)),
                float(cosines.max()),
                float(len(numbers)),
                float(sum(name not in there for name in names)),
                float(bool(_NEGATIVE.search(pair.claim)) != bool(_NEGATIVE.search(nearest))),
            ]
        )
    return np.array(rows)


def sample_weights(pairs: Sequence[Pair]) -> NDArray[np.float64]:
    """Every set counts the same, and in it either label."""
    counts: dict[tuple[str, bool], int] = defaultdict(int)
    for pair in pairs:
        counts[pair.name, pair.supported] += 1
    scale = len(pairs) / len(counts)
    return np.array([scale / counts[pair.name, pair.supported] for pair in pairs])


Score = Callable[[Matrix], NDArray[np.float64]]


def fit(x: Matrix, pairs: Sequence[Pair], strength: float) -> tuple[NDArray[np.float64], float]:
    """Weights (one a column) and intercept of a logistic regression, on the features' own scale.

    Every set has an intercept of its own while fitting, so that how hard the sets are is not mistaken for what the
    features say; the one returned is their mean.
    """
    scaler = StandardScaler().fit(x)
    names = sorted({pair.name for pair in pairs})
    sets = np.array([[float(pair.name == name) for name in names] for pair in pairs]) * _SET_SCALE
    model = LogisticRegression(C=strength, max_iter=3000)
    model.fit(
        np.hstack([scaler.transform(x), sets]), [pair.supported for pair in pairs], sample_weight=sample_weights(pairs)
    )
    weights = model.coef_[0][: x.shape[1]] / scaler.scale_
    level = float(model.intercept_[0]) + float(model.coef_[0][x.shape[1] :].mean()) * _SET_SCALE
    return weights, level - float((weights * scaler.mean_).sum())


def balanced_accuracy(truth: Sequence[bool], scores: NDArray[np.float64], threshold: float | None = None) -> float:
    """Mean of the two recalls at a threshold, or at the best one."""
    if threshold is None:
        false, true, _ = roc_curve(truth, scores)
        return float(((true + 1 - false) / 2).max())
    positive = np.array(truth)
    return float(((scores >= threshold)[positive].mean() + (scores < threshold)[~positive].mean()) / 2)


def table(pairs: Sequence[Pair], columns: dict[str, NDArray[np.float64]]) -> str:
    """ROC-AUC / balanced accuracy at the best threshold for every set, and AUC for every original label."""
    lines = ["| set | n | " + " | ".join(columns) + " |", "|---|---|" + "---|" * len(columns)]
    means: dict[str, list[float]] = defaultdict(list)
    names = list(dict.fromkeys(pair.name for pair in pairs))
    for name in names:
        rows = [i for i, pair in enumerate(pairs) if pair.name == name]
        truth = [pairs[i].supported for i in rows]
        cells = []
        for column, scores in columns.items():
            auc = float(roc_auc_score(truth, scores[rows]))
            means[column].append(auc)
            cells.append(f"{auc:.3f} / {balanced_accuracy(truth, scores[rows]):.3f}")
        lines.append(f"| {name} | {len(rows)} | " + " | ".join(cells) + " |")
        labels = sorted({pairs[i].label for i in rows if not pairs[i].supported})
        for label in labels if len(labels) > 1 else []:
            some = [i for i in rows if pairs[i].supported or pairs[i].label == label]
            truth = [pairs[i].supported for i in some]
            cells = [f"{roc_auc_score(truth, scores[some]):.3f}" for scores in columns.values()]
            lines.append(f"| – against {label} | {len(some)} | " + " | ".join(cells) + " |")
    lines.append("| mean | | " + " | ".join(f"{np.mean(means[column]):.3f}" for column in columns) + " |")
    return "\n".join(lines)


def cross_validated(x: Matrix, pairs: Sequence[Pair], strength: float) -> NDArray[np.float64]:
    """Out-of-fold scores of one model for all sets; five folds, no evidence in two of them."""
    scores = np.zeros(len(pairs))
    groups = [pair.group for pair in pairs]
    for inside, outside in GroupKFold(min(5, len(set(groups)))).split(x, groups=groups):
        weights, intercept = fit(x[inside], [pairs[i] for i in inside], strength)
        scores[outside] = x[outside] @ weights + intercept
    return scores


def by_set(
    x: Matrix, pairs: Sequence[Pair], strength: float, test: tuple[Matrix, Sequence[Pair]] | None
) -> NDArray[np.float64]:
    """Scores of one model for each set: out of fold, or on `test`."""
    target, where = test or (x, pairs)
    scores = np.zeros(len(where))
    for name in {pair.name for pair in pairs}:
        mine = [i for i, pair in enumerate(pairs) if pair.name == name]
        if test is None:
            scores[mine] = cross_validated(x[mine], [pairs[i] for i in mine], strength)
        else:
            weights, intercept = fit(x[mine], [pairs[i] for i in mine], strength)
            theirs = [i for i, pair in enumerate(where) if pair.name == name]
            scores[theirs] = target[theirs] @ weights + intercept
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--test", action="store_true", help="evaluate on the parts marked test")
    parser.add_argument("--cache", type=Path, help="keep embeddings in this .npz between runs")
    parser.add_argument("--strength", type=float, default=0.1, help="inverse strength of the L2 penalty")
    options = parser.parse_args()
    encode = Cached(Embedder().encode, options.cache)
    pairs = list(read_pairs(options.folder, ["fit"]))
    x, base = measured(pairs, encode), simple(pairs, encode)
    weights, intercept = fit(x, pairs, options.strength)
    if options.test:
        held = list(read_pairs(options.folder, ["test"]))
        y, other = measured(held, encode), simple(held, encode)
        scores = y @ weights + intercept
        slopes, level = fit(base, pairs, 1.0)
        columns = {"a": other[:, 0], "b": other[:, 1], "c, by set": by_set(base, pairs, 1.0, (other, held))}
        columns["c"] = other @ slopes + level
        print(table(held, {**columns, "located": scores, "located, by set": by_set(x, pairs, 0.1, (y, held))}))
    else:
        scores = cross_validated(x, pairs, options.strength)
        columns = {"a": base[:, 0], "b": base[:, 1], "c, by set": by_set(base, pairs, 1.0, None)}
        columns["c"] = cross_validated(base, pairs, 1.0)
        print(table(pairs, {**columns, "located": scores, "located, by set": by_set(x, pairs, 0.1, None)}))
    encode.save()
    print(f"\nINTERCEPT = {intercept:.2f}\nWEIGHTS = {{")
    for name, weight in zip(NAMES, weights, strict=True):
        print(f'    "{name}": {weight:.2f},')
    print("}")


if __name__ == "__main__":
    main()
