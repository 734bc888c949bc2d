"""Names of columns and keys → fields of a paper, and a row of them → `Paper` or `Skipped`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from rag.errors import InputError
from rag.papers import Paper, Skipped, normal_doi
from rag.readers.encodings import broken
from rag.readers.latex import readable
from rag.readers.values import abstract_of, keywords_of, names_of, one_line, text_of, url_of, year_of

FIELDS = ("title", "abstract", "authors", "year", "venue", "doi", "url", "keywords")
# in order of preference; compared without case, spaces and punctuation
ALIASES: Mapping[str, tuple[str, ...]] = {
    "abstract": (
        *("abstract", "abstracts", "abstracttext", "abstractnote", "paperabstract", "summary", "summaries", "ab"),
        *("description", "zusammenfassung", "résumé", "resume", "resumen", "摘要", "要旨", "초록", "text"),
    ),
    "title": (
        *("title", "titles", "papertitle", "documenttitle", "articletitle", "displayname", "ti", "titel", "titre"),
        *("titulo", "título", "标题", "题目", "題名", "论文标题", "제목", "name", "paper"),
    ),
    "authors": (
        *("authors", "author", "authorfullnames", "authorsfullname", "authornames", "authorlist", "authorstring"),
        *(
            "authorsparsed",
            "authorships",
            "creators",
            "creator",
            "au",
            "af",
            "autoren",
            "auteurs",
            "autores",
            "作者",
            "저자",
        ),
    ),
    "year": (
        *("year", "publicationyear", "pubyear", "yearpublished", "py", "jahr", "année", "annee", "año", "年份", "年"),
        *(
            "date",
            "publicationdate",
            "publishdate",
            "pubdate",
            "published",
            "publishedat",
            "publisheddate",
            "datepublished",
        ),
        *("issued", "created", "cdate", "pdate", "updatedate", "onlinedate", "conferencedate"),
    ),
    # what is asked last, after a year in the venue's name
    "created": (
        "publishedat",
        "pdate",
        "odate",
        "created",
        "createdat",
        "cdate",
        "tcdate",
        "updatedate",
        "updated",
        "updatedat",
    ),
    "venue": (
        *(
            "venue",
            "conference",
            "journal",
            "booktitle",
            "journaltitle",
            "publicationtitle",
            "sourcetitle",
            "containertitle",
        ),
        *(
            "journalref",
            "publicationvenue",
            "publication",
            "so",
            "jo",
            "zeitschrift",
            "revue",
            "会议",
            "期刊",
            "venueid",
        ),
    ),
    "doi": ("doi", "dois", "di", "doilink", "doiurl", "digitalobjectidentifier"),
    "url": (
        *(
            "url",
            "openreviewurl",
            "link",
            "urls",
            "links",
            "openreview",
            "paperurl",
            "site",
            "arxivurl",
            "absurl",
            "href",
        ),
        *("webpage", "pdfurl", "pdflink", "pdf", "paperlink"),
    ),
    "keywords": (
        *("keywords", "keyword", "authorkeywords", "tags", "manualtags", "topics", "subjects", "subject", "terms"),
        *("de", "kw", "fieldsofstudy", "categories", "primaryarea", "schlagwörter", "motsclés", "关键词", "關鍵詞"),
    ),
}
_IDENTIFIERS = {
    "openreview": (("openreviewid", "forum", "forumid"), r"[\w-]{6,}", "https://openreview.net/forum?id={}"),
    "arxiv": (
        ("arxivid", "arxiv", "eprint"),
        r"\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7}",
        "https://arxiv.org/abs/{}",
    ),
    "pubmed": (("pmid", "pubmedid"), r"\d{1,9}", "https://pubmed.ncbi.nlm.nih.gov/{}/"),
}


def key(name: object) -> str:
    """`name` without case, spaces and punctuation: "Publication Year", "publication_year" → "publicationyear"."""
    return re.sub(r"[\W_]+", "", str(name)).casefold()


def columns(names: Iterable[str], mapping: Mapping[str, str], where: str) -> dict[str, list[str]]:
    """Field → the names that hold it, best first; `mapping` (field → name) goes before the usual spellings.

    Raises InputError where `mapping` names a field or a column that does not exist.
    """
    check_fields(mapping)
    names = list(names)
    by_key: dict[str, str] = {}
    for name in names:
        by_key.setdefault(key(name), name)
    found = {field: [by_key[alias] for alias in ALIASES[field] if alias in by_key] for field in ALIASES}
    for field, wanted in mapping.items():
        name = wanted if wanted in names else by_key.get(key(wanted), "")
        if not name:
            raise InputError(f"{where}: no column named {wanted!r} (for {field})", hint=f"columns: {', '.join(names)}")
        found[field] = [name]
    return found


def check_fields(mapping: Mapping[str, str]) -> None:
    """Raises InputError where `mapping` names something that is no field."""
    if unknown := [field for field in mapping if field not in FIELDS]:
        raise InputError(f"{unknown[0]!r} is no field of a paper", hint=f"fields: {', '.join(FIELDS)}")


def identifier_url(row: Mapping[str, object]) -> str:
    """A link made from an OpenReview, arXiv or PubMed id in `row` (keys as `key` gives them), or ""."""
    for names, pattern, url in _IDENTIFIERS.values():
        for name in names:
            text = re.sub(r"^(?:arxiv|pmid):\s*", "", text_of(row.get(name)), flags=re.IGNORECASE)
            if re.fullmatch(pattern, text):
                return url.format(text)
    return ""


def paper_of(values: Mapping[str, object], *, source: str, line: int, encoding: str = "utf-8") -> Paper | Skipped:
    """A paper of `values` (field → value as the source has it), or why there is none."""
    abstract = abstract_of(values.get("abstract"))
    title = readable(text_of(values.get("title")))
    if not abstract:
        why = "no words in the abstract" if any(map(str.isdigit, text_of(values.get("abstract")))) else "no abstract"
        return Skipped(source, line, f"{why} ({title[:60]})" if title else why)
    venue = one_line(text_of(values.get("venue")))
    url = url_of(values.get("url"))
    doi = normal_doi(text_of(values.get("doi"))) or (normal_doi(url) if "doi.org/" in url else "")
    authors = names_of(values.get("authors"))
    keywords = keywords_of(values.get("keywords"))
    if wrong := broken("\n".join((abstract, title, venue, url, doi, *authors, *keywords)), encoding):
        return Skipped(source, line, wrong)
    return Paper(
        abstract=abstract,
        title=title,
        authors=authors,
        year=year_of(values.get("year")) or year_of(venue) or year_of(values.get("created")),
        venue=venue,
        url=url,
        doi=doi,
        keywords=keywords,
    )
