"""RIS and MEDLINE/nbib: one tag a line, values over several lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from rispy import RisParser

from rag.papers import Paper, Skipped
from rag.readers.encodings import Text
from rag.readers.fields import paper_of
from rag.readers.latex import readable
from rag.readers.values import one_line

_RIS_LINE = re.compile(r"^\s{0,3}([A-Z][A-Z0-9])\s{1,3}-(?:\s(.*)|)$")
_MEDLINE_LINE = re.compile(r"^([A-Z]{2,4}) {0,2}- ?(.*)$")
_RIS_VENUES = ("journal_name", "alternate_title3", "secondary_title", "alternate_title2", "custom3", "alternate_title1")
_SECTION = re.compile(r"\s(?=[A-Z][A-Z /&,-]{3,40}: )")


@dataclass(slots=True)
class Record:
    """Lines of one reference: tag → values, in order; `line` is where it starts."""

    line: int
    values: dict[str, list[str]] = field(default_factory=dict)
    last: str = ""

    def add(self, tag: str, value: str) -> None:
        self.values.setdefault(tag, []).append(value)
        self.last = tag

    def extend(self, value: str) -> None:
        if value and self.last:
            self.values[self.last][-1] = f"{self.values[self.last][-1]} {value}".strip()

    def first(self, *tags: str) -> str:
        return next((value for tag in tags for value in self.values.get(tag, ()) if value), "")

    def all(self, *tags: str) -> list[str]:
        return next(
            ([value for value in self.values[tag] if value] for tag in tags if any(self.values.get(tag, ()))), []
        )


class _Ris(RisParser):  # type: ignore[misc]
    """rispy, with the spacings that exporters get wrong allowed."""

    def parse_line(self, line: str) -> tuple[str, str] | tuple[None, str]:
        match = _RIS_LINE.match(line)
        return (match[1], (match[2] or "").strip()) if match else (None, line.strip())


def ris_records(lines: Iterable[str]) -> Iterator[Record]:
    """Records from TY to ER, or to the next TY or the end where ER is missing; what stands between is no record."""
    parse = _Ris().parse_line
    record: Record | None = None
    for number, line in enumerate(lines, 1):
        tag, value = parse(line.rstrip("\r\n").lstrip("\ufeff"))
        if tag == "TY":
            if record:
                yield record
            record = Record(number)
            record.add(tag, value)
        elif record is None:
            continue
        elif tag == "ER":
            yield record
            record = None
        elif tag is None:
            record.extend(value)
        else:
            record.add(tag, value)
    if record:
        yield record


def read_ris(text: Text, mapping: Mapping[str, str]) -> Iterator[Paper | Skipped]:
    """The papers of a RIS file, the abstract from AB or N2 (else a long N1). `mapping` has no meaning here."""
    parser = _Ris(enforce_list_tags=False, delimiter_tags_mapping={})
    for record in ris_records(text.lines()):
        lines = [f"{tag}  - {value}" for tag, given in record.values.items() for value in given]
        fields = parser.parse_lines(iter((*lines, "ER  - ")))[0]

        def of(*names: str, fields: Mapping[str, object] = fields) -> list[str]:
            """The values of the first of rispy's `names` that has any."""
            for item in filter(None, map(fields.get, names)):
                if texts := [str(text) for text in (item if isinstance(item, list) else [item]) if text]:
                    return texts
            return []

        notes = " ".join(of("notes"))
        doi = of("doi") or [value for value in of("type_of_work") if value.startswith("10.")]
        values = {
            "abstract": " ".join(of("abstract", "notes_abstract")) or (notes if len(notes.split()) >= 40 else ""),
            "title": readable(" ".join(of("title", "primary_title", "unpublished_title")[:1])),
            "authors": [one_line(name) for name in of("authors", "first_authors", "secondary_authors")],
            "year": of("year", "publication_year", "date"),
            "venue": " ".join(of(*_RIS_VENUES)[:1]),
            "doi": " ".join(doi),
            "url": of("urls", "file_attachments1", "file_attachments2"),
            "keywords": [one_line(word) for value in of("keywords") for word in value.split(";")],
        }
        yield paper_of(values, source=text.name, line=record.line, encoding=text.encoding)


def medline_records(lines: Iterable[str]) -> Iterator[Record]:
    """Records from one PMID to the next, or between blank lines."""
    record: Record | None = None
    blank = True
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\r\n").lstrip("\ufeff")
        match = _MEDLINE_LINE.match(line)
        if match and (match[1] == "PMID" or (blank and record is not None)):
            if record:
                yield record
            record = Record(number)
        blank = not line.strip()
        if record is None:
            continue
        if match:
            record.add(match[1], match[2].strip())
        elif line.startswith(" ") and not blank:
            record.extend(line.strip())
    if record:
        yield record


def read_medline(text: Text, mapping: Mapping[str, str]) -> Iterator[Paper | Skipped]:
    """The papers of a MEDLINE (nbib) file; labelled sections start on lines of their own. No use for `mapping`."""
    for record in medline_records(text.lines()):
        pmid = record.first("PMID")
        dois = [value for value in record.all("LID") + record.all("AID") if value.endswith("[doi]")]
        values = {
            "abstract": _SECTION.sub("\n", " ".join(record.all("AB", "OAB"))),
            "title": readable(" ".join(record.all("TI", "BTI"))),
            "authors": record.all("FAU", "AU", "CN"),
            "year": record.first("DP", "DEP", "EDAT", "CRDT"),
            "venue": record.first("JT", "TA", "BTI"),
            "doi": dois[0].removesuffix("[doi]") if dois else "",
            "url": f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid.isdigit() else "",
            "keywords": [word.strip("*") for word in record.all("OT", "MH")],
        }
        yield paper_of(values, source=text.name, line=record.line, encoding=text.encoding)
