"""CSV and TSV: delimiter and quoting found out, columns known by their usual names, quoted line breaks kept."""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from rag.errors import InputError
from rag.papers import Paper, Skipped
from rag.readers.encodings import Text
from rag.readers.fields import columns, identifier_url, key, paper_of
from rag.readers.values import one_line, url_of

DELIMITERS = (",", "\t", ";", "|")
LONGEST_ROW = 2**21  # characters; a quotation mark that is never closed takes no more than this with it
_RETRIES, _LONGEST_RETRY = 200, 100  # lines: where a whole row is looked for, and how long it may be
_OUT_OF_PLACE = "a quotation mark is out of place"
_EXCEL_SEPARATOR = re.compile(r"\ufeff?\"?sep=.\"?", re.IGNORECASE)
_END = "\x00end of file\x00"  # a line no file holds; a record with more than this in it was never closed


def header_delimiter(head: str, mapping: Mapping[str, str]) -> str:
    """The delimiter under which the first record names an abstract column beside others; "" where none does."""
    wanted = {key(name) for name in mapping.values()}
    best, most = "", 1
    for delimiter in DELIMITERS:
        names = _first_record(head, delimiter)
        known = columns(names, {}, "")
        is_header = bool(known["abstract"]) or (bool(wanted) and wanted <= set(map(key, names)))
        if is_header and len(names) > most:
            best, most = delimiter, len(names)
    return best


def _first_record(head: str, delimiter: str) -> list[str]:
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_ROW))
    lines = head.lstrip("\ufeff\r\n").splitlines(keepends=True)
    if lines and _EXCEL_SEPARATOR.fullmatch(lines[0].strip()):
        lines = lines[1:]
    try:
        return [name.strip() for name in next(csv.reader(lines, delimiter=delimiter), [])]
    except csv.Error:
        return []


def read(text: Text, mapping: Mapping[str, str]) -> Iterator[Paper | Skipped]:
    """The papers of a table with a heading row. Raises InputError where no column holds abstracts."""
    head = text.head()
    delimiter = header_delimiter(head, mapping) or max(DELIMITERS, key=lambda mark: len(_first_record(head, mark)))
    records = Records(text.lines(), delimiter, escape=_escape(head, delimiter))
    heading = next((record for record in records if not _is_preamble(record)), Record(1, [], ()))
    if heading.problem:
        raise InputError(f"{text.name}:{heading.line}: in the heading {heading.problem}", hint="mend that line")
    names = [one_line(name.lstrip("\ufeff")) for name in heading.cells]
    found = columns(names, mapping, text.name)
    if not found["abstract"]:
        raise InputError(
            f"{text.name}: no column holds abstracts; columns found: {', '.join(names)[:300] or 'none'}",
            hint="name it: --map abstract=COLUMN (title, authors, year, venue, doi, url and keywords alike)",
        )
    records.width = len(names)
    for record in records:
        if record.problem:
            yield Skipped(text.name, record.line, record.problem)
        elif any(cell.strip() for cell in record.cells):
            yield _paper(names, found, record, text)


def _is_preamble(record: Record) -> bool:
    return not any(cell.strip() for cell in record.cells) or bool(
        _EXCEL_SEPARATOR.fullmatch("".join(record.lines).strip())
    )


def _escape(head: str, delimiter: str) -> str | None:
    """A backslash where quotes inside cells are written \\" (as some databases do), else None."""
    if '\\"' not in head or '""' in head.replace(f'{delimiter}""', ""):
        return None

    def widths(escape: str | None) -> list[int]:
        records = Records(iter(head.splitlines(keepends=True)), delimiter, escape=escape)
        return [len(record.cells) for record in records][:-1]

    plain, escaped = widths(None), widths("\\")
    return "\\" if len(set(escaped)) == 1 < len(set(plain)) else None


def _paper(names: list[str], found: dict[str, list[str]], record: Record, text: Text) -> Paper | Skipped:
    row = dict(reversed(list(zip(names, record.cells, strict=False))))  # of columns named alike the first
    values: dict[str, object] = {
        name: next((row[column] for column in given if row.get(column, "").strip()), "")
        for name, given in found.items()
    }
    if not url_of(values["url"]):
        values["url"] = identifier_url({key(name): cell for name, cell in row.items()})
    return paper_of(values, source=text.name, line=record.line, encoding=text.encoding)


@dataclass(frozen=True, slots=True)
class Record:
    """A row: the line it starts on, its cells, its lines as they stand; `problem` says why it cannot be used."""

    line: int
    cells: list[str]
    lines: tuple[str, ...]
    problem: str = ""


