"""A small mutational fuzzer for the readers: valid samples, damaged, read with bounds on time and memory.

An input is kept for further damage when it brings something new to light: another mix of papers, reasons and errors.

    python tests/fuzz/driver.py TARGET SECONDS [FOLDER]

runs one target, prints how much it tried, and writes what failed (and, with FOLDER, what it kept) to files.
"""

from __future__ import annotations

import io
import json
import random
import re
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from rag.errors import InputError
from rag.papers import Paper, Skipped
from rag.readers import Limits, sources
from rag.readers.encodings import decoded
from rag.readers.inputs import Blob
from rag.readers.registry import ATOM, BIBTEX, JSON, JSONL, MEDLINE, PUBMED, RIS, TABLE, TEXT, Format, detect

CORPUS = Path(__file__).parent / "corpus"
LONGEST = 20_000  # bytes of an input
SECONDS = 5.0  # of the processor, for one input
MEMORY = 3 * 2**30  # bytes of address space, the program's own included
LIMITS = Limits(ratio_from=2**20, expanded=2**24, members=50, document=2**24, line=2**20)

Read = Callable[[bytes, Path], Iterator[Paper | Skipped]]


def _by(form: Format, suffix: str) -> Read:
    def read(content: bytes, _: Path) -> Iterator[Paper | Skipped]:
        text = decoded(Blob(f"a.{suffix}", lambda: io.BytesIO(content), LIMITS))
        yield from form.read(text, {})

    return read


def _by_content(content: bytes, _: Path) -> Iterator[Paper | Skipped]:
    """Whatever the content is taken for."""
    text = decoded(Blob("a.txt", lambda: io.BytesIO(content), LIMITS))
    yield from detect(text, {}).read(text, {})


def _by_file(suffix: str) -> Read:
    def read(content: bytes, folder: Path) -> Iterator[Paper | Skipped]:
        path = folder / f"a.{suffix}"
        path.write_bytes(content)
        for source in sources([str(path)], limits=LIMITS):
            yield from source.papers()

    return read


_READS: dict[str, Read] = {
    "text": _by(TEXT, "txt"),
    "table": _by(TABLE, "csv"),
    "json": _by(JSON, "json"),
    "jsonl": _by(JSONL, "jsonl"),
    "bibtex": _by(BIBTEX, "bib"),
    "ris": _by(RIS, "ris"),
    "medline": _by(MEDLINE, "nbib"),
    "pubmed": _by(PUBMED, "xml"),
    "atom": _by(ATOM, "atom"),
    "gzip": _by_file("gz"),
    "zip": _by_file("zip"),
    "encodings": _by_content,
    "any": _by_content,
}
TARGETS = tuple(_READS)
_ESCAPED = r"""
" , ; { } [ ] < > & \\ @ # $ % = : - \n \r \r\n \t \n\n \x00 \xff \xe9 \xf0\x9f \xef\xbb\xbf
\x1f\x8b PK\x03\x04 \xe2\x80\xa8 \xc2\x85
<!ENTITY <!-- --> <![CDATA[ ]]> &#0; &#x110000; &a; \\ud800 \\u0000 1e999 -1 NaN null true 99999999999999999999
2024-13-45 10.1000/ @article{ TY\x20\x20-\x20 PMID-\x20 \x20\x20-\x20 abstract title Abstract: \x20and\x20
\\begin{ $$ \\frac{
"""
TOKENS = [token.encode().decode("unicode_escape").encode("latin-1") for token in _ESCAPED.split()]


class TooSlow(Exception):
    """An input takes longer than anything of its size should."""


def mutated(chance: random.Random, pool: list[bytes]) -> bytes:
    """One of the pool, with some damage."""
    data = bytearray(chance.choice(pool))
    for _ in range(chance.choice((1, 1, 2, 3, 5, 9))):
        at = chance.randint(0, len(data))
        end = min(len(data), at + chance.choice((1, 2, 4, 16, 64)))
        kind = chance.randrange(7)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            data[at:at] = chance.choice(TOKENS)
        elif kind == 2:
            del data[at:end]
        elif kind == 3:
            data[at:at] = data[at:end] * chance.choice((1, 2, 20, 300))
        elif kind == 4:
            other = chance.choice(pool)
            start = chance.randint(0, len(other))
            data[at:end] = other[start : start + chance.randint(1, 200)]
        elif kind == 5:
            data[at:end] = chance.choice(TOKENS) * chance.choice((1, 2, 50, 1000))
        else:
            del data[at:]
    return bytes(data[:LONGEST])


def check(target: str, content: bytes, folder: Path) -> str:
    """Read it; raises what no reader may, and tells what came of it, in words that leave its data out."""
    read = _READS[target]
    kinds = set()
    papers = 0
    try:
        for item in read(content, folder):
            if isinstance(item, Skipped):
                assert item.line >= 1
                assert item.reason
                kinds.add(_template(item.reason))
                continue
            papers += 1
            assert item.abstract.strip() == item.abstract != ""
            assert item.content_hash
            fields = (item.id, item.abstract, item.title, item.venue, item.url, *item.authors, *item.keywords)
            json.dumps(fields, ensure_ascii=False).encode()
            kinds.add(" ".join(name for name in ("title", "authors", "year", "doi", "url") if getattr(item, name)))
    except InputError as error:
        assert error.message
        assert "\n" not in error.message[:20]
        kinds.add(_template(error.message))
    return f"{min(papers, 3)} {sorted(kinds)}"


def _template(reason: str) -> str:
    return re.sub(r"“.*?”|'.*?'|\(.*?\)|<.*?>|\d[\d,.]*|/\S+", "", reason)[:60]


def watched(target: str, content: bytes, folder: Path) -> str:
    """`check`, ended by TooSlow after SECONDS of the processor."""

    def stop(_: int, __: FrameType | None) -> None:
        raise TooSlow(f"{target}: more than {SECONDS:g} s for {len(content)} bytes")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        return check(target, content, folder)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def corpus(target: str) -> list[bytes]:
    """Its valid samples, and what was kept of earlier runs; for "any" those of all."""
    files = CORPUS.glob("*/*") if target == "any" else (CORPUS / target).glob("*")
    return [file.read_bytes() for file in sorted(files)]


def fuzz(target: str, seconds: float, kept: Path | None) -> int:
    """Try damaged inputs for so long; raises at the first that no reader may end with. Returns how many were tried."""
    chance = random.Random()
    pool, known, tries = corpus(target), set[str](), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for content in pool:
            known.add(watched(target, content, folder))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            content = mutated(chance, pool)
            tries += 1
            try:
                outcome = watched(target, content, folder)
            except BaseException:
                failed = Path(tempfile.gettempdir()) / f"fuzz-{target}-{tries}"
                failed.write_bytes(content)
                print(f"failed, kept in {failed}", file=sys.stderr)
                raise
            if outcome not in known:
                known.add(outcome)
                pool.append(content)
                if kept and len(content) < 3000:
                    kept.mkdir(parents=True, exist_ok=True)
                    (kept / f"{len(known):03}").write_bytes(content)
    return tries


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    where = Path(sys.argv[3]) if len(sys.argv) > 3 else None
    print(fuzz(sys.argv[1], float(sys.argv[2]), where), "inputs tried")
