"""Two runs over the same questions: what became better or worse, by how much, and on which questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.intervals import LEVEL, Difference, Verdict, paired
from eval.metrics import METRICS, plain_answer
from eval.runs import Row, Run
from rag.errors import InputError

SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Change:
    """One question whose values differ: metric → (old, new); None where one run has no value."""

    question_id: str
    question: str
    values: Mapping[str, tuple[float | None, float | None]]
    old_answer: str
    new_answer: str

    @property
    def for_the_worse(self) -> bool:
        return any(_loss(key, old, new) > 0 for key, (old, new) in self.values.items())

    def in_words(self) -> str:
        return ", ".join(f"{key} {_show(old)} → {_show(new)}" for key, (old, new) in self.values.items())


@dataclass(frozen=True, slots=True)
class Comparison:
    """`verdict` is over the headline metrics together, `because` says what it rests on."""

    old: str
    new: str
    common: int
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    differences: Mapping[str, Difference]
    changes: tuple[Change, ...]
    failed: tuple[int, int]
    verdict: Verdict
    because: str

    def in_words(self) -> str:
        if self.verdict == "cannot tell":
            return f"cannot tell whether {self.new} is better or worse than {self.old}"
        return f"{self.new} is {self.verdict} than {self.old}"


def compare(old: Run, new: Run) -> Comparison:
    """Paired bootstrap over the questions that both runs have. Raises InputError where they have none in common.

    Each metric's own verdict uses its 95 % interval. The verdict on the whole asks for more, since several metrics
    are looked at together: intervals of 1 − 0.05/m for m headline metrics (Bonferroni). It is better or worse when
    some metrics say so and none says the opposite, else "cannot tell".
    """
    before = {row.question.id: row for row in old.rows}
    after = {row.question.id: row for row in new.rows}
    common = [key for key in before if key in after and before[key].question.question == after[key].question.question]
    if not common:
        raise InputError(f"{old.name} and {new.name} have no question in common")
    pairs = [(before[key], after[key]) for key in common]
    differences = {key: _difference(key, pairs, LEVEL) for key in METRICS}
    differences = {key: item for key, item in differences.items() if item.n}
    verdict, because = _verdict(pairs, [key for key in differences if METRICS[key].headline])
    changes = sorted(filter(None, (_change(*pair) for pair in pairs)), key=lambda item: not item.for_the_worse)
    return Comparison(
        old.name,
        new.name,
        len(common),
        tuple(key for key in before if key not in common),
        tuple(key for key in after if key not in common),
        differences,
        tuple(changes),
        (old.failed, new.failed),
        verdict,
        because,
    )


def markdown(comparison: Comparison) -> str:
    """For a terminal or a pull request."""
    lines = [
        f"**{comparison.in_words()}**: {comparison.because}.",
        "",
        f"{comparison.common} questions in common"
        + _left_over("only in the first", len(comparison.only_old))
        + _left_over("only in the second", len(comparison.only_new))
        + _left_over("without an answer in the first", comparison.failed[0])
        + _left_over("without an answer in the second", comparison.failed[1])
        + ".",
        "",
        "| metric | new − old | 95 % interval | n | |",
        "|---|---|---|---|---|",
    ]
    for key, item in comparison.differences.items():
        if item.value is not None and item.low is not None and item.high is not None:
            arrow = "" if METRICS[key].higher_is_better else " ↓"
            interval = f"{item.low:+.3f} to {item.high:+.3f}"
            lines.append(f"| {key}{arrow} | {item.value:+.3f} | {interval} | {item.n} | {item.verdict} |")
    if comparison.changes:
        lines += ["", f"{len(comparison.changes)} questions changed:", ""]
        lines += [f"- `{item.question_id}` {item.question} ({item.in_words()})" for item in comparison.changes]
    return "\n".join(lines)


_COST = {key for key, metric in METRICS.items() if metric.group == "cost"}


def _difference(key: str, pairs: Sequence[tuple[Row, Row]], level: float) -> Difference:
    both = [
        (old, new)
        for before, after in pairs
        if (old := before.values.get(key)) is not None and (new := after.values.get(key)) is not None
    ]
    higher = METRICS[key].higher_is_better
    return paired([old for old, _ in both], [new for _, new in both], higher_is_better=higher, level=level)


def _verdict(pairs: Sequence[tuple[Row, Row]], keys: Sequence[str]) -> tuple[Verdict, str]:
    level = 1 - (1 - LEVEL) / max(1, len(keys))
    verdicts = {key: _difference(key, pairs, level).verdict for key in keys}
    better = [key for key, verdict in verdicts.items() if verdict == "better"]
    worse = [key for key, verdict in verdicts.items() if verdict == "worse"]
    if better and worse:
        return "cannot tell", f"better in {', '.join(better)}, worse in {', '.join(worse)}"
    if better:
        return "better", f"better in {', '.join(better)}"
    if worse:
        return "worse", f"worse in {', '.join(worse)}"
    return "cannot tell", "no difference in a headline metric is larger than chance makes it"


def _change(old: Row, new: Row) -> Change | None:
    """What differs for one question, costs left out; None where nothing does."""
    keys = [key for key in METRICS if key not in _COST and (key in old.values or key in new.values)]
    values = {key: (old.values.get(key), new.values.get(key)) for key in keys}
    differing = {key: pair for key, pair in values.items() if not _same(*pair)}
    before = plain_answer(old.answer) if old.answer else "; ".join(old.failures)
    after = plain_answer(new.answer) if new.answer else "; ".join(new.failures)
    if not differing and bool(old.failures) == bool(new.failures):
        return None
    return Change(old.question.id, old.question.question, differing, before, after)


def _same(old: float | None, new: float | None) -> bool:
    return old == new if old is None or new is None else abs(old - new) < SAME


def _loss(key: str, old: float | None, new: float | None) -> float:
    if old is None or new is None or key == "claims":
        return 0.0
    return old - new if METRICS[key].higher_is_better else new - old


def _show(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def _left_over(where: str, count: int) -> str:
    return f", {count} {where}" if count else ""
