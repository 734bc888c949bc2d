"""Answers, papers and findings as text for a terminal; plain when it is none."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from rag.answer import Answer, Sentence, Source, Verdict
from rag.events import Checked, Done, Event, Rechecked, Rewritten, Withdrawn
from rag.markup import plain_text

if TYPE_CHECKING:
    from rag.store import Progress as Reports
    from rag.store import SyncReport

_STYLES = {Verdict.NOT_FOUND: "yellow", Verdict.CONTRADICTED: "red", Verdict.PARTLY: "yellow"}
_QUOTE_WIDTH = 240


def show_stream(events: Iterable[Event], console: Console) -> Answer:
    """Print an answer sentence by sentence as it is checked, then its sources; returns it.

    A sentence that is still being checked, and those after it, wait for the final verdict: on a terminal they are
    shown in a region that is drawn again, elsewhere they are printed when it is there.
    """
    view = _View(console)
    answer: Answer | None = None
    with view:
        for event in events:
            if isinstance(event, Rewritten):
                console.print(f"[dim]searched for: {escape(shortened(event.question))}[/dim]", soft_wrap=True)
            elif isinstance(event, Checked):
                view.add(event.sentence)
            elif isinstance(event, Rechecked):
                view.replace(event.place, event.sentence)
            elif isinstance(event, Withdrawn):
                view.withdraw()
            elif isinstance(event, Done):
                answer = event.answer
                view.finish(answer)
    if answer is None:
        raise AssertionError("a stream ends with Done")
    _show_rest(answer, console, printed=bool(view.printed))
    return answer


class _View:
    """The sentences so far: those printed for good, and those that may still change."""

    def __init__(self, console: Console) -> None:
        self.printed = 0
        self._console = console
        self._sentences: list[Sentence] = []
        self._status = console.status("searching the abstracts")
        self._live: Live | None = None

    def __enter__(self) -> _View:
        self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()
        if self._live is not None:
            self._live.stop()

    def add(self, sentence: Sentence) -> None:
        self._sentences.append(sentence)
        self._show()

    def replace(self, place: int, sentence: Sentence | None) -> None:
        self._sentences[place : place + 1] = [sentence] if sentence else []
        self._show()

    def withdraw(self) -> None:
        self._close()
        self._status.stop()
        self._sentences.clear()
        self.printed = 0
        self._console.print("\n[dim](that was the model thinking; the answer follows)[/dim]")

    def finish(self, answer: Answer) -> None:
        """Print what is still open as it stands in the finished answer, whose numbers are the final ones."""
        self._close()
        self._status.stop()
        if not answer.refusal:
            self._sentences = list(answer.sentences)
        self._print(self._sentences[self.printed :])
        if self.printed:
            self._console.print()

    def _show(self) -> None:
        self._status.stop()  # it redraws its line, and would rub out the sentence that stands there
        waiting = next((i for i, one in enumerate(self._sentences) if one.checking), None)
        if waiting is None and self._live is None and self.printed <= len(self._sentences):
            self._print(self._sentences[self.printed :])
        elif self._console.is_terminal:
            if self._live is None:
                self._console.print()
                self._live = Live(console=self._console, transient=True, auto_refresh=False)
                self._live.start()
            self._live.update(self._open(), refresh=True)

    def _open(self) -> Text:
        open_ones = self._sentences[self.printed :]
        waiting = sum(one.checking for one in open_ones)
        text = "".join(escape(one.lead) + _sentence(one) for one in open_ones).lstrip()
        note = f"\n[dim]reading the sources again for {counted(waiting, 'sentence')} …[/dim]" if waiting else ""
        return Text.from_markup(text + note)

    def _print(self, sentences: Sequence[Sentence]) -> None:
        for sentence in sentences:
            lead = sentence.lead if self.printed else sentence.lead.lstrip()
            self._console.print(escape(lead) + _sentence(sentence), end="", soft_wrap=True)
            self.printed += 1

    def _close(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None


def _show_rest(answer: Answer, console: Console, *, printed: bool) -> None:
    if answer.refusal:
        if printed:
            console.print("[dim]Nothing of this was found in the abstracts, so it is no answer.[/dim]")
        console.print(escape(answer.refusal.message), style="bold", soft_wrap=True)
        if answer.refusal.hint:
            console.print(f"[dim]Try: {escape(answer.refusal.hint)}[/dim]", soft_wrap=True)
        for source in answer.sources[:3]:
            console.print(f"  · {escape(reference(source))}", soft_wrap=True)
    for verdict in Verdict:
        if verdict.sign and not answer.refusal and answer.count(verdict):
            console.print(f"[dim]{escape(f'{verdict.sign} {verdict.meaning}')}[/dim]")
    if answer.cited:
        console.print()
    for source in answer.cited:
        console.print(f"\\[{source.number}] {escape(reference(source))}", soft_wrap=True)
        for quote in dict.fromkeys(c.quote for c in answer.citations if c.paper_id == source.paper.id):
            console.print(f"    [dim]“{escape(shortened(plain_text(quote)))}”[/dim]", soft_wrap=True)
    for notice in answer.notices:
        console.print(f"[dim]{escape(notice)}[/dim]", soft_wrap=True)
    console.print(f"[dim]{escape(status_line(answer))}[/dim]", soft_wrap=True)


def status_line(answer: Answer) -> str:
    """For instance "4 of 5 sentences located in 3 papers · ollama/llama3.2 · 2.1 s"."""
    parts = []
    factual = len(answer.sentences) - answer.count(Verdict.META)
    if answer.sentences:
        located = answer.count(Verdict.SUPPORTED)
        parts.append(f"{located} of {counted(factual, 'sentence')} located in {counted(len(answer.cited), 'paper')}")
    checked = f"read by {answer.verifier}" if answer.verifier not in ("located", "verbatim") else ""
    parts += [answer.model, *filter(None, [checked]), f"{answer.timings.total:.1f} s"]
    if answer.stopped:
        parts.append("stopped")
    return " · ".join(parts)


def reference(source: Source) -> str:
    """Title, year or venue, and link of a paper on one line."""
    paper = source.paper
    when = paper.venue or (str(paper.year) if paper.year else "")
    if paper.venue and paper.year and str(paper.year) not in paper.venue:
        when = f"{paper.venue} {paper.year}"
    title = plain_text(paper.label)
    link = paper.url or ("" if paper.id.startswith("hash:") else paper.id)
    return " ".join(part for part in (title, f"({when})" if when else "", link) if part)


def show_sources(sources: Sequence[Source], console: Console) -> None:
    """Ranked papers with their scores and the passage that matched."""
    for rank, source in enumerate(sources, 1):
        console.print(f"{rank:2}. [bold]{source.score:.2f}[/bold] {escape(reference(source))}", soft_wrap=True)
        console.print(f"      [dim]{escape(shortened(plain_text(source.passage)))}[/dim]", soft_wrap=True)


def show_report(report: SyncReport, console: Console) -> None:
    """The counts of one sync, and every row that gave no paper."""
    counts = [f"{report.new} new", f"{report.updated} updated", f"{report.removed} removed"]
    counts.append(f"{report.unchanged} unchanged")
    if report.duplicates:
        counts.append(f"{report.duplicates} said twice")
    if report.skipped:
        counts.append(f"{counted(len(report.skipped), 'row')} not used")
    if report.finished:
        counts.append(f"{report.finished} finished from an interrupted ingest")
    console.print(f"{escape(report.source)}: {', '.join(counts)} ({report.seconds:.1f} s)", soft_wrap=True)
    for skipped in report.skipped:
        console.print(f"  [yellow]not used:[/yellow] {escape(str(skipped))}", soft_wrap=True)


@contextmanager
def progress_bar(console: Console) -> Iterator[Reports]:
    """A bar with papers per second and the time left, for a sync; yields the function to report to."""
    columns = (
        TextColumn("indexing"),
        BarColumn(),
        MofNCompleteColumn(),
        TaskProgressColumn(show_speed=True),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None, speed="", visible=False)

        def report(done: int, total: int) -> None:
            elapsed = bar.tasks[0].elapsed or 0
            speed = f"{done / elapsed:.0f} papers/s" if elapsed else ""
            bar.update(task, completed=done, total=total, speed=speed, visible=True)

        yield report


def counted(number: int, noun: str) -> str:
    """ "1 row", "2 rows", "1,200 rows"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shortened(text: str) -> str:
    """At most a few lines, cut between words."""
    return textwrap.shorten(text, _QUOTE_WIDTH, placeholder=" …")


def _sentence(sentence: Sentence) -> str:
    sign = "…" if sentence.checking else sentence.verdict.sign
    text = escape(f"{sentence.marked} {sign}".rstrip())
    style = _STYLES.get(sentence.verdict)
    return f"[{style}]{text}[/{style}]" if style else text
