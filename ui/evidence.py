"""The evidence panel of one answer: a card for each cited paper in citation order, then those not cited."""

from __future__ import annotations

from rag.answer import Answer, Citation, Source
from rag.papers import Paper
from ui.render import Html, Mark, link, rich, tag

_SHOWN_AUTHORS = 6


def evidence(answer: Answer) -> Html:
    """All cards of an answer; cited papers open, the others collapsed below them (open in a refusal)."""
    cited, others = answer.cited, tuple(source for source in answer.sources if source.number is None)
    spans: dict[str, list[Citation]] = {}
    for citation in answer.citations:
        spans.setdefault(citation.paper_id, []).append(citation)
    head = "Nearest papers" if answer.refusal else "Retrieved papers"
    ranks = {source.paper.id: rank for rank, source in enumerate(answer.sources, 1)}
    below = [card(source, ranks[source.paper.id]) for source in others]
    rest: Html | None = None
    if below and cited:
        title = f"Also retrieved, not cited ({len(below)})"
        rest = tag("details", tag("summary", title, class_="small-head"), below, class_="uncited")
    elif below:
        rest = tag("section", tag("p", head, class_="small-head"), below, class_="uncited")
    cards = [card(source, ranks[source.paper.id], spans.get(source.paper.id, ())) for source in cited]
    return tag("div", cards, rest, class_="cards")


def card(source: Source, rank: int, citations: list[Citation] | tuple[Citation, ...] = ()) -> Html:
    """One paper: title, who and where, relevance, abstract with the cited spans highlighted."""
    paper = source.paper
    names = dict.fromkeys(Mark(c.start, c.end, f"{c.number}-{c.start}-{c.end}") for c in citations)
    number = tag("span", str(source.number), class_="number") if source.number is not None else None
    return tag(
        "section",
        tag("h3", number, tag("span", paper_title(paper), class_="paper-title"), class_="card-head"),
        tag("p", byline(paper), class_="byline"),
        _relevance(source.score),
        tag("p", rich(paper.abstract, tuple(names)), class_="abstract", dir="auto"),
        class_="paper cited" if source.number is not None else "paper",
        tabindex=-1,
        data_number=source.number,
        data_rank=rank,
    )


def paper_title(paper: Paper) -> Html:
    """The title, linked where the paper has an address."""
    return link(address(paper), rich(paper.label))


def address(paper: Paper) -> str:
    return paper.url or (f"https://doi.org/{paper.doi}" if paper.doi else "")


def byline(paper: Paper) -> Html:
    """Authors, venue and year; "Anna Aho, Ben Bo and 296 more"."""
    shown = list(paper.authors[:_SHOWN_AUTHORS])
    more = len(paper.authors) - len(shown)
    authors = ", ".join(shown) + (f" and {more} more" if more else "")
    year = str(paper.year) if paper.year and str(paper.year) not in paper.venue else ""
    parts = [part for part in (authors, paper.venue, year) if part]
    return (
        Html(" · ".join(rich(part) for part in parts))
        if parts
        else tag("span", "no authors or venue given", class_="dim")
    )


def _relevance(score: float) -> Html:
    percent = round(100 * min(1.0, max(0.0, score)))
    return tag(
        "div",
        tag("span", tag("span", class_="fill", style=f"width:{percent}%"), class_="bar"),
        tag("span", f"relevance {percent}", class_="dim"),
        class_="relevance",
        role="meter",
        aria_label="Relevance",
        aria_valuenow=percent,
        aria_valuemin=0,
        aria_valuemax=100,
    )
