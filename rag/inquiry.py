"""What a question asks of the abstracts, and what of their papers' records: who wrote them, when and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag.authors import Mention, authors_named, listed
from rag.catalogue import Catalogue
from rag.papers import Paper
from rag.parts import parts_of
from rag.record import asks_record, told_by_record
from rag.retrieval import Filters, Ranking


@dataclass(frozen=True, slots=True)
class Inquiry:
    """`question` is what to search for, among the papers that `filters` leave.

    `of_record` is the part of it that asks for a record, and `only_record` whether nothing else is asked; `mention` are
    the authors that it names.
    """

    question: str
    filters: Filters
    of_record: str = ""
    only_record: bool = False
    mention: Mention | None = None

    def told(self, ranking: Ranking, meant: Sequence[Paper]) -> str:
        """What the records say to it; "" where it asks nothing of them. `meant` as in `told_by_record`."""
        papers = [hit.paper for hit in ranking.hits]
        if self.mention is not None and self.mention.unknown:
            return self.mention.unknown
        if self.mention is not None and not self.mention.question:
            return f"Abstracts do not say who wrote them. {listed(self.mention.authors, papers, ranking.allowed)}"
        if self.mention is not None and ranking.allowed == 1:
            meant = papers
        said = told_by_record(self.of_record, papers, meant)
        return f"Abstracts do not say that. {said}" if said and self.only_record else said


def inquire(question: str, filters: Filters, catalogue: Catalogue) -> Inquiry:
    """Take apart a question that can be understood alone."""
    mention = authors_named(question, catalogue)
    if mention is not None and not mention.unknown:
        filters = replace(filters, author=";".join(mention.authors), year=filters.year or mention.year)
    if mention is not None and (mention.unknown or not mention.question):
        return Inquiry(question, filters, only_record=True, mention=mention)
    asked = mention.question if mention else question
    parts = parts_of(asked)
    of_record = [part for part in parts if asks_record(part)]
    only_record = len(of_record) == len(parts)
    if of_record and not only_record:
        asked = " ".join(part for part in parts if part not in of_record)
    return Inquiry(asked, filters, " ".join(of_record), only_record, mention)
