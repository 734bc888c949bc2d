"""Many askers at once against a running app, over its HTTP API as programs use it."""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from eval.dataset import load
from eval.speed import child_environment
from eval.systems import SAMPLE
from rag.errors import InputError

_START_SECONDS = 120
_BUSY = 503


@dataclass(frozen=True, slots=True)
class Call:
    """One question: when it was sent, taken into the line (the app said so) and answered; "" or what went wrong."""

    sent: float
    taken: float
    done: float
    failure: str


@dataclass(frozen=True, slots=True)
class Load:
    """What a number of simultaneous askers met. Seconds from sending a question to its whole answer.

    `overtaken` is the most questions that were taken into the line later than some question and answered before it;
    `overtaken_outside` the same from when they were sent, before the app knew of them.
    """

    askers: int
    questions: int
    rate: float
    median: float
    p95: float
    longest: float
    overtaken: int
    overtaken_outside: int
    busy: int
    failures: tuple[str, ...]


def measure(url: str, askers: int, each: int, *, seconds: float = 600) -> Load:
    """`askers` ask at once, each `each` questions of the sample set one after the other."""
    asked = [item.question for item in load("sample").questions if not item.history]

    def ask_all(asker: int) -> list[Call]:
        with httpx.Client(base_url=f"{url.rstrip('/')}/gradio_api/call/", timeout=seconds) as client:
            return [_ask(client, asked[(asker * each + turn) % len(asked)]) for turn in range(each)]

    started = time.perf_counter()
    with ThreadPoolExecutor(askers) as pool:
        calls = [call for some in pool.map(ask_all, range(askers)) for call in some]
    took = time.perf_counter() - started
    answered = [call for call in calls if not call.failure]
    waits = sorted(call.done - call.sent for call in answered) or [0.0]
    return Load(
        askers=askers,
        questions=len(calls),
        rate=len(answered) / took,
        median=statistics.median(waits),
        p95=waits[int(0.95 * (len(waits) - 1))],
        longest=waits[-1],
        overtaken=overtaken([(call.taken, call.done) for call in answered]),
        overtaken_outside=overtaken([(call.sent, call.done) for call in answered]),
        busy=sum(call.failure == "busy" for call in calls),
        failures=tuple(call.failure for call in calls if call.failure not in ("", "busy")),
    )


def table(loads: Sequence[Load]) -> str:
    """Markdown."""
    lines = [
        "| askers | questions | answers/s | median, s | p95, s | longest, s "
        "| overtaken in line | from sending | busy | failed |",
        "|---" * 10 + "|",
    ]
    lines += [
        f"| {one.askers} | {one.questions} | {one.rate:.1f} | {one.median:.2f} | {one.p95:.2f} | {one.longest:.2f} "
        f"| {one.overtaken} | {one.overtaken_outside} | {one.busy} | {len(one.failures)} |"
        for one in loads
    ]
    return "\n".join([*lines, *(f"failed: {what}" for one in loads for what in sorted(set(one.failures)))])


@contextmanager
def served(llm: str) -> Iterator[str]:
    """The URL of an app over the sample, in a process of its own; raises InputError where it does not start."""
    with tempfile.TemporaryDirectory(prefix="load-", ignore_cleanup_errors=True) as data:
        environment = {**child_environment(), "RAG_DATA": data, "RAG_LLM": llm}
        rag = [sys.executable, "-c", "from rag.cli import main; main()"]
        made = subprocess.run(
            [*rag, "ingest", str(SAMPLE)], env=environment, capture_output=True, text=True, check=False
        )
        if made.returncode:
            raise InputError(f"the sample could not be ingested: {made.stderr.strip()[-400:]}")
        log = Path(data, "serve.log")
        with log.open("w") as sink:
            app = subprocess.Popen(
                [*rag, "serve", "--port", "0"], env=environment, stdout=sink, stderr=subprocess.STDOUT, text=True
            )
        try:
            yield address_of(app, log)
        finally:
            app.terminate()
            app.wait(30)


def address_of(app: subprocess.Popen[str], log: Path) -> str:
    """Where the app says that it is; raises InputError where it ends before it does, or says nothing for too long."""
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until and app.poll() is None:
        if found := re.search(r"http://127\.0\.0\.1:\d+", log.read_text()):
            return found[0]
        time.sleep(0.2)
    raise InputError(f"the app did not start: {log.read_text().strip()[-400:]}")


def _ask(client: httpx.Client, question: str) -> Call:
    sent = taken = time.perf_counter()
    try:
        joined = client.post("ask", json={"data": [question, 0, "", "", "", "", "", None]})
        if joined.status_code == _BUSY:
            return Call(sent, sent, time.perf_counter(), "busy")
        taken = time.perf_counter()
        told = client.get(f"ask/{joined.raise_for_status().json()['event_id']}").raise_for_status().text
        kind, data = told.strip().split("\n\n")[-1].split("\n", 1)
        answer = json.loads(data.removeprefix("data: "))[0] if kind == "event: complete" else {}
        right = answer.get("question") == question and (answer["sentences"] or answer["refusal"])
        failure = "" if right else f"no answer: {told[-200:]!r}"
    except (httpx.HTTPError, ValueError, KeyError) as error:
        failure = f"{type(error).__name__}: {error}"
    return Call(sent, taken, time.perf_counter(), failure)


def overtaken(calls: Sequence[tuple[float, float]]) -> int:
    """The most (begin, end) pairs that began after one and ended before it."""
    return max((sum(one[0] > call[0] and one[1] < call[1] for one in calls) for call in calls), default=0)
