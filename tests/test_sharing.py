"""One data folder in several processes: writers take turns, readers see the old or the new state of a paper."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from encoders import HashEmbedder
from test_store import TESTS, WORDS, paper

from rag.papers import Paper
from rag.settings import load_settings
from rag.store import Store

PAPERS, VERSIONS = 40, 8


def version(number: int, state: int) -> Paper:
    """A paper whose title, abstract, year and keywords all tell which version it is."""
    words = " ".join(f"{WORDS[(number + step) % len(WORDS)]}{number}" for step in range(14))
    text = " ".join(f"State{state} of Topic{number} is about {words} in sentence {part}." for part in range(6))
    return Paper(text, title=f"Topic{number} in State{state}", year=2000 + state, doi=f"10.1000/{number}")


READER = """
import json, sys
from pathlib import Path
from encoders import HashEmbedder
from rag.engine import Engine
from rag.settings import load_settings
from rag.store import Store
from test_sharing import PAPERS

settings = load_settings()
engine = Engine(Store(settings, HashEmbedder()), settings)
over, seen, mixed, turn = Path(sys.argv[1]), set(), [], 0

def look(number):
    answer = engine.ask(f"What is Topic{number} about?")
    for source in answer.sources:
        found = source.paper
        states = {found.title.split("State")[1], str(found.year - 2000), *(
            word.removeprefix("State") for word in found.abstract.split() if word.startswith("State"))}
        if len(states) != 1:
            mixed.append(sorted(states))
    for citation in answer.citations:
        paper = next(source.paper for source in answer.sources if source.paper.id == citation.paper_id)
        if paper.abstract[citation.start:citation.end] != citation.quote:
            mixed.append(["quote", citation.quote])
    best = next(s.paper for s in answer.sources if s.paper.doi == f"10.1000/{number}")
    seen.add(best.year - 2000)
    return best.year - 2000

print("ready", flush=True)
while not over.exists():
    look(turn % PAPERS)
    turn += 1
last = {look(number) for number in range(PAPERS)}
print(json.dumps({"seen": sorted(seen), "mixed": mixed, "last": sorted(last), "turns": turn}))
"""


def started(program: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parent}"},
    )


def ended(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.strip().splitlines()[-1] if out.strip() else ""


@contextmanager
def readers(count: int, over: Path) -> Iterator[list[subprocess.Popen[str]]]:
    running = [started(READER, str(over)) for _ in range(count)]
    try:
        for process in running:
            assert process.stdout and process.stdout.readline().strip() == "ready"
        yield running
    finally:
        for process in running:
            if process.poll() is None:
                process.kill()


def test_readers_see_the_old_or_the_new_state_of_a_paper_and_the_last_at_the_end(tmp_path: Path) -> None:
    store = Store(load_settings(), HashEmbedder())
    store.sync("list", [version(number, 0) for number in range(PAPERS)])
    over = tmp_path / "over"
    with readers(2, over) as running:
        for state in range(1, VERSIONS):
            store.sync("list", [version(number, state) for number in range(PAPERS)])
        over.touch()
        for process in running:
            told = json.loads(ended(process))
            assert told["mixed"] == []
            assert told["last"] == [VERSIONS - 1], "without being started again"
            assert set(told["seen"]) <= set(range(VERSIONS))
    assert store.check().clean
    store.close()


WRITER = """
import sys
from encoders import HashEmbedder
from rag.settings import load_settings
from rag.store import Store
from test_store import paper

store = Store(load_settings(lock_seconds=120), HashEmbedder())
for size in (40, 80, 20, 60):
    report = store.sync(sys.argv[1], [paper(n) for n in range(int(sys.argv[2]), int(sys.argv[2]) + size)])
    assert report.papers == size, report
store.close()
"""


def test_writers_at_once_take_turns_and_lose_nothing() -> None:
    """Their lists overlap, so that each meets papers of the other in every state."""
    writers = [started(WRITER, name, str(first)) for name, first in (("a", 0), ("b", 30), ("c", 50))]
    for writer in writers:
        ended(writer)
    store = Store(load_settings(), HashEmbedder())
    assert [(source.name, source.papers) for source in store.sources()] == [("a", 60), ("b", 60), ("c", 60)]
    assert {one.abstract for one in store.catalogue.papers()} == {paper(n).abstract for n in range(110)}
    assert store.check().clean
    store.close()


CLOSED_IN_USE = """
import threading
import time
from encoders import HashEmbedder
from rag.errors import StoreError
from rag.settings import load_settings
from rag.store import Store
from test_store import paper

store = Store(load_settings(), HashEmbedder())
store.sync("list", [paper(n) for n in range(300)])
for _ in range(12):
    told, ready = [], threading.Barrier(5)

    def read():
        catalogue = store.catalogue
        ready.wait()
        try:
            while True:
                catalogue.versions()
                list(catalogue.papers())
        except StoreError as error:
            told.append(error.message)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    ready.wait()
    time.sleep(0.01)
    store.close()
    for reader in readers:
        reader.join(20)
    assert len(told) == 4, told
    assert all("was closed while it was in use" in message for message in told), told
"""


def test_a_store_that_is_closed_while_threads_read_it_tells_them() -> None:
    """SQLite itself crashes the program where a connection is closed that another thread is using."""
    ended(started(CLOSED_IN_USE))


@pytest.mark.nightly
def test_many_readers_and_writers_for_long(tmp_path: Path) -> None:
    store = Store(load_settings(), HashEmbedder())
    store.sync("list", [version(number, 0) for number in range(PAPERS)])
    over = tmp_path / "over"
    with readers(4, over) as running:
        for state in range(1, 10 * VERSIONS):
            store.sync("list", [version(number, state) for number in range(PAPERS)])
        over.touch()
        for process in running:
            told = json.loads(ended(process))
            assert (told["mixed"], told["last"]) == ([], [10 * VERSIONS - 1])
    assert store.check().clean
    store.close()
