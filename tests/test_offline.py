"""With no network everything works, and nothing tries to phone out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Ingests and answers while any connection beyond this machine, and any look-up of a name, is an error and is told.
PROGRAM = """
import socket, sys
TRIED = []
def is_local(address):
    return not isinstance(address, tuple) or str(address[0]).startswith("127.") or address[0] in ("::1", "localhost")
def guarded(original):
    def connect(self, address, *rest):
        if not is_local(address):
            TRIED.append(address)
            raise OSError("no network here")
        return original(self, address, *rest)
    return connect
def no_names(host, *rest, **options):
    if host in (None, "localhost", "127.0.0.1", "::1"):
        return lookup(host, *rest, **options)
    TRIED.append(host)
    raise socket.gaierror("no network here")
lookup = socket.getaddrinfo
if "guarded" in sys.argv:
    socket.socket.connect = guarded(socket.socket.connect)
    socket.socket.connect_ex = guarded(socket.socket.connect_ex)
    socket.getaddrinfo = no_names
from rag.engine import Engine
from rag.papers import Paper
from rag.settings import load_settings
engine = Engine.open(load_settings(llm="auto"))
engine.store.sync("sea", [Paper("Bleached coral reefs recover within 12 years."), Paper("Kelp feeds urchins.")])
answer = engine.ask("How long do bleached coral reefs need to recover?")
print(answer.model, "|", answer.text, "|", TRIED)
engine.close()
"""


def run(*prefix: str, arguments: tuple[str, ...] = ()) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("RAG_LLM", "HF_"))}
    done = subprocess.run(
        [*prefix, sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**environment, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


EXPECTED = "extractive | Bleached coral reefs recover within 12 years [1]. | []"


def test_nothing_beyond_this_machine_is_tried() -> None:
    assert run(arguments=("guarded",)) == EXPECTED


@pytest.mark.nightly
def test_works_where_there_is_no_network_at_all() -> None:
    unshare = shutil.which("unshare")
    if not unshare or subprocess.run([unshare, "-rn", "true"], capture_output=True, check=False).returncode:
        pytest.skip("unshare -rn does not work here")
    assert run(unshare, "-rn") == EXPECTED


@pytest.mark.parametrize("how", ["told", pytest.param("no hub", marks=pytest.mark.nightly)])
def test_a_model_that_is_not_here_is_one_clear_line(how: str) -> None:
    """A name that is neither cached nor reachable: no traceback, few tries, and what works instead."""
    there = {"told": "os.environ['HF_HUB_OFFLINE'] = '1'", "no hub": "os.environ['HF_ENDPOINT'] = 'http://127.0.0.1:9'"}
    program = (
        f"import os; {there[how]}\n"
        "import socket; connect, tries = socket.socket.connect, []\n"
        "socket.socket.connect = lambda *where: (tries.append(where), connect(*where))[1]\n"
        "from rag.embedding import Embedder\nfrom rag.errors import EmbeddingUnavailable\n"
        "try:\n    Embedder('nobody/no-such-model').encode(['x'])\n"
        "except EmbeddingUnavailable as error:\n    print(error)\n"
        "print('tries', len(tries))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert "nobody/no-such-model" in done.stdout
    assert "RAG_EMBED_MODEL=minilm needs no network" in done.stdout
    assert int(done.stdout.split()[-1]) <= 2
