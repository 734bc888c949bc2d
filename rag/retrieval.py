"""Hybrid retrieval: full text and vectors, each one's scores brought to 0…1 and added half and half.

Min-max fusion of the top hundred of each was the best simple ranking on every collection of abstracts that was
measured; rank fusion buries the one paper that bears the name asked about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rag.answer import Source
from rag.authors import written_by
from rag.catalogue import Catalogue, chunk_id
from rag.embedding import Vectors
from rag.errors import EmbeddingUnavailable, SettingsError
from rag.evidence import Evidence, find_evidence
from rag.fulltext import FullText, rarity
from rag.papers import Paper
from rag.spelling import respelled
from rag.store import Store
from rag.text import informative

_CHUNKS_PER_PAPER = 1.7  # so that a hundred papers are among the nearest chunks
_MOST_LISTED_CHUNKS = 4000  # filters that leave more are applied after the search
_DENSE_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Filters:
    """Limits on the papers searched. `year` is "2024", "2020-2024", "2020-" or "-2024"; the others match parts of
    the venue, source name or one keyword, in any case. `author` is a name as `rag.authors.written_by` takes it, or
    several with ";" between them, of which one has to agree."""

    year: str = ""
    venue: str = ""
    source: str = ""
    keyword: str = ""
    author: str = ""

    def __bool__(self) -> bool:
        return any((self.year, self.venue, self.source, self.keyword, self.author))

    @property
    def years(self) -> tuple[int, int]:
        """First and last year; raises SettingsError for what is no year."""
        match = re.fullmatch(r"\s*(\d{4})?\s*([-–:]?)\s*(\d{4})?\s*", self.year)
        if not match or not (match[1] or match[3]):
            raise SettingsError(f"{self.year!r} is no year", hint="write 2024, 2020-2024, 2020- or -2024")
        first, dash, last = match.groups()
        years = int(first or 0), int(last or (9999 if dash else first))
        if years[0] > years[1] or (first and last and not dash):
            raise SettingsError(f"{self.year!r} is no year or range", hint="write 2024, 2020-2024, 2020- or -2024")
        return years


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved paper. `score` is the fused relevance, 0 to 1; `dense` the cosine of its nearest chunk (0 when it
    was not among them), `lexical` its full-text score (BM25, 0 when it was not found by words)."""

    paper: Paper
    score: float
    dense: float
    lexical: float


@dataclass(frozen=True)
class Ranking:
    """What one search found.

    `question` has its names as the papers spell them, `vector` is its vector; `frequency` has its informative stems and
    in how many of the `total` papers they occur; `allowed` counts the papers that the filters leave.
    """

    question: str
    vector: Vectors = field(repr=False)
    frequency: Mapping[str, int]
    hits: tuple[Hit, ...]
    total: int
    allowed: int

    @cached_property
    def rarity(self) -> Mapping[str, float]:
        """The question's informative stems and how rare they are (inverse document frequency)."""
        return rarity(self.frequency, self.total)

    @cached_property
    def evidence(self) -> tuple[Evidence, ...]:
        """How well each paper's text covers the question, in the order of `hits`."""
        return tuple(find_evidence(self.rarity, hit.paper) for hit in self.hits)

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        return tuple(
            Source(paper=hit.paper, score=hit.score, start=found.start, end=found.end)
            for hit, found in zip(self.hits, self.evidence, strict=True)
        )


