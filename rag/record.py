"""Questions about a paper rather than of its abstract: who wrote it, when and where it was published, where it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from rag.markup import plain_text
from rag.papers import Paper
from rag.text import informative, stems

_MOST_PAPERS: Final = 3
_MOST_AUTHORS: Final = 10


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of the record: how it is asked for, what it is called, and what it says; "" where it is empty."""

    asked: re.Pattern[str]
    name: str
    said: Callable[[Paper], str]


def _authors(paper: Paper) -> str:
    listed = [" ".join(name.split()) for name in paper.authors]
    if len(listed) > _MOST_AUTHORS:
        listed = [*listed[: _MOST_AUTHORS - 1], f"{len(listed) - _MOST_AUTHORS + 1} others"]
    written = " and ".join(filter(None, (", ".join(listed[:-1]), *listed[-1:])))
    return f"it was written by {written}" if written else ""


def _where(paper: Paper) -> str:
    address = paper.url or (f"https://doi.org/{paper.doi}" if paper.doi else "")
    return f"it is at {address}" if address else ""


_PUBLISHED = r"(?:published|released|written|submitted|presented|proposed|introduced|printed|posted)"
_FIELDS: Final = (
    _Field(
        re.compile(
            r"\b(?:who(?:se)? (?:wrote|(?:is|are|was|were) the (?:first |last |main |corresponding )?authors?|authored|"
            r"published|proposed|introduced|invented|developed|created|came up with)"
            r"|(?:authors?|names) of\b.*\b(?:paper|work|study|article)|authors of|written by whom"
            r"|wer (?:hat|schrieb)|qui a (?:écrit|publié)|quién escribió)\b"
            r"|谁(?:写的|提出|发表)|作者(?:是谁|有谁|有哪些|名单)",
            re.IGNORECASE,
        ),
        "authors",
        _authors,
    ),
    _Field(
        re.compile(
            rf"\b(?:when (?:was|were) .+? {_PUBLISHED}|(?:which|what) year (?:was|is|were)\b"
            rf"|(?:year of publication|publication (?:year|date)) of)\b|哪一?年(?:发表|提出|出版)",
            re.IGNORECASE,
        ),
        "year",
        lambda paper: f"it is from {paper.year}" if paper.year else "",
    ),
    _Field(
        re.compile(
            rf"\bwhere (?:was|were) .+? {_PUBLISHED}\b|\b(?:which|what) (?:journal|venue|conference|proceedings)\b"
            r"|发表在哪|哪个(?:期刊|会议)",
            re.IGNORECASE,
        ),
        "venue",
        lambda paper: f"it appeared in {paper.venue}" if paper.venue else "",
    ),
    _Field(
        re.compile(
            r"\b(?:where (?:can|do) (?:i|we|you|one) (?:find|read|get|download)"
            r"|(?:link|url|doi|address) (?:of|for|to))\b",
            re.IGNORECASE,
        ),
        "address",
        _where,
    ),
)


def told_by_record(question: str, papers: Iterable[Paper]) -> str:
    """What the records of the papers that the question names say of the field that it asks for.

    A paper is named by its title up to the colon ("TNT"), or by half of the whole. Empty where the question asks for no
    field, or names none of the papers.
    """
    field = next((one for one in _FIELDS if one.asked.search(question)), None)
    if field is None:
        return ""
    titles = {paper: plain_text(paper.title) for paper in papers}
    named = [paper for paper, title in titles.items() if _is_named(title, frozenset(stems(question)))]
    return " ".join(
        f"The record of “{titles[paper]}” says that {field.said(paper)}."
        if field.said(paper)
        else f"The record of “{titles[paper]}” has no {field.name}."
        for paper in named[:_MOST_PAPERS]
    )


def _is_named(title: str, words: frozenset[str]) -> bool:
    head, whole = set(informative(title.partition(":")[0])), set(informative(title))
    return bool(whole) and ((bool(head) and head <= words) or 2 * len(whole & words) >= len(whole) > 1)
