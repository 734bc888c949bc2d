"""A paper as it flows through the system: its abstract, what is known about it, and who it is."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from dataclasses import dataclass, field
from urllib.parse import unquote

_DOI = re.compile(r"10\.\d{4,9}/\S+", re.IGNORECASE)
_OPENREVIEW = re.compile(r"openreview\.net/(?:forum|pdf)\?id=([\w-]+)", re.IGNORECASE)
_ARXIV = re.compile(
    r"(?:arxiv\.org/(?:abs|pdf)/|arxiv:\s*)(\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})", re.IGNORECASE
)
_PUBMED = re.compile(r"(?:pubmed\.ncbi\.nlm\.nih\.gov/|ncbi\.nlm\.nih\.gov/pubmed/|pmid:\s*)(\d+)", re.IGNORECASE)
_LABEL_WORDS = 9


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper.

    `abstract` is the text as the source has it (markup included): it is what is displayed, and what
    character offsets of citations refer to. `id` is found out when not given, see `paper_id`.
    """

    abstract: str
    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    url: str = ""
    doi: str = ""
    keywords: tuple[str, ...] = ()
    id: str = field(default="")

    def __post_init__(self) -> None:
        object.__setattr__(self, "doi", normal_doi(self.doi))
        if not self.id:
            object.__setattr__(self, "id", paper_id(self))

    @property
    def content_hash(self) -> str:
        """32 hex digits over everything that is stored; equal hashes mean there is nothing to do."""
        fields = [
            self.id,
            self.title,
            self.abstract,
            self.authors,
            self.year,
            self.venue,
            self.url,
            self.doi,
            self.keywords,
        ]
        return hashlib.sha256(json.dumps(fields, ensure_ascii=False).encode()).hexdigest()[:32]

    @property
    def label(self) -> str:
        """The title, or the first words of the abstract where there is none."""
        if self.title:
            return self.title
        words = self.abstract.split()
        return " ".join(words[:_LABEL_WORDS]) + ("…" if len(words) > _LABEL_WORDS else "")


@dataclass(frozen=True, slots=True)
class Skipped:
    """A row of a source that gave no paper: `source:line: reason`."""

    source: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: {self.reason}"


def normal_doi(text: str) -> str:
    """The bare lower-case DOI in `text` ("https://doi.org/10.1/AB." → "10.1/ab"), or ""."""
    match = _DOI.search(unquote(text))
    return match.group().rstrip(".,;").lower() if match else ""


def normal_text(text: str) -> str:
    """`text` with only lower-case letters and digits of any script, single-spaced: equal for equal wording."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", folded))


def paper_id(paper: Paper) -> str:
    """Its DOI, OpenReview, arXiv or PubMed id with a prefix, else `hash:` and a hash of its normalised text."""
    if paper.doi:
        return f"doi:{paper.doi}"
    for prefix, pattern in (("openreview", _OPENREVIEW), ("arxiv", _ARXIV), ("pmid", _PUBMED)):
        if match := pattern.search(paper.url):
            found = match.group(1)
            return f"{prefix}:{found if prefix == 'openreview' else found.lower()}"
    text = normal_text(f"{paper.title}\n{paper.abstract}")
    return f"hash:{hashlib.sha256(text.encode()).hexdigest()[:20]}"
