"""What would fill memory ends in a clear error long before it does: each is read by a process with little memory.

The files are written sparse or streamed, and none is kept.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
READ = """
import os, resource, sys
from rag.errors import InputError
from rag.papers import Paper
from rag.readers import sources

import rag.readers.registry
def used():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = used()
papers = skipped = 0
try:
    for source in sources([sys.argv[1]]):
        for item in source.papers():
            papers += isinstance(item, Paper)
            skipped += not isinstance(item, Paper)
    print("read", papers, skipped)
except InputError as error:
    print("error", error.message[-300:])
print(used() - before)
"""


def outcome(path: Path) -> tuple[str, int]:
    """What reading it ends with, and how much memory that took."""
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    said, used = done.stdout.strip().splitlines()
    return said, int(used)


def one_line(path: Path, size: int, *, head: bytes = b"") -> None:
    with path.open("wb") as file:
        file.write(head)
        for _ in range(size // 2**20):
            file.write(b"word " * (2**20 // 5) + b"x")


def columns(path: Path, count: int) -> None:
    with path.open("wb") as file:
        file.write(b"title,abstract")
        for start in range(0, count, 10_000):
            file.write(b"".join(b",c%d" % number for number in range(start, start + 10_000)))
        file.write(b"\nBees,They fly.\n")


def xml_bomb(path: Path, size: int) -> None:
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    path.write_text(
        f'<!DOCTYPE feed [<!ENTITY a0 "aaaaaaaaaa">{entities}]><feed><entry><summary>&a9;</summary></entry></feed>'
    )


def gzip_bomb(path: Path, size: int) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"title,abstract\n")
        for _ in range(size // 2**20):
            file.write(bytes([97]) * (2**20 - 1) + b"\n")


def zip_bomb(path: Path, size: int) -> None:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("a.csv", "w") as file,
    ):
        file.write(b"title,abstract\n")
        for _ in range(size // 2**20):
            file.write(bytes([97]) * (2**20 - 1) + b"\n")


MEBI = 2**20
BOMBS: list[tuple[str, Callable[[Path, int], None], str]] = [
    ("a.txt", one_line, "a line of more than"),
    ("a.csv", lambda path, size: one_line(path, size, head=b"title,abstract\nx,"), "a line of more than|row too long"),
    ("a.jsonl", lambda path, size: one_line(path, size, head=b'{"abstract": "'), "a line of more than"),
    ("a.ris", lambda path, size: one_line(path, size, head=b"TY  - JOUR\nAB  - "), "a line of more than"),
    ("a.nbib", lambda path, size: one_line(path, size, head=b"PMID- 1\nAB  - "), "a line of more than"),
    ("a.xml", lambda path, size: one_line(path, size, head=b"<feed><entry><summary>"), "a line of more than"),
    ("a.csv", lambda path, size: columns(path, size // 10), "a line of more than|columns"),
    ("a.atom", xml_bomb, "defines entities"),
    ("a.csv.gz", gzip_bomb, "expands to more than"),
    ("a.zip", zip_bomb, "expands to more than|holds too much"),
]
IDS = ["text", "table", "JSON Lines", "RIS", "MEDLINE", "XML", "columns", "XML bomb", "gzip bomb", "zip bomb"]


def ends(path: Path, make: Callable[[Path, int], None], size: int, says: str, most: int) -> None:
    make(path, size)
    try:
        said, used = outcome(path)
    finally:
        path.unlink()
    assert said.startswith("error"), said
    assert any(part in said for part in says.split("|")), said
    assert str(path) in said
    assert used < most


@pytest.mark.parametrize(("name", "make", "says"), BOMBS, ids=IDS)
def test_bombs(tmp_path: Path, name: str, make: Callable[[Path, int], None], says: str) -> None:
    ends(tmp_path / name, make, 200 * MEBI, says, most=180 * MEBI)


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "make", "says"), BOMBS, ids=IDS)
def test_large_bombs(tmp_path: Path, name: str, make: Callable[[Path, int], None], says: str) -> None:
    """A line of a gigabyte, ten million columns: no more memory than for a fifth of it."""
    ends(tmp_path / name, make, 1024 * MEBI, says, most=180 * MEBI)


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "head"), [("a.json", b'[{"abstract": "'), ("a.bib", b"@article{a, abstract={")])
def test_whole_documents_are_bounded(tmp_path: Path, name: str, head: bytes) -> None:
    """What cannot be read by the line is refused beyond a size."""
    path = tmp_path / name
    one_line(path, 1100 * MEBI, head=head)
    said, _ = outcome(path)
    path.unlink()
    assert "in one document" in said
