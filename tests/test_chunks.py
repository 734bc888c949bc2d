"""Chunks: no sentence lost, none longer than the window."""

from __future__ import annotations

import pytest
from encoders import HashEmbedder
from hypothesis import given
from hypothesis import strategies as st

from rag.chunks import Chunk, chunk_papers
from rag.embedding import Embedder
from rag.markup import plain_text
from rag.papers import Paper

COUNT = HashEmbedder().token_counts
WINDOW = 64


def chunks(paper: Paper, window: int = WINDOW) -> list[Chunk]:
    return chunk_papers([paper], COUNT, window)[0]


@pytest.mark.parametrize(
    ("abstract", "title", "texts"),
    [
        ("One sentence.", "", ["One sentence."]),
        ("One sentence.", "Title", ["Title\nOne sentence."]),
        ("", "Title", ["Title"]),
        ("A gain of $\\alpha$.", "", ["A gain of α."]),
    ],
)
def test_short_papers_are_one_chunk(abstract: str, title: str, texts: list[str]) -> None:
    assert [chunk.text for chunk in chunks(Paper(abstract, title=title))] == texts


def test_a_long_abstract_becomes_equal_parts_with_the_title() -> None:
    abstract = " ".join(f"Sentence {n} has nine words in it just so." for n in range(13))
    found = chunks(Paper(abstract, title="The title"))
    assert len(found) > 1
    assert all(chunk.text.startswith("The title\n") for chunk in found)
    sizes = [len(chunk.text) for chunk in found]
    assert min(sizes) > 0.5 * max(sizes), "no last sentence alone"


WORD = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=12)
TEXT = st.lists(st.lists(WORD, min_size=1, max_size=90).map(lambda words: " ".join(words) + "."), max_size=12).map(
    " ".join
)


@given(TEXT, st.one_of(st.just(""), WORD, TEXT))
def test_every_character_is_in_exactly_one_chunk(abstract: str, title: str) -> None:
    found = chunks(Paper(abstract, title=title))
    body = plain_text(abstract)
    covered = [index for chunk in found for index in range(chunk.start, chunk.end)]
    assert len(covered) == len(set(covered))
    assert all(index in set(covered) for index, char in enumerate(body) if not char.isspace())
    assert all(chunk.text.endswith(body[chunk.start : chunk.end].strip()) for chunk in found)


@pytest.mark.parametrize(
    "abstract",
    [
        "A sentence of quite ordinary words ends here. " * 200,
        "word " * 2000,
        "; ".join(f"item {n} of the list costs {n}.5 %" for n in range(400)),
    ],
)
def test_nothing_is_cut_off_by_the_real_model(embedder: Embedder, abstract: str) -> None:
    found = chunk_papers([Paper(abstract, title="A title")], embedder.token_counts, embedder.window)[0]
    assert max(embedder.token_counts([chunk.text for chunk in found])) <= embedder.window - 2
