"""More papers than there are: real abstracts recombined to any number, and vectors for them without a model.

Sentences of real abstracts keep the full text's words and their frequencies as they are; blends of real vectors keep
the index about as hard as real ones would make it. Only the work of the embedding model is left out.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from rag.embedding import Embedder, Vectors
from rag.papers import Paper
from rag.text import sentences

_BLEND = 0.5  # of another paper's vector
_NOISE = 0.3  # length of a random direction on top


def vary(papers: Sequence[Paper], count: int) -> Iterator[Paper]:
    """`count` papers: first these as they are, then each again and again, its title numbered and every second sentence
    taken from another paper that changes with the turn."""
    split = [[paper.abstract[span.start : span.end] for span in sentences(paper.abstract)] for paper in papers]
    for number in range(count):
        turn, place = divmod(number, len(papers))
        paper = papers[place]
        if not turn:
            yield paper
            continue
        other = split[(place + turn * 37) % len(papers)]
        mixed = [other[i % len(other)] if i % 2 and other else text for i, text in enumerate(split[place])]
        yield replace(
            paper,
            id=f"varied:{turn}-{place}",
            doi="",
            url="",
            title=f"{paper.label} ({turn})",
            abstract=" ".join(mixed) or paper.abstract,
        )


class VaryingEmbedder(Embedder):
    """Passages get the vectors of the real papers' chunks, blended for the varied ones; only for writing a store.

    `titles` names the paper of each row of `vectors` (shape (chunks, dimension)), in order.
    """

    def __init__(self, titles: Sequence[str], vectors: Vectors, name: str, precision: str) -> None:
        super().__init__(name, precision)
        self._vectors = vectors
        self._rows: dict[str, list[int]] = {}
        for row, title in enumerate(titles):
            self._rows.setdefault(title, []).append(row)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimension), float32, rows of unit length; the same text gets the same vector.

        The first line of a text is the title of its paper; chunks of one paper follow each other.
        """
        seen: Counter[str] = Counter()
        return np.stack([self._vector(text, seen) for text in texts])

    def _vector(self, text: str, seen: Counter[str]) -> Vectors:
        title = text.split("\n", 1)[0].removeprefix("title: ")
        rows = self._rows.get(title)
        place = seen[title]
        seen[title] += 1
        if rows:
            real: Vectors = self._vectors[rows[place % len(rows)]]
            return real
        random = np.random.default_rng(zlib.crc32(text.encode()))
        rows = self._rows.get(title.rpartition(" (")[0]) or [int(random.integers(len(self._vectors)))]
        noise = random.standard_normal(self._vectors.shape[1], dtype=np.float32)
        blend = self._vectors[rows[place % len(rows)]] + _BLEND * self._vectors[random.integers(len(self._vectors))]
        blend += _NOISE * noise / np.linalg.norm(noise)
        return np.asarray(blend / np.linalg.norm(blend), dtype=np.float32)
