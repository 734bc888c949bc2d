"""The Library tab: the papers in a table, one paper's details, sources, and uploads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr

from rag.errors import RagError
from rag.settings import Settings
from rag.store import Store
from ui.engines import Engines
from ui.listing import Query, page
from ui.render import Html, join, tag
from ui.tables import details, problem, progress, source_list, source_name, table
from ui.uploads import SUFFIXES, Outcome, Progress, ingest

_CONNECT = "window.askabstracts.connect(element, trigger, server, 'act');"
_ORDERS = ("title", "year", "venue", "added")


class Library:
    """Builds the tab inside a `gr.Blocks`."""

    def __init__(self, engines: Engines, settings: Settings) -> None:
        self._engines = engines
        self._uploads = settings.data / "uploads"

    def build(self) -> None:
        """The tab's components. To be called within its `gr.Tab`."""
        self.query = gr.State(Query())
        with gr.Row(elem_id="library-row", elem_classes="page"):
            with gr.Column(elem_id="library", min_width=280, scale=7):
                self.search = gr.Textbox(
                    label="Search the library",
                    show_label=False,
                    placeholder="Search titles, abstracts, authors",
                    container=False,
                    elem_id="library-search",
                )
                self.table = gr.HTML("", elem_id="papers", js_on_load=_CONNECT, apply_default_css=False)
            with gr.Column(elem_id="library-side", min_width=280, scale=5):
                self.details = gr.HTML(details(None), elem_id="paper", js_on_load=_CONNECT, apply_default_css=False)
                kinds = "Text list, CSV, JSON, BibTeX, RIS, PubMed or arXiv; also .gz or .zip"
                head = join(tag("h2", "Add papers", class_="side-head"), tag("p", kinds, class_="hint"))
                gr.HTML(head, apply_default_css=False)
                self.files = gr.File(
                    label="Files to add",
                    show_label=False,
                    file_count="multiple",
                    file_types=list(SUFFIXES),
                    height=140,
                    elem_id="upload",
                )
                self.report = gr.HTML("", elem_id="report", apply_default_css=False)
                gr.HTML(tag("h2", "Sources", class_="side-head"), apply_default_css=False)
                self.sources = gr.HTML("", elem_id="sources", js_on_load=_CONNECT, apply_default_css=False)

    def connect(self, blocks: gr.Blocks, tab: gr.Tab, question: gr.Textbox) -> None:
        """The tab's events; `question` is the composer's box in the other tab."""
        quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
        gr.on([blocks.load, tab.select], self.show, [self.query], [self.table, self.sources], **quiet)
        self.search.change(
            self.find, [self.query, self.search], [self.query, self.table], trigger_mode="always_last", **quiet
        )
        self.table.act(self.turn, [self.query], [self.query, self.table, self.details], **quiet)
        self.sources.act(self.remove, [self.query], [self.query, self.table, self.sources, self.report], **quiet)
        self.details.act(self.about, None, [question], **quiet).then(
            None, js="() => window.askabstracts.goto('ask')", **quiet
        )
        self.files.upload(
            self.upload,
            [self.files, self.query],
            [self.files, self.report, self.table, self.sources],
            concurrency_limit=1,
            concurrency_id="upload",
            **quiet,
        )

    # ---------------------------------------------------------------- events

    def show(self, query: Query) -> tuple[Html, Html]:
        """The table and the sources as they are now."""
        try:
            store = self._store()
            return table(page(store.catalogue, query)), source_list(store.sources())
        except RagError as error:
            return problem(error), Html("")

    def find(self, query: Query, words: str) -> tuple[Query, Html]:
        """The first page of what the words find."""
        query = replace(query, search=(words or "")[:200], page=0)
        return query, self.show(query)[0]

    def turn(self, query: Query, event: gr.EventData) -> tuple[Any, ...]:
        """A heading, the pager or a paper was clicked."""
        data = dict(event._data or {})
        order = data.get("order")
        match data.get("action"):
            case "sort" if order in _ORDERS:
                again = query.order == order
                query = replace(query, order=order, descending=again and not query.descending, page=0)
            case "page":
                query = replace(query, page=max(0, int(data.get("page") or 0)))
            case "paper":
                return self._open(query, str(data.get("paper")))
        return query, self.show(query)[0], gr.skip()

    def _open(self, query: Query, paper_id: str) -> tuple[Any, ...]:
        try:
            store = self._store()
            paper = store.paper(paper_id)
            listed = store.catalogue.sources_of(paper_id)
            return query, table(page(store.catalogue, query), paper_id), details(paper, listed)
        except RagError as error:
            return query, gr.skip(), problem(error)

    def about(self, event: gr.EventData) -> str:
        """A question about the paper that is open."""
        title = str(dict(event._data or {}).get("title", ""))
        return f"What does “{title[:300]}” find?"

    def remove(self, query: Query, event: gr.EventData) -> tuple[Any, ...]:
        """Remove a source with the papers that no other source has."""
        name = str(dict(event._data or {}).get("source", ""))
        try:
            removed = self._store().remove_source(name)
        except RagError as error:
            return query, *self.show(query), problem(error)
        said = f"{source_name(name)}: {removed:,} paper{'' if removed == 1 else 's'} removed"
        return query, *self.show(query), tag("p", said, class_="report", role="status")

    def upload(self, files: list[str] | None, query: Query) -> Iterator[tuple[Any, ...]]:
        """Take in the files one after another, saying how far it is; the table follows at the end."""
        same = gr.skip()
        states: list[Progress | Outcome] = []
        try:
            store = self._store()
        except RagError as error:
            yield None, problem(error), same, same
            return
        for path in files or []:
            states.append(Progress(Path(path).name))
            for event in ingest(store, Path(path), Path(path).name, self._uploads):
                states[-1] = event
                yield same, progress(states), same, same
        yield None, progress(states), *self.show(query)

    def _store(self) -> Store:
        return self._engines.get().store
