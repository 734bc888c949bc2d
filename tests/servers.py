"""Real servers for tests: a small language model, the Ollama protocol in front of it, and one that misbehaves.

`local_model` and `ollama` are fixtures (known everywhere through conftest.py). They start what they need on free
ports, stop it at the end, and skip where the tools are not at hand. `FaultyServer` speaks four protocols over real
connections and does to a call whatever its script says.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
OLLAMA_MODEL = "qwen2.5:0.5b"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def tool(name: str) -> Path:
    """A script of the shared folder; skips the test where it is missing."""
    path = Path(os.environ.get("RAG_SHARED", ROOT.parent / "shared")) / "tools" / name
    if not path.is_file():
        pytest.skip(f"{name} is not here ({path.parent}); set RAG_SHARED to the folder above it")
    return path


@contextmanager
def running_model(size: str) -> Iterator[str]:
    """Base URL of a real model's OpenAI-compatible server."""
    script, port = tool("local_llm.sh"), str(free_port())
    started = subprocess.run(["bash", script, "start", size, port], capture_output=True, text=True, timeout=600)
    if started.returncode:
        pytest.skip(f"the {size} model did not start: {started.stderr.strip()[-300:]}")
    try:
        yield started.stdout.strip().splitlines()[-1]
    finally:
        subprocess.run(["bash", script, "stop", port], check=False, timeout=60)


@pytest.fixture(scope="session")
def local_model() -> Iterator[str]:
    """Base URL (…/v1) of the real 0.5b model."""
    with running_model("0.5b") as url:
        yield url


