"""Calls to a model's server that can be given up at any moment, because their sockets are known.

The SDKs block in a socket until the server sends something, which may take minutes on a CPU. A call therefore runs in a
thread of its own; hanging up shuts the sockets that this thread opened, which ends it at once.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from rag.generation import faults
from rag.generation.models import Model

T = TypeVar("T")
_POLL = 0.05  # seconds between two looks at `stop`
_lines = threading.local()  # the line that this thread is on


class Line:
    """The sockets that one thread's calls open, so that another thread can shut them."""

    def __init__(self) -> None:
        self.html = False  # a web page came where a model was expected
        self.hung_up = threading.Event()
        self._sockets: list[socket.socket] = []

    def take(self) -> None:
        """From now on this thread's calls go over this line."""
        _lines.current = self

    def opened(self, connection: socket.socket) -> None:
        self._sockets.append(connection)
        if self.hung_up.is_set():
            _shut(connection)

    def hang_up(self) -> None:
        """Safe to call twice."""
        self.hung_up.set()
        for connection in list(self._sockets):
            _shut(connection)


def once(model: Model, call: Callable[[], T], *, seconds: float, stop: threading.Event | None = None) -> T | None:
    """What a blocking SDK call brings, or None where `stop` was set before it came.

    Raises ModelUnavailable after `seconds` and where the server fails.
    """
    line = Line()
    found: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        line.take()
        try:
            found.put((call(), None))
        except Exception as error:  # raised again below
            found.put((None, error))

    threading.Thread(target=run, name=f"ask {model.name}", daemon=True).start()
    deadline = time.monotonic() + seconds
    try:
        while not (stop and stop.is_set()):
            try:
                value, error = found.get(timeout=min(_POLL, max(deadline - time.monotonic(), 0.001)))
            except Empty:
                if time.monotonic() >= deadline:
                    raise faults.too_slow(model, seconds, begun=False) from None
                continue
            if error is not None:
                raise faults.explain(error, model, html=line.html) from error
            return value
        return None
    finally:
        line.hang_up()


def watch_request(request: Any) -> None:
    """HTTP event hook (httpx or httpx2): note the sockets that this thread's call opens.

    No connection is kept for a next call: each call's socket is its own, to be shut when the call is given up.
    """
    request.headers["connection"] = "close"
    line: Line | None = getattr(_lines, "current", None)
    if line is None:
        return

    def traced(event: str, info: dict[str, Any]) -> None:
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            connection = info["return_value"].get_extra_info("socket")
            if connection is not None:
                line.opened(connection)

    request.extensions["trace"] = traced


def watch_response(response: Any) -> None:
    """HTTP event hook: note whether a web page came where a model was expected."""
    line: Line | None = getattr(_lines, "current", None)
    if line is not None:
        line.html = "text/html" in response.headers.get("content-type", "")


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError, ValueError):  # already closed, or handed over to TLS
        connection.shutdown(socket.SHUT_RDWR)
