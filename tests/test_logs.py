"""The log as it reaches stderr: of real commands and of a real `rag serve`, in both forms."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio_client import Client
from servers import free_port

from rag.errors import StoreError
from rag.logs import _Json, _Text, fields
from ui.requests import shown

ROOT = Path(__file__).parents[1]
KEY, PASSWORD, PROVIDERS = "sk-very-secret-key", "pass-not-to-be-told", "sk-of-the-provider"
QUESTION = "How much faster does TNT train on zanzibar hardware?"
RAG = [sys.executable, "-c", "from rag.cli import main; main()"]


def environment(data: Path, **variables: str) -> dict[str, str]:
    ours = {"PYTHONPATH": str(ROOT), "RAG_DATA": str(data), "RAG_LLM": "extractive", "RAG_LLM_KEY": KEY}
    return {**os.environ, **ours, "OPENAI_API_KEY": PROVIDERS, **variables}


def rag(*arguments: str, data: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*RAG, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment(data, **variables),
    )


def objects(text: str) -> list[dict[str, Any]]:
    """Each line as JSON, with what every line has."""
    found = [json.loads(line) for line in text.splitlines()]
    for one in found:
        assert {"time", "level", "logger", "message"} <= one.keys(), one
    return found


@contextmanager
def serving(data: Path, **variables: str) -> Iterator[tuple[str, Path]]:
    """A running `rag serve` and the file that its stderr goes to."""
    port, log = free_port(), data.parent / "stderr.log"
    command = [*RAG, "serve", "--port", str(port)]
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=stderr, env=environment(data, **variables), cwd=data.parent
        )
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                if httpx.get(f"{url}/healthz", timeout=30).status_code == 200:
                    break
            except httpx.TransportError:
                pass
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
        yield url, log
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)


def test_a_served_app_logs_requests_and_answers_as_json_and_nothing_that_was_said(sample_copy: Path) -> None:
    with serving(sample_copy, RAG_LOG="json", RAG_AUTH=f"ann:{PASSWORD}") as (url, log):
        assert httpx.get(f"{url}/config").status_code == 401
        client = Client(url, auth=("ann", PASSWORD), verbose=False)
        assert "TNT" in client.predict(QUESTION, api_name="/ask")["text"]
        with pytest.raises(Exception, match="is no year"):
            client.predict(question=QUESTION, year="zanzibar", api_name="/ask")
        httpx.get(f"{url}/no/such/page%0aforged", params={"q": QUESTION})
        httpx.get(f"{url}/gradio_api/file=/etc/{PASSWORD}")
    text = log.read_text(encoding="utf-8")
    told = objects(text)
    requests = [one for one in told if one["message"] == "request"]
    assert any({"method": "GET", "path": "/config", "status": 401}.items() <= one.items() for one in requests)
    assert all(isinstance(one["milliseconds"], float) for one in requests)
    assert any(one["path"] == "/gradio_api/queue/join" and one["status"] == 200 for one in requests)
    assert not any(one["path"] == "/healthz" and one["status"] == 200 for one in requests)
    answered = [one for one in told if one["message"] == "answered"]
    assert answered[0]["model"] == "extractive"
    assert answered[0]["supported"] >= 1
    assert any(one["message"] == "listening" and one["login"] is True for one in told)
    for secret in (KEY, PROVIDERS, PASSWORD, "zanzibar", "hardware", "baseline configuration"):
        assert secret not in text
    assert "%0Aforged" in text


def test_questions_are_logged_where_that_is_asked_for(sample_copy: Path) -> None:
    done = rag("ask", QUESTION, data=sample_copy, RAG_LOG="json", RAG_LOG_QUESTIONS="1")
    answered = [one for one in objects(done.stderr) if one["message"] == "answered"]
    assert answered[0]["question"] == QUESTION
    assert KEY not in done.stderr


def test_commands_log_what_they_did(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("Bleached coral reefs recover within 12 years.\n\nKelp feeds urchins here.")
    done = rag("ingest", "list.txt", data=tmp_path / "data", RAG_LOG="json")
    assert done.returncode == 0
    synced = next(one for one in objects(done.stderr) if one["message"] == "synced")
    assert (synced["new"], synced["removed"], synced["level"]) == (2, 0, "info")
    assert "coral" not in done.stderr
    asked = rag("ask", "How long do coral reefs take to recover?", data=tmp_path / "data", RAG_LOG="json")
    assert "12 years" in asked.stdout
    assert [one["message"] for one in objects(asked.stderr)] == ["answered"]
    assert "coral" not in asked.stderr


def test_errors_of_commands_are_json_too(tmp_path: Path) -> None:
    missing = rag("ingest", "no-such-list.csv", data=tmp_path / "data", RAG_LOG="json")
    assert missing.returncode == 2
    assert "no such file" in objects(missing.stderr)[0]["message"]
    unfit = rag("sources", data=tmp_path / "data", RAG_LOG="json", RAG_TOP_K="many")
    assert unfit.returncode == 2
    told = objects(unfit.stderr)[0]
    assert (told["level"], "RAG_TOP_K" in told["message"], "rag config" in told["hint"]) == ("error", True, True)


def test_what_libraries_print_and_what_crashes_is_json_too(tmp_path: Path) -> None:
    program = (
        "import sys, threading, warnings, logging; from rag.logs import logged_settings; logged_settings()\n"
        "print('printed by a library', file=sys.stderr)\n"
        "warnings.warn('a warning')\n"
        "logging.getLogger('uvicorn.error').error('from a server')\n"
        "thread = threading.Thread(target=lambda: 1 / 0); thread.start(); thread.join()\n"
        f"raise ValueError('{QUESTION} {KEY}')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment(tmp_path / "data", RAG_LOG="json"),
    )
    assert done.returncode == 1
    told = objects(done.stderr)
    assert [one.get("error", one["message"]) for one in told if one["logger"] != "py.warnings"] == [
        "printed by a library",
        "from a server",
        "ZeroDivisionError",
        "ValueError",
    ]
    assert any("a warning" in one["message"] for one in told)
    assert told[-1]["places"]
    assert "zanzibar" not in done.stderr
    assert KEY not in done.stderr


def test_the_default_is_words_and_quiet(sample_copy: Path) -> None:
    done = rag("ask", QUESTION, data=sample_copy)
    assert (done.returncode, done.stderr) == (0, "")
    failed = rag("ingest", "no-such-list.csv", data=sample_copy)
    assert failed.stderr.startswith("rag: no-such-list.csv: no such file")


def record(message: str, *arguments: object, error: BaseException | None = None, **values: object) -> logging.LogRecord:
    info = (type(error), error, None) if error else None
    made = logging.LogRecord("rag.x", logging.WARNING, "x.py", 1, message, arguments, info)  # type: ignore[arg-type]
    made.__dict__.update(fields(**values))
    return made


def test_secrets_are_masked_wherever_they_stand() -> None:
    secret = 'se"cr\net'
    for form in (_Json([secret], False), _Text([secret], False)):
        for made in (
            record("with %s in it", secret),
            record("beside", value=secret),
            record("failed", error=StoreError(f"refused {secret}")),
        ):
            line = form.format(made)
            assert "***" in line
            assert secret not in line
            assert "se\\" not in line


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(28, "No space left on device"), "OSError: [Errno 28] No space left on device"),
        (StoreError("the store is locked"), "StoreError: the store is locked"),
        (ValueError("near 'zanzibar'"), "ValueError"),
    ],
)
def test_an_exceptions_message_is_told_where_it_cannot_quote(error: Exception, told: str) -> None:
    assert json.loads(_Json([], False).format(record("failed", error=error)))["error"] == told
    assert str(error) in json.loads(_Json([], True).format(record("failed", error=error)))["error"]


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/config", "/config"),
        ("/gradio_api/file=/home/ann/list.csv", "/gradio_api/file="),
        ("/a\n{}", "/a%0A%7B%7D"),
        ("/é\x1b[31m", "/%C3%A9%1B%5B31m"),
        ("/" + "x" * 500, "/" + "x" * 199),
    ],
)
def test_paths_in_the_log(path: str, told: str) -> None:
    assert shown(path) == told
