"""The way in: questions over one store, answered step by step in `asking`."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rag.answer import Answer, Reason, Source, Verdict
from rag.asking import LONGEST_QUESTION, Asking, readable
from rag.conversation import Turn
from rag.embedding import Remembered
from rag.errors import Unavailable
from rag.events import Checked, Done, Event, Rechecked, Retrieved, Rewritten, Withdrawn, Words
from rag.generation.models import Model
from rag.generation.providers import choose_model
from rag.grounding.verifiers import Verifier
from rag.logs import fields
from rag.papers import Paper
from rag.retrieval import Filters, Retriever
from rag.settings import Settings
from rag.store import Store
from rag.verification import make_verifier

if TYPE_CHECKING:
    from rag.query_engine import AbstractsQueryEngine

log = logging.getLogger(__name__)

_MODEL_SECONDS = 60


class Engine:
    """Answers questions over one store. Safe to use from several threads."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store = store
        self.settings = settings
        self._retriever = Retriever(store)
        self._encode = Remembered(store.embedder)
        self._models: dict[str, tuple[float, Model]] = {}
        self._verifiers: dict[tuple[str, Model], Verifier] = {}

    @classmethod
    def open(cls, settings: Settings) -> Engine:
        """Raises StoreError when the store cannot be used as it is."""
        return cls(Store(settings), settings)

    def search(self, question: str, *, top_k: int = 10, filters: Filters | None = None) -> list[Source]:
        """The papers most relevant to the question, best first, each with the passage that matches best."""
        return list(self._retriever.search(readable(question)[:LONGEST_QUESTION], top_k=top_k, filters=filters).sources)

    def paper(self, paper_id: str) -> Paper | None:
        return self.store.paper(paper_id)

    @property
    def model(self) -> Model:
        """The model that the settings choose. Raises ModelUnavailable."""
        return self.choose(self.settings.llm)

    def choose(self, llm: str) -> Model:
        """The model with this name; what `auto` found is looked up anew every minute. Raises ModelUnavailable."""
        chosen = self._models.get(llm)
        if chosen is None or time.monotonic() - chosen[0] > _MODEL_SECONDS:
            chosen = time.monotonic(), choose_model(self.settings.model_copy(update={"llm": llm}))
            self._models[llm] = chosen
        return chosen[1]

    def verifier(self, model: Model) -> Verifier:
        """What RAG_VERIFIER names, for answers of this model; each is made once. Raises ModelUnavailable."""
        reader = self.choose(self.settings.verifier_llm) if self.settings.verifier_llm else model
        key = self.settings.verifier, reader
        if key not in self._verifiers:
            self._verifiers[key] = make_verifier(self.settings, reader)
        return self._verifiers[key]

    def close(self) -> None:
        self.store.close()

    def query_engine(self, *, streaming: bool = False) -> AbstractsQueryEngine:
        """This engine as a LlamaIndex query engine; with `streaming` its answers come as they are written."""
        from rag.query_engine import AbstractsQueryEngine

        return AbstractsQueryEngine(self, streaming=streaming)

    def ask(
        self,
        question: str,
        *,
        history: Sequence[Turn] = (),
        filters: Filters | None = None,
        top_k: int | None = None,
        llm: str | None = None,
        unsupported: str | None = None,
        evidence_order: Sequence[int] | None = None,
    ) -> Answer:
        """The answer as a whole; see `stream`."""
        for event in self.stream(
            question,
            history=history,
            filters=filters,
            top_k=top_k,
            llm=llm,
            unsupported=unsupported,
            evidence_order=evidence_order,
        ):
            if isinstance(event, Done):
                return event.answer
        raise AssertionError("a stream ends with Done")

    def stream(
        self,
        question: str,
        *,
        history: Sequence[Turn] = (),
        filters: Filters | None = None,
        top_k: int | None = None,
        llm: str | None = None,
        unsupported: str | None = None,
        evidence_order: Sequence[int] | None = None,
        stop: threading.Event | None = None,
    ) -> Iterator[Event]:
        """The answer as it comes into being; the last event is `Done`.

        `history` makes follow-ups understood. `llm` and `unsupported` override the settings for this question.
        `evidence_order` is a permutation of the retrieved papers' ranks, for measuring how much their order matters.
        Set `stop` to end it: what was checked until then is the answer. A model that does not answer gives a refusal
        that says so; an unusable store raises StoreError.
        """
        asking = Asking(self, question, unsupported or self.settings.unsupported, stop or threading.Event())
        try:
            for event in asking.events(
                history, filters or Filters(), top_k or self.settings.top_k, llm, evidence_order
            ):
                if isinstance(event, Done):
                    self._log(event.answer)
                yield event
        except Unavailable as error:
            log.warning("nothing could be asked: %s", error.message)
            yield asking.refuse(Reason.MODEL_UNAVAILABLE, error.message, error.hint)

    def _log(self, answer: Answer) -> None:
        """An event for who runs this; what was asked only where RAG_LOG_QUESTIONS says so."""
        asked = {"question": answer.question} if self.settings.log_questions else {}
        said = fields(
            **asked,
            model=answer.model,
            sentences=len(answer.sentences),
            supported=answer.count(Verdict.SUPPORTED),
            refused=answer.refusal.reason.value if answer.refusal else "",
            seconds=round(answer.timings.total, 3),
        )
        log.info("answered", extra=said)

    # what the steps need

    @property
    def retriever(self) -> Retriever:
        return self._retriever

    @property
    def encode(self) -> Remembered:
        return self._encode


__all__ = ["Checked", "Done", "Engine", "Event", "Rechecked", "Retrieved", "Rewritten", "Turn", "Withdrawn", "Words"]
