"""Questions about a paper rather than of its abstract: who wrote it, when and where it was published, where it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rag.grounding.evidence import own_names
from rag.markup import plain_text
from rag.papers import Paper
from rag.text import informative, named_terms, stems
from rag.topic import taken_apart

_MOST_PAPERS: Final = 3
_MOST_LISTED: Final = 5
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
    return f"it was written by {_enumerated(listed)}" if listed else ""


def _enumerated(items: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


def _where(paper: Paper) -> str:
    address = paper.url or (f"https://doi.org/{paper.doi}" if paper.doi else "")
    return f"it is at {address}" if address else ""


_WROTE = re.compile(r"\b(?:wrote|authored|authors?)\b|写的|作者", re.IGNORECASE)  # no abstract says that
_INTRODUCED = re.compile(r"\bwho (?:proposed|introduced|invented|developed|created|made|came)\b|谁提出", re.IGNORECASE)
_PUBLISHED = r"(?:published|released|written|submitted|presented|proposed|introduced|printed|posted)"
_TOPIC = re.compile(
    r"\b(?:papers?|study|studies|articles?|works?|trial|abstracts?|wrote|written|publish(?:ed)?) (?:on|about|of) "
    r"(?P<topic>.+?)"
    r"(?=\s+(?:was|were|is|are|published|appear|come|and|by|in which)\b|[?？.,;(]|\Z)",
    re.IGNORECASE,
)
_FIELDS: Final = (
    _Field(
        re.compile(
            r"^\W*(?:and\s+|(?:and\s+)?what about\s+)?(?:the\s+)?authors?\W*(?:of\b|\(|\Z)"
            r"|\b(?:who(?:se)? (?:wrote|made|(?:is|are|was|were) the (?:first |last |main |corresponding )?authors?|"
            r"authored|published|proposed|introduced|invented|developed|created|came up with)"
            r"|who (?:ran|conducted|did|led) (?:this|that|the) (?:\w+ )?(?:trial|study|work|experiment|survey)"
            r"|(?:authors?|names) of\b.*\b(?:paper|work|study|article)|written by whom"
            r"|wer (?:hat|schrieb)|qui a (?:écrit|publié)|quién escribió)\b"
            r"|谁(?:写的|提出|发表)|作者(?:是谁|有谁|有哪些|名单)",
            re.IGNORECASE,
        ),
        "authors",
        _authors,
    ),
    _Field(
        re.compile(
            r"^\W*(?:and\s+)?(?:when|(?:which|what) year)\W*(?:\(|\Z)"
            rf"|\b(?:when (?:was|were) .+? {_PUBLISHED}|when did .+? (?:appear|come out|publish)"
            r"|(?:which|what) year (?:was|is|were|did)\b"
            rf"|(?:year of publication|publication (?:year|date)) of)\b|哪一?年(?:发表|提出|出版)",
            re.IGNORECASE,
        ),
        "year",
        lambda paper: f"it is from {paper.year}" if paper.year else "",
    ),
    _Field(
        re.compile(
            rf"^\W*(?:and\s+)?where\W*\Z|\bwhere (?:was|were) .+? {_PUBLISHED}\b"
            r"|\b(?:which|what) (?:journal|venue|conference|proceedings)\b"
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


def asks_record(question: str) -> bool:
    """Whether the question asks for a field of a paper's record."""
    return bool(_asked(question))


def told_by_record(question: str, papers: Iterable[Paper], meant: Sequence[Paper] = ()) -> str:
    """What the records of the papers that the question names say of the fields that it asks for; `meant` are those that
    were spoken of where it names none ("Who wrote it?").

    A paper is named by its title up to the colon ("TNT"), by half of the whole, by what it is about ("the paper on
    wolves"), or by a name that it introduces, unless the question is who introduced that: where none did, that is said.
    Empty where the question asks for no field, or names none of the papers.
    """
    fields = _asked(question)
    if not fields:
        return ""
    papers = list(papers)
    words = frozenset(stems(question))
    introduced = _INTRODUCED.search(question) is not None
    asked = {" ".join(stems(term.text)): term.text for term in named_terms(question)}
    names = set() if introduced else set(asked)
    named = list(meant) or [
        paper for paper in papers if _is_named(plain_text(paper.title), words) or names & own_names(paper)
    ]
    if not named and (topic := _TOPIC.search(question)):
        named = _about(topic["topic"], papers)
    if not named and _WROTE.search(question):
        return "No paper that was found is called that."
    if not named and introduced and asked and not any(asked.keys() & own_names(paper) for paper in papers):
        return f"No paper that was found introduces {' or '.join(asked.values())}."
    return " ".join(_told(paper, fields) for paper in named[:_MOST_PAPERS])


def listed(which: str, papers: Iterable[Paper], total: int) -> str:
    """What the records say of the papers "by Okafor" or "from 2021", `total` of them: titles and years of the first."""
    shown = [f"“{plain_text(paper.title)}”" + (f" ({paper.year})" if paper.year else "") for paper in papers]
    shown = shown[:_MOST_LISTED]
    if more := total - len(shown):
        shown.append(f"{more} other{'s' if more > 1 else ''}")
    return f"{which} {'are' if total > 1 else 'is'} {_enumerated(shown)}."


def _asked(question: str) -> list[_Field]:
    """The fields asked for; what a follow-up takes over asks for none."""
    own = [taken_apart(part)[0] for part in re.split(r"(?<=[?？])\s+(?!\()", taken_apart(question)[0])]
    return [field for field in _FIELDS if any(field.asked.search(part) for part in own)]


def _told(paper: Paper, fields: Sequence[_Field]) -> str:
    title = plain_text(paper.title)
    known = [said for field in fields if (said := field.said(paper))]
    unknown = [field.name for field in fields if not field.said(paper)]
    told = f"The record of “{title}” says that {' and '.join(known)}." if known else ""
    lacks = f"The record of “{title}” has no {' and no '.join(unknown)}." if unknown else ""
    return " ".join(filter(None, (told, lacks)))


def _about(topic: str, papers: Sequence[Paper]) -> list[Paper]:
    """The papers that have the topic in their titles, else in their abstracts."""
    wanted = set(informative(topic))
    if not wanted:
        return []
    entitled = [paper for paper in papers if wanted <= set(stems(plain_text(paper.title)))]
    return entitled or [
        paper for paper in papers if wanted <= set(stems(f"{paper.title} {plain_text(paper.abstract)}"))
    ]


def _is_named(title: str, words: frozenset[str]) -> bool:
    head, whole = set(informative(title.partition(":")[0])), set(informative(title))
    return bool(whole) and ((bool(head) and head <= words) or 2 * len(whole & words) >= len(whole) > 1)
