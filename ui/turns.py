"""One turn of a conversation as HTML: question, answer with citations, status line, legend, buttons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from rag.answer import Answer, Citation, Reason, Refusal, Sentence, Source, Verdict
from rag.errors import RagError
from ui.evidence import evidence
from ui.exports import FORMATS
from ui.render import Html, escape, join, rich, tag

_LIST_MARK = re.compile(r"\n\s*(?:[-*•]|\d{1,2}[.)])\s+$")
_FLAGS = {
    Verdict.NOT_FOUND: ("not-found", "not found", "found in none of the retrieved abstracts"),
    Verdict.PARTLY: ("partly", "partly", "found in part: point at the mark to see which part is not"),
    Verdict.CONTRADICTED: ("contradicted", "contradicted", "an abstract says otherwise"),
}
_TITLES = {
    Reason.NO_PAPERS: "There are no papers yet",
    Reason.FILTER_TOO_NARROW: "No paper passes the filters",
    Reason.NOT_IN_ABSTRACTS: "Not in these abstracts",
    Reason.MODEL_UNAVAILABLE: "The model does not answer",
    Reason.NO_QUESTION: "Nothing to look up",
}
_TRY = {
    Reason.NO_PAPERS: ("Add a file under Library, or run rag ingest FILE.",),
    Reason.FILTER_TOO_NARROW: ("Widen year, venue, keyword or source in the settings.",),
    Reason.NOT_IN_ABSTRACTS: (
        "Name the method, data set or substance the way its authors would.",
        "Look at the nearest papers: the question may need one of their terms.",
        "Add papers on this topic under Library.",
    ),
    Reason.MODEL_UNAVAILABLE: ("Answer without a model: sentences are then quoted from the abstracts.",),
    Reason.NO_QUESTION: (),
}


@dataclass(frozen=True, slots=True)
class Turn:
    """What is shown of a turn besides its answer. `number` counts from 1; `rating` is "", "up" or "down"."""

    number: int
    answer: Answer
    rating: str = ""
    last: bool = False


def thread(turns: list[Turn], conversation: str = "") -> Html:
    """All finished turns."""
    return tag("div", (turn_html(turn) for turn in turns), class_="thread", data_conversation=conversation)


def turn_html(turn: Turn) -> Html:
    """A finished turn with its buttons and, hidden, its evidence for the panel beside it."""
    answer = turn.answer
    body = _refusal(answer, answer.refusal, turn.number) if answer.refusal else _body(answer)
    return _article(turn.number, answer, (body, _notices(answer), _status(answer), _legend(answer), _buttons(turn)))


def live_html(number: int, answer: Answer, pending: str, note: str) -> Html:
    """The turn that is being answered: sentences checked so far, the words after them, what is being waited for."""
    words = tag("span", rich(pending), class_="pending") if pending else None
    body = tag("div", _blocks(answer.sentences), words, class_="answer live-answer", aria_live="polite")
    waiting = tag("p", tag("span", class_="pulse", aria_hidden="true"), note, class_="waiting", role="status")
    return _article(
        number, answer, (body if answer.sentences or pending else None, waiting if note else None), live=True
    )


def error_html(question: str, error: RagError) -> Html:
    """A question that met an error: what happened, what to do, and a way to try again."""
    return tag(
        "article",
        tag("h2", question, class_="question", dir="auto"),
        tag(
            "div",
            tag("p", "This did not work", class_="refusal-title"),
            tag("p", error.message, class_="refusal-message"),
            tag("p", tag("code", error.hint)) if error.hint else None,
            _button("Try again", "retry", 0, class_="plain", data_question=question),
            class_="refusal error",
            role="alert",
        ),
        class_="turn failed",
    )


def welcome(examples: Sequence[str]) -> Html:
    """What an empty conversation shows."""
    offered = (
        tag("li", tag("button", example, type="button", class_="example", data_action="example", data_question=example))
        for example in examples
    )
    return tag(
        "div",
        tag("h1", "Ask, and check every sentence"),
        tag(
            "p",
            "Answers come from the abstracts in your library and from nothing else. Each sentence ends in the number "
            "of its paper; what was found in none of them is marked.",
            class_="lede",
        ),
        (tag("p", "Try one of these", class_="small-head"), tag("ul", offered, class_="examples"))
        if examples
        else None,
        class_="thread welcome",
    )


def status_line(answer: Answer) -> str:
    """ "4 of 5 sentences located in 3 papers · ollama/llama3.2 · 2.1 s", the refusal's reason where there is one."""
    parts = []
    if answer.refusal:
        parts.append(f"No answer: {answer.refusal.reason.value}")
    else:
        stated = len(answer.sentences) - answer.count(Verdict.META)
        if stated:
            located = answer.count(Verdict.SUPPORTED, Verdict.PARTLY)
            parts.append(f"{located} of {_plural(stated, 'sentence')} located in {_plural(len(answer.cited), 'paper')}")
        if answer.stopped:
            parts.append("stopped")
    seconds = answer.timings.total
    parts += [answer.model, f"{seconds:.1f} s" if seconds >= 0.1 else "under 0.1 s"]
    return " · ".join(part for part in parts if part)


