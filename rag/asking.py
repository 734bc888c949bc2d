"""One question on its way to an answer: the only module that knows the order of the steps."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from rag.answer import Answer, Reason, Refusal, Sentence, Timings
from rag.answerability import Read, is_answerable
from rag.composition import Composition
from rag.conversation import Turn, bounded, standalone, translate
from rag.events import Checked, Done, Event, Rechecked, Retrieved, Rewritten, Withdrawn, Words
from rag.followup import names_in
from rag.generation import prompts
from rag.generation.citations import Cited, Markers, Reset, Text
from rag.generation.extractive import pick_next, pick_others, pick_sentences
from rag.generation.models import EXTRACTIVE, Model
from rag.generation.providers import stream
from rag.generation.writing import Writing
from rag.grounding import Grounder, Grounding, Piece
from rag.inquiry import inquire
from rag.papers import Paper
from rag.parts import parts_of
from rag.retrieval import Filters, Ranking
from rag.shelf import Library
from rag.smalltalk import smalltalk
from rag.suggestion import suggestions
from rag.text import informative
from rag.verification import Verification, question_reader

if TYPE_CHECKING:
    from rag.engine import Engine

LONGEST_QUESTION: Final = 2000  # characters that are searched for


@dataclass
class Asking:
    """One question on its way."""

    engine: Engine
    question: str
    policy: str
    stop: threading.Event
    standalone: str = ""
    ranking: Ranking | None = None
    model: Model = field(default_factory=lambda: Model(EXTRACTIVE))
    notices: list[str] = field(default_factory=list)
    draft: str = ""
    verifier: str = "located"
    verifier_reason: str = ""
    waiting: Verification | None = None
    tokens: tuple[int, int] = (0, 0)
    translated: bool = False
    before: tuple[Turn, ...] = ()  # the turns that the question leans on
    by_author: bool = False  # the question names who wrote the papers
    more: bool = False  # what they have not said is asked for
    started: float = field(default_factory=time.monotonic)
    retrieval_seconds: float = 0.0
    first_words_seconds: float = 0.0

    def __post_init__(self) -> None:
        self.composition = Composition(self.policy)

    def events(
        self,
        history: Sequence[Turn],
        filters: Filters,
        top_k: int,
        llm: str | None,
        evidence_order: Sequence[int] | None,
    ) -> Iterator[Event]:
        settings = self.engine.settings
        self.question = readable(self.question).strip()
        self.standalone = self.question
        if (reply := smalltalk(self.question)) is not None:
            yield self.refuse(Reason.NO_QUESTION, reply)
            return
        if self.engine.store.count() == 0:
            taken = "; rag rebuild --catalogue takes over what the Chroma server holds" if settings.chroma_url else ""
            yield self.refuse(Reason.NO_PAPERS, "There are no papers yet.", f"rag ingest FILE adds some{taken}")
            return
        self.model = self.engine.choose(llm or settings.llm)
        rewritten = standalone(
            self.question, history, self.model, settings, shelf=Library(self.engine.store), stop=self.stop
        )
        self.before, self.more = tuple(history) if rewritten.leans else (), rewritten.more
        translated = translate(rewritten.question, self.model, stop=self.stop)
        self.standalone = translated.question[:LONGEST_QUESTION]
        self.translated = translated.question != rewritten.question
        self.notices += [note for note in (rewritten.note, translated.note) if note]
        if self.standalone != self.question:
            yield Rewritten(self.standalone)
        inquiry = inquire(self.standalone, filters, self.engine.store.catalogue)
        self.by_author = inquiry.mention is not None
        self.ranking = self.engine.retriever.search(inquiry.question, top_k=top_k, filters=inquiry.filters)
        self.retrieval_seconds = time.monotonic() - self.started
        if not self.ranking.allowed:
            yield self.refuse(
                Reason.FILTER_TOO_NARROW,
                "No paper passes the filters.",
                "widen the year, venue, source, keyword or author",
            )
            return
        yield Retrieved(self.ranking.sources)
        told = inquiry.told(self.ranking, self._meant())
        if told and inquiry.only_record:
            yield self.refuse(Reason.NOT_IN_ABSTRACTS, told)
            return
        self.notices += [told] if told else []
        if not self._is_answerable(self.ranking):
            if not self._narrow(self.ranking.question, top_k, inquiry.filters):
                yield self._not_here()
                return
            yield Retrieved(self.ranking.sources)
        if evidence_order is not None:  # only what the writer sees: whether to answer rests on the true ranks
            hits = self.ranking.hits
            order = [rank for rank in evidence_order if rank < len(hits)]
            self.ranking = replace(self.ranking, hits=tuple(hits[rank] for rank in order))
        if self.model.llm is None:
            yield from self._extract(self.ranking)
            if self.more and not self.composition.shown:
                yield self.refuse(Reason.NOT_IN_ABSTRACTS, "The abstracts that were cited say no more on that.")
                return
        else:
            refused = yield from self._write(self.model, self.ranking, bounded(history, settings.history_tokens))
            made = self.composition
            if not made.shown and not made.dropped and not refused and not self.stop.is_set():
                self.notices.append(f"{self.model.name} wrote no sentence; these are picked from the abstracts")
                yield from self._extract(self.ranking)
        yield self._finished()

    def _meant(self) -> list[Paper]:
        """The papers that the last answer cites, where the question names nothing itself."""
        cited = next((turn.papers for turn in reversed(self.before) if turn.papers), ())
        return list(self.engine.store.catalogue.papers(cited)) if not names_in(self.question) else []

    def _is_answerable(self, ranking: Ranking) -> bool:
        return bool(ranking.hits) and is_answerable(ranking, self.engine.encode, self._reader(), named=self.by_author)

    def _narrow(self, question: str, top_k: int, filters: Filters) -> bool:
        """Whether a part of the question can be answered; the first that can is what is answered then."""
        parts = parts_of(question)
        for part in parts if len(parts) > 1 else ():
            ranking = self.engine.retriever.search(part, top_k=top_k, filters=filters)
            if self._is_answerable(ranking):
                self.ranking = ranking
                self.notices.append(f"only this part is answered: {part}")
                return True
        return False

    def _reader(self) -> Read | None:
        """How the verifier reads whether the nearest sentences answer the question, where a model is to write and the
        verifier has odds."""
        if self.model.llm is None:
            return None
        return question_reader(self.engine.verifier(self.model), self.engine.settings.verify_seconds, self.stop)

    def _extract(self, ranking: Ranking) -> Iterator[Event]:
        self.verifier = "verbatim"
        said = "\n".join(turn.answer for turn in self.before)
        cited = self.before[-1].papers if self.before else ()
        own = informative(self.question) if self.question != self.standalone else ()
        encode = self.engine.encode
        if self.more:
            asked = f"{ranking.question} {self.question}"  # "why?" asks for reasons
            chosen = pick_others(asked, ranking, encode, said, cited, worthwhile=False)
        elif said:
            chosen = pick_next(ranking.question, ranking, encode, said, cited, own)
        else:
            chosen = pick_sentences(ranking.question, ranking, encode, own)
        for picked in chosen:
            if self.stop.is_set():
                return
            quoted = self.composition.quote(ranking.hits[picked.paper].paper, picked.sentence)
            self._mark_first_words()
            yield Checked(quoted)

    def _write(self, model: Model, ranking: Ranking, history: Sequence[Turn]) -> Generator[Event, None, bool]:
        """Let the model write, and check what it writes; returns whether it refused to answer."""
        papers = [hit.paper for hit in ranking.hits]
        verifier = self.engine.verifier(model)
        self.verifier, self.waiting = verifier.name, Verification(verifier)
        grounding = Grounder(self.engine.encode, verifier).open(papers, ranking.question)
        grounding.warm()
        question = self.question if self.translated else ranking.question  # answered in the language of the question
        asked = prompts.messages(
            f"{self.question} ({question})" if self.more else question,
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
        yield from self._read(self.waiting, papers)
        return markers.refused

    def _take(
        self, piece: Text | Cited | Reset, writing: Writing, grounding: Grounding, papers: Sequence[Paper]
    ) -> Iterator[Event]:
        if isinstance(piece, Reset):
            writing.reset()
            self.composition.clear()
            if self.waiting is not None:
                self.waiting.clear()
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
        found, reading = grounding.begin(written.text, cited)
        if reading is not None and self.waiting is not None:
            self.waiting.add(len(self.composition), reading)
        if sentence := self.composition.add(written, found, papers, checking=reading is not None):
            self._mark_first_words()
            yield Checked(sentence)

    def _read(self, waiting: Verification, papers: Sequence[Paper]) -> Iterator[Event]:
        """Let the verifier read what words alone could not settle; each sentence gets its final verdict."""
        count = len(waiting)
        for place, found in waiting.run(self.engine.settings.verify_seconds, self.stop):
            if self.composition.sentences[place] is None:
                continue
            shown = sum(one is not None for one in self.composition.sentences[:place])
            yield Rechecked(shown, self.composition.recheck(place, found, papers))
        if waiting.problem:
            self.verifier, self.verifier_reason = "located", waiting.problem
            if self.engine.settings.verifier != "auto":
                self.notices.append(f"sentences were checked by words alone: {waiting.problem}")
        if waiting.unreached:
            late = f"{waiting.unreached} of {count} sentences were not read in time"
            self.notices.append(f"{late}: their verdict is from words alone (RAG_VERIFY_SECONDS)")

    def _mark_first_words(self) -> None:
        if not self.first_words_seconds:
            self.first_words_seconds = time.monotonic() - self.started

    def _finished(self) -> Done:
        """The answer; one that rests on no sentence is a refusal."""
        made = self.composition
        if not made.is_borne_out and not self.stop.is_set():
            return self._not_here()
        if made.dropped:
            self.notices.append(f"{made.dropped} sentence{'s' if made.dropped > 1 else ''} not in the sources left out")
        return Done(self._answer(made.renumbered()))

    def _not_here(self) -> Done:
        nearest = "; the nearest papers are listed" if self.ranking and self.ranking.hits else ""
        return self.refuse(
            Reason.NOT_IN_ABSTRACTS,
            f"These abstracts do not answer that{nearest}.",
            self._hint(),
        )

    def _hint(self) -> str:
        ranking = self.ranking
        meant = suggestions(ranking.question, ranking.frequency, self.engine.store.catalogue) if ranking else {}
        if meant:
            return "; ".join(f"no paper has “{typed}”, but “{word}” is there" for typed, word in meant.items())
        return "ask about what the listed papers say, or use their own terms"

    def refuse(self, reason: Reason, message: str, hint: str = "") -> Done:
        """The answer that says why there is none."""
        self.composition.numbers.clear()
        return Done(self._answer((), Refusal(reason, message, hint)))

    def _answer(self, sentences: tuple[Sentence, ...], refusal: Refusal | None = None) -> Answer:
        found = self.ranking.sources if self.ranking else ()
        numbers = self.composition.numbers
        numbered = [replace(source, number=numbers.get(source.paper.id)) for source in found]
        return Answer(
            question=self.question,
            standalone=self.standalone,
            sentences=sentences,
            sources=tuple(sorted(numbered, key=lambda source: (source.number is None, source.number or 0))),
            refusal=refusal,
            model=self.model.name,
            model_reason=self.model.reason,
            verifier=self.verifier,
            verifier_reason=self.verifier_reason,
            policy=self.policy,
            notices=tuple(self.notices),
            timings=Timings(self.retrieval_seconds, self.first_words_seconds, time.monotonic() - self.started),
            tokens_in=self.tokens[0],
            tokens_out=self.tokens[1],
            draft=self.draft,
            stopped=self.stop.is_set(),
        )


def readable(question: str) -> str:
    """Without halves of characters, as a terminal or a browser may send, which no encoder takes."""
    return question.encode("utf-8", "replace").decode("utf-8")
