"""The retrieved abstracts made ready for checking: sentences with offsets, words, vectors, and the papers' names."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from rag.grounding.analysis import Analysis, analyse
from rag.grounding.failure import Context
from rag.language.orders import is_order
from rag.markup import plain
from rag.papers import Paper
from rag.text import has_cjk, named_terms, sentences, stems

Vectors = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Vectors]

_INTRODUCED = re.compile(
    r"\b(?:propose|introduce|present|develop|release|call|dub|name)\w*\b|\b(?:[Oo]ur|[Tt]heir) \w+ is\b"
)
_DEFINED = re.compile(
    r"((?:[A-Z][\w-]+\s+(?:(?:of|for|and|with|the|in)\s+)?){2,6}|[A-Z]\w+(?:-\w+)+\s+)\(([A-Z][\w-]{1,15})\)"
)
_ACRONYM = re.compile(r"[A-Z].*[A-Z\d]")  # a name of its own: "Explanatory GRPO (EXGRPO)" is no other word for GRPO
_DIGITS = tuple("0123456789")
_JOINS = frozenset({"and", "or", "of", "for", "the", "in", "with"})
_FRAGMENT = 12  # words
_TITLE = 3  # words of a title that is no mere name
_OTHERS = re.compile(
    r"\b(?:such as|e\.g\.|like|existing|via|using|than|with|through)\s+(?:\w+\s+){0,2}$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Passage:
    """One sentence of one abstract; `start` and `end` are offsets in `Paper.abstract`, `text` is without markup.

    `number` counts the abstract's sentences, also those that are no evidence.
    """

    paper: int
    number: int
    start: int
    end: int
    text: str
    known: frozenset[str]

    @property
    def analysis(self) -> Analysis:
        return analyse(self.text, self.known)


@dataclass(frozen=True, slots=True)
class Window:
    """One passage or two neighbouring ones; `places` are positions in `Evidence.passages`."""

    places: tuple[int, ...]
    analysis: Analysis


class Evidence:
    """All sentences of some papers that state something: an order to the reader, or a word alone, bears nothing out.

    `vectors` has shape (len(passages), dimension) with rows of unit length, or is None without an `encode`.
    """

    def __init__(self, papers: Sequence[Paper], encode: Encode | None) -> None:
        self.papers = tuple(papers)
        self.encode = encode
        self._cosines: dict[str, Vectors] = {}
        self._vectors: Vectors | None = None
        self._encoding = threading.Lock()
        self.contexts = tuple(_context(paper.title, plain(paper.abstract).text) for paper in papers)
        self.names = frozenset().union(*(context.names for context in self.contexts))
        self.passages = tuple(
            passage
            for index, (paper, context) in enumerate(zip(papers, self.contexts, strict=True))
            for passage in _passages(index, paper, context.names)
        )

    @property
    def vectors(self) -> Vectors | None:
        if self.encode is None or not self.passages:
            return None
        with self._encoding:
            if self._vectors is None:
                self._vectors = self.encode([passage.text for passage in self.passages])
            return self._vectors

    def warm(self) -> None:
        """Take the passages apart and encode them on another thread, while a model is still thinking of its answer."""

        def work() -> None:
            with contextlib.suppress(Exception):  # it comes again where the vectors are needed
                _ = self.vectors, [passage.analysis for passage in self.passages]

        threading.Thread(target=work, name="warm evidence", daemon=True).start()

    @cached_property
    def stems(self) -> frozenset[str]:
        """All stems of all passages and titles, function words included."""
        found = (part for passage in self.passages for word in passage.analysis.words for part in word.parts)
        return frozenset(found).union(*(stems(paper.title) for paper in self.papers))

    @cached_property
    def lower(self) -> str:
        """The text of all passages and titles in lower case."""
        texts = [*(passage.text for passage in self.passages), *(paper.title for paper in self.papers)]
        return "\n".join(texts).lower()

    def is_title(self, text: str) -> bool:
        """Whether this is the title of one of the papers, or its part before or behind a colon."""
        ours = stems(text)
        parts = (part for paper in self.papers for part in (paper.title, *paper.title.split(":", 1)))
        return len(ours) >= _TITLE and any(stems(part) == ours for part in parts)

    def bearers(self, text: str) -> set[int]:
        """The papers that bear a name of this text; empty where it has none that any of them bears."""
        names = {_key(term.text) for term in named_terms(text)}
        return {paper for paper, context in enumerate(self.contexts) if names & context.names}

    def similarities(self, text: str) -> Vectors:
        """Cosine of `text` to every passage; zeros without an embedding. Remembered: a claim is asked about often."""
        if self.vectors is None or self.encode is None:
            return np.zeros(len(self.passages), dtype=np.float32)
        if text not in self._cosines:
            self._cosines[text] = self.vectors @ self.encode([text])[0]
        return self._cosines[text]

    def window(self, *places: int) -> Window:
        return Window(
            places, analyse(" ".join(self.passages[place].text for place in places), self.passages[places[0]].known)
        )

    def neighbours(self, place: int) -> list[tuple[int, int]]:
        """The pairs of a passage with the one before and the one after it in its abstract."""
        paper = self.passages[place].paper
        return [
            (first, first + 1)
            for first in (place - 1, place)
            if first >= 0 and first + 1 < len(self.passages)
            and self.passages[first].paper == self.passages[first + 1].paper == paper
            and self.passages[first].number + 1 == self.passages[first + 1].number
        ]  # fmt: skip


def _passages(index: int, paper: Paper, known: frozenset[str]) -> list[Passage]:
    readable = plain(paper.abstract)
    found = []
    for number, span in enumerate(sentences(readable.text)):
        text = readable.text[span.start : span.end]
        if not is_order(text) and not is_lone_word(text):
            found.append(Passage(index, number, *readable.original(span.start, span.end), text, known))
    return found


def is_lone_word(text: str) -> bool:
    """A name or noun that stands for a sentence: it says nothing without the question that it answers."""
    words = text.split()
    return len(words) == 1 and not words[0].lstrip("([~≈<>+-−").startswith(_DIGITS) and not has_cjk(text)


def is_fragment(text: str) -> bool:
    """A lone word, or names alone: an answer in a word or two, and no sentence."""
    words = re.findall(r"[^\s,;/&+]+", text.rstrip(".!?"))
    return is_lone_word(text) or (
        1 < len(words) <= _FRAGMENT
        and not has_cjk(text)
        and all(word in _JOINS or not word[0].islower() for word in words)
        and any(any(char.isupper() for char in word) for word in words)
        and re.search(r"[=<>≤≥±]", text) is None
    )


def own_names(paper: Paper) -> frozenset[str]:
    """The stems, joined by spaces, of the names that a paper introduces: in its abstract, or as its title's first."""
    return frozenset(_introduced(plain(paper.abstract).text) | _coined(paper.title))


