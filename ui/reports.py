"""Evaluations as HTML: the list of runs, one run with its figures, plot and questions, two runs compared."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval import plots
from eval.compare import Change, Comparison
from eval.facts import show
from eval.intervals import Estimate
from eval.metrics import METRICS
from eval.report import OUTCOMES, figure, interval_rows, outcome
from eval.runs import OVERALL, Row, Run
from ui.render import Html, join, rich, tag

IN_LIST = ("right", "faithfulness", "citation precision", "refusal")
MOST_ROWS = 500
_OUTCOMES = dict(OUTCOMES)


@dataclass(frozen=True, slots=True)
class Listed:
    """A run in the list: its name, what run.json says, and the means of its metrics."""

    name: str
    about: Mapping[str, Any]
    means: Mapping[str, float | None]


def listed(folder: Path) -> Listed | None:
    """The run in `folder` without its questions; None where there is none (yet)."""
    try:
        about = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))[OVERALL]
        return Listed(folder.name, about, {key: item["value"] for key, item in summary.items()})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def run_list(runs: Sequence[Listed], chosen: str = "") -> Html:
    """The runs, newest first; while one is open, each other can be compared with it."""
    if not runs:
        words = "There are no evaluations yet. Start one here, or type rag eval run."
        return tag("p", words, class_="empty")
    heads = ["Run", *(METRICS[key].key for key in IN_LIST), "Questions", ""]
    head = tag("tr", (tag("th", name[:1].upper() + name[1:], scope="col") for name in heads))
    return tag("table", tag("thead", head), tag("tbody", (_listed(run, chosen) for run in runs)), class_="runs")


def _listed(run: Listed, chosen: str) -> Html:
    values = [run.means.get(key) for key in IN_LIST]
    about = run.about
    name = tag(
        "button",
        tag("span", f"{about.get('set', '')} · {about.get('model', '')}", class_="row-title"),
        tag("span", str(about.get("finished_at", ""))[:16].replace("T", " "), class_="dim"),
        type="button",
        class_="row-open",
        data_action="run",
        data_run=run.name,
    )
    other = tag("button", "Compare", type="button", class_="tool", data_action="compare", data_run=run.name)
    return tag(
        "tr",
        tag("td", name),
        (tag("td", "–" if value is None else f"{value:.2f}", class_="figure") for value in values),
        tag("td", f"{about.get('finished', '?')} of {about.get('questions', '?')}", class_="figure"),
        tag("td", other if chosen and chosen != run.name else None),
        class_="current" if run.name == chosen else None,
    )


def run_details(run: Run) -> Html:
    """One run: how it was made, every metric, the plot, and the questions with answers, verdicts and gold."""
    about = run.about
    made = [
        ("Set", about.get("set")),
        ("Model", f"{about.get('model')} ({about.get('model_reason')})"),
        ("Judge", about.get("judge")),
        ("Took", f"{about.get('seconds', 0):.0f} s"),
        ("Failed", f"{run.failed} questions, {run.judge_failed} judgements"),
        ("Run", run.name),
    ]
    summary = run.summaries()[OVERALL]
    shown = run.rows[:MOST_ROWS]
    left_out = len(run.rows) - len(shown)
    return tag(
        "section",
        tag("h2", f"{about.get('set', '')} · {about.get('model', '')}", class_="side-head"),
        tag("dl", (join(tag("dt", name), tag("dd", str(value))) for name, value in made), class_="facts"),
        Html(plots.intervals(interval_rows(summary), title="Each metric with its 95 % interval")),
        tag("details", tag("summary", "All figures", class_="small-head"), _metrics(summary)),
        tag("p", f"{len(run.rows)} questions", class_="small-head"),
        tag("div", (_question(row) for row in shown), class_="questions"),
        tag("p", f"{left_out} more are in report.html in the run's folder", class_="dim") if left_out else None,
        class_="run",
    )


def _metrics(summary: Mapping[str, Estimate]) -> Html:
    rows = [
        tag(
            "tr",
            tag("td", METRICS[key].title),
            tag("td", figure(key, item), class_="figure"),
            tag("td", str(item.n), class_="figure"),
        )
        for key, item in summary.items()
    ]
    head = tag("tr", (tag("th", name, scope="col") for name in ("Metric", "Mean [95 % interval]", "n")))
    return tag("table", tag("thead", head), tag("tbody", rows), class_="runs")


def _question(row: Row) -> Html:
    kind = outcome(row)
    answer = row.answer
    sentences: list[Html] = []
    if answer is not None and not answer.refusal:
        judged = [*row.verdicts, *[""] * len(answer.sentences)]
        sentences = [
            tag("li", rich(one.marked), tag("span", f"{one.verdict.value}; judge: {word or 'not asked'}", class_="dim"))
            for one, word in zip(answer.sentences, judged, strict=False)
        ]
    facts = [
        ("Gold papers", ", ".join(row.question.gold)),
        ("Key facts", "; ".join(show(fact) for fact in row.question.facts)),
        ("Refused", answer.refusal.message if answer is not None and answer.refusal else ""),
        ("Failed", "; ".join([*row.failures, *row.judge_failures])),
        ("Values", ", ".join(f"{key} {value:g}" for key, value in row.values.items() if value is not None)),
    ]
    head = tag(
        "summary",
        tag("span", _OUTCOMES.get(kind, kind), class_=f"outcome {kind}"),
        tag("span", row.question.question, class_="row-title"),
        tag("span", row.question.type, class_="dim"),
    )
    body = (join(tag("dt", name), tag("dd", rich(value))) for name, value in facts if value)
    return tag("details", head, tag("ol", sentences) if sentences else None, tag("dl", body, class_="facts"))


def comparison_html(comparison: Comparison) -> Html:
    """Two runs: the verdict, each metric's difference with its interval, and the questions that changed."""
    shown = [
        (key, item.value, item.low, item.high, f"{item.value:+.2f} {item.verdict}")
        for key, item in comparison.differences.items()
        if METRICS[key].share and item.value is not None and item.low is not None and item.high is not None
    ]
    reach = max((max(abs(low), abs(high)) for _, _, low, high, _ in shown), default=0.1) or 0.1
    plot = plots.intervals(shown, low=-reach, high=reach, title="New minus old, with 95 % intervals")
    said = comparison.in_words()
    return tag(
        "section",
        tag("h2", said[:1].upper() + said[1:], class_="side-head"),
        tag("p", f"{comparison.because}; {comparison.common} questions in common.", class_="dim"),
        Html(plot),
        tag("p", f"{len(comparison.changes)} questions changed", class_="small-head"),
        tag("div", (_change(one) for one in comparison.changes[:MOST_ROWS]), class_="questions"),
        class_="run",
    )


def _change(one: Change) -> Html:
    head = tag(
        "summary",
        tag(
            "span",
            "worse" if one.for_the_worse else "better",
            class_=f"outcome {'wrong' if one.for_the_worse else 'right'}",
        ),
        tag("span", one.question, class_="row-title"),
        tag("span", one.in_words(), class_="dim"),
    )
    told = (("Before", one.old_answer or "(refused)"), ("After", one.new_answer or "(refused)"))
    return tag(
        "details",
        head,
        tag("dl", (join(tag("dt", name), tag("dd", rich(text))) for name, text in told), class_="facts"),
    )
