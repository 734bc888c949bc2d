"""Scoring folders in BEIR layout: our own small one, real ones where they are at hand, and broken ones."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from planted import sample_papers

from eval.cli import main
from eval.retrieval import load_collection, parse_floors, run_all, score, table
from rag.errors import InputError

QUESTIONS = {
    "q1": "How do language models and people trade compression against meaning?",
    "q2": "Which benchmark tests tool invocation of agents that use a computer?",
}


def write(folder: Path, *, zipped: bool = False, **change: str) -> Path:
    """A collection of the sample's papers; `change` replaces a file's text by name (dots as underscores)."""
    folder.mkdir(parents=True)
    papers = sample_papers()
    gold = {
        "q1": next(place for place, paper in enumerate(papers) if "Compression for Meaning" in paper.title),
        "q2": next(place for place, paper in enumerate(papers) if "OSWorld-MCP" in paper.title),
    }
    corpus = [{"_id": str(place), "title": paper.title, "text": paper.abstract} for place, paper in enumerate(papers)]
    corpus.append({"_id": "empty", "title": "", "text": " "})
    files = {
        "corpus.jsonl": "".join(json.dumps(row) + "\n" for row in corpus),
        "queries.jsonl": "".join(json.dumps({"_id": key, "text": text}) + "\n" for key, text in QUESTIONS.items()),
        "qrels.tsv": "query-id\tcorpus-id\tscore\n" + "".join(f"{key}\t{place}\t1\n" for key, place in gold.items()),
    }
    files |= {name.replace("_", "."): text for name, text in change.items()}
    for name, text in files.items():
        if zipped and name.endswith(".jsonl"):
            (folder / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
        else:
            (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_our_own_retriever_finds_what_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write(tmp_path / "mine", zipped=True)
    main_code = _exit_code(["retrieval", str(folder), "--floor", "nDCG@10=0.9", "--floor", "MRR=0.9"])
    printed = capsys.readouterr().out
    assert main_code == 0
    assert "| mine | 19 / 2 | 1.000 | 1.000 | 1.000 | 1.000 |" in printed


def test_below_its_floor_it_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judged = "query-id\tcorpus-id\tscore\nq1\tempty\t1\nq2\tempty\t1\n"  # cannot be found, so everything is 0
    folder = write(tmp_path / "mine", qrels_tsv=judged)
    assert _exit_code(["retrieval", str(folder), "--floor", "recall@5=0.5", "--json"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)[0]["scores"]["R@5"] == 0
    assert "mine: R@5 0.000 < 0.5" in captured.err


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"qrels_tsv": "q1\t99\t1\n"}, "99, judged for question q1, is not in the corpus"),
        (
            {"qrels_tsv": "query-id\tcorpus-id\tscore\nq1\tyes\n"},
            r"qrels\.tsv:2: query-id, corpus-id and a whole number",
        ),
        ({"qrels_tsv": "query-id\tcorpus-id\tscore\n"}, "no question has a judged paper"),
        ({"corpus_jsonl": '{"text": "x"}\n'}, r"corpus\.jsonl:1: _id is missing"),
        ({"queries_jsonl": "[\n"}, r"queries\.jsonl:1: not a JSON object"),
    ],
)
def test_a_broken_collection_is_named(tmp_path: Path, change: Mapping[str, str], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        load_collection(write(tmp_path / "mine", **change))


def test_not_a_collection(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _exit_code(["retrieval", str(tmp_path)]) == 2
    assert "has no corpus.jsonl" in capsys.readouterr().err


def test_a_question_without_a_hit_counts_as_zero() -> None:
    assert score({"a": {"p": 1}, "b": {"p": 1}}, {"a": {"p": 1.0}, "b": {}})["RR"] == 0.5


@pytest.mark.parametrize("text", ["nDCG@10", "nDCG@10=high", "precision=0.5"])
def test_a_floor_that_makes_no_sense(text: str) -> None:
    with pytest.raises(InputError, match="--floor"):
        parse_floors([text])


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "floor"), [("scifact", 0.72), ("cranfield", 0.40), ("pubmedqa", 0.98)])
def test_real_collections_hold_their_floors(shared: Path, name: str, floor: float) -> None:
    results = run_all([shared / "ir" / name], floors={"nDCG@10": floor})
    assert results[0].below == {}, table(results)


def _exit_code(arguments: list[str]) -> int | str | None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code or 0
