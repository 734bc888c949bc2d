"""Whatever the bytes: papers, skipped rows or an InputError, and never anything else."""

from __future__ import annotations

import contextlib
import json
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rag.errors import InputError
from rag.papers import Paper
from rag.readers import sources

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


MANY = 20_000
HOSTILE = [
    ("a.txt", "a\n" + "\n" * MANY + "b"),
    ("a.md", "## a\n\n## b" + " " * MANY + "c\n## d" + "[" * MANY),
    ("a.txt", "Title: a\nTitle: b\ntitle" + " " * MANY + "x"),
    ("a.csv", "title,abstract\n" + 'a,"b\n' * MANY),
    ("a.csv", "title,abstract\n" + '"a" b,"c\n' * MANY),
    ("a.csv", 'title,abstract\na,"' + "x\n" * MANY),
    ("a.csv", "title,abstract\n" + "$a \\(" * MANY + ",x y\n"),
    ("a.csv", "title,abstract\n" + "<i " * MANY + ",x y\n"),
    ("a.csv", 'authors,abstract\n"' + "a, and " * MANY + '",x y\n'),
    ("a.csv", 'authors,abstract\n"' + "[" * MANY + ']",x y\n'),
    ("a.json", "[" + '{"a":' * MANY),
    ("a.json", '[{"abstract":' + '},{"abstract":' * MANY),
    ("a.json", "{" + ",".join(f'"k{n}": {{"title": "a", "abstract": "b"}}' for n in range(MANY)) + "}"),
    ("a.bib", "@article{a, abstract={b}}\n" + "a{b," * MANY),
    ("a.bib", "@article{a,\n" * MANY),
    ("a.bib", "@article{a, title={" + "{" * MANY + "}}"),
    ("a.xml", "<!--" * MANY),
    ("a.xml", "<feed><entry><summary>" + "&lt;i " * MANY + "</summary></entry></feed>"),
    ("a.ris", "TY  - JOUR\nKW  - " + " ;" * MANY + "\n" + "AB  - x\ny\n" * MANY),
    ("a.nbib", "PMID- 1\nAB  - x" + " " * MANY + "y\n" + "      y z\n" * MANY),
]


@pytest.mark.parametrize(("name", "content"), HOSTILE, ids=[f"{name}-{n}" for n, (name, _) in enumerate(HOSTILE)])
def test_hostile_files_take_no_longer_than_their_size(read, name: str, content: str) -> None:
    start = time.process_time()
    with contextlib.suppress(InputError):
        read(content, name)
    assert time.process_time() - start < 5  # what grows with the square takes minutes


@pytest.mark.nightly
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    row = "Word " * 400
    files = {
        "a.csv": ("title,abstract\n", f'T,"{row}"\n'),
        "a.jsonl": ("", json.dumps({"abstract": row}) + "\n"),
        "a.txt": ("", f"{row}end.\n\n"),
        "a.ris": ("", f"TY  - JOUR\nAB  - {row}\nER  - \n"),
        "a.xml": ("<feed>", f"<entry><summary>{row}</summary></entry>\n"),
    }
    for name, (head, record) in files.items():
        path = tmp_path / name
        path.write_text(head + record * 1500 + ("</feed>" if head == "<feed>" else ""))
        (source,) = sources([str(path)])
        tracemalloc.start()
        assert sum(isinstance(item, Paper) for item in source.papers()) == 1500
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert path.stat().st_size > 3_000_000
        assert peak < 1_500_000, name
