"""BibTeX: entries with @string values, accents and escapes decoded; broken entries are reported, double keys kept."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping

from bibtexparser.exceptions import ParserStateException
from bibtexparser.model import (
    DuplicateBlockKeyBlock,
    DuplicateFieldKeyBlock,
    Entry,
    ImplicitComment,
    ParsingFailedBlock,
    String,
)
from bibtexparser.splitter import Splitter

from rag.errors import InputError
from rag.papers import Paper, Skipped
from rag.readers.encodings import Text
from rag.readers.fields import identifier_url, key, paper_of
from rag.readers.latex import decode, readable
from rag.readers.values import one_line

_PIECE = re.compile(r'\s*(?:"(?P<quoted>.*?)"|(?P<name>[^\s"{}#]+)|(?P<group>\{))\s*', re.DOTALL)
_LOST_ENTRY = re.compile(
    r"^[ \t]*@?[ \t]*\w{1,30}\s{0,3}[{(]\s{0,9}[^\s,{}]{0,200}\s{0,9},[^@]{0,400}?\w\s{0,9}=\s{0,9}[\"{]", re.MULTILINE
)
_PERSONS_END = re.compile(r"\\.|[{}]|\s+and(?=\s)", re.IGNORECASE | re.DOTALL)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "title": ("title", "booktitle"),
    "abstract": ("abstract", "abstractnote", "summary", "annote"),
    "year": ("year", "date", "eprintdate"),
    "venue": ("journal", "journaltitle", "booktitle", "eventtitle", "series", "school", "institution", "howpublished"),
    "doi": ("doi",),
    "url": ("url", "link", "howpublished"),
    "keywords": ("keywords", "keyword", "authorkeywords"),
}


def read(text: Text, mapping: Mapping[str, str]) -> Iterator[Paper | Skipped]:
    """The papers of a BibTeX file; every entry gives a paper or says why not. `mapping` has no meaning here."""
    document = text.document().replace("\r\n", "\n").replace("\r", "\n")
    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)  # what is broken is reported below, once
    try:
        blocks = Splitter(document).split().blocks
    except (ParserStateException, RecursionError) as error:
        raise InputError(f"{text.name}: is not BibTeX that can be read ({error})") from error
    strings = {month: month.title() for month in _MONTHS}
    for block in blocks:
        line = (block.start_line or 0) + 1
        while isinstance(block, DuplicateBlockKeyBlock | DuplicateFieldKeyBlock) and block.ignore_error_block:
            block = block.ignore_error_block
        if isinstance(block, String):
            strings[block.key.lower()] = _value(block.value, strings)
        elif isinstance(block, Entry):
            yield _paper(block, strings, text, line)
        elif isinstance(block, ParsingFailedBlock):
            name = one_line((block.raw or "")[:60])
            yield Skipped(text.name, line, f"broken BibTeX entry ({_reason(block)}): {name}")
        elif isinstance(block, ImplicitComment) and (lost := _LOST_ENTRY.search(block.comment)):
            at = line + block.comment.count("\n", 0, lost.start())
            yield Skipped(text.name, at, f"text outside any entry that looks like one: {one_line(lost.group())[:60]}")


def _reason(block: ParsingFailedBlock) -> str:
    error = getattr(block, "error", None)
    return one_line(str(getattr(error, "abort_reason", error) or "cannot be parsed"))


def _paper(entry: Entry, strings: Mapping[str, str], text: Text, line: int) -> Paper | Skipped:
    fields: dict[str, str] = {}
    for item in entry.fields:
        fields.setdefault(
            key(item.key), _value(str(item.value), strings)
        )  # of a field given twice the first, as BibTeX
    values: dict[str, object] = {
        name: decode(next((fields[given] for given in keys if fields.get(given)), "")) for name, keys in _FIELDS.items()
    }
    values["title"] = readable(fields.get("title") or fields.get("booktitle", ""), braces=True)
    people = fields.get("author") or fields.get("authors") or fields.get("editor", "")
    names = [one_line(decode(name)) for name in _people(people)]
    values["authors"] = [name for name in names if name != "others"]
    if str(values["venue"]) == fields.get("url") or str(values["venue"]).startswith(("http:", "https:")):
        values["venue"] = ""
    values["url"] = re.sub(r"^\\url\{(.*)\}$", r"\1", str(values["url"])) or _identifier(fields)
    return paper_of(values, source=text.name, line=line, encoding=text.encoding)


def _people(text: str) -> list[str]:
    """Names joined by "and" outside braces; an accent may be the first of a name."""
    names: list[str] = []
    depth = start = 0
    for match in _PERSONS_END.finditer(text):
        if match.group() in "{}":
            depth = max(0, depth + (1 if match.group() == "{" else -1))
        elif depth == 0 and not match.group().startswith("\\"):
            names.append(text[start : match.start()])
            start = match.end()
    return [name for name in (*names, text[start:]) if name.strip()]


def _identifier(fields: Mapping[str, str]) -> str:
    kind = fields.get("eprinttype") or fields.get("archiveprefix") or "arxiv"
    return identifier_url({**fields, "eprint": fields.get("eprint", "") if kind.lower() == "arxiv" else ""})


def _value(raw: str, strings: Mapping[str, str]) -> str:
    """A field's value without its delimiters: "…", {…}, a number, an @string name, or several joined by #."""
    parts: list[str] = []
    at = 0
    raw = raw.strip()
    while at < len(raw):
        match = _PIECE.match(raw, at)
        if not match:
            return raw
        end = match.end()
        if match["group"]:
            end = _group_end(raw, match.start("group"))
            parts.append(raw[match.start("group") + 1 : end - 1])
        elif match["quoted"] is not None and raw[at:].lstrip().startswith('"'):
            end = _quote_end(raw, match.start("quoted") - 1)
            parts.append(raw[match.start("quoted") : end - 1])
        else:
            parts.append(strings.get(match["name"].lower(), match["name"]))
        rest = raw[end:].lstrip()
        if rest and not rest.startswith("#"):
            return raw.strip('"{}') if not parts else " ".join((*parts, rest))
        at = len(raw) - len(rest) + 1 if rest else len(raw)
    return "".join(parts).strip()


def _group_end(raw: str, start: int) -> int:
    """Past the brace that closes the group at `start`."""
    depth = 0
    for match in re.finditer(r"(?<!\\)[{}]", raw[start:]):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return start + match.end()
    return len(raw) + 1


def _quote_end(raw: str, start: int) -> int:
    """Past the quotation mark that closes the one at `start`; those inside braces do not."""
    depth = 0
    for match in re.finditer(r'(?<!\\)[{}"]', raw[start + 1 :]):
        if match.group() != '"':
            depth += 1 if match.group() == "{" else -1
        elif depth <= 0:
            return start + 1 + match.end()
    return len(raw) + 1
