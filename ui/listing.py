"""A page of the library: searched, sorted and cut in the catalogue, so that no more than a page ever leaves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rag.catalogue import Catalogue
from rag.papers import Paper
from rag.text import has_cjk, tokens

PAGE = 25
Order = Literal["title", "year", "venue", "added"]
_ORDERS: dict[Order, str] = {
    "title": "title COLLATE NOCASE {way}, n",
    "year": "year {way} NULLS LAST, n",
    "venue": "venue COLLATE NOCASE {way}, n",
    "added": "n {way}",
}


@dataclass(frozen=True, slots=True)
class Query:
    """What is shown: papers whose title, abstract, authors, venue or keywords hold all words of `search`."""

    search: str = ""
    order: Order = "added"
    descending: bool = False
    page: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """One page of papers; `total` counts all that were found."""

    papers: tuple[Paper, ...]
    total: int
    query: Query

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // PAGE))


def page(catalogue: Catalogue, query: Query) -> Page:
    """The papers that `query` asks for; a page number beyond the last gives the last."""
    where, arguments = _condition(query.search)
    (total,) = catalogue.select(f"SELECT count(*) FROM papers WHERE {where}", arguments)[0]
    number = max(0, min(query.page, -(-int(total) // PAGE) - 1))
    order = _ORDERS[query.order].format(way="DESC" if query.descending else "ASC")
    # sorting without the abstracts, then reading the few rows that are shown
    ids = catalogue.select(
        f"SELECT id FROM papers WHERE {where} ORDER BY {order} LIMIT {PAGE} OFFSET ?", [*arguments, number * PAGE]
    )
    papers = [catalogue.paper(paper_id) for (paper_id,) in ids]
    shown = Query(query.search, query.order, query.descending, number)
    return Page(tuple(paper for paper in papers if paper is not None), int(total), shown)


def _condition(search: str) -> tuple[str, list[str]]:
    """SQL for `search` and its arguments: words by the full-text index (the last may be unfinished), or by name."""
    words = [token.text.replace('"', " ") for token in tokens(search)][:20]
    if not words:
        return "1", []
    like = "%" + search.strip().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    names = " OR ".join(f"{column} LIKE ? ESCAPE '\\'" for column in ("authors", "venue", "keywords"))
    if has_cjk(search):
        return f"(title LIKE ? ESCAPE '\\' OR abstract LIKE ? ESCAPE '\\' OR {names})", [like] * 5
    expression = " AND ".join(f'"{word}"' for word in words) + "*"
    return f"(n IN (SELECT rowid FROM fulltext WHERE fulltext MATCH ?) OR {names})", [expression, like, like, like]
