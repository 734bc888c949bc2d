"""What a conversation is about, question by question, and how a question is read beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rag.ellipsis import OPENING, Shelf, asked_of_another
from rag.followup import is_clause, is_follow_up, is_kind, names_in, names_said
from rag.text import informative

_THIN: Final = 3  # content words below which a follow-up takes the whole question before along
_CARRIED: Final = 6  # terms carried over at most
_TAKEN_OVER: Final = re.compile(r"(?<=\S)\s*\((?:[^()]|\([^()]*\))*\)\W*\Z")
_MORE: Final = re.compile(
    r"\W*(?:(?:and|so|but|then|ok(?:ay)?|yes|please|(?:can|could|would) you|what|is there|do you have|i want|"
    r"tell me|say|give me|show me|let me see)\W+)*"
    r"(?:(?:some(?:thing)?|anything|any|what|a bit|a little)\W+)?"
    r"(?:(?:much )?more(?: details?| information)?|else|go on|go ahead|continue|keep going|further|elaborate|expand|"
    r"details?|in (?:more |greater )?detail|why(?: (?:is|was|does|did) (?:that|this|it))?(?: so)?|how so|how come|"
    r"explain(?: (?:that|this|it))?(?: (?:further|more|simply|in (?:(?:more )?detail|simple words|plain words)))?|"
    r"mehr|weiter|encore|más|warum|pourquoi)"
    r"(?: (?:about|on|of) (?:it|that|this|them|these|those))?(?: do (?:they|the (?:papers|abstracts)) say)?"
    r"(?:,? please)?\W*"
    r"|\W*(?:还有(?:吗|什么|呢)?|继续|更多|详细(?:一点|说说)?|为什么|为何|具体(?:说说|一点)?)[呢吗]?\W*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """How a question is understood beside the topic before it.

    `topic` is the topic from then on, its newest question last, which is `question`, the one to be answered: the one
    that was asked, or the one before asked of another thing. `leans`: it needs the rest of the topic to be understood.
    `more`: it asks what else there is to say on the last question. `replaced`: something else took its subject's place.
    """

    topic: tuple[str, ...]
    question: str
    leans: bool = False
    more: bool = False
    replaced: bool = False


def read(question: str, topic: Sequence[str], shelf: Shelf | None = None) -> Reading:
    """Read a question beside its topic; `shelf` knows which names stand together in a paper."""
    if topic and asks_for_more(question):
        return Reading(tuple(topic), topic[-1], leans=len(topic) > 1 and is_follow_up(topic[-1]), more=True)
    if not topic or not is_follow_up(question):
        return Reading((question,), question)
    elsewhere = shelf is not None and _is_elsewhere(question, topic, shelf)
    if elsewhere and not names_in(question):
        return Reading((question,), question)
    if changed := asked_of_another(question, topic, shelf):
        leans = len(changed) > 1 and is_follow_up(changed[-1])
        return Reading(tuple(changed), changed[-1], leans=leans, replaced=True)
    if elsewhere:
        return Reading((question,), question)
    return Reading((*topic, question), question, leans=True)


def topic_of(questions: Sequence[str], shelf: Shelf | None = None) -> tuple[str, ...]:
    """The questions of the last topic, from the one that began it; one that names another thing takes its place."""
    topic: tuple[str, ...] = ()
    for question in questions:
        topic = read(question, topic, shelf).topic
    return topic


def carried(question: str, topic: Sequence[str], answer: str) -> str:
    """The question with the topic's names, or the whole question before where it has hardly words of its own.

    `topic` holds the questions before; `answer` is the last one, whose names serve where those questions have none. It
    is "" where there was none: then the words of those questions are not in the papers, and only their names are taken.
    """
    names = names_in(" ".join(topic)) or names_said(answer)
    own = {term.casefold() for term in names_in(question)}
    added = [name for name in names if name.casefold() not in own][:_CARRIED]
    if not answer:
        added = [name for name in added if not is_kind(name)]
    thin = not added or (bool(answer) and len(informative(question)) < _THIN)
    return f"{question.strip()} ({topic[0].strip() if thin else ', '.join(added)})"


def taken_apart(question: str) -> tuple[str, str]:
    """What `carried` made: what was asked, and in brackets what was taken over, "" for a question of its own."""
    found = _TAKEN_OVER.search(question)
    return (question[: found.start()], question[found.start() :].strip()) if found else (question, "")


def asks_for_more(question: str) -> bool:
    """Whether a question only asks to go on: "Tell me more", "Why?", "Anything else?"."""
    return _MORE.fullmatch(question) is not None


def _is_elsewhere(question: str, topic: Sequence[str], shelf: Shelf) -> bool:
    """Whether what a question names in common words ("What about molecules?") is in the papers, and in none of them
    beside the topic's names, or its words where it has none: then the topic has changed."""
    opening = OPENING.match(question)
    thing = question[opening.end() :] if opening else ""
    said = " ".join(topic)
    if not informative(thing) or is_clause(thing):
        return False
    beside = [name for name in names_in(said) if shelf.holds(name)] or informative(said)
    return shelf.holds(thing) and not any(shelf.holds(f"{word} {thing}") for word in beside)


__all__ = ["Reading", "Shelf", "asks_for_more", "carried", "read", "taken_apart", "topic_of"]
