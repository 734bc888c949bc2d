"""How fast, beside LlamaIndex's own pipeline and bare encoding, all in one run and each in a process of its own.

Machines differ and are rarely idle, so what counts are the ratios; every contestant runs `ROUNDS` times in turn with
the others and its best round is taken.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from eval.runner import Progress
from eval.systems import SAMPLE, corpus_papers
from rag.errors import InputError
from rag.papers import Paper
from rag.settings import Settings

ROUNDS = 2

_COLD = """
from rag.engine import Engine
from rag.settings import load_settings
answer = Engine.open(load_settings()).ask({question!r})
assert answer.text
"""


@dataclass(frozen=True, slots=True)
class Speed:
    """Seconds and ratios; None where it was not measured. Rates are papers a second, times of a search milliseconds."""

    papers: int
    chunks: int
    rounds: int
    precision: str
    ours_rate: float
    bare_rate: float
    peer_rate: float | None
    no_change_seconds: float
    search_median_ms: float
    search_p95_ms: float
    embed_median_ms: float
    cold_seconds: float | None
    ours_memory_mb: float | None
    peer_memory_mb: float | None
    ours_store_mb: float
    peer_store_mb: float | None

    @property
    def against_peer(self) -> float | None:
        return self.ours_rate / self.peer_rate if self.peer_rate else None

    @property
    def against_bare(self) -> float:
        return self.ours_rate / self.bare_rate

    @property
    def search_against_embedding(self) -> float:
        return self.search_median_ms / self.embed_median_ms


def measure(
    settings: Settings,
    *,
    corpus: Path | None = None,
    papers: int = 1000,
    questions: int = 100,
    peer: bool = True,
    rounds: int = ROUNDS,
    progress: Progress | None = None,
) -> Speed:
    """Raises InputError where a contestant cannot run; its own message is part of the error."""
    chosen = _papers(corpus, papers)
    contestants = ["ours", "bare", *(["peer"] if peer else [])]
    best: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="speed-", ignore_cleanup_errors=True) as place:
        folder = Path(place)
        file = folder / "papers.jsonl"
        file.write_text("".join(json.dumps(asdict(paper)) + "\n" for paper in chosen), encoding="utf-8")
        steps = len(contestants) * rounds
        for turn in range(rounds):
            for number, name in enumerate(contestants):
                found = _run(name, folder / f"{name}-{turn}", file, questions, settings)
                if name not in best or found["seconds"] < best[name]["seconds"]:
                    best[name] = found
                if progress:
                    progress(turn * len(contestants) + number + 1, steps, 0)
        cold = _cold_start(folder / "ours-0", chosen[0].label)
    ours, bare, theirs = best["ours"], best["bare"], best.get("peer")
    return Speed(
        papers=len(chosen),
        chunks=bare["chunks"],
        rounds=rounds,
        precision=ours["precision"],
        ours_rate=len(chosen) / ours["seconds"],
        bare_rate=len(chosen) / bare["seconds"],
        peer_rate=len(chosen) / theirs["seconds"] if theirs else None,
        no_change_seconds=ours["no_change"],
        search_median_ms=ours["search_median_ms"],
        search_p95_ms=ours["search_p95_ms"],
        embed_median_ms=ours["embed_median_ms"],
        cold_seconds=cold,
        ours_memory_mb=ours["memory"],
        peer_memory_mb=theirs["memory"] if theirs else None,
        ours_store_mb=ours["store_mb"],
        peer_store_mb=theirs["store_mb"] if theirs else None,
    )


def table(speed: Speed) -> str:
    """Markdown."""
    lines = [
        f"{speed.papers:,} papers in {speed.chunks:,} chunks, {speed.precision}, best of {speed.rounds} rounds in turn",
        "",
        "| | askabstracts | LlamaIndex pipeline | bare encode | ratio |",
        "|---|---|---|---|---|",
        f"| ingest, papers/s | {speed.ours_rate:.1f} | {_show(speed.peer_rate)} | {speed.bare_rate:.1f} "
        f"| {_show(speed.against_peer, 2)} × LlamaIndex, {speed.against_bare:.2f} × bare |",
        f"| peak memory, MB | {_show(speed.ours_memory_mb)} | {_show(speed.peer_memory_mb)} | | |",
        f"| store, MB | {speed.ours_store_mb:.1f} | {_show(speed.peer_store_mb)} | | |",
        f"| sync with no change, s | {speed.no_change_seconds:.2f} | | | |",
        f"| search, ms, median / p95 | {speed.search_median_ms:.1f} / {speed.search_p95_ms:.1f} | | "
        f"| {speed.search_against_embedding:.2f} × embedding the question ({speed.embed_median_ms:.1f} ms) |",
        f"| first question, cold, s | {_show(speed.cold_seconds, 2)} | | | |",
    ]
    return "\n".join(lines)


def to_json(speed: Speed) -> str:
    ratios = {
        "against_peer": speed.against_peer,
        "against_bare": speed.against_bare,
        "search_against_embedding": speed.search_against_embedding,
    }
    return json.dumps({**asdict(speed), **ratios}, indent=1)


def _papers(corpus: Path | None, count: int) -> list[Paper]:
    """`count` papers of the corpus; the sample is taken over and over under other ids and titles."""
    found = corpus_papers(corpus or SAMPLE)
    if corpus:
        return found[:count]
    return [
        Paper(paper.abstract, title=f"{paper.title} ({turn})", id=f"copy:{turn}-{place}")
        for turn in range(-(-count // len(found)))
        for place, paper in enumerate(found)
    ][:count]


def _run(name: str, data: Path, file: Path, questions: int, settings: Settings) -> dict[str, Any]:
    command = [sys.executable, "-m", "eval.contestants", name, str(data), str(file), str(questions)]
    command += [settings.embed_model, settings.embed_precision]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=child_environment())
    if done.returncode:
        raise InputError(f"measuring {name} failed: {done.stderr.strip()[-600:]}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _cold_start(data: Path, question: str) -> float | None:
    """Seconds of a new process from its start to an extractive answer; the better of two."""
    environment = {**child_environment(), "RAG_DATA": str(data), "RAG_LLM": "extractive"}
    command = [sys.executable, "-c", _COLD.format(question=question)]
    seconds = []
    for _ in range(2):
        started = time.perf_counter()
        done = subprocess.run(command, capture_output=True, env=environment, check=False)
        if done.returncode:
            return None
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def child_environment() -> dict[str, str]:
    """Ours, and this code's folder first, so that a checkout measures itself."""
    here = str(Path(__file__).parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))}


def _show(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