class Retriever:
    """Searches one store; safe to use from several threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="full-text")
        self._reranker = _Reranker(store.settings.rerank_model) if store.settings.rerank_model else None

    def search(self, question: str, *, top_k: int, filters: Filters | None = None) -> Ranking:
        """The `top_k` papers most relevant to the question, best first; fewer when there are fewer."""
        store, filters = self._store, filters or Filters()
        store.refresh()
        store.check_complete()
        candidates = max(store.settings.candidates, top_k)
        allowed = self._allowed(filters) if filters else None
        by_words = self._pool.submit(self._by_words, question, candidates, allowed)  # while the question is embedded
        vector = store.embedder.encode_question(question)
        dense = self._by_vector(vector, candidates, allowed)
        lexical, frequency = by_words.result()
        fused = fuse(lexical, dense, all_found=len(lexical) < candidates)
        shortlist = sorted(fused, key=lambda paper: (-fused[paper], -lexical.get(paper, 0.0), paper))[
            : max(top_k, 20 if self._reranker else top_k)
        ]
        papers = {paper.id: paper for paper in store.catalogue.papers(shortlist)}
        hits = [
            Hit(papers[paper], fused[paper], dense.get(paper, 0.0), lexical.get(paper, 0.0))
            for paper in shortlist
            if paper in papers
        ]
        if self._reranker:
            hits = self._reranker.reorder(question, hits)
        total = store.count()
        left = total if allowed is None else len(allowed)
        spelled = respelled(question, [hit.paper for hit in hits[:top_k]])
        return Ranking(spelled, vector, frequency, tuple(hits[:top_k]), total, left)

    def _by_words(
        self, question: str, count: int, allowed: Mapping[str, Any] | None
    ) -> tuple[dict[str, float], dict[str, int]]:
        full_text = FullText(self._store.catalogue)
        frequency = full_text.frequency(informative(question))
        return full_text.search(question, frequency, count, allowed), frequency

    def _by_vector(
        self, vector: Vectors, papers: int, allowed: Mapping[str, tuple[str, int]] | None
    ) -> dict[str, float]:
        """Paper id → best cosine of its chunks, of served versions only."""
        wanted = round(papers * _CHUNKS_PER_PAPER)
        among = None
        if allowed is not None:
            listed = [
                chunk_id(paper, version, n) for paper, (version, chunks) in allowed.items() for n in range(chunks)
            ]
            if len(listed) <= _MOST_LISTED_CHUNKS:
                among = listed
                wanted = min(wanted, len(listed))
            else:
                wanted = round(wanted * self._store.count() / len(allowed))
        hits = self._store.collection.nearest(vector, wanted, among)
        served = self._store.catalogue.versions(list({hit.paper_id for hit in hits}))
        best: dict[str, float] = {}
        for hit in hits:
            if served.get(hit.paper_id, ("",))[0] != hit.version or (
                allowed is not None and hit.paper_id not in allowed
            ):
                continue
            best[hit.paper_id] = max(best.get(hit.paper_id, -1.0), hit.similarity)
        return dict(list(best.items())[:papers])

    def _allowed(self, filters: Filters) -> dict[str, tuple[str, int]]:
        return allowed_papers(self._store.catalogue, filters)


def allowed_papers(catalogue: Catalogue, filters: Filters) -> dict[str, tuple[str, int]]:
    """id → (version, chunks) of the papers that pass all the filters."""
    conditions, arguments = ["1"], list[Any]()
    if filters.year:
        conditions.append("year BETWEEN ? AND ?")
        arguments += filters.years
    if filters.venue:
        conditions.append("venue LIKE ? ESCAPE '\\'")
        arguments.append(_like(filters.venue))
    if filters.keyword:
        conditions.append("EXISTS (SELECT 1 FROM json_each(keywords) WHERE value LIKE ? ESCAPE '\\')")
        arguments.append(_like(filters.keyword))
    if filters.source:
        conditions.append(
            "id IN (SELECT paper FROM origins JOIN sources ON source = sources.n WHERE name LIKE ? ESCAPE '\\')"
        )
        arguments.append(_like(filters.source))
    names = [name for name in filters.author.split(";") if name.strip()]
    rows = catalogue.select(
        f"SELECT id, version, chunks, authors FROM papers WHERE {' AND '.join(conditions)}", arguments
    )
    return {
        paper: (version, chunks)
        for paper, version, chunks, authors in rows
        if not names or any(written_by(authors, name) for name in names)
    }


def fuse(lexical: Mapping[str, float], dense: Mapping[str, float], *, all_found: bool = False) -> dict[str, float]:
    """Half and half of both rankings' min-max normalised scores; absent from one counts 0 there. 0 to 1.

    With `all_found` the full text has no further match: the least score there is 0, that of a paper without any of
    the words, so that a weak exact match still counts more than none.
    """
    words, vectors = _min_max(lexical, low=0.0 if all_found else None), _min_max(dense)
    return {
        paper: (1 - _DENSE_SHARE) * words.get(paper, 0.0) + _DENSE_SHARE * vectors.get(paper, 0.0)
        for paper in dict.fromkeys([*words, *vectors])
    }


def _min_max(scores: Mapping[str, float], low: float | None = None) -> dict[str, float]:
    if not scores:
        return {}
    values = np.fromiter(scores.values(), dtype=float)
    low, high = values.min() if low is None else low, values.max()
    span = high - low
    return {paper: 1.0 if span == 0 else float((score - low) / span) for paper, score in scores.items()}


def _like(text: str) -> str:
    escaped = text.strip().replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    return f"%{escaped}%"


class _Reranker:
    """A sentence-transformers cross-encoder over the fused shortlist."""

    def __init__(self, name: str) -> None:
        from sentence_transformers import CrossEncoder

        from rag.hub import load

        try:
            self._model = load(CrossEncoder, name)
        except (OSError, ValueError) as error:
            raise EmbeddingUnavailable(
                f"the model that reorders, {name}, is neither in the Hugging Face cache nor can it be fetched",
                hint="unset RAG_RERANK_MODEL to do without",
            ) from error

    def reorder(self, question: str, hits: Sequence[Hit]) -> list[Hit]:
        scores = self._model.predict([(question, f"{hit.paper.title}\n{hit.paper.abstract}") for hit in hits])
        order = np.argsort(-np.asarray(scores, dtype=float), kind="stable")
        return [hits[int(index)] for index in order]
