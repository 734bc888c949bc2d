"""What a question asks of the abstracts, and what of their papers' records: who wrote them, when and where."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from rag.authors import Mention, authors_named, is_bare
from rag.catalogue import Catalogue
from rag.papers import Paper
from rag.parts import parts_of
from rag.record import asks_record, listed, told_by_record
from rag.retrieval import Filters, Ranking
from rag.topic import taken_apart

_DATED: Final = re.compile(
    r"\b(?P<what>papers|studies|articles|abstracts|publications|works)\s+(?:(?:that|which)\s+)?(?:(?:were|was|are)\s+)?"
    r"(?:(?:published|released|written|that appeared|appeared)\s+)?(?P<how>in|from|of|since|after|before|until)\s+"
    r"(?:the year\s+)?(?P<year>(?:19|20)\d\d)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Inquiry:
    """`question` is what to search for, among the papers that `filters` leave.

    `of_record` is the part of it that asks for a record, and `only_record` whether nothing else is asked; `mention` are
    the authors that it names, and `which` says whose or what years' papers are to be listed, where only that is asked.
    """

    question: str
    filters: Filters
    of_record: str = ""
    only_record: bool = False
    mention: Mention | None = None
    which: str = ""

    def told(self, ranking: Ranking, meant: Sequence[Paper]) -> str:
        """What the records say to it; "" where it asks nothing of them. `meant` as in `told_by_record`."""
        papers = [hit.paper for hit in ranking.hits]
        if self.mention is not None and self.mention.unknown:
            return self.mention.unknown
        if self.which:
            return f"Only their records say that. {listed(self.which, papers, ranking.allowed)}"
        if self.mention is not None and ranking.allowed == 1:
            meant = papers
        said = told_by_record(self.of_record, papers, meant)
        return f"Abstracts do not say that. {said}" if said and self.only_record else said


def inquire(question: str, filters: Filters, catalogue: Catalogue) -> Inquiry:
    """Take apart a question that can be understood alone."""
    mention = authors_named(question, catalogue)
    if mention is not None and mention.unknown:
        return Inquiry(question, filters, only_record=True, mention=mention)
    asked, which = question, []
    if mention is not None:
        filters = replace(filters, author=";".join(mention.authors), year=filters.year or mention.year)
        asked, which = mention.question, [f"By {' or '.join(mention.authors)}"]
    if not filters.year and (dated := _DATED.search(asked)):
        filters = replace(filters, year=_years(dated["how"].lower(), int(dated["year"])))
        asked = f"{asked[: dated.end('what')]}{asked[dated.end() :]}"
        how = dated["how"].lower()
        which.append(f"{'from' if how in ('in', 'of') else how} {dated['year']}")
    if which and is_bare(asked):
        said = " ".join(which)
        return Inquiry(question, filters, only_record=True, mention=mention, which=said[0].upper() + said[1:])
    own, taken = taken_apart(asked)
    parts = [f"{part} {taken}".rstrip() for part in parts_of(own)]
    of_record = [part for part in parts if asks_record(part)]
    only_record = len(of_record) == len(parts)
    if of_record and not only_record:
        asked = " ".join(part for part in parts if part not in of_record)
    return Inquiry(asked, filters, " ".join(of_record), only_record, mention)


def _years(how: str, year: int) -> str:
    """The years as `Filters` takes them."""
    ranges = {"since": f"{year}-", "after": f"{year + 1}-", "before": f"-{year - 1}", "until": f"-{year}"}
    return ranges.get(how, str(year))
