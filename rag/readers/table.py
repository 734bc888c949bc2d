"""CSV and TSV: delimiter and quoting found out, columns known by their usual names, quoted line breaks kept."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rag.errors import InputError
from rag.papers import Paper, Skipped
from rag.readers.encodings import Text
from rag.readers.fields import columns, identifier_url, key, paper_of
from rag.readers.values import text_of

DELIMITERS = (",", "\t", ";", "|")
_LONGEST_CELL = 2**20  # characters
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
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
    lines = head.lstrip("\ufeff\r\n").splitlines(keepends=True)
    if lines and key(lines[0]).startswith("sep") and len(lines[0].strip()) == 5:  # Excel's "sep=;"
        lines = lines[1:]
    try:
        return [name.strip() for name in next(csv.reader(lines, delimiter=delimiter), [])]
    except csv.Error:
        return []


def read(text: Text, mapping: Mapping[str, str]) -> Iterator[Paper | Skipped]:
    """The papers of a table with a heading row. Raises InputError where no column holds abstracts."""
    head = text.head()
    delimiter = header_delimiter(head, mapping) or max(DELIMITERS, key=lambda mark: len(_first_record(head, mark)))
    rows = _Rows(text.lines(), delimiter)
    names: list[str] = []
    for _, names in rows:
        if len(names) == 1 and key(names[0]) in ("", "sep"):
            continue
        break
    names = [name.strip().lstrip("\ufeff") for name in names]
    found = columns(names, mapping, text.name)
    if not found["abstract"]:
        raise InputError(
            f"{text.name}: no column holds abstracts; columns found: {', '.join(names)[:300] or 'none'}",
            hint="name it: --map abstract=COLUMN (title, authors, year, venue, doi, url and keywords alike)",
        )
    for line, cells in rows:
        if any(cell.strip() for cell in cells):
            yield _paper(names, found, cells, text, line)


def _paper(names: list[str], found: dict[str, list[str]], cells: list[str], text: Text, line: int) -> Paper | Skipped:
    if len(cells) > len(names) and any(cell.strip() for cell in cells[len(names) :]):
        reason = f"{len(cells)} cells where the heading has {len(names)}: a quotation mark or delimiter is out of place"
        return Skipped(text.name, line, reason)
    row = dict(zip(names, cells, strict=False))
    values: dict[str, object] = {
        name: next((row[column] for column in given if row.get(column, "").strip()), "")
        for name, given in found.items()
    }
    if not text_of(values["url"]):
        values["url"] = identifier_url({key(name): cell for name, cell in row.items()})
    return paper_of(values, source=text.name, line=line, encoding=text.encoding)


@dataclass(slots=True)
class _Rows:
    """Records with the line they start on."""

    source: Iterator[str]
    delimiter: str
    _again: deque[str] = field(default_factory=deque)

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
        reader = csv.reader(self.source, delimiter=self.delimiter)
        line = 1
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1
