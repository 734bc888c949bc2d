"""PubMed XML (efetch, baseline files): articles and books, labelled sections of abstracts kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element

from rag.papers import Paper, Skipped
from rag.readers.encodings import Text
from rag.readers.fields import paper_of
from rag.readers.values import one_line
from rag.readers.xmlstream import Broken, child, children, elements, text_in

ROOTS = ("PubmedArticleSet", "PubmedArticle", "PubmedBookArticleSet", "PubmedBookArticle", "MedlineCitationSet")
_RECORDS = ("PubmedArticle", "PubmedBookArticle")


def read(text: Text, mapping: Mapping[str, str]) -> Iterator[Paper | Skipped]:
    """The papers of a PubMed XML file. `mapping` has no meaning here."""
    for found in elements(text, _RECORDS if "<Pubmed" in text.head() else ("MedlineCitation",)):
        if isinstance(found, Broken):
            yield Skipped(text.name, found.line, found.reason)
        else:
            line, record = found
            yield paper_of(_values(record), source=text.name, line=line)


def _values(record: Element) -> dict[str, object]:
    citation = _either(child(record, "MedlineCitation"), child(record, "BookDocument"), record)
    article = _either(child(citation, "Article"), citation)
    journal = child(article, "Journal")
    pmid = one_line(text_in(child(citation, "PMID")))
    return {
        "abstract": _abstract(child(article, "Abstract")) or _abstract(child(citation, "OtherAbstract")),
        "title": text_in(child(article, "ArticleTitle"))
        or text_in(child(article, "VernacularTitle"))
        or text_in(child(article, "Book", "BookTitle")),
        "authors": [_author(person) for person in children(child(article, "AuthorList"), "Author")],
        "year": [
            text_in(found)
            for parent in (
                child(journal, "JournalIssue", "PubDate"),
                child(article, "Book", "PubDate"),
                child(article, "ArticleDate"),
            )
            for name in ("Year", "MedlineDate")
            if (found := child(parent, name)) is not None
        ],
        "venue": text_in(child(journal, "Title"))
        or text_in(child(journal, "ISOAbbreviation"))
        or text_in(child(article, "Book", "BookTitle")),
        "doi": _doi(record, article),
        "url": f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid.isdigit() else "",
        "keywords": _keywords(citation),
    }


def _either(*elements: Element | None) -> Element:
    return next(element for element in elements if element is not None)


def _abstract(element: Element | None) -> str:
    """Its paragraphs a line each, "LABEL: text" where they have a label."""
    paragraphs = []
    for part in children(element, "AbstractText"):
        label, words = (part.get("Label") or "").strip(), one_line(text_in(part))
        if words:
            paragraphs.append(f"{label}: {words}" if label and label.upper() != "UNLABELLED" else words)
    return "\n".join(paragraphs)


def _author(person: Element) -> str:
    names = [text_in(child(person, part)) for part in ("ForeName", "LastName", "Suffix")]
    return one_line(" ".join(names)) or one_line(text_in(child(person, "CollectiveName")))


def _doi(record: Element, article: Element) -> str:
    locations = children(article, "ELocationID")
    articles = [
        *children(child(record, "PubmedData", "ArticleIdList"), "ArticleId"),
        *children(child(record, "PubmedBookData", "ArticleIdList"), "ArticleId"),
    ]
    found = [item for item in locations if item.get("EIdType") == "doi"]
    found += [item for item in articles if item.get("IdType") == "doi"]
    return text_in(found[0]) if found else ""


def _keywords(citation: Element) -> list[str]:
    words = [text_in(word) for group in children(citation, "KeywordList") for word in children(group, "Keyword")]
    headings = children(child(citation, "MeshHeadingList"), "MeshHeading")
    return words or [text_in(child(heading, "DescriptorName")) for heading in headings]
