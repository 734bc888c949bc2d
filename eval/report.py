"""A run for people: one self-contained HTML file, and Markdown for a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from eval import plots
from eval.compare import Comparison
from eval.facts import show
from eval.intervals import Estimate
from eval.metrics import METRICS
from eval.runs import OVERALL, Row, Run
from eval.systems import OURS
from rag.answer import Answer, Sentence

OUTCOMES = (
    ("right", "right"),
    ("declined", "rightly refused"),
    ("wrong", "wrong or incomplete"),
    ("silent", "refused, though answerable"),
    ("invented", "answered, though unanswerable"),
    ("unknown", "not known"),
    ("failed", "failed"),
)
_DIGITS = {"claims": 1, "tokens_in": 0, "tokens_out": 0, "first_words_seconds": 3, "total_seconds": 3}
_STYLE = Path(__file__).with_name("report.css")


def outcome(row: Row) -> str:
    """The class in OUTCOMES that the question's first asking belongs to."""
    if row.answer is None or not row.values:
        return "failed"
    if row.values.get("answered_unanswerable") == 1:
        return "invented"
    if row.values.get("refused_answerable") == 1:
        return "silent"
    if row.values.get("refusal") == 1:
        return "declined"
    right = row.values.get("right")
    return "unknown" if right is None else "right" if right == 1 else "wrong"


def figure(key: str, estimate: Estimate) -> str:
    """The mean and its interval with as many digits as make sense."""
    return estimate.show(_DIGITS.get(key, 2))


def markdown(run: Run) -> str:
    """A short table: the headline metrics overall, then what failed."""
    summary = run.summaries()[OVERALL]
    lines = [f"### {_title(run)}", "", _line(run), "", "| metric | value [95 % interval] | n |", "|---|---|---|"]
    lines += [f"| {METRICS[key].title} | {figure(key, item)} | {item.n} |" for key, item in summary.items()]
    if failed := [row for row in run.rows if row.failures or row.judge_failures]:
        lines += ["", f"{len(failed)} questions on which something failed:", ""]
        for row in failed:
            lines.append(f"- `{row.question.id}`: {'; '.join([*row.failures, *row.judge_failures])}")
    return "\n".join(lines) + "\n"


