"""The formats there are, and which of them a text is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from rag.errors import InputError
from rag.papers import Paper, Skipped
from rag.readers import atom, bibtex, jsonfiles, pubmed, table, tagged, textlist
from rag.readers.encodings import Text
from rag.readers.inputs import ACCEPTED
from rag.readers.xmlstream import root_of

_PREFACE = 5000  # how far into a file its first entry may start, in characters
Read = Callable[[Text, Mapping[str, str]], Iterator[Paper | Skipped]]


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file: its name for people, its suffixes, and what reads it."""

    name: str
    suffixes: tuple[str, ...]
    read: Read


TEXT = Format("text list", (".txt", ".md"), textlist.read)
TABLE = Format("CSV or TSV", (".csv", ".tsv", ".tab"), table.read)
JSON = Format("JSON", (".json",), jsonfiles.read)
JSONL = Format("JSON Lines", (".jsonl", ".ndjson"), jsonfiles.read_lines)
BIBTEX = Format("BibTeX", (".bib",), bibtex.read)
RIS = Format("RIS", (".ris",), tagged.read_ris)
MEDLINE = Format("MEDLINE", (".nbib", ".medline"), tagged.read_medline)
PUBMED = Format("PubMed XML", (".xml",), pubmed.read)
ATOM = Format("Atom", (".atom",), atom.read)
FORMATS = (TEXT, TABLE, JSON, JSONL, BIBTEX, RIS, MEDLINE, PUBMED, ATOM)

_JSON_START = re.compile(r'\{\s*["}]|\[\s*(?:[\[\]{"]|$)|\{\s*$')
_BIBTEX_ENTRY = re.compile(
    r"^[ \t]*@(?:article|book|booklet|collection|conference|dataset|electronic"
    r"|in(?:book|collection|proceedings|reference)|manual|mastersthesis|misc|online|patent|periodical|phdthesis"
    r"|proceedings|report|software|string|techreport|thesis"
    r"|unpublished|www|comment|preamble)\s*[{(]|^[ \t]*@\w+\s*[{(][^\s,{}]+\s*,\s*\w+\s*=",
    re.MULTILINE | re.IGNORECASE,
)
_RIS_ENTRY = re.compile(r"^\s{0,3}TY\s{1,3}- ?", re.MULTILINE)
_MEDLINE_ENTRY = re.compile(r"^PMID ?- ?\d", re.MULTILINE)
_OTHERS = (
    (re.compile(r"<!doctype html|<html[\s>]", re.IGNORECASE), "a web page"),
    (re.compile(r"%0 [A-Z]"), "an EndNote export (Refer)"),
    (re.compile(r"FN (?:Clarivate|Thomson|ISI)"), "a Web of Science plain-text export"),
    (re.compile(r"version https://git-lfs"), "a Git LFS pointer, not the file itself"),
    (
        re.compile(r"#.*(?:\n.*)*?\n\*(?:[^·\n]+ · )?written by [^·\n]+ · checked by "),
        "an answer that `rag export` wrote, not a list of papers",
    ),
)


def detect(text: Text, mapping: Mapping[str, str]) -> Format:
    """The format of `text`: by its content; its suffix decides only where that is open.

    Raises InputError for a kind of file that is known and cannot be read.
    """
    head = text.head().lstrip("\ufeff \t\r\n")
    suffix = text.blob.suffix
    for pattern, what in _OTHERS:
        if pattern.match(head):
            raise InputError(f"{text.name}: is {what}, which cannot be read", hint=ACCEPTED)
    if head.startswith("<") and (root := root_of(head)):
        return _xml_format(text, root)
    if _JSON_START.match(head) or (suffix in JSON.suffixes and head[:1] in ("[", "{")):
        return JSONL if jsonfiles.is_lines(head) or suffix in JSONL.suffixes else JSON
    if suffix in JSONL.suffixes and "{" in head[:2000]:
        return JSONL  # its first line is broken
    for pattern, form in ((_BIBTEX_ENTRY, BIBTEX), (_RIS_ENTRY, RIS), (_MEDLINE_ENTRY, MEDLINE)):
        found = pattern.search(head)
        if found and (suffix in form.suffixes or found.start() < _PREFACE):
            return form
    if table.header_delimiter(head, mapping) or suffix in TABLE.suffixes:
        return TABLE
    known = next((form for form in FORMATS if suffix in form.suffixes), TEXT)
    if known not in (TEXT, TABLE):
        start = " ".join(head[:60].split())
        raise InputError(f"{text.name}: has nothing of {known.name} in it; it starts “{start}”", hint=ACCEPTED)
    return TEXT


def _xml_format(text: Text, root: str) -> Format:
    for form, roots in ((PUBMED, pubmed.ROOTS), (ATOM, atom.ROOTS)):
        if root in roots:
            return form
    if root.lower() == "html":
        raise InputError(f"{text.name}: is a web page, which cannot be read", hint=ACCEPTED)
    raise InputError(f"{text.name}: is XML of an unknown kind (<{root}>)", hint=ACCEPTED)
