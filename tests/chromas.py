"""A real Chroma server for tests, and a gate before it that asks for a token, speaks TLS and keeps what it saw."""

from __future__ import annotations

import http.client
import json
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from servers import free_port, wait_for


class ChromaServer:
    """`chroma run` over a folder; it can be stopped and started again at the same address."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [str(Path(sys.executable).with_name("chroma")), "run", "--host", "127.0.0.1"]
        self._process = subprocess.Popen(
            [*command, "--port", str(self.port), "--path", str(self.folder)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for(f"{self.url}/api/v2/heartbeat")

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait(10)
            self._process = None


@contextmanager
def chroma_server(folder: Path) -> Iterator[ChromaServer]:
    server = ChromaServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()


class Gate(ThreadingHTTPServer):
    """Passes calls on to a Chroma server. `token`, where set, must stand in both headers that Chroma knows; `prefix`
    is the path it listens under; `identity`, where set, is what a key is said to give access to."""

    daemon_threads = True

    def __init__(self, behind: ChromaServer, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _GateHandler)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.behind = behind
        self.token = ""
        self.prefix = ""
        self.identity: dict[str, Any] | None = None
        self.calls: list[tuple[str, str, dict[str, Any]]] = []  # method, path, JSON body

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that does not trust the certificate hangs up."""


class _GateHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Gate

    def log_message(self, *_: Any) -> None:
        """Keep the test's output clean."""

    def _pass(self) -> None:
        gate = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        token = gate.token
        given = (self.headers.get("Authorization"), self.headers.get("X-Chroma-Token"))
        if token and given != (f"Bearer {token}", token):
            return self._send(401, b'{"error":"AuthError","message":"Unauthorized"}')
        if not self.path.startswith(gate.prefix):
            return self._send(404, b"<html><body>Not here</body></html>")
        path = self.path.removeprefix(gate.prefix)
        gate.calls.append((self.command, path, json.loads(body) if body else {}))
        if gate.identity is not None and path == "/api/v2/auth/identity":
            return self._send(200, json.dumps(gate.identity).encode())
        connection = http.client.HTTPConnection("127.0.0.1", gate.behind.port, timeout=20)
        connection.request(self.command, path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return self._send(answer.status, answer.read())

    do_GET = do_POST = do_PUT = do_DELETE = _pass

    def _send(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def gate_before(server: ChromaServer, tls: ssl.SSLContext | None = None) -> Iterator[Gate]:
    gate = Gate(server, tls)
    thread = threading.Thread(target=gate.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield gate
    finally:
        gate.shutdown()
        gate.server_close()
        thread.join(5)
