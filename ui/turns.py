"""One turn of a conversation as HTML: question, answer with citations, status line, legend, buttons."""

from __future__ import annotations

from dataclasses import dataclass

from rag.answer import Answer, Source, Verdict
from ui.evidence import evidence
from ui.exports import FORMATS
from ui.refusals import button, refusal_html, sentence_case
from ui.render import Html, escape, rich, tag
from ui.sentences import legend, sentence_blocks


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
    body = refusal_html(answer, answer.refusal, turn.number) if answer.refusal else _body(answer)
    return _article(turn.number, answer, (body, _notices(answer), _status(answer), legend(answer), _buttons(turn)))


def live_html(number: int, answer: Answer, pending: str, note: str) -> Html:
    """The turn that is being answered: sentences checked so far, the words after them, what is being waited for."""
    words = tag("span", rich(pending), class_="pending") if pending else None
    body = tag("div", sentence_blocks(answer.sentences), words, class_="answer live-answer", aria_live="polite")
    waiting = tag("p", tag("span", class_="pulse", aria_hidden="true"), note, class_="waiting", role="status")
    return _article(
        number, answer, (body if answer.sentences or pending else None, waiting if note else None), live=True
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
    if answer.sentences and answer.verifier not in ("located", "verbatim"):
        parts.append(f"read by {answer.verifier}")
    seconds = answer.timings.total
    parts += [answer.model, f"{seconds:.1f}\N{NO-BREAK SPACE}s" if seconds >= 0.1 else "under 0.1\N{NO-BREAK SPACE}s"]
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
    return tag("div", sentence_blocks(answer.sentences, answer.sources), class_="answer", dir="auto")


def _status(answer: Answer) -> Html:
    reasons = [
        answer.model_reason,
        f"Checked by words alone: {answer.verifier_reason}" if answer.verifier_reason else "",
    ]
    return tag("p", status_line(answer), class_="status", title="\n".join(filter(None, reasons)) or None)


def _notices(answer: Answer) -> Html | None:
    return (
        tag("div", (tag("p", sentence_case(notice)) for notice in answer.notices), class_="notices")
        if answer.notices
        else None
    )


def _buttons(turn: Turn) -> Html:
    number = turn.number
    rated = {"up": turn.rating == "up", "down": turn.rating == "down"}
    export = tag(
        "details",
        tag("summary", "Export", class_="tool"),
        tag(
            "div",
            (button(label, "export", number, data_format=form) for label, form in FORMATS),
            class_="menu",
        ),
        class_="export",
    )
    return tag(
        "div",
        button("Sources", "sources", number) if turn.answer.sources else None,
        button("Copy", "copy", number, data_copy=copy_text(turn.answer)),
        button("Retry", "retry", number) if turn.last else None,
        button("Edit", "edit", number, data_question=turn.answer.question),
        export,
        tag("span", class_="gap"),
        (
            button(label, "rate", number, data_rating=rating, aria_pressed=str(rated[rating]).lower(), title=meaning)
            for label, rating, meaning in (
                ("Good", "up", "This answer is right"),
                ("Bad", "down", "Something is wrong"),
            )
        ),
        class_="tools",
        role="toolbar",
        aria_label=f"Answer {number}",
    )


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
