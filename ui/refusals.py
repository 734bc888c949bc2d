"""What stands in place of an answer: a refusal, an error, or the welcome of an empty conversation."""

from __future__ import annotations

from collections.abc import Sequence

from rag.answer import Answer, Reason, Refusal
from rag.errors import RagError
from ui.render import Html, rich, tag

_TITLES = {
    Reason.NO_PAPERS: "There are no papers yet",
    Reason.FILTER_TOO_NARROW: "No paper passes the filters",
    Reason.NOT_IN_ABSTRACTS: "Not in these abstracts",
    Reason.MODEL_UNAVAILABLE: "The model does not answer",
    Reason.NO_QUESTION: "Nothing to look up",
}
_TRY = {
    Reason.NO_PAPERS: ("Add a file under Library, or run rag ingest FILE.",),
    Reason.FILTER_TOO_NARROW: ("Widen year, venue, keyword, source or author in the settings.",),
    Reason.NOT_IN_ABSTRACTS: (
        "Name the method, data set or substance the way its authors would.",
        "Look at the nearest papers: the question may need one of their terms.",
        "Add papers on this topic under Library.",
    ),
    Reason.MODEL_UNAVAILABLE: ("Answer without a model: sentences are then quoted from the abstracts.",),
    Reason.NO_QUESTION: (),
}


def refusal_html(answer: Answer, refusal: Refusal, number: int) -> Html:
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
        button("Answer without a model", "extractive", number, class_="plain") if without else None,
        class_="refusal",
        data_reason=refusal.reason.value,
        role="note",
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
            button("Try again", "retry", 0, class_="plain", data_question=question),
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


def sentence_case(text: str) -> str:
    """`text` with a capital at its beginning, unless that is a command to be typed."""
    first = text.split(" ", 1)[0]
    return text if first in ("rag", "ollama", "pip") else text[:1].upper() + text[1:]


def button(label: str, action: str, number: int, class_: str = "tool", **attributes: str) -> Html:
    return tag("button", label, type="button", class_=class_, data_action=action, data_turn=number, **attributes)
