"""`GET /healthz`: can this app answer a question now? For container engines and load balancers, so without a login.

What it says holds nothing of the library: no title, no path, no address. The log has the whole reason.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable, MutableMapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from rag.doctor import check_alive
from rag.errors import EmbeddingUnavailable, RagError, ServerUnavailable, StoreDamaged, StoreLocked, StoreMismatch
from ui.engines import Engines
from ui.safety import Application, Message, Receive, Send

log = logging.getLogger(__name__)

PATH = "/healthz"
PATIENCE = 5.0  # seconds for one look; while models load at the start it takes longer
REMEMBERED = 2.0  # seconds that a look counts: who asks more often than that costs nothing

_REASONS: tuple[tuple[type[RagError], str], ...] = (
    (StoreLocked, "the store is locked by another process"),
    (StoreMismatch, "the store was made by another version or another embedding model"),
    (StoreDamaged, "the store is damaged"),
    (EmbeddingUnavailable, "the embedding model cannot be loaded"),
    (ServerUnavailable, "the Chroma server does not answer"),
)


@dataclass(frozen=True, slots=True)
class Health:
    """What one look found; `reason` is one line, empty when all is well."""

    reason: str = ""
    seconds: float = 0.0

    @property
    def well(self) -> bool:
        return not self.reason


class Heart:
    """Looks at the engine: one look at a time, shared by all who ask meanwhile."""

    def __init__(self, look: Callable[[], None]) -> None:
        self._look = look
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="health")
        self._running: Future[Health] | None = None
        self._ended = 0.0

    def ask(self) -> Future[Health]:
        """The look that is going on, or that ended just now, or a new one."""
        with self._lock:
            running = self._running
            if running is None or (running.done() and time.monotonic() - self._ended > REMEMBERED):
                running = self._running = self._pool.submit(self._examine)
            return running

    def _examine(self) -> Health:
        started = time.monotonic()
        reason = ""
        try:
            self._look()
        except RagError as error:
            reason = next((said for kind, said in _REASONS if isinstance(error, kind)), "the store cannot be opened")
            log.warning("not healthy: %s", error.message)
        except Exception as error:  # whatever it is, the app cannot answer, and the one who asks has to know
            reason = f"the engine failed ({type(error).__name__})"
            log.warning("not healthy", exc_info=error)
        self._ended = time.monotonic()
        return Health(reason, self._ended - started)


def heart_of(engines: Engines) -> Heart:
    """Looks at the store and the embedding model of the app's engine, and opens it where that has not been done."""
    return Heart(lambda: check_alive(engines.get().store))


class Healthz:
    """ASGI middleware that answers `GET /healthz` itself: 200, or 503 with the reason."""

    def __init__(self, app: Application, heart: Heart) -> None:
        self._app = app
        self._heart = heart

    async def __call__(self, scope: MutableMapping[str, object], receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != PATH or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        looking = asyncio.wrap_future(self._heart.ask())
        try:
            found = await asyncio.wait_for(asyncio.shield(looking), PATIENCE)
        except TimeoutError:
            found = Health(f"no answer within {PATIENCE:g} s", PATIENCE)
        status = "ok" if found.well else "unavailable"
        said = {
            "status": status,
            **({} if found.well else {"reason": found.reason}),
            "seconds": round(found.seconds, 3),
        }
        body = json.dumps(said).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"no-store"),
        ]
        start: Message = {"type": "http.response.start", "status": 200 if found.well else 503, "headers": headers}
        await send(start)
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