def copy_text(answer: Answer) -> str:
    """The answer with its markers and a line for each cited paper: what the copy button gives."""
    sources = [f"[{source.number}] {reference(source)}" for source in answer.cited]
    return "\n".join([answer.text, *([""] if sources else []), *sources])


def reference(source: Source) -> str:
    """ "First author et al. Title. Venue, 2024. https://…" with what is known of it."""
    paper = source.paper
    authors = f"{paper.authors[0]}{' et al.' if len(paper.authors) > 1 else ''}" if paper.authors else ""
    place = ", ".join(part for part in (paper.venue, str(paper.year or "")) if part)
    address = paper.url or (f"https://doi.org/{paper.doi}" if paper.doi else "")
    return " ".join(f"{part.rstrip('.')}." for part in (authors, paper.label, place) if part) + (
        f" {address}" if address else ""
    )


def _article(number: int, answer: Answer, parts: tuple[Html | None, ...], live: bool = False) -> Html:
    searched = None
    if answer.standalone and answer.standalone.strip() != answer.question.strip():
        searched = tag("p", tag("span", "Searched for ", class_="dim"), escape(answer.standalone), class_="standalone")
    return tag(
        "article",
        tag("h2", answer.question or "(no question)", class_="question", dir="auto"),
        searched,
        parts,
        tag("div", evidence(answer), class_="evidence-data", hidden=True),
        class_="turn live" if live else "turn",
        data_turn=number,
        aria_label=f"Question {number}",
    )


def _body(answer: Answer) -> Html:
    return tag("div", _blocks(answer.sentences, answer.sources), class_="answer", dir="auto")


def _blocks(sentences: tuple[Sentence, ...], sources: tuple[Source, ...] = ()) -> Html:
    """Sentences as paragraphs and list items, the way their leads say."""
    titles = {source.paper.id: source.paper.label for source in sources}
    blocks: list[tuple[bool, list[Html]]] = []
    for sentence in sentences:
        item = bool(_LIST_MARK.search(f"\n{sentence.lead}" if not blocks else sentence.lead))
        if not blocks or item or "\n" in sentence.lead:
            blocks.append((item, []))
        blocks[-1][1].append(_sentence(sentence, titles))
    out: list[Html] = []
    for item, group in groupby(blocks, key=lambda block: block[0]):
        inner = [tag("li" if item else "p", _spaced(parts)) for _, parts in group]
        out.append(tag("ul", inner) if item else join(inner))
    return join(out)


def _spaced(parts: list[Html]) -> Html:
    return Html(" ".join(parts))


def _sentence(sentence: Sentence, titles: dict[str, str]) -> Html:
    by_number: dict[int, list[Citation]] = {}
    for citation in sentence.citations:
        by_number.setdefault(citation.number, []).append(citation)
    cites = [_cite(number, citations, titles) for number, citations in by_number.items()]
    flag = None
    if sentence.verdict in _FLAGS:
        _, label, meaning = _FLAGS[sentence.verdict]
        flag = tag(
            "span",
            label,
            tag(
                "span",
                tag("span", sentence.note or meaning.capitalize(), class_="card-note"),
                class_="card",
                hidden=True,
            ),
            class_="flag",
            tabindex=0,
            role="note",
            aria_label=f"{label}: {sentence.note or meaning}",
        )
    kind = _FLAGS[sentence.verdict][0] if sentence.verdict in _FLAGS else str(sentence.verdict.value)
    return tag("span", tag("span", rich(sentence.text), class_="words"), cites, flag, class_=f"sentence {kind}")


