"""RIS: one line a value."""

from __future__ import annotations

from collections.abc import Sequence

from rag.answer import Answer
from rag.papers import Paper
from rag.writers.listing import citation_keys, in_proceedings, one_line, papers_of, untitled


def write(answers: Sequence[Answer]) -> str:
    """A record for each cited paper, lines ending as the format wants (CR LF); paragraphs become one line."""
    papers = papers_of(answers)
    keys = citation_keys(papers)
    return "".join(_record(paper, keys[paper.id]) for paper in papers)


def _record(paper: Paper, key: str) -> str:
    kind = "GEN" if not paper.venue else "CPAPER" if in_proceedings(paper) else "JOUR"
    rows = [
        ("TY", kind),
        ("ID", key),
        ("TI", paper.title),
        *(("AU", author) for author in paper.authors),
        ("PY", str(paper.year or "")),
        ("T2", paper.venue),
        ("DO", paper.doi),
        ("UR", paper.url),
        *(("KW", keyword.replace(";", ",")) for keyword in paper.keywords),  # readers divide a line at semicolons
        ("AB", paper.abstract),
        ("N1", untitled(paper)),
    ]
    lines = [f"{tag}  - {one_line(value)}" for tag, value in rows if value.strip()]
    return "\r\n".join([*lines, "ER  - ", "", ""])
