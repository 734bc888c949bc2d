"""From a wish ("the sample set, with this judge") to a finished run with its report: for the commands and the app."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eval import report
from eval.dataset import FOLDER, QuestionSet, load
from eval.judges import make_judge
from eval.metrics import METRICS
from eval.runner import SEED, Plan, Progress, run
from eval.runs import OVERALL, Run, find
from eval.runs import load as load_run
from eval.systems import OURS, SAMPLE, OurSystem, System, home, ingest
from rag.errors import InputError, SettingsError
from rag.settings import Settings

SYSTEMS = (OURS, "llamaindex", "replay:RUN")


@dataclass(frozen=True, slots=True)
class Request:
    """What to evaluate. Without `corpus` the sample set brings its own papers and any other asks the user's store."""

    set: str = "sample"
    judge: str = "located"
    system: str = OURS
    corpus: Path | None = None
    limit: int | None = None
    half: str = ""
    jobs: int = 1
    shuffle: int = 1
    repeat: int = 1
    seed: int = SEED
    fresh: bool = False
    out: Path | None = None


def evaluate(
    settings: Settings, request: Request, *, progress: Progress | None = None, stop: threading.Event | None = None
) -> Run:
    """Runs it and leaves `report.html` and `report.md` in its folder. Raises RagError before anything is asked."""
    questions = load(request.set)
    corpus = request.corpus or (SAMPLE if questions.path == FOLDER / "sample.jsonl" else None)
    own = ingest(corpus, settings) if corpus else settings
    system = open_system(request.system, own)
    try:
        judge = make_judge(request.judge, settings, system.encode if isinstance(system, OurSystem) else None)
        plan = _plan(request, questions)
        result = run(plan, system, judge, settings, progress=progress, stop=stop)
    finally:
        system.close()
    if result.rows:
        (result.folder / "report.html").write_text(report.html(result), encoding="utf-8")
        (result.folder / "report.md").write_text(report.markdown(result), encoding="utf-8")
    return result


def open_system(name: str, settings: Settings) -> System:
    """Raises SettingsError for an unknown name."""
    if name == OURS:
        return OurSystem(settings)
    if name == "llamaindex":
        from eval.peers import CitationEngine

        return CitationEngine(settings)
    if name.startswith("replay:"):
        from eval.replay import Replay

        return Replay(load_run(find(home(settings), name.removeprefix("replay:"))), settings)
    raise SettingsError(f"there is no system {name}", hint=f"one of {', '.join(SYSTEMS)}")


def parse_gates(text: str) -> dict[str, float]:
    """ "faithfulness=0.95,refusal=0.9" → bounds by metric. Raises InputError naming what there is."""
    gates = {}
    for part in filter(None, (item.strip() for item in text.split(","))):
        key, _, value = part.partition("=")
        if key not in METRICS:
            raise InputError(f"--fail-under {part}: there is no metric {key}", hint=f"one of {', '.join(METRICS)}")
        try:
            gates[key] = float(value)
        except ValueError:
            raise InputError(f"--fail-under {part}: write METRIC=NUMBER, e.g. faithfulness=0.95") from None
    return gates


def broken_gates(result: Run, gates: dict[str, float]) -> list[str]:
    """In words, each bound that the run does not keep. A failed question or a metric without a value breaks it too."""
    summary = result.summaries()[OVERALL]
    lines = []
    for key, bound in gates.items():
        found = summary[key].value if key in summary else None
        if found is None:
            lines.append(f"{key} was not measured")
        elif METRICS[key].higher_is_better and found < bound:
            lines.append(f"{key} {found:.3f} < {bound:g}")
        elif not METRICS[key].higher_is_better and found > bound:
            lines.append(f"{key} {found:.3f} > {bound:g}")
    if gates and result.failed:
        lines.append(f"{result.failed} questions failed")
    if gates and len(result.rows) != result.about["questions"]:
        lines.append(f"{result.about['questions'] - len(result.rows)} questions were not asked")
    return lines


def sweep_table(rows: Sequence[tuple[dict[str, str], Run]]) -> str:
    """Markdown: a line a setup, the headline metrics and the time with their intervals."""
    keys = [key for key, metric in METRICS.items() if metric.headline or key == "total_seconds"]
    names = list(dict.fromkeys(name for setup, _ in rows for name in setup))
    heads = [*names, "n", *(key + ("" if METRICS[key].higher_is_better else " ↓") for key in keys), "failed"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for setup, result in rows:
        summary = result.summaries()[OVERALL]
        cells = [report.figure(key, summary[key]) if key in summary else "–" for key in keys]
        cells = [*(setup.get(name, "") for name in names), str(len(result.rows)), *cells, str(result.failed)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _plan(request: Request, questions: QuestionSet) -> Plan:
    return Plan(
        questions,
        limit=request.limit,
        half=request.half,
        jobs=request.jobs,
        shuffle=request.shuffle,
        repeat=request.repeat,
        seed=request.seed,
        fresh=request.fresh,
        out=request.out,
    )