@lru_cache(maxsize=512)
def _context(title: str, abstract: str) -> Context:
    names = {_key(token.text) for token in named_terms(f"{title}. {abstract}")}
    main = frozenset(_key(token.text) for token in named_terms(title)) | _coined(title)
    own = main | _introduced(abstract)
    return Context(frozenset(names), own, main, frozenset(stems(f"{title} {abstract}")))


def _introduced(abstract: str) -> set[str]:
    own: set[str] = set()
    for span in sentences(abstract):
        sentence = abstract[span.start : span.end]
        if found := _INTRODUCED.search(sentence):
            after = [token for token in named_terms(sentence) if token.start > found.start()]
            own.update(_key(token.text) for token in after[:2])
            passive = [token for token in named_terms(sentence) if token.start < found.start() <= 80]
            if re.match(r"(?:is|are|was)\s", sentence[max(0, found.start() - 3) : found.start()]):
                own.update(_key(token.text) for token in passive[:1])
        for match in _DEFINED.finditer(sentence):
            if not _OTHERS.search(sentence[: match.start()]):
                own.add(_key(match.group(2)))
                own.update(_key(word) for word in match.group(1).split() if not _ACRONYM.search(word))
    return own


def _key(name: str) -> str:
    return " ".join(stems(name))


def _coined(title: str) -> set[str]:
    """The name before a title's colon ("HiPO: …", "Expert Heads: …"), whole and in words."""
    head, colon, _ = title.partition(":")
    words = head.split()
    return {_key(head), *map(_key, words)} if colon and len(words) <= 3 else set()