@pytest.fixture(scope="session")
def ollama(local_model: str) -> Iterator[str]:
    """URL of an Ollama-protocol server that has OLLAMA_MODEL, answered by the real 0.5b model."""
    port = free_port()
    command = [sys.executable, str(tool("ollama_bridge.py")), "--port", str(port), "--upstream", local_model]
    process = subprocess.Popen([*command, "--models", OLLAMA_MODEL], stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{url}/api/version")
        yield url
    finally:
        process.terminate()
        process.wait(timeout=10)


@pytest.fixture
def faulty() -> Iterator[FaultyServer]:
    """A server that does to its chat calls what the test puts in `script`."""
    server = FaultyServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


class FaultyServer(ThreadingHTTPServer):
    """Has `models` (Ollama's names) and streams `words`; `script` holds what happens to each chat call in turn.

    "words" answers; "hang", "pause" (hangs after the first word), "reset", "break" (reset after the first word),
    "cut" (ends after the first word as if all were said), "html", "rubbish", "garble" (rubbish after the first word),
    "empty", "error" (told in mid-stream), "blanks" (words without a letter, for ever), "endless" (words for ever), or
    a status code. The last step stays for all later calls. `calls` keeps their bodies and headers, `hung_up` is set
    when a client leaves a call that hangs.

    A call that asks for log-probabilities is no part of the script: `odds` makes them of the prompt (a dict by token),
    or gives a status code, or "hang"; without it the reply is "Yes" and nothing of its odds. `asked` keeps the prompts.
    """

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.models: dict[str, dict[str, Any]] = {"small:latest": {"capabilities": ["completion"]}}
        self.words = ["One ", "two ", "three."]
        self.script: list[str | int] = ["words"]
        self.detail = "something went wrong"
        self.retry_after = ""
        self.odds: Callable[[str], dict[str, float] | int | str] | None = None
        self.asked: list[str] = []
        self.calls: list[tuple[dict[str, Any], dict[str, str]]] = []
        self.times: list[float] = []
        self.hung_up = threading.Event()
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are what is tested."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FaultyServer

    def log_message(self, *_: Any) -> None:
        """Keep the test's output clean."""

    def do_GET(self) -> None:
        if self.path == "/api/tags":
            details = [
                {"name": name, "details": facts.get("details", {})} for name, facts in self.server.models.items()
            ]
            return self._json(200, {"models": details})
        return self._json(404, {"error": "not found"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if self.path == "/api/show":
            facts = self.server.models.get(body["model"]) or self.server.models.get(f"{body['model']}:latest")
            return self._json(200, facts) if facts is not None else self._json(404, {"error": "model not found"})
        if body.get("logprobs"):
            return self._token(body)
        self.server.calls.append((body, {key.lower(): value for key, value in self.headers.items()}))
        self.server.times.append(time.monotonic())
        script = self.server.script
        step = script.pop(0) if len(script) > 1 else script[0]
        if isinstance(step, int):
            return self._json(
                step, {"error": {"message": self.server.detail}}, {"Retry-After": self.server.retry_after}
            )
        return getattr(self, f"_{step}")()

    def _token(self, body: dict[str, Any]) -> None:
        """One token, with its alternatives where the server tells them."""
        prompt = body["messages"][-1]["content"]
        self.server.asked.append(prompt)
        told = self.server.odds(prompt) if self.server.odds else {}
        if told == "hang":
            return self._hang()
        if isinstance(told, int):
            return self._json(told, {"error": {"message": self.server.detail}})
        assert isinstance(told, dict)
        first = max(told, key=lambda token: told[token]) if told else "Yes"
        top = [{"token": token, "logprob": logprob} for token, logprob in told.items()]
        tokens = [{"token": first, "logprob": told[first], "top_logprobs": top}] if told else []
        if self.path == "/api/chat":
            return self._json(200, {**_ollama(first, done=True), **({"logprobs": tokens} if tokens else {})})
        message = {"role": "assistant", "content": first}
        choice = {"index": 0, "message": message, "finish_reason": "length"}
        choice["logprobs"] = {"content": [{**token, "bytes": None} for token in tokens]} if tokens else None
        return self._json(200, {**_openai(choices=[choice]), "object": "chat.completion"})

    def _words(self) -> None:
        self._begin()
        for word in self.server.words:
            self._say(word)
        self._end()

    def _hang(self) -> None:
        self.connection.settimeout(0.05)
        while not self.server.closing.is_set():
            try:
                if self.connection.recv(1) == b"":
                    self.server.hung_up.set()
                    break
            except TimeoutError:
                continue
            except OSError:
                self.server.hung_up.set()
                break
        self.close_connection = True

    def _pause(self) -> None:
        self._begin()
        self._say(self.server.words[0])
        self._hang()

    def _reset(self) -> None:
        linger = (1).to_bytes(4, sys.byteorder) + (0).to_bytes(4, sys.byteorder)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()
        self.close_connection = True

    def _break(self) -> None:
        self._begin()
        self._say(self.server.words[0])
        time.sleep(0.1)
        self._reset()

    def _cut(self) -> None:
        self._begin()
        self._say(self.server.words[0])
        self.wfile.write(b"0\r\n\r\n")

    def _error(self) -> None:
        self._begin()
        self._say(self.server.words[0])
        self._chunk(json.dumps({"error": self.server.detail}) + "\n")
        self.wfile.write(b"0\r\n\r\n")

    def _html(self) -> None:
        self._send(200, b"<!doctype html><html><body><h1>Welcome to the router</h1></body></html>", "text/html")

    def _rubbish(self) -> None:
        self._send(200, b"\x00\xff{{{ not json\n\n", "application/octet-stream")

    def _garble(self) -> None:
        self._begin()
        self._say(self.server.words[0])
        self._chunk("data: {{{ \x00 not json\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _blanks(self) -> None:
        self._repeat("")

    def _endless(self) -> None:
        self._repeat("and so on " * 100)

    def _repeat(self, word: str) -> None:
        self._begin()
        with contextlib.suppress(OSError):
            while not self.server.closing.is_set():
                self._say(word)
                time.sleep(0 if word else 0.01)
        self.server.hung_up.set()
        self.close_connection = True

    def _empty(self) -> None:
        self._send(200, b"", "application/x-ndjson")

    # ── the four protocols ──

    def _begin(self) -> None:
        self.send_response(200)
        kind = "application/x-ndjson" if self.path.startswith("/api/") else "text/event-stream"
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if self.path.endswith("/messages"):
            usage = {"input_tokens": 11, "output_tokens": 1}
            start = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
            self._event("message_start", {"message": {**start, "stop_reason": None, "stop_sequence": None}})
            self._event("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}})

    def _say(self, word: str) -> None:
        if self.path == "/api/chat":
            return self._chunk(json.dumps(_ollama(word, done=False)) + "\n")
        if self.path.endswith("/messages"):
            return self._event("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": word}})
        if "streamGenerateContent" in self.path:
            return self._data({"candidates": [{"content": {"parts": [{"text": word}], "role": "model"}, "index": 0}]})
        return self._data(_openai(choices=[{"index": 0, "delta": {"content": word}, "finish_reason": None}]))

    def _end(self) -> None:
        if self.path == "/api/chat":
            counts = {"prompt_eval_count": 11, "eval_count": 3, "done_reason": "stop"}
            self._chunk(json.dumps({**_ollama("", done=True), **counts}) + "\n")
        elif self.path.endswith("/messages"):
            self._event("content_block_stop", {"index": 0})
            delta = {"stop_reason": "end_turn", "stop_sequence": None}
            self._event("message_delta", {"delta": delta, "usage": {"output_tokens": 3}})
            self._event("message_stop", {})
        elif "streamGenerateContent" in self.path:
            content = {"parts": [{"text": ""}], "role": "model"}
            usage = {"promptTokenCount": 11, "candidatesTokenCount": 3, "totalTokenCount": 14}
            last = {"content": content, "finishReason": "STOP", "index": 0}
            self._data({"candidates": [last], "usageMetadata": usage})
        else:
            self._data(_openai(choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}]))
            usage = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
            self._data(_openai(choices=[], usage=usage))
            self._chunk("data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _event(self, kind: str, fields: dict[str, Any]) -> None:
        self._chunk(f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n")

    def _data(self, fields: dict[str, Any]) -> None:
        self._chunk(f"data: {json.dumps(fields)}\n\n")

    def _chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _json(self, code: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        self._send(code, json.dumps(body).encode(), "application/json", headers)

    def _send(self, code: int, data: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def _ollama(word: str, *, done: bool) -> dict[str, Any]:
    message = {"role": "assistant", "content": word}
    return {"model": "small", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": done}


def _openai(**fields: Any) -> dict[str, Any]:
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", **fields}


def wait_for(url: str, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
