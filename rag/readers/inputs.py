"""What the user names (files, folders, globs, archives, standard input) → blobs of bytes that can be opened again."""

from __future__ import annotations

import glob
import gzip
import io
import itertools
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO

from rag.errors import InputError

SUFFIXES = frozenset(
    {".txt", ".md", ".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".bib", ".ris", ".xml", ".nbib", ".medline"}
    | {".atom"}
)
ACCEPTED = (
    "accepted: text lists, CSV/TSV, JSON/JSONL, BibTeX, RIS, PubMed XML or nbib, arXiv Atom; "
    "each also as .gz or in a .zip, whole folders, globs, or - for standard input"
)
STDIN = "-"
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_NOT_IN_FOLDERS = ("readme", "license", "licence", "changelog", "contributing")


@dataclass(frozen=True, slots=True)
class Limits:
    """What is refused so that a hostile or broken file cannot fill memory or disk. Sizes in bytes, lines in characters.

    `ratio` is expanded to packed size and counts only beyond `ratio_from` expanded bytes; real text packs below 30.
    """

    expanded: int = 16 * 2**30
    ratio: float = 150.0
    ratio_from: int = 32 * 2**20
    members: int = 50_000
    stdin: int = 2**30
    document: int = 2**30
    line: int = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes with a name; `open` gives them, unpacked, from the start, as often as asked."""

    name: str
    open: Callable[[], BinaryIO]
    limits: Limits = Limits()

    @property
    def suffix(self) -> str:
        """The lower-case suffix that tells the format: that of the member, without .gz."""
        path = PurePosixPath(self.name.replace("\\", "/").rpartition("!")[2].lower())
        return path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix


def blobs(inputs: Sequence[str], *, stdin: BinaryIO | None, limits: Limits) -> Iterator[Blob]:
    """Every file the inputs name, each once, in a stable order. Raises InputError for an input that names none."""
    seen: set[str] = set()
    for text in inputs:
        found = [_standard_input(stdin, limits)] if text == STDIN else _named(text, limits)
        for blob in found:
            if blob.name not in seen:
                seen.add(blob.name)
                yield blob


def _named(text: str, limits: Limits) -> Iterator[Blob]:
    path = Path(text).expanduser()
    if path.is_dir():
        files = _in_folder(path)
        if not files:
            raise InputError(f"{path}: no file of a known kind in this folder", hint=ACCEPTED)
    elif path.exists():
        files = [path]
    elif glob.has_magic(text):
        files = []
        for match in _matches(path):
            files += _in_folder(match) if match.is_dir() else [match]
        if not files:
            raise InputError(f"{text}: no file matches", hint="quote the pattern and check the folder it starts from")
    else:
        raise InputError(f"{text}: no such file or folder", hint=ACCEPTED)
    for file in files:
        yield from _opened(file.resolve(), limits)


def _matches(pattern: Path) -> list[Path]:
    plain = list(itertools.takewhile(lambda part: not glob.has_magic(part), pattern.parts))
    rest = Path(*pattern.parts[len(plain) :])
    wants_hidden = any(part.startswith(".") for part in rest.parts)
    found = sorted(Path(*plain).glob(str(rest)))
    return [path for path in found if wants_hidden or not _is_hidden(path.parts[len(plain) :])]


def _is_hidden(parts: Sequence[str]) -> bool:
    return any(part.startswith(".") and part != ".." for part in parts)


def _in_folder(folder: Path) -> list[Path]:
    """Files of known suffixes below `folder`, hidden ones and the usual project papers left out."""

    def wanted(path: Path) -> bool:
        return not _is_hidden(path.relative_to(folder).parts) and _known(path.name) and path.is_file()

    return sorted(path for path in folder.rglob("*") if wanted(path))


def _known(name: str) -> bool:
    lower = name.lower()
    stem = lower.removesuffix(".gz")
    known = PurePosixPath(stem).suffix in SUFFIXES or lower.endswith(".zip")
    return known and not (lower.startswith(_NOT_IN_FOLDERS) and stem.endswith((".md", ".txt")))


def _opened(path: Path, limits: Limits) -> Iterator[Blob]:
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise InputError(f"{path}: cannot be opened ({error.strerror or error})") from error
    if magic.startswith(_GZIP):
        yield Blob(str(path), lambda: _gunzip(path, limits), limits)
    elif magic.startswith(_ZIP):
        yield from _members(path, limits)
    else:
        yield Blob(str(path), lambda: path.open("rb"), limits)


def _gunzip(path: Path, limits: Limits) -> BinaryIO:
    return _Bounded(gzip.open(path, "rb"), str(path), path.stat().st_size, limits).buffered()


def _members(path: Path, limits: Limits) -> Iterator[Blob]:
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError) as error:
        raise InputError(f"{path}: a damaged zip archive ({error})", hint="pack it again, or name the files") from error
    if any(info.filename == "[Content_Types].xml" for info in infos):
        raise InputError(
            f"{path}: an Office document, which cannot be read", hint="save the sheet as CSV UTF-8, or the text as .txt"
        )
    if len(infos) > limits.members or sum(info.file_size for info in infos) > limits.expanded:
        raise InputError(
            f"{path}: the archive holds too much ({len(infos)} files, "
            f"{sum(info.file_size for info in infos) / 2**30:.0f} GiB unpacked)",
            hint="unpack it and name the files that hold abstracts",
        )
    wanted = [info for info in infos if not info.is_dir() and _wanted_member(info.filename)]
    if not wanted:
        raise InputError(f"{path}: no file of a known kind in this archive", hint=ACCEPTED)
    for info in wanted:
        name = f"{path}!{info.filename}"
        yield Blob(name, partial(_unzip, path, info, name, limits), limits)


def _wanted_member(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return (
        bool(parts)
        and not _is_hidden(parts)
        and parts[0] != "__MACOSX"
        and _known(parts[-1])
        and not name.lower().endswith(".zip")
    )


def _unzip(path: Path, info: zipfile.ZipInfo, name: str, limits: Limits) -> BinaryIO:
    if info.flag_bits & 1:
        raise InputError(f"{name}: is encrypted", hint="unpack the archive with its password and name the file")
    try:
        with zipfile.ZipFile(path) as archive:
            member = archive.open(info)  # keeps the file open until it is closed itself
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, ValueError) as error:
        raise InputError(f"{name}: cannot be unpacked ({error})") from error
    unpacked = _Bounded(member, name, info.compress_size, limits).buffered()
    if unpacked.peek(2)[:2] != _GZIP:
        return unpacked
    return _Bounded(gzip.GzipFile(fileobj=unpacked), name, info.compress_size, limits).buffered()


def _standard_input(stdin: BinaryIO | None, limits: Limits) -> Blob:
    if stdin is None:
        raise InputError("-: there is no standard input here", hint="name a file instead")
    data = stdin.read(limits.stdin + 1)
    if len(data) > limits.stdin:
        raise InputError(
            f"-: more than {limits.stdin / 2**30:g} GiB on standard input", hint="write it to a file first"
        )
    if data.startswith(_ZIP):
        raise InputError("-: a zip archive on standard input", hint="name the archive as a file")
    if data.startswith(_GZIP):
        size = len(data)
        return Blob(
            STDIN, lambda: _Bounded(gzip.GzipFile(fileobj=io.BytesIO(data)), STDIN, size, limits).buffered(), limits
        )
    return Blob(STDIN, lambda: io.BytesIO(data), limits)


class _Bounded(io.RawIOBase):
    """Unpacked bytes that end in InputError where the archive is damaged or expands beyond the limits."""

    def __init__(self, packed: IO[bytes] | gzip.GzipFile, name: str, size: int, limits: Limits) -> None:
        self._packed, self._name, self._size, self._limits = packed, name, max(size, 1), limits
        self._count = 0

    def buffered(self) -> io.BufferedReader:
        return io.BufferedReader(self, 2**16)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        try:
            data = self._packed.read(len(buffer))
        except (EOFError, OSError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise InputError(
                f"{self._name}: the compressed data is damaged or cut off ({error})",
                hint="fetch or pack the file again",
            ) from error
        self._count += len(data)
        limits = self._limits
        too_dense = self._count > limits.ratio_from and self._count / self._size > limits.ratio
        if self._count > limits.expanded or too_dense:
            raise InputError(
                f"{self._name}: expands to more than {self._count / 2**20:.0f} MiB from {self._size} bytes, "
                "which no list of abstracts does",
                hint="if it is really one, unpack it first and name the unpacked file",
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._packed.close()
        super().close()
