"""The Ask tab: conversation and composer on the left, evidence on the right, history and settings in drawers."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import wraps
from typing import Any

import gradio as gr

from rag.conversation import Turn as Said
from rag.errors import RagError
from rag.settings import Settings
from ui.choices import example_questions, model_choices, source_choices
from ui.conversations import Conversations, Kept
from ui.engines import Engines
from ui.exports import FORMATS, export_file
from ui.feedback import Feedback
from ui.history import history_html
from ui.live import Options, Snapshot, answer_live
from ui.refusals import error_html, welcome
from ui.render import Html, tag
from ui.session import FIELDS, LONGEST_QUESTION, Session, options_from, remembered, tab_state
from ui.turns import Turn, live_html, thread

REMEMBERED = 6  # turns told to the engine; it cuts them to its own limit
STREAMS = 24  # answers being written at the same time; others wait in the queue

_PANEL = """
<header class="panel-head"><h2>Evidence</h2><span class="panel-of" aria-live="polite"></span>
<button type="button" class="tool close-sheet" data-close="sheet">Close</button></header>
<div class="panel" tabindex="-1"><p class="empty">The papers behind an answer appear here. Point at a number to see the
sentence it stands for; click it to see that sentence in its abstract.</p></div>
"""
_CONNECT = """
window.askabstracts.connect(element, trigger, server, 'act');
"""


# What the page says of itself goes with every event, for a server that has forgotten the tab. A question sent before
# the page knows which conversation is open waits for that.
_WITH_TAB = "(session, tab, ...rest) => [session, window.askabstracts.tabState(), ...rest]"
_WHEN_LOADED = """async (session, tab, ...rest) => {
    await window.askabstracts.ready;
    window.askabstracts.queued();
    return [session, window.askabstracts.tabState(), ...rest];
}"""


class Chat:
    """Builds the tab inside a `gr.Blocks` and holds what its events need."""

    def __init__(self, engines: Engines, conversations: Conversations, feedback: Feedback, settings: Settings) -> None:
        self._engines = engines
        self._conversations = conversations
        self._feedback = feedback
        self._settings = settings
        self._stops: OrderedDict[str, threading.Event] = OrderedDict()
        self._lock = threading.Lock()

    # ---------------------------------------------------------------- layout

    def build(self) -> None:
        """The tab's components. To be called within its `gr.Tab`."""
        self.session = gr.State(Session())
        self.tab = gr.Textbox(visible="hidden", elem_id="tab-state")
        self.stored = gr.BrowserState(asdict(Options()), storage_key="askabstracts-options", secret="askabstracts")
        with gr.Row(elem_id="ask-row", equal_height=False):
            with gr.Column(elem_id="conversation", min_width=280, scale=6):
                self.thread = gr.HTML(
                    "",
                    elem_id="thread",
                    js_on_load=_CONNECT,
                    apply_default_css=False,
                    server_functions=[_function(self.export), _function(self.rate)],
                )
                self.live = gr.HTML("", elem_id="live", js_on_load=_CONNECT, apply_default_css=False)
                with gr.Column(elem_id="composer"):
                    self.banner = gr.HTML("", elem_id="banner", js_on_load=_CONNECT, apply_default_css=False)
                    with gr.Row(elem_id="composer-row", equal_height=True):
                        self.question = gr.Textbox(
                            label="Question",
                            show_label=False,
                            placeholder="Ask about these papers",
                            lines=1,
                            max_lines=6,
                            max_length=LONGEST_QUESTION,
                            elem_id="question",
                            container=False,
                            autofocus=True,
                            scale=1,
                        )
                        self.send = gr.Button("Ask", variant="primary", elem_id="send", scale=0, min_width=76)
                        self.halt = gr.Button("Stop", elem_id="halt", scale=0, min_width=76, visible=False)
            with gr.Column(elem_id="evidence", min_width=280, scale=5):
                gr.HTML(_PANEL, js_on_load="window.askabstracts.panel(element);", apply_default_css=False)
        self._history_drawer()
        self._settings_drawer()

    def _history_drawer(self) -> None:
        with gr.Column(elem_id="drawer-history", elem_classes="drawer"):
            gr.HTML(_drawer_head("Conversations", "history"), apply_default_css=False)
            self.find = gr.Textbox(
                label="Search conversations", show_label=False, placeholder="Search conversations", container=False
            )
            self.listed = gr.HTML("", elem_id="history", js_on_load=_CONNECT, apply_default_css=False)

    def _settings_drawer(self) -> None:
        with gr.Column(elem_id="drawer-settings", elem_classes="drawer"):
            gr.HTML(_drawer_head("Settings", "settings"), apply_default_css=False)
            self.llm = gr.Dropdown([("As configured", "")], value="", label="Model", filterable=False)
            self.top_k = gr.Slider(1, 20, value=self._settings.top_k, step=1, label="Papers read for an answer")
            self.unsupported = gr.Radio(
                [("Mark them", "mark"), ("Leave them out", "drop")],
                value=self._settings.unsupported,
                label="Sentences found in no abstract",
            )
            gr.HTML(tag("p", "Only papers with", class_="small-head"), apply_default_css=False)
            self.year = gr.Textbox(label="Year", placeholder="2024 or 2020-2024")
            self.venue = gr.Textbox(label="Venue")
            self.keyword = gr.Textbox(label="Keyword")
            self.source = gr.Dropdown([("Any", "")], value="", label="Source", filterable=False)
            self.author = gr.Textbox(label="Author")
            filters = (self.year, self.venue, self.keyword, self.source, self.author)
            self.options = (self.llm, self.top_k, *filters, self.unsupported)

    def connect(self, blocks: gr.Blocks) -> None:
        """The tab's events. To be called when all components are there."""
        quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
        view = [self.session, self.thread, self.live, self.banner, self.question, self.listed]
        asked = [self.session, self.thread, self.live, self.banner, self.question, self.listed, self.send, self.halt]
        asking: dict[str, Any] = {
            **quiet,
            "inputs": [self.session, self.tab, self.question, *self.options],
            "outputs": asked,
            "concurrency_limit": STREAMS,
            "concurrency_id": "ask",
        }
        loaded = blocks.load(
            self.load,
            inputs=[self.tab, self.stored],
            outputs=[*view, *self.options],
            js="(tab, stored) => [window.askabstracts.tabState(), stored]",
            **quiet,
        )
        loaded.then(None, js="() => window.askabstracts.loaded()", **quiet)
        loaded.success(self.ask_queued, **asking)
        gr.on([self.question.submit, self.send.click], self.ask, js=_WHEN_LOADED, **asking)
        self.halt.click(self.stop, queue=False, **quiet)
        for source in (self.thread, self.live, self.banner, self.listed):
            source.act(self.act, inputs=[self.session, self.tab], outputs=view, js=_WITH_TAB, **quiet).success(
                self.ask_queued, **asking
            )
        self.find.change(
            self.search_history, [self.session, self.find], [self.listed], trigger_mode="always_last", **quiet
        )
        gr.on(
            [component.change for component in self.options],
            lambda *values: asdict(options_from(values)),
            inputs=list(self.options),
            outputs=[self.stored],
            **quiet,
        )

    # ---------------------------------------------------------------- events

    def load(self, tab: str, stored: dict[str, Any] | None) -> tuple[Any, ...]:
        """A page was opened: its conversation, its settings, the question of its address."""
        state = tab_state(tab)
        session = Session(browser=state["browser"], conversation=state["conversation"], queued=state["question"])
        kept = asdict(Options()) | {key: value for key, value in (stored or {}).items() if key in FIELDS}
        models = model_choices(self._settings)
        sources = source_choices(self._engines)
        known = {value for _, value in models}
        return (
            *self._view(session),
            gr.Dropdown(choices=models, value=kept["llm"] if kept["llm"] in known else ""),
            kept["top_k"] or self._settings.top_k,
            kept["year"],
            kept["venue"],
            kept["keyword"],
            gr.Dropdown(choices=sources, value=kept["source"]),
            kept["author"],
            kept["unsupported"] or self._settings.unsupported,
        )

    def ask_queued(
        self, request: gr.Request, session: Session, tab: str, _question: str, *values: Any
    ) -> Iterator[tuple[Any, ...]]:
        """Ask what an action put into the session: an example, a retry, the question of the address."""
        if session.queued:
            yield from self._ask(remembered(session, tab), session.queued, options_from(values), request)
        else:
            yield (gr.skip(),) * 8

    def ask(
        self, request: gr.Request, session: Session, tab: str, question: str, *values: Any
    ) -> Iterator[tuple[Any, ...]]:
        """Ask what is in the box."""
        if question.strip():
            yield from self._ask(remembered(session, tab), question, options_from(values), request)
        else:
            yield (gr.skip(),) * 8

    def _ask(self, session: Session, question: str, options: Options, request: gr.Request) -> Iterator[tuple[Any, ...]]:
        question = question.strip()[:LONGEST_QUESTION]
        kept = self._conversations.turns(session.browser, session.conversation)
        if session.editing:
            kept = [turn for turn in kept if turn.number < session.editing]
        number = kept[-1].number + 1 if kept else 1
        options = replace(options, llm=session.llm or options.llm)
        session_then = replace(session, editing=0, queued="", llm="")
        stop = self._stopper(str(request.session_hash))
        same = gr.skip()
        yield (
            session_then,
            self._thread(kept, session.conversation, last=False),
            live_html(number, Snapshot.start(question).answer, "", "Searching the abstracts …"),
            "",
            "",
            same,
            gr.Button(visible=False),
            gr.Button(visible=True),
        )
        shot = Snapshot.start(question)
        history = [Said.of(turn.answer) for turn in kept[-REMEMBERED:]]
        try:
            engine = self._engines.get()
        except RagError as error:
            shot = Snapshot(shot.answer, done=True, error=error)
        else:
            for shot in answer_live(engine, question, history, options, stop):
                if not shot.done:
                    yield (same, same, live_html(number, shot.answer, shot.pending, shot.note), *(same,) * 5)
        yield (*self._finish(session_then, session.editing, shot), gr.Button(visible=True), gr.Button(visible=False))

    def _finish(self, session: Session, replaces: int, shot: Snapshot) -> tuple[Any, ...]:
        """Keep the answer and show it among the others; an error is shown and not kept."""
        if shot.error is not None:
            kept = self._conversations.turns(session.browser, session.conversation)
            box = error_html(shot.answer.question, shot.error)
            back = replace(session, editing=replaces)
            return back, self._thread(kept, session.conversation), box, "", gr.skip(), gr.skip()
        if session.browser:
            if replaces:
                self._conversations.cut(session.browser, session.conversation, replaces)
            if not session.conversation or not self._conversations.add(
                session.browser, session.conversation, shot.answer
            ):
                session = replace(
                    session, conversation=self._conversations.start(session.browser, shot.answer.question)
                )
                self._conversations.add(session.browser, session.conversation, shot.answer)
        kept = self._conversations.turns(session.browser, session.conversation)
        thread_html = self._thread(kept, session.conversation)
        return session, thread_html, "", "", gr.skip(), self._listed(session)

    def stop(self, request: gr.Request) -> None:
        """Stop this tab's answer."""
        with self._lock:
            event = self._stops.get(str(request.session_hash))
        if event:
            event.set()

    def act(self, session: Session, tab: str, event: gr.EventData) -> tuple[Any, ...]:
        """What a button within the HTML asks for."""
        session = remembered(session, tab)
        data: dict[str, Any] = dict(event._data or {})
        number = int(data.get("turn") or 0)
        conversation = str(data.get("conversation") or "")
        match data.get("action"):
            case "example":
                return self._view(replace(session, queued=str(data.get("question", ""))[:LONGEST_QUESTION]))
            case "retry" | "extractive":
                kept = self._conversations.turn(session.browser, session.conversation, number)
                question = kept.answer.question if kept else str(data.get("question", ""))
                llm = "extractive" if data["action"] == "extractive" else ""
                return self._view(replace(session, editing=number if kept else 0, queued=question, llm=llm))
            case "edit":
                kept = self._conversations.turn(session.browser, session.conversation, number)
                if kept:
                    return self._view(replace(session, editing=number), kept.answer.question)
            case "cancel":
                return self._view(replace(session, editing=0), "")
            case "new":
                return self._view(Session(browser=session.browser), "")
            case "clear" if session.conversation:
                self._conversations.delete(session.browser, session.conversation)
                return self._view(Session(browser=session.browser), "")
            case "open":
                return self._view(Session(browser=session.browser, conversation=conversation), "")
            case "rename":
                self._conversations.rename(session.browser, conversation, str(data.get("name", "")))
            case "delete":
                self._conversations.delete(session.browser, conversation)
                if conversation == session.conversation:
                    return self._view(Session(browser=session.browser), "")
        return self._view(session)

    def search_history(self, session: Session, search: str) -> Html:
        """The conversations that hold the words."""
        return self._listed(session, search)

    def export(self, data: dict[str, Any]) -> dict[str, str]:
        """One turn, or (turn 0) the whole conversation, as a file: `{name, type, text}`."""
        kept = self._conversations.turns(str(data.get("browser")), str(data.get("conversation")))
        number = int(data.get("turn") or 0)
        turns = [turn.answer for turn in kept if number in (0, turn.number)]
        form = str(data.get("format"))
        return export_file(turns, form if form in dict(FORMATS).values() else "markdown")

    def rate(self, data: dict[str, Any]) -> str:
        """Keep a thumb and its reason. Returns what to tell the reader."""
        browser, conversation = str(data.get("browser")), str(data.get("conversation"))
        number, rating = int(data.get("turn") or 0), str(data.get("rating"))
        kept = self._conversations.turn(browser, conversation, number)
        if kept is None or rating not in ("up", "down"):
            return "This answer is no longer there."
        self._feedback.add(kept.answer, "up" if rating == "up" else "down", str(data.get("reason") or ""))
        self._conversations.rate(browser, conversation, number, rating)
        return "Thank you, noted."

    # ---------------------------------------------------------------- parts

    def _view(self, session: Session, question: str | None = None) -> tuple[Any, ...]:
        kept = self._conversations.turns(session.browser, session.conversation)
        banner = ""
        if session.editing and not session.queued:
            banner = tag(
                "p",
                f"Editing question {session.editing}. What follows it will be replaced. ",
                tag("button", "Cancel", type="button", class_="tool", data_action="cancel"),
                class_="editing",
            )
        box = gr.skip() if question is None else gr.Textbox(value=question, autofocus=True)
        return session, self._thread(kept, session.conversation), "", banner, box, self._listed(session)

    def _thread(self, kept: list[Kept], conversation: str, last: bool = True) -> Html:
        if not kept:
            return welcome(example_questions(self._engines)) if last else tag("div", class_="thread")
        turns = [Turn(turn.number, turn.answer, turn.rating, last and turn is kept[-1]) for turn in kept]
        return thread(turns, conversation)

    def _listed(self, session: Session, search: str = "") -> Html:
        return history_html(self._conversations.list(session.browser, search), session.conversation, search)

    def _stopper(self, tab: str) -> threading.Event:
        with self._lock:
            self._stops[tab] = threading.Event()
            self._stops.move_to_end(tab)
            while len(self._stops) > 1000:
                self._stops.popitem(last=False)
            return self._stops[tab]


def _function(method: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
    """A bound method as a plain function, which Gradio can put its mark on."""

    @wraps(method)
    def function(data: dict[str, Any]) -> Any:
        return method(data)

    return function


def _drawer_head(title: str, name: str) -> Html:
    close = tag("button", "Close", type="button", class_="tool", data_close=name)
    return tag("header", tag("h2", title), close, class_="drawer-head")
