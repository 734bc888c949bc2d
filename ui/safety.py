"""What every response carries and what no request may fetch."""

from __future__ import annotations

import ipaddress
import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NoReturn

import gradio as gr
from gradio import processing_utils

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

# Gradio compiles its templates with Function(), hence unsafe-eval; scripts in the page need the response's nonce,
# so that no attribute or element that text might smuggle in can run.
_POLICY = (
    "default-src 'self'; script-src 'self' 'nonce-{nonce}' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; media-src 'self' blob:; "
    "worker-src 'self' blob:; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
)
_SCRIPT = re.compile(rb"<script(?=[\s>])")
_ELSEWHERE = re.compile(r"/(?:gradio_api/)?(?:file[=/]|proxy=|deep_link|vibe)", re.IGNORECASE)
_REMOTE = re.compile(r"(?:file[=/]|proxy=)\s*\w+:/", re.IGNORECASE)


class Guard:
    """ASGI middleware: a content-security policy on every page, and no fetching of other hosts through this one."""

    def __init__(self, app: Application, script: str = "", style: str = "") -> None:
        self._app = app
        self._script, self._style = script, style

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _ELSEWHERE.search(scope["path"]) and _REMOTE.search(scope["path"]):
            await _forbid(send)
            return
        nonce = secrets.token_urlsafe(16)
        start: Message = {}
        body = bytearray()

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message["headers"], *_HEADERS]
                html = any(key.lower() == b"content-type" and b"text/html" in value for key, value in headers)
                headers.append((b"content-security-policy", _POLICY.format(nonce=nonce).encode()))
                message["headers"] = headers
                if html:
                    start.update(message)
                    return
            elif start:
                body.extend(message.get("body", b""))
                if not message.get("more_body"):
                    ours = f"<style>{self._style}</style><script>{self._script}</script></head>".encode()
                    page = bytes(body).replace(b"</head>", ours, 1) if self._script else bytes(body)
                    page = _SCRIPT.sub(f'<script nonce="{nonce}"'.encode(), page)
                    length = [(b"content-length", str(len(page)).encode())]
                    start["headers"] = [
                        pair for pair in start["headers"] if pair[0].lower() != b"content-length"
                    ] + length
                    await send(start)
                    await send({"type": "http.response.body", "body": page})
                return
            await send(message)

        await self._app(scope, receive, guarded)


class Names:
    """ASGI middleware: serves only those who asked for this machine, or for one of `names`.

    A site of somebody else can have its name point to 127.0.0.1 (DNS rebinding), and a browser then takes the app for a
    part of that site. It always sends the name, and an address or "localhost" cannot be made to point elsewhere.
    """

    def __init__(self, app: Application, names: frozenset[str] = frozenset()) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        host = next((value for key, value in scope.get("headers", ()) if key == b"host"), b"").decode("latin-1")
        name = _name_of(host)
        if scope["type"] != "http" or name in self._names or name == "localhost" or _is_address(name):
            await self._app(scope, receive, send)
            return
        await _forbid(send, b"this app does not know itself by that name; RAG_HOSTS lists the names it may be asked by")


def _name_of(host: str) -> str:
    """The name or address in a Host header, in lower case, without its port."""
    bare = host.strip().lower()
    return bare[1:].partition("]")[0] if bare.startswith("[") else bare.partition(":")[0].rstrip(".")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def fetch_nothing() -> None:
    """Keep Gradio from fetching what a call names by its address instead of uploading it.

    Any field of any call may hold such a "file", and Gradio would load it from the web (and look its name up at a
    public name server) before our code sees the call. There is no setting against that.
    """

    async def refuse(url: str) -> NoReturn:
        raise gr.Error("files are uploaded here, not fetched", print_exception=False)

    processing_utils.async_ssrf_protected_get = refuse


async def _forbid(send: Send, why: bytes = b"not served") -> None:
    await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain"), *_HEADERS]})
    await send({"type": "http.response.body", "body": why})
