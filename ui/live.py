"""An answer while it comes into being: the engine's events, gathered into snapshots that can be shown.

The engine runs in a thread of its own, so that waiting for a slow model can be shown and stopped at any time.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from rag.answer import Answer, Reason, Refusal, Sentence, Timings
from rag.conversation import Turn
from rag.errors import ModelUnavailable, RagError
from rag.events import Checked, Done, Event, Rechecked, Retrieved, Rewritten, Withdrawn, Words
from rag.retrieval import Filters

log = logging.getLogger(__name__)

BETWEEN_SNAPSHOTS = 0.06  # seconds: more often than this the eye does not see
TO_STOP = 0.5  # seconds that the engine has to end by itself after a stop; a model may hold it for longer
SIGN_OF_LIFE = 1.0  # seconds without an event after which the wait is shown again


class Asks(Protocol):
    """What this module needs of an engine."""

    def stream(
        self,
        question: str,
        *,
        history: Sequence[Turn] = (),
        filters: Filters | None = None,
        top_k: int | None = None,
        llm: str | None = None,
        unsupported: str | None = None,
        stop: threading.Event | None = None,
    ) -> Iterator[Event]: ...


@dataclass(frozen=True, slots=True)
class Options:
    """What a browser has chosen in the settings drawer; empty means what the settings say."""

    llm: str = ""
    top_k: int = 0
    year: str = ""
    venue: str = ""
    keyword: str = ""
    source: str = ""
    author: str = ""
    unsupported: str = ""

    @property
    def filters(self) -> Filters:
        return Filters(year=self.year, venue=self.venue, keyword=self.keyword, source=self.source, author=self.author)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The answer so far, the words after its last checked sentence, and what is being waited for.

    `error` is why there is no answer, where that is not a refusal; such a turn is shown and not kept.
    """

    answer: Answer
    pending: str = ""
    note: str = ""
    done: bool = False
    error: RagError | None = None

    @classmethod
    def start(cls, question: str) -> Snapshot:
        """Nothing but the question."""
        return cls(Answer(question=question, standalone=question, model=""))


def answer_live(
    engine: Asks, question: str, history: Sequence[Turn], options: Options, stop: threading.Event
) -> Iterator[Snapshot]:
    """Snapshots of the answer; the last one is `done`, also after `stop` and after an error. Never raises RagError."""
    events: queue.SimpleQueue[Event | BaseException | None] = queue.SimpleQueue()
    worker = threading.Thread(target=_pump, args=(engine, question, history, options, stop, events), daemon=True)
    started = time.monotonic()
    worker.start()
    state = _State(question)
    shown = stopped = 0.0
    try:
        while not state.done:
            try:
                event = events.get(timeout=0.1)
            except queue.Empty:
                event = None
            now = time.monotonic() - started
            if event is not None:
                state.take(event, now)
            elif stop.is_set():
                stopped = stopped or now
                if now - stopped > TO_STOP:
                    state.stopped(now)
            fresh = event is not None and (events.empty() or now - shown >= BETWEEN_SNAPSHOTS)
            if state.done or fresh or now - shown >= SIGN_OF_LIFE:
                shown = now
                yield state.snapshot(now)
    finally:
        stop.set()


def _pump(
    engine: Asks,
    question: str,
    history: Sequence[Turn],
    options: Options,
    stop: threading.Event,
    events: queue.SimpleQueue[Event | BaseException | None],
) -> None:
    """Move the engine's events into the queue until they end or nobody wants them any more."""
    try:
        stream = engine.stream(
            question,
            history=history,
            filters=options.filters,
            top_k=options.top_k or None,
            llm=options.llm or None,
            unsupported=options.unsupported or None,
            stop=stop,
        )
        for event in stream:
            events.put(event)
    except BaseException as error:  # told to the reader, not to the thread's stderr
        events.put(error)


class _State:
    """The answer so far."""

    def __init__(self, question: str) -> None:
        self.answer = Answer(question=question, standalone=question, model="")
        self.words = ""
        self.note = "Searching the abstracts"
        self.error: RagError | None = None
        self.done = False

    def take(self, event: Event | BaseException, now: float) -> None:
        match event:
            case Rewritten():
                self.answer = replace(self.answer, standalone=event.question)
            case Retrieved():
                self.answer = replace(self.answer, sources=tuple(event.sources))
                self.note = f"Reading {len(event.sources)} paper{'' if len(event.sources) == 1 else 's'}"
            case Words():
                self.words += event.text
                self.note = ""
            case Checked():
                self.check(event.sentence)
            case Rechecked():
                self.recheck(event.place, event.sentence)
            case Withdrawn():
                self.answer, self.words, self.note = replace(self.answer, sentences=()), "", "Thinking"
            case Done():
                self.answer, self.words, self.note, self.done = event.answer, "", "", True
            case BaseException():
                self.fail(event, now)

    def check(self, sentence: Sentence) -> None:
        """A checked sentence takes the place of the words it was made from."""
        at = self.words.find(sentence.text)
        self.words = self.words[at + len(sentence.text) :] if at >= 0 else ""
        self._show((*self.answer.sentences, sentence))

    def recheck(self, place: int, sentence: Sentence | None) -> None:
        """The final verdict on a sentence that is shown already."""
        before, after = self.answer.sentences[:place], self.answer.sentences[place + 1 :]
        self.words = ""
        self._show((*before, *([sentence] if sentence else []), *after))

    def _show(self, sentences: tuple[Sentence, ...]) -> None:
        numbers = {c.paper_id: c.number for one in sentences for c in one.citations}
        sources = [replace(source, number=numbers.get(source.paper.id)) for source in self.answer.sources]
        sources.sort(key=lambda source: (source.number is None, source.number or 0))
        self.answer = replace(self.answer, sentences=sentences, sources=tuple(sources))
        waiting = sum(one.checking for one in sentences)
        self.note = f"Reading the sources again for {waiting} sentence{'' if waiting == 1 else 's'}" if waiting else ""

    def stopped(self, now: float) -> None:
        """What was checked stays; the half sentence after it goes."""
        timings = Timings(total=now)
        self.answer = replace(self.answer, stopped=True, timings=timings)
        self.words, self.note, self.done = "", "", True

    def fail(self, error: BaseException, now: float) -> None:
        """A model that does not answer is a refusal with its papers; anything else is an error."""
        self.words, self.note, self.done = "", "", True
        self.answer = replace(self.answer, sentences=(), timings=Timings(total=now))
        if isinstance(error, ModelUnavailable):
            sources = tuple(replace(source, number=None) for source in self.answer.sources)
            refusal = Refusal(Reason.MODEL_UNAVAILABLE, error.message, error.hint)
            self.answer = replace(self.answer, sources=sources, refusal=refusal)
        elif isinstance(error, RagError):
            self.error = error
        else:
            log.error("a question failed", exc_info=error)
            self.error = RagError(f"The question could not be answered ({type(error).__name__})", hint="see the log")

    def snapshot(self, now: float) -> Snapshot:
        note = self.note
        if note and now >= 3:
            note = f"{note} · {now:.0f} s"
        return Snapshot(self.answer, self.words.lstrip(), f"{note} …" if note else "", self.done, self.error)
