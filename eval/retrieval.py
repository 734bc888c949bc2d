"""Score a folder in BEIR layout with our own store and retriever: `python -m eval.retrieval DIR`.

corpus.jsonl[.gz]   _id, title, text
queries.jsonl[.gz]  _id, text
qrels.tsv           query-id, corpus-id, score (also qrels/test.tsv)
"""

from __future__ import annotations

import csv
import gzip
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rag.errors import InputError
from rag.papers import Paper
from rag.settings import Settings, load_settings

MEASURES = ("nDCG@10", "R@5", "R@20", "RR")
DEPTH = 100
_PREFIX = "beir:"


@dataclass(frozen=True, slots=True)
class Collection:
    """Papers, questions by id, and for each question's id its judged papers (id → gain)."""

    name: str
    papers: tuple[Paper, ...]
    questions: Mapping[str, str]
    judged: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Result:
    """`scores` has each measure's mean; times in milliseconds of one search, all included."""

    name: str
    papers: int
    questions: int
    scores: Mapping[str, float]
    median_ms: float
    p95_ms: float
    ingest_seconds: float
    below: Mapping[str, float] = field(default_factory=dict)  # measures under their floor, and the floor


def load_collection(folder: Path) -> Collection:
    """Raises InputError where a file is missing, a line is broken or a judged paper is not in the corpus."""
    papers = []
    known = set()  # an empty document cannot be found, yet stays judged: it costs every system the same
    for where, raw in _rows(folder, "corpus"):
        known.add(_PREFIX + _field(raw, "_id", where))
        text = str(raw.get("text") or "").strip() or str(raw.get("title") or "").strip()
        if text:
            papers.append(
                Paper(text, title=str(raw.get("title") or "").strip(), id=_PREFIX + _field(raw, "_id", where))
            )
    questions = {_field(raw, "_id", where): _field(raw, "text", where) for where, raw in _rows(folder, "queries")}
    judged = _judged(
        next(
            (file for file in (folder / "qrels.tsv", folder / "qrels" / "test.tsv") if file.is_file()),
            folder / "qrels.tsv",
        )
    )
    asked = {query: gains for query, gains in judged.items() if query in questions and any(gains.values())}
    if not asked:
        raise InputError(f"{folder}: no question has a judged paper")
    for query, gains in asked.items():
        if lost := [paper for paper in gains if paper not in known and gains[paper]]:
            raise InputError(
                f"{folder}: {lost[0].removeprefix(_PREFIX)}, judged for question {query}, is not in the corpus"
            )
    return Collection(folder.name, tuple(papers), {query: questions[query] for query in asked}, asked)


def measure(collection: Collection, settings: Settings, *, floors: Mapping[str, float] | None = None) -> Result:
    """Ingests the collection into `settings.data` and searches every question in it."""
    from rag.retrieval import Retriever
    from rag.store import Store

    store = Store(settings)
    try:
        started = time.perf_counter()
        store.sync(collection.name, collection.papers)
        ingested = time.perf_counter() - started
        retriever = Retriever(store)
        run: dict[str, dict[str, float]] = {}
        seconds = []
        for query, text in collection.questions.items():
            started = time.perf_counter()
            hits = retriever.search(text, top_k=DEPTH).hits
            seconds.append(time.perf_counter() - started)
            run[query] = {hit.paper.id: hit.score for hit in hits}
    finally:
        store.close()
    scores = score(collection.judged, run)
    seconds.sort()
    below = {name: floor for name, floor in (floors or {}).items() if scores[name] < floor}
    return Result(
        name=collection.name,
        papers=len(collection.papers),
        questions=len(run),
        scores=scores,
        median_ms=1000 * seconds[len(seconds) // 2],
        p95_ms=1000 * seconds[int(0.95 * (len(seconds) - 1))],
        ingest_seconds=ingested,
        below=below,
    )


def score(judged: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Means of MEASURES over the judged questions, by ir-measures; a question without a hit counts 0."""
    try:
        import ir_measures
    except ImportError as error:
        raise InputError("scoring a collection needs ir-measures", hint='pip install "askabstracts[dev]"') from error
    measures = {name: ir_measures.parse_measure(name) for name in MEASURES}
    found = ir_measures.calc_aggregate(list(measures.values()), judged, run)
    return {name: float(found[measure]) for name, measure in measures.items()}


def table(results: Sequence[Result]) -> str:
    """Markdown, a line a collection."""
    lines = [
        "| set | papers / questions | nDCG@10 | recall@5 | recall@20 | MRR | ms a search, median / p95 |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {item.name} | {item.papers:,} / {item.questions:,} "
        f"| {' | '.join(f'{item.scores[name]:.3f}' for name in MEASURES)} | {item.median_ms:.1f} / {item.p95_ms:.1f} |"
        for item in results
    ]
    return "\n".join(lines)


def parse_floors(texts: Sequence[str]) -> dict[str, float]:
    """["nDCG@10=0.72"] → {"nDCG@10": 0.72}; recall@k and MRR are understood. Raises InputError."""
    floors = {}
    for text in texts:
        name, _, value = text.partition("=")
        name = {"MRR": "RR"}.get(name, name.replace("recall@", "R@"))
        try:
            floors[name] = float(value)
        except ValueError:
            raise InputError(f"--floor {text}: write MEASURE=NUMBER, e.g. nDCG@10=0.72") from None
        if name not in MEASURES:
            raise InputError(f"--floor {text}: the measures are nDCG@10, recall@5, recall@20 and MRR")
    return floors


def run_all(
    folders: Sequence[Path], *, floors: Mapping[str, float] | None = None, settings: Settings | None = None
) -> list[Result]:
    """Each folder in a data folder of its own that is gone afterwards; the user's store is not touched."""
    base = settings or load_settings()
    results = []
    for folder in folders:
        collection = load_collection(folder)
        with tempfile.TemporaryDirectory(prefix="retrieval-", ignore_cleanup_errors=True) as place:
            own = base.model_copy(update={"data": Path(place), "chroma_url": ""})
            results.append(measure(collection, own, floors=floors))
    return results


def to_json(results: Sequence[Result]) -> str:
    return json.dumps([asdict(item) for item in results], indent=1)


def _judged(file: Path) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = {}
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            for number, row in enumerate(csv.reader(stream, delimiter="\t"), start=1):
                if not row or (number == 1 and not row[-1].strip().lstrip("-").isdigit()):
                    continue
                try:
                    query, paper, gain = row[0], row[-2], int(row[-1])
                except (IndexError, ValueError):
                    raise InputError(f"{file}:{number}: query-id, corpus-id and a whole number are expected") from None
                judged.setdefault(query, {})[_PREFIX + paper] = max(gain, 0)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}", hint=__doc__) from error
    return judged


def _rows(folder: Path, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    file = next(
        (folder / f"{name}{end}" for end in (".jsonl", ".jsonl.gz") if (folder / f"{name}{end}").is_file()), None
    )
    if file is None:
        raise InputError(f"{folder} has no {name}.jsonl and no {name}.jsonl.gz", hint=__doc__)
    data = file.read_bytes()
    text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode("utf-8")
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield f"{file}:{number}", dict(json.loads(line))
            except (ValueError, TypeError) as error:
                raise InputError(f"{file}:{number}: not a JSON object: {error}") from None


def _field(raw: Mapping[str, Any], name: str, where: str) -> str:
    value = str(raw.get(name) or "").strip()
    if not value:
        raise InputError(f"{where}: {name} is missing")
    return value


if __name__ == "__main__":
    import sys

    from eval.cli import main

    main(["retrieval", *sys.argv[1:]])
