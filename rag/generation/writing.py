"""The model's words on their way to sentences, each with the sources that the model cited for it."""

from __future__ import annotations

from collections.abc import Sequence

from rag.generation.citations import Cited
from rag.grounding import Piece, SentenceStream

_MARKER_REACH = 2  # characters after a sentence within which a marker is still its own


class Writing:
    """Feed text and markers in the order they come; take the sentences that are finished.

    A sentence comes with the positions (from 0) of the sources that were cited in it or right after it.
    """

    def __init__(self) -> None:
        self._begun = 0  # characters of text before the first sentence
        self._fed = 0
        self.reset()

    def reset(self) -> None:
        """Forget what was written so far."""
        self._sentences = SentenceStream()
        self._cited: list[Cited] = []
        self._taken = 0  # characters that became sentences
        self._begun = self._fed

    def cite(self, marker: Cited) -> None:
        self._cited.append(marker)

    def feed(self, text: str) -> list[tuple[Piece, list[int]]]:
        """The sentences that `text` finishes."""
        self._fed += len(text)
        return self._with_citations(self._sentences.feed(text))

    def finish(self) -> list[tuple[Piece, list[int]]]:
        """What is left at the end."""
        return self._with_citations(self._sentences.finish())

    def _with_citations(self, pieces: Sequence[Piece]) -> list[tuple[Piece, list[int]]]:
        found = []
        for piece in pieces:
            self._taken += len(piece.lead) + len(piece.text)
            reach = self._begun + self._taken + _MARKER_REACH
            mine = [marker for marker in self._cited if marker.position <= reach]
            self._cited = self._cited[len(mine) :]
            found.append((piece, [number - 1 for marker in mine for number in marker.numbers]))
        return found
