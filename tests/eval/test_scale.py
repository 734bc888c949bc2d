"""Growing a library: varied papers, blended vectors, and the measurement itself at a toy's size."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.cli import main as command
from eval.scale import Size, table
from eval.systems import SAMPLE
from eval.variation import VaryingEmbedder, vary
from rag.embedding import Vectors
from rag.papers import Paper
from rag.readers import sources
from rag.text import sentences

REAL = [item for source in sources([str(SAMPLE)]) for item in source.papers() if isinstance(item, Paper)]


@given(st.integers(0, 5 * len(REAL)))
def test_varied_papers_are_so_many_and_all_different(count: int) -> None:
    papers = list(vary(REAL, count))
    assert len(papers) == len({paper.id for paper in papers}) == len({paper.title for paper in papers}) == count
    assert papers[: len(REAL)] == REAL[:count]


def test_varied_papers_say_what_real_ones_say() -> None:
    said = {paper.abstract[span.start : span.end] for paper in REAL for span in sentences(paper.abstract)}
    for paper in list(vary(REAL, 3 * len(REAL)))[len(REAL) :]:
        assert all(paper.abstract[span.start : span.end] in said for span in sentences(paper.abstract))
        assert paper.abstract not in {one.abstract for one in REAL}


def test_real_chunks_keep_their_vectors_and_varied_ones_are_near_and_not_the_same() -> None:
    vectors = unit(np.random.default_rng(1).standard_normal((4, 384)))
    embedder = VaryingEmbedder(["A", "A", "B", "C"], vectors, "minilm", "fp32")
    assert np.array_equal(embedder.encode(["A\nfirst", "A\nsecond", "title: B\n\nall"]), vectors[:3])
    made = embedder.encode(["A (1)\nfirst", "A (1)\nsecond", "A (2)\nfirst"])
    assert np.allclose(np.linalg.norm(made, axis=1), 1, atol=1e-6)
    assert made[0] @ vectors[0] > 0.6 < made[1] @ vectors[1]
    assert made[0] @ made[2] < 0.99
    assert np.array_equal(made, embedder.encode(["A (1)\nfirst", "A (1)\nsecond", "A (2)\nfirst"]))


def unit(rows: np.ndarray) -> Vectors:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def test_the_table_has_a_column_for_each_size() -> None:
    size = Size("ours", 4302, 7000, 900.0, 0.5, 20.0, 30.0, 11.0, 0.99, 500.0, 700.0, None, 100.0)
    text = table([size])
    assert "| | askabstracts, 4,302 |" in text
    assert "20.0 / 30.0" in text
    assert "| at most while writing, MiB | – |" in text
    assert "100 (23.2)" in text


@pytest.mark.nightly
def test_both_systems_are_measured_at_two_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command(["scale", "--papers", "60", "--questions", "5", "--json"])
    assert not ended.value.code
    sizes = json.loads(capsys.readouterr().out)
    assert [(one["system"], one["papers"]) for one in sizes] == [("ours", 19), ("ours", 60), ("peer", 19), ("peer", 60)]
    for one in sizes:
        assert one["chunks"] >= one["papers"]
        assert one["recall"] > 0.95  # so few that the index must find them
        assert 0 < one["embed_median_ms"] < one["search_p95_ms"]
        assert one["rest_mb"] <= one["peak_mb"]


def test_there_must_be_papers(tmp_path: Path) -> None:
    from eval.scale import measure
    from rag.errors import RagError
    from rag.settings import Settings

    empty = tmp_path / "none.jsonl"
    empty.write_text("")
    with pytest.raises(RagError):
        measure(Settings(data=tmp_path / "data"), corpus=empty, papers=50)
