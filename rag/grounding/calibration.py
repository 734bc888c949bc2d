"""What a model's odds are worth: measured once for each model on our own labelled pairs, and kept.

Models differ in how readily they say yes and in how well they read. Both are told by the log-odds that a model gives to
claims of which the answer is known.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

import numpy as np

from rag.disk import write_whole

_LEAST = 0.65  # ROC-AUC on our pairs below which a model's odds are not listened to
_GOOD = 0.9
_ENOUGH = 8  # pairs of either kind, of which the odds are known
_BOUND = 10.0  # of a log-likelihood ratio: two bell curves say nothing certain of what lies far out
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Example:
    """A claim of which it is known whether the passage supports it."""

    passage: str
    claim: str
    supported: bool


@dataclass(frozen=True, slots=True)
class Calibration:
    """Log-odds of yes that a model gave to our pairs: the middle between the means of either kind, the spread within
    them, the distance of the means in units of the spread, and the ROC-AUC; `pairs` is their number."""

    middle: float
    spread: float
    separation: float
    auc: float
    pairs: int

    @property
    def reads(self) -> bool:
        return self.auc >= _LEAST and self.separation > 0

    @property
    def worth(self) -> str:
        """In words, for people."""
        told = f"it tells right from wrong in {self.auc:.0%} of our pairs"
        if not self.reads:
            return f"not used for checking: {told}, where a coin would in 50%"
        return f"{'reads well' if self.auc >= _GOOD else 'reads somewhat'}: {told}"

    def reading(self, odds: float) -> float:
        """The log-likelihood ratio of support, −10 to 10, that log-odds amount to; 0 for a model that cannot read.

        That of two normal distributions with the same variance (Fisher's linear discriminant in one dimension).
        """
        if not self.reads:
            return 0.0
        return float(np.clip(self.separation * (odds - self.middle) / self.spread, -_BOUND, _BOUND))


def calibrate(odds: Sequence[float], supported: Sequence[bool]) -> Calibration:
    """From the log-odds of labelled pairs. Raises ValueError for fewer than eight of a kind."""
    values, truth = np.asarray(odds, dtype=float), np.asarray(supported, dtype=bool)
    yes, no = values[truth], values[~truth]
    if min(len(yes), len(no)) < _ENOUGH:
        raise ValueError(f"{len(yes)} and {len(no)} pairs are too few")
    spread = max(float(np.sqrt((yes.var(ddof=1) + no.var(ddof=1)) / 2)), 1e-3)
    wins = (yes[:, None] > no[None, :]).mean() + (yes[:, None] == no[None, :]).mean() / 2
    distance = float(yes.mean() - no.mean()) / spread
    return Calibration(float(yes.mean() + no.mean()) / 2, spread, distance, float(wins), len(values))


@lru_cache(maxsize=1)
def examples() -> tuple[Example, ...]:
    """Our own pairs; those with the same passage stand together."""
    lines = resources.files("rag").joinpath("data/calibration.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(
        Example(row["passage"], row[kind], kind == "supported")
        for row in map(json.loads, filter(None, lines))
        for kind in ("supported", "unsupported")
    )


class Calibrations:
    """What is known of models, in one JSON file: log-odds by example, and why a model cannot be asked.

    A broken file counts as an empty one: all in it can be measured again.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[str, dict[str, object]] = {}

    def unable(self, model: str) -> str:
        """Why this model gives no odds; "" where it may."""
        return str(self._of(model).get("unable", ""))

    def odds(self, model: str) -> dict[str, float]:
        """The log-odds by the key of the example."""
        found = self._of(model).get("odds")
        return dict(found) if isinstance(found, Mapping) else {}

    def put(self, model: str, *, unable: str = "", odds: Mapping[str, float] | None = None) -> None:
        """Keep this of a model in place of what was known; a folder that cannot be written to keeps nothing."""
        with _lock:
            known = self._read()
            known[model] = {"unable": unable} if unable else {"odds": dict(odds or {})}
            self._known = known
            if self._path is None:
                return
            try:
                write_whole(self._path, json.dumps(known, indent=1))
            except OSError:
                return

    def _of(self, model: str) -> dict[str, object]:
        return self._read().get(model, {})

    def _read(self) -> dict[str, dict[str, object]]:
        if self._path is None:
            return dict(self._known)
        try:
            read = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return dict(self._known)
        return {key: value for key, value in read.items() if isinstance(value, dict)} if isinstance(read, dict) else {}


def key_of(example: Example, prompt: Callable[[str, str], str]) -> str:
    """Names an example as it is put to a model: another wording of the question is another example."""
    return hashlib.sha256(prompt(example.passage, example.claim).encode()).hexdigest()[:12]
