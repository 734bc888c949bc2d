"""What the papers of a store hold, for reading the questions of a conversation."""

from __future__ import annotations

from rag.fulltext import FullText
from rag.grounding.evidence import own_names
from rag.store import Store
from rag.text import stems

_MOST = 50  # papers that are looked at for a name


class Library:
    """The `Shelf` (rag.ellipsis) over one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def holds(self, words: str) -> bool:
        return bool(FullText(self._store.catalogue).holding(words, 1))

    def is_own(self, name: str) -> bool:
        """Whether a paper introduces what bears this name, or has it in its title."""
        ids = FullText(self._store.catalogue).holding(name, _MOST)
        key = " ".join(stems(name))
        papers = self._store.catalogue.papers(ids) if ids else ()
        return any(name in paper.title or (key in own_names(paper) and name in paper.abstract) for paper in papers)
