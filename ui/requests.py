"""A line of the log for every request: method, path, status and how long it took. Nothing of what was asked."""

from __future__ import annotations

import logging
import time
from collections.abc import MutableMapping
from urllib.parse import quote

from rag.logs import fields
from ui import health
from ui.safety import Application, Message, Receive, Send

log = logging.getLogger(__name__)

_LONGEST = 200  # characters of a path


class RequestLog:
    """ASGI middleware around all others."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: MutableMapping[str, object], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.monotonic()
        status = 500  # what the server answers when nothing was sent

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            if status != 200 or scope["path"] != health.PATH:  # asked twice a minute, for ever
                took = round((time.monotonic() - started) * 1000, 1)
                said = fields(method=scope["method"], path=shown(str(scope["path"])), status=status, milliseconds=took)
                log.info("request", extra=said)


def shown(path: str) -> str:
    """A path as it may stand in a log: without its query, the file it asks for, or anything that breaks a line."""
    head, sign, _ = path.partition("=")
    return quote(f"{head}{sign}"[:_LONGEST], safe="/=")
