"""LlamaIndex's own CitationQueryEngine over the same papers, seen through the same face as our engine."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any

from eval.dataset import Exchange
from eval.systems import FIRST_RANKS, corpus_fingerprint
from rag.answer import Answer, Citation, Reason, Refusal, Sentence, Source, Timings, Verdict
from rag.errors import InputError, ModelUnavailable
from rag.papers import Paper
from rag.settings import Settings
from rag.text import sentences

_MARKS = re.compile(r"\s?\[(\d+(?:\s*[,;]\s*\d+)*)\]")
_DECLINES = re.compile(
    r"\b(?:none of the (?:provided )?sources|(?:sources?|text|context|documents?) (?:do(?:es)? not|don't|doesn't)"
    r"|not (?:provided|mentioned|specified|stated|available)|no information|cannot (?:be )?(?:answer|determine))",
    re.IGNORECASE,
)


class CitationEngine:
    """Its defaults, with our papers, our embedding weights, our model and our number of papers.

    It has no typed refusal: an answer without a citation that says in words that the sources do not tell counts as one.
    """

    name = "llamaindex"

    def __init__(self, settings: Settings) -> None:
        try:
            from llama_index.embeddings.huggingface import HuggingFaceEmbedding
        except ImportError as error:
            raise InputError(
                "comparing with LlamaIndex's own engine needs llama-index-embeddings-huggingface",
                hint='pip install "askabstracts[dev]"',
            ) from error
        from llama_index.core import Document, VectorStoreIndex
        from llama_index.core.query_engine import CitationQueryEngine
        from llama_index.core.query_engine.citation_query_engine import CITATION_QA_TEMPLATE, CITATION_REFINE_TEMPLATE
        from llama_index.core.response_synthesizers import get_response_synthesizer

        from rag.embedding import packaged_folder
        from rag.generation.providers import choose_model
        from rag.store import Store

        model = choose_model(settings)
        if model.llm is None:
            raise ModelUnavailable(f"LlamaIndex's engine needs a language model: {model.reason}", hint="set RAG_LLM")
        store = Store(settings)
        try:
            self.fingerprint = corpus_fingerprint(store)
            self._papers = {paper.id: paper for paper in store.catalogue.papers()}
        finally:
            store.close()
        self.model, self.model_reason = model.name, model.reason
        embedding = HuggingFaceEmbedding(model_name=str(packaged_folder()))
        documents = [
            Document(text=paper.abstract, metadata={"title": paper.title, "paper": paper.id})
            for paper in self._papers.values()
        ]
        self._index = VectorStoreIndex.from_documents(documents, embed_model=embedding)
        writer = get_response_synthesizer(  # its default, but streaming, so that the first words can be timed
            llm=model.llm,
            text_qa_template=CITATION_QA_TEMPLATE,
            refine_template=CITATION_REFINE_TEMPLATE,
            streaming=True,
        )
        self._engine = CitationQueryEngine.from_args(
            self._index, llm=model.llm, response_synthesizer=writer, similarity_top_k=settings.top_k
        )

    def has(self, paper_id: str) -> bool:
        return paper_id in self._papers

    def ask(self, question: str, history: Sequence[Exchange], order: Sequence[int] | None) -> Answer:
        """One answer; it knows neither a history nor an order of the evidence. Raises ModelUnavailable."""
        started = time.perf_counter()
        response: Any = self._engine.query(question)
        words, first = [], 0.0
        for word in response.response_gen:
            first = first or time.perf_counter() - started
            words.append(word)
        seconds = time.perf_counter() - started
        cited, sources = self._sources(response.source_nodes)
        text = "".join(words).strip()
        if not text or text == "Empty Response":  # how it shows that its model failed
            raise ModelUnavailable(f"LlamaIndex's engine got no answer from {self.model}")
        declined = (
            Refusal(Reason.NOT_IN_ABSTRACTS, text) if _DECLINES.search(text) and not _MARKS.search(text) else None
        )
        said = () if declined else self._sentences(text, cited)
        used = {citation.paper_id: citation.number for sentence in said for citation in sentence.citations}
        return Answer(
            question=question,
            standalone=question,
            sentences=said,
            sources=tuple(Source(item.paper, item.score, number=used.get(item.paper.id)) for item in sources),
            refusal=declined,
            model=self.model,
            model_reason=self.model_reason,
            verifier="none",
            timings=Timings(first_words=first, total=seconds),
            draft=text,
        )

    def ranked(self, question: str) -> list[str]:
        nodes = self._index.as_retriever(similarity_top_k=3 * FIRST_RANKS).retrieve(question)
        return list(dict.fromkeys(str(node.metadata["paper"]) for node in nodes))[:FIRST_RANKS]

    def close(self) -> None:
        self._papers.clear()

    def _sources(self, nodes: Sequence[Any]) -> tuple[list[tuple[Paper, int, int]], list[Source]]:
        """Its numbered sources as spans of abstracts, and the papers behind them, each once."""
        spans, papers = [], dict[str, Source]()
        for node in nodes:
            paper = self._papers[node.metadata["paper"]]
            body = re.sub(r"\ASource \d+:\n", "", node.node.get_content()).strip()
            start = max(0, paper.abstract.find(body))
            end = start + len(body) if paper.abstract[start : start + len(body)] == body else len(paper.abstract)
            spans.append((paper, start, end))
            score = min(1.0, max(0.0, float(node.score or 0)))
            papers.setdefault(paper.id, Source(paper, score, start, end))
        return spans, list(papers.values())

    def _sentences(self, text: str, cited: Sequence[tuple[Paper, int, int]]) -> tuple[Sentence, ...]:
        """Its sentences with what each of them cites; a mark after the full stop belongs to the sentence before."""
        tidy = re.sub(r"([.!?])((?:\s?\[[\d,; ]+\])+)", r"\2\1", text)
        found: list[Sentence] = []
        shown: dict[str, int] = {}  # our numbers: by first use, one a paper
        for span in sentences(tidy):
            words = tidy[span.start : span.end]
            numbers = [int(item) for mark in _MARKS.findall(words) for item in re.split(r"\s*[,;]\s*", mark)]
            citations = tuple(
                Citation(
                    shown.setdefault(paper.id, len(shown) + 1), paper.id, start, end, paper.abstract[start:end], 1.0
                )
                for number in dict.fromkeys(numbers)
                if 1 <= number <= len(cited)
                for paper, start, end in [cited[number - 1]]
            )
            verdict = Verdict.SUPPORTED if citations else Verdict.NOT_FOUND
            found.append(Sentence(_MARKS.sub("", words).strip(), verdict, citations, lead=" " if found else ""))
        return tuple(found)
