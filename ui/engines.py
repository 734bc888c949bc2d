"""The engine, opened when it is first needed: the page is there at once, and stays there when the store is not."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from rag.errors import RagError

if TYPE_CHECKING:
    from rag.engine import Engine


class Engines:
    """Holds one engine, or makes it; a failed opening is told, and tried again by the next who asks."""

    def __init__(self, engine_or_factory: Engine | Callable[[], Engine]) -> None:
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._factory: Callable[[], Engine] | None = None
        if callable(engine_or_factory):
            self._factory = engine_or_factory
        else:
            self._engine = engine_or_factory

    def get(self) -> Engine:
        """The engine. Raises RagError with the reason if it cannot be opened."""
        with self._lock:
            if self._engine is None:
                if self._factory is None:
                    raise RagError("there is no engine")
                self._engine = self._factory()
            return self._engine

    def warm(self) -> None:
        """Open it in the background and let it search once, so that its models are there for the first question."""
        threading.Thread(target=self._try, daemon=True).start()

    def _try(self) -> None:
        try:
            self.get().search("warm up", top_k=1)
        except RagError:  # the first question says why
            return
