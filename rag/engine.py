"""From a question to an answer: the only module that knows the order of the steps."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rag.answer import Answer, Citation, Reason, Refusal, Sentence, Source, Timings, Verdict
from rag.answerability import is_answerable
from rag.conversation import Turn, bounded, standalone, translate
from rag.embedding import Remembered
from rag.errors import Unavailable
from rag.events import Checked, Done, Event, Retrieved, Rewritten, Withdrawn, Words
from rag.generation import prompts
from rag.generation.citations import Cited, Markers, Reset, Text
from rag.generation.extractive import pick_sentences
from rag.generation.models import EXTRACTIVE, Message, Model
from rag.generation.providers import choose_model, complete, stream
from rag.generation.writing import Writing
from rag.grounding import Grounder, Grounding, Piece
from rag.grounding.verifiers import Verifier
from rag.grounding.verifiers import verifier as make_verifier
from rag.logs import fields
from rag.papers import Paper
from rag.retrieval import Filters, Ranking, Retriever
from rag.settings import Settings
from rag.smalltalk import smalltalk
from rag.store import Store

if TYPE_CHECKING:
    from rag.query_engine import AbstractsQueryEngine

log = logging.getLogger(__name__)

_LONGEST_QUESTION = 2000  # characters that are searched for
_MODEL_SECONDS = 60
_VERDICT_TOKENS = 120


class Engine:
    """Answers questions over one store. Safe to use from several threads."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store = store
        self.settings = settings
        self._retriever = Retriever(store)
        self._encode = Remembered(store.embedder)
        self._models: dict[str, tuple[float, Model]] = {}
        self._verifiers: dict[str, Verifier] = {}

    @classmethod
    def open(cls, settings: Settings) -> Engine:
        """Raises StoreError when the store cannot be used as it is."""
        return cls(Store(settings), settings)

    def search(self, question: str, *, top_k: int = 10, filters: Filters | None = None) -> list[Source]:
        """The papers most relevant to the question, best first, each with the passage that matches best."""
        return list(
            self._retriever.search(_readable(question)[:_LONGEST_QUESTION], top_k=top_k, filters=filters).sources
        )

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
        """What RAG_VERIFIER names; a cross-encoder is loaded once."""
        name = self.settings.verifier
        if name == "llm" and model.llm is not None:
            return make_verifier(
                name,
                complete=lambda prompt: complete(model, [Message("user", prompt)], max_tokens=_VERDICT_TOKENS),
                prompt=prompts.judging,
            )
        if name not in self._verifiers:
            self._verifiers[name] = make_verifier(name)
        return self._verifiers[name]

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
        asking = _Asking(self, question, unsupported or self.settings.unsupported, stop or threading.Event())
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


