"""An engine small enough to know what it will say: for tests of what the page does with an answer.

It looks words up in a handful of papers, and plays the parts that a test needs on request: a question that
holds "unsupported" gets a sentence found nowhere, "slow" writes a word every few hundredths of a second.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rag.answer import Answer, Citation, Reason, Refusal, Sentence, Source, Timings, Verdict
from rag.conversation import Turn
from rag.errors import ModelUnavailable
from rag.events import Checked, Done, Event, Retrieved, Rewritten, Words
from rag.papers import Paper
from rag.retrieval import Filters

SAMPLE = Path(__file__).parents[2] / "rag" / "data" / "iclr2026_sample.jsonl"
_STOP = {
    "the",
    "a",
    "an",
    "of",
    "in",
    "on",
    "for",
    "to",
    "and",
    "or",
    "is",
    "are",
    "was",
    "were",
    "how",
    "what",
    "which",
    "who",
    "does",
    "do",
    "did",
    "by",
    "with",
    "at",
    "from",
    "it",
    "as",
}


def sample_papers() -> list[Paper]:
    known = ("title", "abstract", "authors", "year", "venue", "url", "doi", "keywords")
    papers = []
    for line in SAMPLE.read_text(encoding="utf-8").splitlines():
        row = {key: value for key, value in json.loads(line).items() if key in known}
        for key in ("authors", "keywords"):
            row[key] = tuple(row.get(key, ()))
        papers.append(Paper(**row))
    return papers


def spans(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"\S.*?(?:[.!?](?=\s|$)|$)", text, re.DOTALL)]


def words(text: str) -> set[str]:
    return {word for word in re.findall(r"[\w-]+", text.lower()) if word not in _STOP}


class Standin:
    """The engine's interface over a list of papers."""

    def __init__(self, papers: Sequence[Paper] | None = None) -> None:
        self.papers = list(papers if papers is not None else sample_papers())

    def search(self, question: str, *, top_k: int = 5, filters: Filters | None = None) -> list[Source]:
        wanted = words(question)
        scored = [(len(wanted & words(p.title + " " + p.abstract)) / max(1, len(wanted)), p) for p in self.papers]
        scored.sort(key=lambda pair: -pair[0])
        return [Source(paper, score, 0, len(paper.abstract)) for score, paper in scored[:top_k] if score > 0]

    def paper(self, paper_id: str) -> Paper | None:
        return next((paper for paper in self.papers if paper.id == paper_id), None)

    def ask(self, question: str, **options: object) -> Answer:
        *_, last = self.stream(question, **options)  # type: ignore[arg-type]
        assert isinstance(last, Done)
        return last.answer

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
    ) -> Iterator[Event]:
        started = time.perf_counter()
        standalone = question
        if history and question.lower().startswith("and "):
            standalone = f"{history[-1].question.rstrip('?')} {question[4:]}"
            yield Rewritten(standalone)
        if "no model" in question and llm != "extractive":
            raise ModelUnavailable(
                "Ollama does not answer at http://127.0.0.1:11434", hint="start it with: ollama serve"
            )
        found = self.search(standalone, top_k=top_k or 5)
        yield Retrieved(tuple(found))
        took = time.perf_counter() - started
        if not found or found[0].score < 0.3:
            refusal = Refusal(Reason.NOT_IN_ABSTRACTS, "None of the abstracts says anything about this.")
            yield Done(Answer(question, standalone, (), tuple(found), refusal, timings=Timings(took, took, took)))
            return
        sentences: list[Sentence] = []
        cited: dict[str, int] = {}
        for source in found[:3]:
            paper = source.paper
            wanted = words(standalone)
            best = max(spans(paper.abstract), key=lambda span: len(wanted & words(paper.abstract[slice(*span)])))
            number = cited.setdefault(paper.id, len(cited) + 1)
            quote = paper.abstract[slice(*best)]
            text = " ".join(quote.split())
            citation = Citation(number, paper.id, *best, quote, 0.9)
            lead = " " if sentences else ""
            sentences.append(Sentence(text, Verdict.SUPPORTED, (citation,), lead))
        if "unsupported" in question:
            sentences.insert(1, Sentence("It was shown on nine planets.", Verdict.NOT_FOUND, (), " "))
            part = replace(sentences[-1], verdict=Verdict.PARTLY, note="“on the Moon” is in no abstract")
            sentences[-1] = part
            sentences.append(
                Sentence("It lowers the cost by 26 %.", Verdict.CONTRADICTED, (), " ", "the source says 20 %")
            )
        for sentence in sentences:
            for word in re.findall(r"\s*\S+", sentence.lead + sentence.text):
                yield Words(word)
                if "slow" in question:
                    time.sleep(0.05)
                if stop is not None and stop.is_set():
                    return
            yield Checked(sentence)
        sources = [replace(source, number=cited.get(source.paper.id)) for source in found]
        sources.sort(key=lambda source: (source.number is None, source.number or 0))
        took = time.perf_counter() - started
        yield Done(Answer(question, standalone, tuple(sentences), tuple(sources), timings=Timings(took, took, took)))
