"""An ingest killed at any moment: the next one completes it, and nothing tells it from an undisturbed one."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from encoders import HashEmbedder
from test_store import edited, paper

from rag.papers import Paper
from rag.retrieval import Retriever
from rag.settings import load_settings
from rag.store import Store

TESTS = Path(__file__).parent
BEFORE = [paper(n) for n in range(420)]
AFTER = [*map(edited, BEFORE[:100]), *BEFORE[150:], *(paper(n) for n in range(420, 700))]
QUESTIONS = ["Topic5", "Topic160", "Topic300", "Topic650"]  # each the word of one paper alone

# Imports once, then runs each ingest in a child, so that twenty of them cost twenty ingests and not twenty starts.
TEMPLATE = """
import os, sys
import chromadb
from encoders import HashEmbedder
from rag.settings import load_settings
from rag.store import Store
from test_crash import AFTER
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        store = Store(load_settings(data=line.strip()), HashEmbedder())
        print(os.getpid(), flush=True)
        store.sync("list", AFTER)
        os._exit(0)
    print("ended", os.waitpid(child, 0)[1], flush=True)
"""


class Ingests:
    """Ingests of AFTER in processes of their own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", TEMPLATE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parent}"},
        )

    def run(self, data: Path, kill_after: float | None = None) -> float:
        """Ingest into `data`, killed after so many seconds where given; returns how long it ran."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(f"{data}\n")
        self._process.stdin.flush()
        child = int(self._process.stdout.readline())
        started = time.monotonic()
        if kill_after is not None:
            time.sleep(kill_after)
            with contextlib.suppress(ProcessLookupError):  # it was faster than the undisturbed one
                os.kill(child, signal.SIGKILL)
        word, code = self._process.stdout.readline().split()
        assert word == "ended"
        assert int(code) in (0, signal.SIGKILL)
        return time.monotonic() - started

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(10)


@pytest.fixture
def ingests() -> Iterator[Ingests]:
    running = Ingests()
    yield running
    running.close()


def state(store: Store) -> tuple[list[Paper], list[str], list[str]]:
    """The papers, the best answers and the chunks of a store.

    Cosines are left out: Chroma's index is approximate and not built the same way twice.
    """
    retriever = Retriever(store)
    answers = [retriever.search(question, top_k=1).hits[0].paper.id for question in QUESTIONS]
    return sorted(store.catalogue.papers(), key=lambda one: one.id), answers, sorted(store.collection.ids())


def test_killed_at_twenty_random_moments(tmp_path: Path, ingests: Ingests) -> None:
    start = tmp_path / "start"
    store = Store(load_settings(data=start), HashEmbedder())
    store.sync("list", BEFORE)
    store.close()
    calm = tmp_path / "calm"
    shutil.copytree(start, calm)
    whole = ingests.run(calm)
    store = Store(load_settings(data=calm), HashEmbedder())
    expected = state(store)
    assert {one.abstract for one in expected[0]} == {one.abstract for one in AFTER}
    store.close()

    chance = random.Random(20)
    outcomes = set()
    for trial in range(20):
        data = tmp_path / f"trial{trial}"
        shutil.copytree(start, data)
        ingests.run(data, kill_after=whole * (trial + chance.random()) / 20)
        store = Store(load_settings(data=data), HashEmbedder())
        served = {one.abstract for one in store.catalogue.papers()}
        assert served <= {one.abstract for one in [*BEFORE, *AFTER]}
        report = store.sync("list", AFTER)
        outcomes.add((report.finished > 0, report.new > 0))
        assert report.papers == len(AFTER), trial
        assert store.check().clean, trial
        assert state(store) == expected, trial
        store.close()
        shutil.rmtree(data)
    assert len(outcomes) > 1, f"the kills all hit the same phase: {outcomes}"
