"""What is embedded: sentences of an abstract packed up to the model's window, title first."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag.markup import plain_text
from rag.papers import Paper
from rag.text import Span, sentences

_WRAPPING_TOKENS = 2
_TITLE_SHARE = 3  # a title may take up to a third of the window
_CHARACTERS_PER_TOKEN = 2  # where a sentence alone exceeds the window and must be cut


@dataclass(frozen=True, slots=True)
class Chunk:
    """`text` is what is embedded; `start` and `end` bound its part of the plain abstract (title excluded)."""

    text: str
    start: int
    end: int


def chunk_papers(
    papers: Sequence[Paper], count_tokens: Callable[[Sequence[str]], list[int]], window: int
) -> list[list[Chunk]]:
    """The chunks of each paper; every sentence is in exactly one, and the chunks of a paper are of similar length.

    `count_tokens` gives the tokens of each text and is called once for all; `window` is in tokens.
    """
    titles = [plain_text(paper.title) for paper in papers]
    bodies = [plain_text(paper.abstract) for paper in papers]
    spans = [_bounded(sentences(body), window) for body in bodies]
    texts = titles + [body[span.start : span.end] for body, some in zip(bodies, spans, strict=True) for span in some]
    counts = iter(count_tokens(texts))
    title_counts = [next(counts) for _ in titles]
    return [
        _pack(title, body, some, [next(counts) for _ in some], window - _WRAPPING_TOKENS, in_title)
        for title, body, some, in_title in zip(titles, bodies, spans, title_counts, strict=True)
    ]


def _bounded(spans: Sequence[Span], window: int) -> list[Span]:
    """The sentences, with those that cannot fit the window cut into parts that can."""
    size = (window - window // _TITLE_SHARE) * _CHARACTERS_PER_TOKEN
    return [Span(start, min(start + size, span.end)) for span in spans for start in range(span.start, span.end, size)]


def _pack(title: str, body: str, spans: list[Span], counts: list[int], window: int, in_title: int) -> list[Chunk]:
    if in_title > window // _TITLE_SHARE:
        title, in_title = title[: window // _TITLE_SHARE * _CHARACTERS_PER_TOKEN], window // _TITLE_SHARE
    room = window - in_title
    groups: list[list[Span]] = []
    filled, left, target = 0, sum(counts), 0.0
    for span, count in zip(spans, counts, strict=True):
        if not groups or filled + count > room or filled + count / 2 > target:
            groups.append([])
            filled = 0
            # equal parts of what is left, since a chunk with one last sentence alone says little about the paper
            target = left / max(1, math.ceil(left / room))
        groups[-1].append(span)
        filled += count
        left -= count
    return [
        Chunk(f"{title}\n{body[group[0].start : group[-1].end]}".strip(), group[0].start, group[-1].end)
        for group in groups
    ] or [Chunk(title, 0, 0)]
