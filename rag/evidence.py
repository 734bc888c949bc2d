"""How well a paper's text covers a question: which of its words are there, and in which sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from rag.markup import Plain, plain, plain_text
from rag.papers import Paper
from rag.text import Span, sentences, stems


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an abstract: its plain text, its stems, and where it stands in `Paper.abstract`."""

    text: str
    stems: frozenset[str]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ReadPaper:
    """A paper's title and abstract taken apart."""

    paper: Paper
    title_stems: frozenset[str]
    stems: frozenset[str]  # of title and abstract
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Shares (0 to 1) of the question's informative words, weighted by rarity, that the paper contains.

    `coverage` is over title and abstract, `focus` over the best sentence alone with the title, `missing` lists the
    stems that the paper lacks. `start` and `end` bound the best sentence in `Paper.abstract`.
    """

    coverage: float
    focus: float
    missing: tuple[str, ...]
    start: int
    end: int


@lru_cache(maxsize=2048)
def read_paper(paper: Paper) -> ReadPaper:
    """The paper's sentences with offsets in its displayed abstract."""
    body = plain(paper.abstract)
    read = tuple(_sentence(body, span) for span in sentences(body.text))
    title = frozenset(stems(plain_text(paper.title)))
    return ReadPaper(paper, title, title.union(*(sentence.stems for sentence in read)), read)


def _sentence(body: Plain, span: Span) -> Sentence:
    text = body.text[span.start : span.end]
    return Sentence(text, frozenset(stems(text)), *body.original(span.start, span.end))


def find_evidence(rarity: Mapping[str, float], paper: Paper) -> Evidence:
    """What of a question, given as stem → rarity, the paper contains."""
    read = read_paper(paper)
    total = sum(rarity.values())
    if not total or not read.sentences:
        first = read.sentences[0] if read.sentences else None
        return Evidence(0.0, 0.0, tuple(rarity), first.start if first else 0, first.end if first else 0)

    def share(found: frozenset[str]) -> float:
        return sum(weight for stem, weight in rarity.items() if stem in found) / total

    best = max(read.sentences, key=lambda sentence: share(sentence.stems))
    return Evidence(
        coverage=share(read.stems),
        focus=share(best.stems | read.title_stems),
        missing=tuple(stem for stem in rarity if stem not in read.stems),
        start=best.start,
        end=best.end,
    )
