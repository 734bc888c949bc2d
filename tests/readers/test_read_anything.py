"""Whatever the bytes: papers, skipped rows or an InputError, and never anything else."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rag.errors import InputError

SUFFIXES = ["txt", "md", "csv", "tsv", "json", "jsonl", "bib", "ris", "xml", "nbib", "atom", "gz", "zip", ""]
SEEDS = [
    b"title,abstract\nBees,They fly.\n",
    b'[{"title": "Bees", "abstract": "They fly.", "authors": ["A B"], "year": 2024}]',
    b'{"abstract_inverted_index": {"a": [0]}, "authorships": [{"author": {"display_name": "x"}}]}\n'
    b'{"id": "2401.01234"}',
    b'{"content": {"title": {"value": "x"}, "abstract": {"value": "y"}}, "forum": "abcdefgh", "cdate": 1}',
    b'@string{a = {b}}\n@article{k,\n title = a # {c},\n abstract = "d {e} f"\n}\n',
    b"TY  - JOUR\nAB  - They fly.\nER  - \n",
    b"PMID- 1\nAB  - They fly.\n      far.\n",
    b"<feed><entry><id>x</id><summary>They fly.</summary></entry></feed>",
    b"<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><Abstract><AbstractText>x</AbstractText>"
    b"</Abstract></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>",
    b"Title: Bees\nAbstract: They fly.\n\n## Fire\n\n1. It burns.\n- so\n\nend",
    "﻿1. Bees fly.\r\n\r\n[2] Fire burns “hot”.".encode(),
]
SPECIAL = [
    b'"',
    b"\n",
    b"\r",
    b",",
    b"{",
    b"}",
    b"[",
    b"]",
    b"<",
    b">",
    b"&",
    b"\\",
    b"\x00",
    b"\xff",
    b"\xe9",
    b"@",
    b"#",
    b"  - ",
]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A good file with pieces cut out, doubled or put in."""
    data = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(data)))
        end = draw(st.integers(at, min(len(data), at + 12)))
        data = data[:at] + draw(st.sampled_from(SPECIAL) | st.just(data[at:end] * 2)) + data[end:]
    return data


def check(read, content: bytes, name: str) -> None:
    try:
        result = read(content, name)
    except InputError as error:
        assert name in error.message
        return
    for paper in result.papers:
        json.dumps(paper.abstract + paper.title).encode()
        assert paper.content_hash
        "\n".join((paper.abstract, paper.title, paper.venue, paper.url, *paper.authors, *paper.keywords)).encode()
        assert paper.abstract.strip() == paper.abstract != ""
    last = content.count(b"\n") + content.count(b"\r") + 1
    assert all(1 <= line <= last and reason for line, reason in result.skips)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(content=st.binary(max_size=200) | st.text(max_size=120).map(lambda text: text.encode("utf-8", "ignore")))
@example(content=b"\xff\xfe\x00")
@example(content=b"\xef\xbb\xbf")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_bytes(read, suffix: str, content: bytes) -> None:
    check(read, content, f"a.{suffix}" if suffix else "a")


@pytest.mark.parametrize("suffix", ["txt", "csv", "json", "jsonl", "bib", "ris", "xml", "nbib"])
@given(content=damaged())
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_files(read, suffix: str, content: bytes) -> None:
    check(read, content, f"a.{suffix}")
