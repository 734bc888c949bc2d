"""How it grows: a store of the size of a real list and of many times that, beside LlamaIndex's own pipeline."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from eval.runner import Progress
from eval.speed import child_environment
from eval.stages import Plan
from eval.systems import SAMPLE, corpus_papers
from rag.errors import InputError
from rag.settings import Settings

_NAMES = {"ours": "askabstracts", "peer": "LlamaIndex"}


@dataclass(frozen=True, slots=True)
class Size:
    """One system at one size. Searches in milliseconds, memory in MiB (None where the system does not tell), the
    folder in MB; `write_rate` in papers a second without embedding them.

    `recall` is the share of the ten exactly nearest chunks that the vector index puts first.
    """

    system: str
    papers: int
    chunks: int
    write_rate: float
    no_change_seconds: float
    search_median_ms: float
    search_p95_ms: float
    embed_median_ms: float
    recall: float
    rest_mb: float | None
    peak_mb: float | None
    write_peak_mb: float | None
    store_mb: float

    @property
    def kilobytes_each(self) -> float:
        return 1000 * self.store_mb / self.papers


def measure(
    settings: Settings,
    *,
    corpus: Path | None = None,
    papers: int = 100_000,
    questions: int = 200,
    peer: bool = True,
    progress: Progress | None = None,
) -> list[Size]:
    """Each system with the papers of the corpus, and with so many more that there are `papers`; raises InputError
    where a step fails, with its own message."""
    real = corpus_papers(corpus or SAMPLE)[:papers]
    turns = [(name, count) for name in ("ours", "peer")[: 1 + peer] for count in sorted({len(real), papers})]
    sizes = []
    with tempfile.TemporaryDirectory(prefix="scale-", ignore_cleanup_errors=True) as folder:
        rows = "".join(json.dumps(asdict(paper)) + "\n" for paper in real)
        Path(folder, "papers.jsonl").write_text(rows, encoding="utf-8")
        plan = Plan(folder, len(real), questions, settings.embed_model, settings.embed_precision)
        _run("vectors", plan)
        for number, (name, count) in enumerate(turns, start=1):
            plan = replace(plan, system=name, papers=count)
            figures = {**_run("write", plan), **_run("use", plan), **_run("recall", plan)}
            sizes.append(Size(system=name, papers=count, **figures))
            if progress:
                progress(number, len(turns), 0)
    return sizes


def table(sizes: Sequence[Size]) -> str:
    """Markdown, a column for each system and size."""
    rows: list[tuple[str, Callable[[Size], str]]] = [
        ("chunks", lambda size: f"{size.chunks:,}"),
        ("writing with vectors given, papers/s", lambda size: f"{size.write_rate:,.0f}"),
        ("sync with no change, s", lambda size: f"{size.no_change_seconds:.1f}"),
        ("search, ms, median / p95", lambda size: f"{size.search_median_ms:.1f} / {size.search_p95_ms:.1f}"),
        ("of it embedding the question, ms", lambda size: f"{size.embed_median_ms:.1f}"),
        ("recall@10 of the vector index", lambda size: f"{size.recall:.3f}"),
        ("memory after a question / at most, MiB", lambda size: f"{_show(size.rest_mb)} / {_show(size.peak_mb)}"),
        ("at most while writing, MiB", lambda size: _show(size.write_peak_mb)),
        ("store, MB (kB a paper)", lambda size: f"{size.store_mb:,.0f} ({size.kilobytes_each:.1f})"),
    ]
    heads = [f"{_NAMES[size.system]}, {size.papers:,}" for size in sizes]
    lines = [f"| | {' | '.join(heads)} |", "|---" * (len(sizes) + 1) + "|"]
    return "\n".join(lines + [f"| {name} | {' | '.join(show(size) for size in sizes)} |" for name, show in rows])


def to_json(sizes: Sequence[Size]) -> str:
    return json.dumps([asdict(size) for size in sizes], indent=1)


def _run(step: str, plan: Plan) -> dict[str, Any]:
    command = [sys.executable, "-m", "eval.stages", step, json.dumps(asdict(plan))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=child_environment())
    if done.returncode:
        raise InputError(
            f"{step} of {_NAMES[plan.system]} at {plan.papers:,} papers failed: {done.stderr.strip()[-600:]}"
        )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _show(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"