@dataclass
class _Asking:
    """One question on its way."""

    engine: Engine
    question: str
    policy: str
    stop: threading.Event
    standalone: str = ""
    ranking: Ranking | None = None
    model: Model = field(default_factory=lambda: Model(EXTRACTIVE))
    notices: list[str] = field(default_factory=list)
    sentences: list[Sentence] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)  # paper id → citation number
    draft: str = ""
    verifier: str = "located"
    tokens: tuple[int, int] = (0, 0)
    dropped: int = 0
    translated: bool = False
    started: float = field(default_factory=time.monotonic)
    retrieval_seconds: float = 0.0
    first_words_seconds: float = 0.0

    def events(
        self,
        history: Sequence[Turn],
        filters: Filters,
        top_k: int,
        llm: str | None,
        evidence_order: Sequence[int] | None,
    ) -> Iterator[Event]:
        settings = self.engine.settings
        self.question = _readable(self.question).strip()
        self.standalone = self.question
        if (reply := smalltalk(self.question)) is not None:
            yield self.refuse(Reason.NO_QUESTION, reply)
            return
        if self.engine.store.count() == 0:
            yield self.refuse(Reason.NO_PAPERS, "There are no papers yet.", "rag ingest FILE adds some")
            return
        self.model = self.engine.choose(llm or settings.llm)
        rewritten = standalone(self.question, history, self.model, settings, stop=self.stop)
        translated = translate(rewritten.question, self.model, stop=self.stop)
        self.standalone = translated.question[:_LONGEST_QUESTION]
        self.translated = translated.question != rewritten.question
        self.notices += [note for note in (rewritten.note, translated.note) if note]
        if self.standalone != self.question:
            yield Rewritten(self.standalone)
        self.ranking = self.engine.retriever.search(self.standalone, top_k=top_k, filters=filters)
        self.retrieval_seconds = time.monotonic() - self.started
        if not self.ranking.allowed:
            yield self.refuse(
                Reason.FILTER_TOO_NARROW, "No paper passes the filters.", "widen the year, venue, source or keyword"
            )
            return
        yield Retrieved(self.ranking.sources)
        if not self.ranking.hits or not is_answerable(self.ranking, self.engine.encode):
            yield self._not_here()
            return
        if evidence_order is not None:  # only what the writer sees: whether to answer rests on the true ranks
            hits = self.ranking.hits
            order = [rank for rank in evidence_order if rank < len(hits)]
            self.ranking = replace(self.ranking, hits=tuple(hits[rank] for rank in order))
        if self.model.llm is None:
            yield from self._extract(self.ranking)
        else:
            refused = yield from self._write(self.model, self.ranking, bounded(history, settings.history_tokens))
            if not self.sentences and not self.dropped and not refused and not self.stop.is_set():
                self.notices.append(f"{self.model.name} wrote no sentence; these are picked from the abstracts")
                yield from self._extract(self.ranking)
        yield self._finished()

    def _extract(self, ranking: Ranking) -> Iterator[Event]:
        self.verifier = "verbatim"
        for picked in pick_sentences(self.standalone, ranking, self.engine.encode):
            if self.stop.is_set():
                return
            paper = ranking.hits[picked.paper].paper
            found = picked.sentence
            citation = self._citation(paper, found.start, found.end, 1.0)
            lead = " " if self.sentences else ""
            yield from self._keep(Sentence(found.text, Verdict.SUPPORTED, (citation,), lead))

    def _write(self, model: Model, ranking: Ranking, history: Sequence[Turn]) -> Generator[Event, None, bool]:
        """Let the model write, and check what it writes; returns whether it refused to answer."""
        papers = [hit.paper for hit in ranking.hits]
        verifier = self.engine.verifier(model)
        self.verifier = verifier.name
        grounding = Grounder(self.engine.encode, verifier).open(papers, self.standalone)
        asked = prompts.messages(
            self.question if self.translated else self.standalone,  # answered in the language of the question
            papers,
            history=history,
            context=model.context,
            answer_tokens=model.answer_tokens,
        )
        markers, writing = Markers(len(papers), [paper.abstract for paper in papers]), Writing()
        with stream(model, asked, stop=self.stop) as deltas:
            for delta in deltas:
                self.draft += delta
                for piece in markers.feed(delta):
                    yield from self._take(piece, writing, grounding, papers)
            self.tokens = deltas.tokens_in, deltas.tokens_out
        if not self.stop.is_set():
            for piece in markers.finish():
                yield from self._take(piece, writing, grounding, papers)
            for written, cited in writing.finish():
                yield from self._check(written, cited, grounding, papers)
        return markers.refused

    def _take(
        self, piece: Text | Cited | Reset, writing: Writing, grounding: Grounding, papers: Sequence[Paper]
    ) -> Iterator[Event]:
        if isinstance(piece, Reset):
            writing.reset()
            self.sentences.clear()
            self.numbers.clear()
            yield Withdrawn()
        elif isinstance(piece, Cited):
            writing.cite(piece)
        else:
            self._mark_first_words()
            yield Words(piece.text)
            for written, cited in writing.feed(piece.text):
                yield from self._check(written, cited, grounding, papers)

    def _check(
        self, written: Piece, cited: Sequence[int], grounding: Grounding, papers: Sequence[Paper]
    ) -> Iterator[Event]:
        if not any(char.isalnum() for char in written.text):
            return  # a full stop behind a marker or a refusal
        found = grounding.check(written.text, cited)
        if self.policy == "drop" and found.verdict in (Verdict.NOT_FOUND, Verdict.CONTRADICTED):
            self.dropped += 1
            return
        shown = () if found.verdict is Verdict.NOT_FOUND else found.spans
        citations = tuple(self._citation(papers[one.paper], one.start, one.end, one.score) for one in shown)
        yield from self._keep(Sentence(written.text, found.verdict, citations, written.lead, found.note))

    def _keep(self, sentence: Sentence) -> Iterator[Event]:
        self._mark_first_words()
        self.sentences.append(sentence)
        yield Checked(sentence)

    def _citation(self, paper: Paper, start: int, end: int, score: float) -> Citation:
        number = self.numbers.setdefault(paper.id, len(self.numbers) + 1)
        return Citation(number, paper.id, start, end, paper.abstract[start:end], round(score, 4))

    def _mark_first_words(self) -> None:
        if not self.first_words_seconds:
            self.first_words_seconds = time.monotonic() - self.started

    def _finished(self) -> Done:
        """The answer; without a sentence that was located somewhere it is a refusal."""
        located = any(one.verdict in (Verdict.SUPPORTED, Verdict.PARTLY) for one in self.sentences)
        if not located and not self.stop.is_set():
            return self._not_here()
        if self.dropped:
            self.notices.append(f"{self.dropped} sentence{'s' if self.dropped > 1 else ''} not in the sources left out")
        return Done(self._answer(tuple(self.sentences)))

    def _not_here(self) -> Done:
        nearest = "; the nearest papers are listed" if self.ranking and self.ranking.hits else ""
        return self.refuse(
            Reason.NOT_IN_ABSTRACTS,
            f"These abstracts do not answer that{nearest}.",
            "ask about what the listed papers say, or use their own terms",
        )

    def refuse(self, reason: Reason, message: str, hint: str = "") -> Done:
        """The answer that says why there is none."""
        self.numbers.clear()
        return Done(self._answer((), Refusal(reason, message, hint)))

    def _answer(self, sentences: tuple[Sentence, ...], refusal: Refusal | None = None) -> Answer:
        found = self.ranking.sources if self.ranking else ()
        numbered = [replace(source, number=self.numbers.get(source.paper.id)) for source in found]
        return Answer(
            question=self.question,
            standalone=self.standalone,
            sentences=sentences,
            sources=tuple(sorted(numbered, key=lambda source: (source.number is None, source.number or 0))),
            refusal=refusal,
            model=self.model.name,
            model_reason=self.model.reason,
            verifier=self.verifier,
            policy=self.policy,
            notices=tuple(self.notices),
            timings=Timings(self.retrieval_seconds, self.first_words_seconds, time.monotonic() - self.started),
            tokens_in=self.tokens[0],
            tokens_out=self.tokens[1],
            draft=self.draft,
            stopped=self.stop.is_set(),
        )


def _readable(question: str) -> str:
    """Without halves of characters, as a terminal or a browser may send, which no encoder takes."""
    return question.encode("utf-8", "replace").decode("utf-8")


__all__ = ["Checked", "Done", "Engine", "Event", "Retrieved", "Rewritten", "Turn", "Withdrawn", "Words"]
