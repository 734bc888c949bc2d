"""The Evaluations tab: runs listed, opened and compared; a run started, watched and cancelled."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gradio as gr

from rag.errors import RagError
from rag.settings import Settings
from ui.choices import model_choices
from ui.render import Html, tag
from ui.tables import problem

if TYPE_CHECKING:
    from eval.runs import Run

_CONNECT = "window.askabstracts.connect(element, trigger, server, 'act');"
SETS = (("The sample's questions", "sample"), ("Questions on ICLR 2026", "iclr2026"))


@dataclass(frozen=True, slots=True)
class _Step:
    """Questions done, all of them, and how many failed."""

    done: int
    total: int
    failed: int


class Evaluations:
    """Builds the tab inside a `gr.Blocks`. One run at a time; what is done of a cancelled one is kept."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._root = settings.data / "evaluations"
        self._stop = threading.Event()

    def build(self) -> None:
        """The tab's components. To be called within its `gr.Tab`."""
        self.chosen = gr.State("")
        with gr.Row(elem_classes="page", elem_id="evaluations-row"):
            with gr.Column(min_width=280, scale=5):
                gr.HTML(tag("h2", "Runs", class_="side-head"), apply_default_css=False)
                self.runs = gr.HTML("", elem_id="runs", js_on_load=_CONNECT, apply_default_css=False)
                gr.HTML(tag("h2", "Start a run", class_="side-head"), apply_default_css=False)
                with gr.Column(elem_classes="plain-form"):
                    self.set = gr.Dropdown(list(SETS), value="sample", label="Questions", filterable=False)
                    self.llm = gr.Dropdown([("As configured", "")], value="", label="Model", filterable=False)
                    self.limit = gr.Number(0, label="At most so many questions (0 for all)", precision=0, minimum=0)
                    with gr.Row():
                        self.start = gr.Button("Start", variant="primary", elem_id="eval-start")
                        self.cancel = gr.Button("Cancel", elem_id="eval-cancel", visible=False)
                self.progress = gr.HTML("", elem_id="eval-progress", apply_default_css=False)
            with gr.Column(min_width=280, scale=7):
                self.details = gr.HTML("", elem_id="run", apply_default_css=False)

    def connect(self, tab: gr.Tab) -> None:
        """The tab's events."""
        quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
        tab.select(self.show, [self.chosen], [self.runs, self.set, self.llm], **quiet)
        self.runs.act(self.open, [self.chosen], [self.chosen, self.runs, self.details], **quiet)
        self.start.click(
            self.run,
            [self.set, self.llm, self.limit, self.chosen],
            [self.progress, self.runs, self.start, self.cancel],
            concurrency_limit=1,
            concurrency_id="evaluation",
            **quiet,
        )
        self.cancel.click(self.stop, queue=False, **quiet)

    # ---------------------------------------------------------------- events

    def show(self, chosen: str) -> tuple[Any, ...]:
        """The list of runs, and what a new one can ask and be written by."""
        sets = list(SETS)
        feedback = self._settings.data / "feedback.jsonl"
        if feedback.exists():
            sets.append(("Readers' feedback", str(feedback)))
        return self._list(chosen), gr.Dropdown(choices=sets), gr.Dropdown(choices=model_choices(self._settings))

    def open(self, chosen: str, event: gr.EventData) -> tuple[Any, ...]:
        """Show a run, or compare it with the one that is open."""
        from eval.compare import compare
        from ui.reports import comparison_html, run_details

        data = dict(event._data or {})
        name = str(data.get("run", ""))
        try:
            run = self._load(name)
            if data.get("action") == "compare" and chosen:
                old, new = sorted((self._load(chosen), run), key=_when)
                return chosen, self._list(chosen), comparison_html(compare(old, new))
            return name, self._list(name), run_details(run)
        except RagError as error:
            return chosen, self._list(chosen), problem(error)

    def run(self, questions: str, llm: str, limit: float | None, chosen: str) -> Iterator[tuple[Any, ...]]:
        """Run it in a thread, saying how far it is, until it is done or cancelled."""
        told: queue.SimpleQueue[_Step | str | RagError] = queue.SimpleQueue()
        stop = self._stop = threading.Event()
        threading.Thread(target=self._work, args=(questions, llm, int(limit or 0), stop, told), daemon=True).start()
        same = gr.skip()
        yield _running("Preparing", None), same, gr.Button(visible=False), gr.Button(visible=True)
        while True:
            event = told.get()
            while not told.empty():
                event = told.get()
            if isinstance(event, _Step):
                failed = f", {event.failed} failed" if event.failed else ""
                yield _running(f"{event.done} of {event.total} questions{failed}", event), same, same, same
                continue
            end = problem(event) if isinstance(event, RagError) else tag("p", event, class_="report", role="status")
            yield end, self._list(chosen), gr.Button(visible=True), gr.Button(visible=False)
            return

    def stop(self) -> None:
        """Cancel the run; what is done of it is kept, and goes on when it is started again."""
        self._stop.set()

    # ---------------------------------------------------------------- parts

    def _work(
        self,
        questions: str,
        llm: str,
        limit: int,
        stop: threading.Event,
        told: queue.SimpleQueue[_Step | str | RagError],
    ) -> None:
        from eval.session import Request, evaluate

        allowed = {value for _, value in SETS} | {str(self._settings.data / "feedback.jsonl")}
        try:
            if questions not in allowed:
                raise RagError("there is no such set of questions")
            settings = self._settings.model_copy(update={"llm": llm or self._settings.llm})
            request = Request(set=questions, limit=limit or None)

            def step(done: int, total: int, failed: int) -> None:
                told.put(_Step(done, total, failed))

            result = evaluate(settings, request, progress=step, stop=stop)
            told.put(
                f"{'Cancelled' if stop.is_set() else 'Done'}: {len(result.rows)} questions, {result.failed} failed."
            )
        except RagError as error:
            told.put(error)
        except Exception as error:
            told.put(RagError(f"the run failed: {type(error).__name__}: {error}"))

    def _list(self, chosen: str) -> Html:
        from eval.runs import list_runs
        from ui.reports import listed, run_list

        folders = list_runs(self._root) if self._root.is_dir() else []
        return run_list([run for run in map(listed, folders) if run is not None], chosen)

    def _load(self, name: str) -> Run:
        """The run with this name; a name with a path in it is none."""
        from eval.runs import load

        return load(self._root / Path(name).name)


def _when(run: Run) -> str:
    return str(run.about.get("finished_at", ""))


def _running(words: str, step: _Step | None) -> Html:
    bar = tag("progress", value=step.done if step else None, max=step.total if step else None, aria_label="Evaluation")
    return tag("div", bar, tag("p", words, class_="dim"), class_="report", role="status")
