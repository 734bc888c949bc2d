"""Whatever is killed at any moment is completed by the next, and nothing tells it from what was undisturbed."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from encoders import HashEmbedder
from test_store import edited, paper

from rag.chunks import Chunk
from rag.doctor import describe
from rag.errors import StoreDamaged
from rag.papers import Paper
from rag.retrieval import Retriever
from rag.settings import load_settings
from rag.store import Store

TESTS = Path(__file__).parent
BEFORE = [paper(n) for n in range(420)]
AFTER = [*map(edited, BEFORE[:100]), *BEFORE[150:], *(paper(n) for n in range(420, 700))]
QUESTIONS = ["Topic5", "Topic20", "Topic2010", "Topic2030"]  # each the word of one paper alone

# Imports once, then runs each operation in a child: twenty of them cost twenty operations and not twenty starts.
TEMPLATE = """
import os, sys
import chromadb
from encoders import HashEmbedder
from rag.settings import load_settings
from rag.store import Store
from test_crash import OPERATIONS
for line in sys.stdin:
    operation, data = line.split(maxsplit=1)
    child = os.fork()
    if child == 0:
        store = Store(load_settings(data=data.strip()), HashEmbedder(), check=False)
        print(os.getpid(), flush=True)
        OPERATIONS[operation](store)
        os._exit(0)
    print("ended", os.waitpid(child, 0)[1], flush=True)
"""


def damage(store: Store) -> None:
    """What a repair has to do: chunks are lost, and others belong to nothing."""
    ids = sorted(store.collection.ids())
    store.collection.delete(ids[:150])
    ghosts = [paper(n) for n in range(900, 1000)]
    chunks = [[Chunk(one.abstract, 0, 1)] for one in ghosts]
    store.collection.upsert(ghosts, chunks, store.embedder.encode([one.abstract for one in ghosts]))


def remove(store: Store) -> None:
    if "list" in {source.name for source in store.sources()}:
        store.remove_source("list")


OPERATIONS: dict[str, Callable[[Store], object]] = {
    "ingest": lambda store: store.sync("list", AFTER),
    "removal": remove,
    "rebuild": lambda store: store.rebuild(),
    "repair": lambda store: store.repair(),
}


class Runner:
    """Operations in processes of their own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", TEMPLATE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parent}"},
        )

    def run(self, operation: str, data: Path, kill_after: float | None = None) -> float:
        """Do that in `data`, killed after so many seconds where given; returns how long it ran."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(f"{operation} {data}\n")
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


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    running = Runner()
    yield running
    running.close()


def opened(data: Path) -> Store:
    return Store(load_settings(data=data), HashEmbedder())


def state(store: Store) -> tuple[list[Paper], list[str], list[str], list[tuple[str, int]]]:
    """The papers, the best answers, the chunks and the sources of a store.

    Cosines are left out: Chroma's index is approximate and not built the same way twice.
    """
    retriever = Retriever(store)
    answers = [retriever.search(question, top_k=1).hits[0].paper.id for question in QUESTIONS]
    sources = [(source.name, source.papers) for source in store.sources()]
    return sorted(store.catalogue.papers(), key=lambda one: one.id), answers, sorted(store.collection.ids()), sources


def kill_often(tmp_path: Path, runner: Runner, operation: str, kills: int) -> None:
    start = tmp_path / "start"
    store = opened(start)
    store.sync("list", BEFORE)
    store.sync("other", [*BEFORE[:60], *(paper(n) for n in range(2000, 2040))])
    if operation == "repair":
        damage(store)
    before = {one.abstract for one in store.catalogue.papers()}
    store.close()
    calm = tmp_path / "calm"
    shutil.copytree(start, calm)
    whole = runner.run(operation, calm)
    store = opened(calm)
    expected = state(store)
    assert store.check().clean
    assert ("list" in dict(expected[3])) == (operation != "removal")
    store.close()
    chance = random.Random(f"{operation}{kills}")
    for trial in range(kills):
        data = tmp_path / f"trial{trial}"
        shutil.copytree(start, data)
        runner.run(operation, data, kill_after=whole * (trial + chance.random()) / kills)
        store = opened(data)
        served = {one.abstract for one in store.catalogue.papers()}
        assert served <= before | {one.abstract for one in AFTER}, "nothing half-written is served"
        with contextlib.suppress(StoreDamaged):  # told; or what it finds is whole
            hits = Retriever(store).search(QUESTIONS[0], top_k=3).hits
            assert {hit.paper.abstract for hit in hits} <= served
        if not (health := store.check()).clean:
            assert describe(health).hint, "rag doctor says what to do"
        if operation == "ingest":
            report = store.sync("list", AFTER)
            assert report.papers == len(AFTER), trial
        else:  # as the hint of rag doctor has it
            OPERATIONS[operation](store)
            store.repair()
        assert store.check().clean, trial
        assert state(store) == expected, trial
        store.close()
        shutil.rmtree(data)


@pytest.mark.parametrize(
    "operation",
    [one if one in ("ingest", "repair") else pytest.param(one, marks=pytest.mark.nightly) for one in OPERATIONS],
)
def test_killed_at_twenty_random_moments_in_all(tmp_path: Path, runner: Runner, operation: str) -> None:
    kill_often(tmp_path, runner, operation, kills=20 // len(OPERATIONS))


@pytest.mark.nightly
@pytest.mark.parametrize("operation", OPERATIONS)
def test_killed_at_a_hundred_random_moments_in_all(tmp_path: Path, runner: Runner, operation: str) -> None:
    kill_often(tmp_path, runner, operation, kills=100 // len(OPERATIONS))