def kinds_markdown(run: Run, keys: Sequence[str] = ()) -> str:
    """The chosen (else the headline) metrics by type of question."""
    keys = list(keys) or [key for key, metric in METRICS.items() if metric.headline]
    groups = run.summaries()
    keys = [key for key in keys if key in groups[OVERALL]]
    lines = ["| | n | " + " | ".join(keys) + " |", "|---|---|" + "---|" * len(keys)]
    for group, summary in groups.items():
        cells = [figure(key, summary[key]) if key in summary else "–" for key in keys]
        lines.append(f"| {group} | {_count(run, group)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def html(run: Run, comparison: Comparison | None = None) -> str:
    """The whole report; everything that comes from papers, models and questions is escaped."""
    groups = run.summaries()
    body = [
        f"<h1>{escape(_title(run))}</h1><p>{escape(_line(run))}</p>",
        *([_comparison(comparison)] if comparison else []),
        "<h2>Figures</h2>",
        "<p>Means over questions with 95 % bootstrap intervals. Metrics marked ↓ are better when lower.</p>",
        _interval_plot(groups[OVERALL]),
        _cost_table(groups[OVERALL]),
        "<h2>What came of the questions</h2>",
        _outcome_plot(run),
        "<h2>By type of question</h2>",
        _kinds_table(run, groups),
        f"<h2>{len(run.rows)} questions</h2><p>Open one for its answer, what supports it, and its values.</p>",
        *(_question(row) for row in run.rows),
        "<h2>How it was made</h2>",
        _facts_table(run.about),
    ]
    return _page(_title(run), "\n".join(body))


def comparison_html(comparison: Comparison) -> str:
    return _page(f"{comparison.old} and {comparison.new}", f"<h1>Two runs</h1>{_comparison(comparison)}")


def interval_rows(summary: Mapping[str, Estimate]) -> list[tuple[str, float, float, float, str]]:
    """The shares of a summary as rows of `plots.intervals`."""
    return [
        (METRICS[key].title + _arrow(key), item.value, item.low, item.high, f"{figure(key, item)}  n {item.n}")
        for key, item in summary.items()
        if METRICS[key].share and item.value is not None and item.low is not None and item.high is not None
    ]


def _interval_plot(summary: Mapping[str, Estimate]) -> str:
    return plots.intervals(interval_rows(summary), title="Each metric with its 95 % interval")


def _outcome_plot(run: Run) -> str:
    kinds = dict.fromkeys(row.question.type for row in run.rows)
    rows = [(kind, Counter(outcome(row) for row in run.rows if row.question.type == kind)) for kind in kinds]
    return plots.stacks(rows, OUTCOMES, title="Questions by type and outcome")


def _comparison(comparison: Comparison) -> str:
    shown = [
        (key + _arrow(key), item.value, item.low, item.high, f"{item.value:+.2f} {item.verdict}")
        for key, item in comparison.differences.items()
        if METRICS[key].share and item.value is not None and item.low is not None and item.high is not None
    ]
    reach = max((max(abs(low), abs(high)) for _, _, low, high, _ in shown), default=0.1) or 0.1
    plot = plots.intervals(shown, low=-reach, high=reach, title="New minus old, with 95 % intervals")
    changes = "".join(
        f"<details><summary><code>{escape(item.question_id)}</code> {escape(item.question)} "
        f"<span class='note'>{escape(item.in_words())}</span></summary>"
        f"<p><b>before</b> {escape(item.old_answer) or '(refused)'}</p>"
        f"<p><b>after</b> {escape(item.new_answer) or '(refused)'}</p></details>"
        for item in comparison.changes
    )
    return (
        f"<h2>{escape(comparison.in_words())}</h2><p>{escape(comparison.because)}; "
        f"{comparison.common} questions in common, {len(comparison.changes)} changed.</p>{plot}{changes}"
    )


def _kinds_table(run: Run, groups: Mapping[str, Mapping[str, Estimate]]) -> str:
    keys = [key for key, metric in METRICS.items() if metric.headline and key in groups[OVERALL]]
    head = "".join(f"<th>{escape(key + _arrow(key))}</th>" for key in keys)
    rows = []
    for group, summary in groups.items():
        cells = "".join(f"<td>{escape(figure(key, summary[key])) if key in summary else '–'}</td>" for key in keys)
        rows.append(f"<tr><th>{escape(group)}</th><td>{_count(run, group)}</td>{cells}</tr>")
    return f"<div class='wide'><table><tr><th></th><th>n</th>{head}</tr>{''.join(rows)}</table></div>"


def _cost_table(summary: Mapping[str, Estimate]) -> str:
    rows = [
        f"<tr><th>{escape(METRICS[key].title)}</th><td>{escape(figure(key, item))}</td><td>{item.n}</td></tr>"
        for key, item in summary.items()
        if not METRICS[key].share
    ]
    return f"<table><tr><th></th><th>mean [95 % interval]</th><th>n</th></tr>{''.join(rows)}</table>"


def _question(row: Row) -> str:
    question, answer = row.question, row.answer
    css = outcome(row)
    facts = "".join(f"<li>{escape(show(fact))}</li>" for fact in question.facts)
    expected = (
        f"<p><b>gold papers</b> {escape(', '.join(question.gold))}</p>" if question.gold else "<p>no gold paper</p>"
    ) + (f"<p><b>key facts</b></p><ul>{facts}</ul>" if facts else "")
    history = "".join(
        f"<p class='note'>{escape(item.question)} → {escape(item.answer)}</p>" for item in question.history
    )
    failures = "".join(f"<p class='bad'>{escape(text)}</p>" for text in (*row.failures, *row.judge_failures))
    values = " · ".join(f"{key} {value:.3g}" for key, value in row.values.items() if value is not None)
    return (
        f"<details class='question'><summary><span class='tag {css}'>{escape(dict(OUTCOMES)[css])}</span> "
        f"<code>{escape(question.id)}</code> {escape(question.question)}</summary>{history}"
        f"{_answer(answer, row.verdicts) if answer else ''}{failures}{expected}"
        + (f"<p class='note'>{escape(question.note)}</p>" if question.note else "")
        + f"<p class='note'>{escape(values)}</p></details>"
    )


def _answer(answer: Answer, verdicts: Sequence[str]) -> str:
    if answer.refusal:
        nearest = ", ".join(source.paper.label for source in answer.sources[:3])
        return (
            f"<blockquote>{escape(answer.refusal.message)}</blockquote><p class='note'>nearest: {escape(nearest)}</p>"
        )
    lines = [
        f"<li>{escape(sentence.marked)} <span class='note'>engine: {escape(sentence.verdict)}; judge: "
        f"{escape(said or 'states nothing')}{escape('; ' + sentence.note) if sentence.note else ''}</span>"
        f"{_quotes(answer, sentence)}</li>"
        for sentence, said in zip(answer.sentences, [*verdicts, *[""] * len(answer.sentences)], strict=False)
    ]
    searched = (
        "" if answer.standalone == answer.question else f"<p class='note'>searched: {escape(answer.standalone)}</p>"
    )
    return f"{searched}<ul class='answer'>{''.join(lines)}</ul>"


def _quotes(answer: Answer, sentence: Sentence) -> str:
    labels = {source.paper.id: source.paper.label for source in answer.sources}
    return "".join(
        f"<blockquote>[{item.number}] {escape(labels.get(item.paper_id, item.paper_id))}: "
        f"“{escape(item.quote)}”</blockquote>"
        for item in sentence.citations
    )


def _facts_table(about: Mapping[str, object]) -> str:
    def rows(items: Mapping[str, object], prefix: str = "") -> Iterable[str]:
        for key, value in items.items():
            if isinstance(value, dict):
                yield from rows(value, f"{prefix}{key}.")
            else:
                yield f"<tr><th>{escape(prefix + key)}</th><td>{escape(str(value))}</td></tr>"

    return f"<details><summary>settings, versions, seeds</summary><table>{''.join(rows(about))}</table></details>"


def _title(run: Run) -> str:
    about = run.about
    other = [about["system"]] if about.get("system", OURS) != OURS else []
    return " · ".join([about.get("set", run.name), *other, about.get("model", ""), f"judge {about.get('judge', '')}"])


def _line(run: Run) -> str:
    about = run.about
    failed = f", {run.failed} failed" if run.failed else ""
    judge = f", the judge failed on {run.judge_failed} claims" if run.judge_failed else ""
    memory = f", peak memory {about['peak_memory_mb']:.0f} MB" if about.get("peak_memory_mb") else ""
    asked, finished = about.get("questions", len(run.rows)), len(run.rows)
    stopped = f" of {asked} (stopped)" if finished != asked else ""
    return (
        f"{finished}{stopped} questions{failed}{judge} in {about.get('seconds', 0):.1f} s{memory}; "
        f"corpus {about.get('corpus', '?')}, code {about.get('code', '?')}, {about.get('finished_at', '')}"
    )


def _count(run: Run, group: str) -> int:
    if group == OVERALL:
        return len(run.rows)
    return sum(row.question.type == group or f"half {row.question.half}" == group for row in run.rows)


def _arrow(key: str) -> str:
    return "" if METRICS[key].higher_is_better else " ↓"


def _page(title: str, body: str) -> str:
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE.read_text(encoding='utf-8')}</style></head><body><main>\n{body}\n</main></body></html>\n"
    )
