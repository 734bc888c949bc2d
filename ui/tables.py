"""The library as HTML: the table of papers, one paper's details, sources, and reports of uploads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from rag.catalogue import SourceCount
from rag.errors import RagError
from rag.papers import Paper
from rag.store import SyncReport
from ui.evidence import byline, paper_title
from ui.listing import PAGE, Order, Page
from ui.render import Html, join, rich, tag
from ui.uploads import PREFIX, Outcome, Progress

_COLUMNS: tuple[tuple[Order, str], ...] = (("title", "Title"), ("venue", "Venue"), ("year", "Year"))
_SHOWN_SKIPPED = 20


def table(shown: Page, chosen: str = "") -> Html:
    """One page of papers with sortable headings and a pager."""
    if not shown.total:
        words = "No paper matches." if shown.query.search else "There are no papers yet. Add a file to begin."
        return tag("p", words, class_="empty")
    heads = [_heading(order, label, shown) for order, label in _COLUMNS]
    rows = [_row(paper, chosen) for paper in shown.papers]
    return tag(
        "div",
        tag("table", tag("thead", tag("tr", heads)), tag("tbody", rows), class_="papers"),
        _pager(shown),
    )


def _heading(order: Order, label: str, shown: Page) -> Html:
    active = shown.query.order == order
    way = ("descending" if shown.query.descending else "ascending") if active else None
    sign = {"ascending": " ↑", "descending": " ↓"}.get(way or "", "")
    button = tag("button", label + sign, type="button", class_="sort", data_action="sort", data_order=order)
    return tag("th", button, scope="col", aria_sort=way, class_=f"col-{order}")


def _row(paper: Paper, chosen: str) -> Html:
    first = f"{paper.authors[0]}{' et al.' if len(paper.authors) > 1 else ''}" if paper.authors else ""
    title = tag(
        "button",
        tag("span", rich(paper.label), class_="row-title"),
        tag("span", rich(first), class_="dim") if first else None,
        type="button",
        class_="row-open",
        data_action="paper",
        data_paper=paper.id,
    )
    return tag(
        "tr",
        tag("td", title),
        tag("td", rich(paper.venue), class_="col-venue"),
        tag("td", str(paper.year or ""), class_="col-year"),
        class_="current" if paper.id == chosen else None,
    )


def _pager(shown: Page) -> Html:
    number, last = shown.query.page, shown.pages - 1

    def goes(label: str, page: int, works: bool) -> Html:
        return tag(
            "button", label, type="button", class_="tool", data_action="page", data_page=page, disabled=not works
        )

    first_row = number * PAGE + 1
    return tag(
        "nav",
        tag("span", f"{first_row:,} to {first_row + len(shown.papers) - 1:,} of {shown.total:,}", class_="dim"),
        goes("First", 0, number > 0),
        goes("Back", number - 1, number > 0),
        goes("Next", number + 1, number < last),
        goes("Last", last, number < last),
        class_="pager",
        aria_label="Pages",
    )


def details(paper: Paper | None, listed_in: Sequence[str] = ()) -> Html:
    """Everything that is known of one paper."""
    if paper is None:
        return tag("p", "Choose a paper to read its abstract.", class_="empty")
    facts = [("Keywords", ", ".join(paper.keywords)), ("DOI", paper.doi), ("Id", paper.id)]
    facts.append(("In", ", ".join(source_name(name) for name in listed_in)))
    return tag(
        "section",
        tag("h3", paper_title(paper), class_="card-head"),
        tag("p", byline(paper), class_="byline"),
        tag("p", rich(paper.abstract), class_="abstract", dir="auto"),
        tag("dl", (join(tag("dt", name), tag("dd", rich(value))) for name, value in facts if value), class_="facts"),
        tag(
            "button",
            "Ask about this paper",
            type="button",
            class_="plain",
            data_action="about",
            data_title=paper.label,
        ),
        class_="paper",
    )


def source_name(name: str) -> str:
    """A source as readers know it: an upload by its name, a file by its last part."""
    return name.removeprefix(PREFIX) if name.startswith(PREFIX) else PurePath(name).name or name


def source_list(found: Sequence[SourceCount]) -> Html:
    """The sources with their counts, each with a button that removes it."""
    if not found:
        return tag("p", "No source yet.", class_="empty")
    return tag("ul", (_source(one) for one in found), class_="sources")


def _source(one: SourceCount) -> Html:
    when = one.synced.replace("T", " ")[:16]
    return tag(
        "li",
        tag("span", source_name(one.name), class_="name"),
        tag("span", f"{_count(one.papers, 'paper')}{' · ' if when else ''}{when}", class_="dim"),
        tag(
            "button",
            "Remove",
            type="button",
            class_="tool",
            data_action="remove",
            data_confirm="Remove its papers?",
            data_source=one.name,
        ),
    )


def progress(files: Sequence[Progress | Outcome]) -> Html:
    """Where each file of an upload stands."""
    return tag("div", (_file(one) for one in files), class_="uploads", role="status")


def _file(one: Progress | Outcome) -> Html:
    if isinstance(one, Outcome):
        return report(one)
    if not one.total:
        bar = tag("progress", aria_label=f"Reading {one.name}")
        return tag("div", tag("p", one.name, class_="name"), bar, tag("p", "Reading", class_="dim"))
    bar = tag("progress", value=one.done, max=one.total, aria_label=f"Indexing {one.name}")
    words = f"{one.done:,} of {one.total:,} papers indexed"
    return tag("div", tag("p", one.name, class_="name"), bar, tag("p", words, class_="dim"))


def report(outcome: Outcome) -> Html:
    """What became of an uploaded file: counts, and the rows that were not used with the reason."""
    if outcome.error is not None:
        return tag(
            "div",
            tag("p", outcome.name, class_="name"),
            tag("p", outcome.error.message, class_="bad"),
            tag("p", outcome.error.hint, class_="dim") if outcome.error.hint else None,
            class_="report failed",
        )
    return tag(
        "div",
        tag("p", outcome.name, class_="name"),
        (_counts(one, len(outcome.reports) > 1) for one in outcome.reports),
        class_="report",
    )


def _counts(one: SyncReport, several: bool) -> Html:
    numbers = [(one.new, "new"), (one.updated, "updated"), (one.removed, "removed"), (one.unchanged, "unchanged")]
    numbers += [(one.duplicates, "said twice")]
    said = ", ".join(f"{count:,} {word}" for count, word in numbers if count) or "nothing to use"
    rows = [tag("li", str(row)) for row in one.skipped[:_SHOWN_SKIPPED]]
    more = len(one.skipped) - len(rows)
    if more:
        rows.append(tag("li", f"and {more:,} more"))
    skipped: Html | None = None
    if one.skipped:
        head = tag("summary", f"{_count(len(one.skipped), 'row')} not used")
        skipped = tag("details", head, tag("ul", rows), class_="skipped", open=True)
    where = f"{one.source.partition('!')[2] or one.source}: " if several else ""
    return join(tag("p", f"{where}{said} · {one.seconds:.1f} s"), skipped)


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def problem(error: RagError) -> Html:
    """An error where a result would have been: what happened, and what to do."""
    return tag(
        "div",
        tag("p", error.message, class_="bad"),
        tag("p", error.hint, class_="dim") if error.hint else None,
        class_="report failed",
        role="alert",
    )