@dataclass(slots=True)
class Records:
    """The rows of a table; after one with a quotation mark out of place, reading goes on at the next line that fits.

    `width` is the number of cells a row may have, 0 while it is not known.
    """

    source: Iterator[str]
    delimiter: str
    escape: str | None = None
    width: int = 0
    _line: int = 1  # the number of the next line
    _again: deque[str] = field(default_factory=deque)

    def __iter__(self) -> Iterator[Record]:
        while record := self._next():
            if self._is_doubtful(record):
                record = self._retried(record)
            if record.cells or record.problem:
                yield record

    def _is_doubtful(self, record: Record) -> bool:
        """Whether a quotation mark may have ended the row at the wrong place."""
        if len(record.lines) == 1:
            return bool(record.problem) and _leaves_open(*record.lines)
        return bool(record.problem) or not self._is_strict(record.lines)

    def _next(self) -> Record | None:
        """The next row, or None at the end."""
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_ROW))
        taken: list[str] = []
        start = self._line
        problem = ""
        try:
            cells = next(csv.reader(self._feed(taken), delimiter=self.delimiter, **self._quoting()), None)
        except csv.Error:
            cells, problem = (
                [""],
                f"more than {LONGEST_ROW:,} characters in a row: a quotation mark may never be closed",
            )
        if taken and taken[-1] == _END:
            taken.pop()
            if not taken:
                return None
        if cells is None:
            return None
        lines = tuple(taken)
        return Record(start, cells, lines, problem or self._problem(cells, lines))

    def _quoting(self) -> dict[str, Any]:
        return {"escapechar": self.escape, "doublequote": False} if self.escape else {}

    def _feed(self, taken: list[str]) -> Iterator[str]:
        size = 0
        while True:
            line = self._again.popleft() if self._again else next(self.source, _END)
            if line != _END:
                self._line += 1
                size += len(line)
            taken.append(line)
            if size > LONGEST_ROW:
                raise csv.Error("row too long")
            yield line
            if line == _END:
                return

    def _problem(self, cells: list[str], lines: tuple[str, ...]) -> str:
        if any(_END in cell for cell in cells[-1:]):
            return "a quotation mark is opened here and never closed"
        extra = cells[self.width :]
        if self.width and (any(cell.strip() for cell in extra) or (extra and any(map(_leaves_open, cells)))):
            return f"{len(cells)} cells where the heading has {self.width}: a delimiter or {_OUT_OF_PLACE[2:]}"
        if len(cells) < self.width and (not self._is_strict(lines) or 1 == len(cells) < len(lines)):
            return f"{len(cells)} of {self.width} cells: {_OUT_OF_PLACE}"
        if self.width and _leaves_open(*lines) and self._holds_an_opening(lines) and not self._is_strict(lines):
            return _OUT_OF_PLACE
        return ""

    def _retried(self, record: Record) -> Record:
        """`record` cut to the lines before the first that starts a whole row, or with what is left of its last cell
        after it; reading goes on there."""
        size = len(record.lines)
        lines = (*record.lines, *self._ahead())
        count = next((start for start in range(1, min(size, _RETRIES)) if self._fits(lines[start:])), 0)
        if not count and self.width and not record.problem:
            return record
        if not count and size <= _RETRIES:
            count = self._end(lines, size)
        count = count or max(_RETRIES, size // 2)
        rest = record.lines[count:]
        self._again.extendleft(reversed(rest))
        for _ in lines[size:count]:
            self._again.popleft()
        self._line += count - size
        return replace(record, lines=lines[:count], problem=record.problem or _OUT_OF_PLACE)

    def _end(self, lines: tuple[str, ...], size: int) -> int:
        """Where a broken row of `size` lines ends: after a line that closes its last cell, if a whole row follows."""
        for at, line in enumerate(lines[size:], size):
            if self._fits(lines[at:]):
                break
            if _leaves_open(line):
                return at + 1 if self._fits(lines[at + 1 :]) else size
        return size

    def _ahead(self) -> tuple[str, ...]:
        """The next lines, which stay to be read."""
        self._again.extend(islice(self.source, max(0, _LONGEST_RETRY - len(self._again))))
        return tuple(islice(self._again, _LONGEST_RETRY))

    def _holds_an_opening(self, lines: tuple[str, ...]) -> bool:
        """Whether a quoted cell seems to go on to where the next one is opened."""
        mark = re.escape(self.delimiter)
        return bool(re.search(rf'(?:^|{mark})"(?:[^"]|"")*{mark}"[^{mark}"\r\n]', "".join(lines)))

    def _is_strict(self, lines: tuple[str, ...]) -> bool:
        """Whether every quotation mark in `lines` is where it may be; where not, a row may have swallowed others."""
        try:
            next(csv.reader(iter(lines), delimiter=self.delimiter, strict=True, **self._quoting()))
        except csv.Error:
            return False
        return True

    def _fits(self, lines: tuple[str, ...]) -> bool:
        trial = Records(iter(lines[:_LONGEST_RETRY]), self.delimiter, self.escape, self.width)._next()
        return trial is not None and not trial.problem and len(trial.cells) == self.width


def _leaves_open(*texts: str) -> bool:
    """Whether a quotation mark in them has no other that closes it."""
    return sum(text.count('"') for text in texts) % 2 == 1
