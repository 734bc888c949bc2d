"""Many askers at once, measured against a real app in a process of its own, and against servers that fail."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from eval.cli import main
from eval.load import Load, address_of, measure, overtaken, served, table
from rag.errors import InputError


@pytest.fixture
def refusing() -> Iterator[tuple[str, list[int]]]:
    """A server that answers with the statuses put into the list, one after another, and no event."""
    statuses: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(statuses.pop(0))
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}", statuses
    server.shutdown()
    server.server_close()


@pytest.mark.nightly
def test_an_app_of_its_own_answers_several_at_once() -> None:
    with served("extractive") as url:
        load = measure(url, askers=4, each=2)
    assert load.questions == 8
    assert load.failures == ()
    assert load.busy == 0
    assert load.rate > 0
    assert load.median <= load.p95 <= load.longest
    assert load.overtaken < 4


def test_busy_and_broken_are_told_apart(refusing: tuple[str, list[int]]) -> None:
    url, statuses = refusing
    statuses += [503, 500, 200]
    load = measure(url, askers=1, each=3)
    assert load.busy == 1
    assert len(load.failures) == 2
    assert "500" in load.failures[0]
    assert "KeyError" in load.failures[1]  # no event was given
    assert load.rate == 0


def test_overtaking_counts_who_came_later_and_was_answered_before() -> None:
    assert overtaken([(0.0, 9.0), (1.0, 3.0), (2.0, 8.0), (3.0, 10.0)]) == 2
    assert overtaken([(0.0, 1.0), (0.5, 2.0)]) == 0
    assert overtaken([]) == 0


def test_an_app_that_cannot_run_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RAG_TOP_K", "many")
    with pytest.raises(InputError, match="RAG_TOP_K"), served("extractive"):
        pass
    log = tmp_path / "serve.log"
    log.write_text("rag: the port is taken")
    with subprocess.Popen([sys.executable, "-c", ""], text=True) as ended:
        ended.wait()
        with pytest.raises(InputError, match="did not start: rag: the port is taken"):
            address_of(ended, log)


def test_the_table_names_what_failed() -> None:
    load = Load(20, 60, 30.0, 0.4, 0.9, 1.2, 3, 7, 0, ("TimeoutException: slow",))
    text = table([load])
    assert "| 20 | 60 | 30.0 | 0.40 | 0.90 | 1.20 | 3 | 7 | 0 | 1 |" in text
    assert "failed: TimeoutException: slow" in text


@pytest.mark.parametrize("askers", ["0", "-1", "many", "2,"])
def test_askers_are_whole_numbers(askers: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["load", "http://127.0.0.1:9", "--askers", askers])
    assert ended.value.code == 2
    assert "no whole number from 1 on" in capsys.readouterr().err
