"""arXiv's Atom feeds (its API's answers), and other Atom feeds whose entries have a summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element

from rag.papers import Paper, Skipped
from rag.readers.encodings import Text
from rag.readers.fields import paper_of
from rag.readers.values import one_line
from rag.readers.xmlstream import Broken, child, children, elements, text_in

ROOTS = ("feed", "entry")


def read(text: Text, mapping: Mapping[str, str]) -> Iterator[Paper | Skipped]:
    """The papers of a feed. `mapping` has no meaning here."""
    for found in elements(text, ("entry",)):
        if isinstance(found, Broken):
            yield Skipped(text.name, found.line, found.reason)
            continue
        line, entry = found
        if "/api/errors" in text_in(child(entry, "id")):
            yield Skipped(text.name, line, f"the server's error: {one_line(text_in(child(entry, 'summary')))[:200]}")
        else:
            yield paper_of(_values(entry), source=text.name, line=line)


def _values(entry: Element) -> dict[str, object]:
    url = text_in(child(entry, "id")).strip()
    links = [link.get("href", "") for link in children(entry, "link") if link.get("rel", "alternate") == "alternate"]
    return {
        "abstract": text_in(child(entry, "summary")) or text_in(child(entry, "content")),
        "title": text_in(child(entry, "title")),
        "authors": [text_in(child(author, "name")) for author in children(entry, "author")],
        "year": text_in(child(entry, "published")) or text_in(child(entry, "updated")),
        "venue": text_in(child(entry, "journal_ref")) or ("arXiv" if "arxiv.org/" in url else ""),
        "doi": text_in(child(entry, "doi")),
        "url": url if url.startswith("http") else links,
        "keywords": [category.get("term", "") for category in children(entry, "category")],
    }
