"""How many edited sentences of abstracts are called supported, by words alone and by the verifier that is set.

    [RAG_VERIFIER=odds RAG_LLM=…] python -m eval.edit_rates CORPUS [--count 100]

Copies with a number, unit, sign or name changed, copies with a negation or direction flipped, and faithful rewordings
(`eval.edits`), each checked against its own abstract and two others of CORPUS.
"""

from __future__ import annotations

import argparse
import random
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from eval.edits import Edit, faithful_edits, figure_edits, flip_edits
from eval.intervals import estimate
from rag.answer import Verdict
from rag.embedding import Embedder, Remembered
from rag.generation.providers import choose_model
from rag.grounding import Grounder
from rag.grounding.reading import settle
from rag.papers import Paper
from rag.readers import sources
from rag.settings import load_settings
from rag.verification import make_verifier

SEED = 1
_PAPERS = 600
_KINDS = (("figures and names changed", figure_edits), ("flipped", flip_edits), ("reworded", faithful_edits))


def papers_of(corpus: Path) -> list[Paper]:
    """A sample of the corpus, the same for the same file."""
    found = [paper for source in sources([str(corpus)]) for paper in source.papers() if isinstance(paper, Paper)]
    random.Random(7).shuffle(found)
    return found[:_PAPERS]


def rates(
    edits: Sequence[Edit], papers: Sequence[Paper], grounder: Grounder
) -> tuple[list[bool], list[bool], list[float]]:
    """For each edit whether it is supported by words alone, and by the verifier; seconds of those that were read."""
    located: list[bool] = []
    final: list[bool] = []
    seconds: list[float] = []
    for edit in edits:
        others = random.Random(edit.edited).sample([one for one in papers if one is not edit.paper], 2)
        checked, reading = grounder.open([edit.paper, *others]).begin(edit.edited)
        located.append(checked.verdict is Verdict.SUPPORTED)
        if reading is not None:
            started = time.perf_counter()
            opinion = grounder.verifier.read(reading.claim, reading.passage)
            seconds.append(time.perf_counter() - started)
            checked = settle(reading, opinion, grounder.verifier.name) if opinion else checked
        final.append(checked.verdict is Verdict.SUPPORTED)
    return located, final, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--count", type=int, default=100, help="edits of each kind")
    options = parser.parse_args()
    settings = load_settings()
    verifier = make_verifier(settings, choose_model(settings))
    if problem := verifier.prepare(float("inf"), threading.Event()):
        raise SystemExit(problem)
    grounder = Grounder(Remembered(Embedder(), 20_000), verifier)
    papers = papers_of(options.corpus)
    print(f"| supported | n | by words | {verifier.name} | read | s a claim |\n|---|---|---|---|---|---|")
    for name, make in _KINDS:
        located, final, seconds = rates(make(papers, options.count, SEED), papers, grounder)
        shares = [estimate([float(one) for one in column]).show(3) for column in (located, final)]
        took = f"{sum(seconds) / len(seconds):.2f}" if seconds else "–"
        print(f"| {name} | {len(located)} | {' | '.join(shares)} | {len(seconds)} | {took} |", flush=True)


if __name__ == "__main__":
    main()