def _cite(number: int, citations: list[Citation], titles: dict[str, str]) -> Html:
    title = titles.get(citations[0].paper_id, "")
    card = tag(
        "span",
        tag("span", rich(title), class_="card-title"),
        (tag("q", rich(citation.quote), class_="card-quote") for citation in citations),
        class_="card",
        hidden=True,
    )
    return tag(
        "a",
        str(number),
        card,
        class_="cite",
        href="#evidence",
        role="button",
        data_number=number,
        data_marks=" ".join(mark_name(citation) for citation in citations),
        aria_label=f"Source {number}{': ' if title else ''}{title[:200]}",
    )


def mark_name(citation: Citation) -> str:
    """How a cited span is called on the page; the same span of the same paper has the same name."""
    return f"{citation.number}-{citation.start}-{citation.end}"


def _status(answer: Answer) -> Html:
    return tag("p", status_line(answer), class_="status", title=answer.model_reason or None)


def _legend(answer: Answer) -> Html | None:
    seen = {sentence.verdict for sentence in answer.sentences}
    items = [
        tag("li", tag("span", label, class_=f"swatch {kind}"), f" {meaning}")
        for verdict, (kind, label, meaning) in _FLAGS.items()
        if verdict in seen
    ]
    return tag("ul", items, class_="legend", aria_label="What the marks mean") if items else None


def _notices(answer: Answer) -> Html | None:
    return (
        tag("div", (tag("p", sentence_case(notice)) for notice in answer.notices), class_="notices")
        if answer.notices
        else None
    )


def _refusal(answer: Answer, refusal: Refusal, number: int) -> Html:
    nearest = [
        tag("li", tag("a", rich(source.paper.label), href="#evidence", role="button", class_="near", data_rank=rank))
        for rank, source in enumerate(answer.sources[:3], 1)
    ]
    steps = [sentence_case(refusal.hint)] if refusal.hint else list(_TRY[refusal.reason])
    if refusal.hint and refusal.reason is Reason.NOT_IN_ABSTRACTS:
        steps.append(_TRY[refusal.reason][-1])
    without = refusal.reason is Reason.MODEL_UNAVAILABLE
    return tag(
        "div",
        tag("p", _TITLES[refusal.reason], class_="refusal-title"),
        tag("p", refusal.message, class_="refusal-message"),
        (tag("p", "Nearest papers", class_="small-head"), tag("ol", nearest, class_="nearest")) if nearest else None,
        (tag("p", "What to try", class_="small-head"), tag("ul", (tag("li", step) for step in steps), class_="steps"))
        if steps
        else None,
        _button("Answer without a model", "extractive", number, class_="plain") if without else None,
        class_="refusal",
        data_reason=refusal.reason.value,
        role="note",
    )


def _buttons(turn: Turn) -> Html:
    number = turn.number
    rated = {"up": turn.rating == "up", "down": turn.rating == "down"}
    export = tag(
        "details",
        tag("summary", "Export", class_="tool"),
        tag(
            "div",
            (_button(label, "export", number, data_format=form) for label, form in FORMATS),
            class_="menu",
        ),
        class_="export",
    )
    return tag(
        "div",
        _button("Sources", "sources", number) if turn.answer.sources else None,
        _button("Copy", "copy", number, data_copy=copy_text(turn.answer)),
        _button("Retry", "retry", number) if turn.last else None,
        _button("Edit", "edit", number, data_question=turn.answer.question),
        export,
        tag("span", class_="gap"),
        (
            _button(label, "rate", number, data_rating=rating, aria_pressed=str(rated[rating]).lower(), title=meaning)
            for label, rating, meaning in (
                ("Good", "up", "This answer is right"),
                ("Bad", "down", "Something is wrong"),
            )
        ),
        class_="tools",
        role="toolbar",
        aria_label=f"Answer {number}",
    )


def _button(label: str, action: str, number: int, class_: str = "tool", **attributes: str) -> Html:
    return tag("button", label, type="button", class_=class_, data_action=action, data_turn=number, **attributes)


def sentence_case(text: str) -> str:
    """`text` with a capital at its beginning, unless that is a command to be typed."""
    first = text.split(" ", 1)[0]
    return text if first in ("rag", "ollama", "pip") else text[:1].upper() + text[1:]


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
