"""What was said before a question, and the question made to stand alone: follow-ups, other languages, small talk."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from rag.answer import Answer
from rag.errors import ModelUnavailable
from rag.followup import is_follow_up
from rag.generation import prompts
from rag.generation.citations import parse, shown
from rag.generation.models import Message, Model
from rag.generation.streaming import complete
from rag.language.stopwords import ENGLISH, stopwords
from rag.quantities import quantities
from rag.settings import Settings
from rag.smalltalk import smalltalk
from rag.text import has_cjk, informative, named_terms, stems, tokens
from rag.topic import Shelf, carried, read, topic_of

UNTRANSLATED: Final = (
    "The abstracts are searched with an English model, and without a language model the question cannot be translated: "
    "only the names and numbers in it count. Ask in English, or set RAG_LLM."
)
_FAILED: Final = (
    "The question could not be translated into English ({why}): only the names and numbers in it count. Ask in English."
)
_TOGETHER: Final = "read together with the question before"
_ELSE: Final = "what else the abstracts say on the question before"
_LONGEST = 400  # characters of a rewritten question


@dataclass(frozen=True, slots=True)
class Turn:
    """One question with its answer, "" where it was refused; `papers` are the ids of the papers the answer cited.

    `standalone` is what the question was understood as, "" where that is not known.
    """

    question: str
    answer: str
    papers: tuple[str, ...] = ()
    standalone: str = ""

    @classmethod
    def of(cls, answer: Answer) -> Turn:
        """The turn that an answer ends."""
        text = "" if answer.refusal else answer.text
        return cls(answer.question, text, tuple(source.paper.id for source in answer.cited), answer.standalone)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The question to search for; `note` tells the reader what was done to it or why that is weak, "" if nothing.

    `leans`: it asks of the same thing as before. `more`: it was asked before, and what was not said then is wanted.
    """

    question: str
    note: str = ""
    leans: bool = False
    more: bool = False


def standalone(
    question: str,
    history: Sequence[Turn],
    model: Model | None = None,
    settings: Settings | None = None,
    *,
    shelf: Shelf | None = None,
    stop: threading.Event | None = None,
) -> Rewritten:
    """The question as it is understood without the conversation.

    A follow-up that only names another thing is the question before, asked of that thing. Any other is rewritten by the
    model where there is one and its rewriting keeps what was asked; else the names of the last topic are carried over.
    `shelf` tells what the papers have together, and with it whether a thing that is named belongs to the old topic.
    A question that does not lean on another is left as it is, whatever was said before.
    """
    turns = bounded(history, settings.history_tokens if settings else 1500)
    first = [turn.standalone or turn.question for turn in turns[:1]]  # what it leans on may be forgotten
    topic = topic_of([*first, *(turn.question for turn in turns[1:])], shelf)
    reading = read(question, topic, shelf)
    if reading.more:
        asked = carried(reading.question, reading.topic[:-1], turns[-1].answer) if reading.leans else reading.question
        return Rewritten(asked, _ELSE, leans=True, more=True)
    if not reading.leans:
        return Rewritten(reading.question, _TOGETHER if reading.replaced else "")
    question = reading.question
    if model is not None and model.llm is not None:
        written = _asked(model, prompts.rewriting(question, turns), stop)
        if written and _keeps(question, written, turns):
            return Rewritten(written, f"{_TOGETHER}, by {model.name}", leans=not reading.replaced)
    asked = carried(question, reading.topic[:-1], turns[-1].answer)
    return Rewritten(asked, _TOGETHER, leans=not reading.replaced)


def translate(question: str, model: Model | None, *, stop: threading.Event | None = None) -> Rewritten:
    """The question in English, for the search; without a model as it is, with a notice that says why that is weak."""
    if not is_foreign(question):
        return Rewritten(question)
    if model is None or model.llm is None:
        return Rewritten(question, UNTRANSLATED)
    written = _asked(model, prompts.translating(question), stop)
    if not written:
        return Rewritten(question, _FAILED.format(why=f"{model.name} gave nothing usable"))
    lost = _lost(question, written)
    if is_foreign(written) or lost:
        why = f"{model.name} lost {', '.join(lost)}" if lost else f"{model.name} did not"
        return Rewritten(question, _FAILED.format(why=why))
    return Rewritten(written, f"searched for in English, translated by {model.name}")


def is_foreign(question: str) -> bool:
    """Whether the question is not in English: by its script, or by its function words."""
    words = [word.text.casefold() for word in tokens(question)]
    letters = [char for char in question if char.isalpha()]
    other = sum(not unicodedata.name(char, "").startswith(("LATIN", "GREEK", "MICRO")) for char in letters)
    if question.lstrip().startswith(("¿", "¡")):
        return True
    if other and (other * 4 > len(letters) or not any(word in ENGLISH for word in words)):
        return True
    return stopwords(words) is not ENGLISH


def bounded(history: Sequence[Turn], most: int) -> tuple[Turn, ...]:
    """The newest turns that together take at most `most` tokens; of the last one at least the question."""
    kept: list[Turn] = []
    for turn in reversed(history):
        most -= prompts.estimated_tokens(turn.question) + prompts.estimated_tokens(turn.answer)
        if most < 0:
            if not kept and most + prompts.estimated_tokens(turn.answer) >= 0:
                kept.append(replace(turn, answer=""))
            break
        kept.append(turn)
    return tuple(reversed(kept))


def _asked(model: Model, messages: list[Message], stop: threading.Event | None) -> str:
    """The model's one line, "" where it gives none; its thoughts, quotes and labels are left out."""
    try:
        text = shown(parse(complete(model, messages, max_tokens=160, stop=stop), 0))
    except ModelUnavailable:  # the answer itself will meet the same and report it
        return ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) != 1 or len(lines[0]) > _LONGEST:
        return ""
    line = re.sub(r"^(?:[\w -]*question|translation)\s*:\s*", "", lines[0], flags=re.IGNORECASE)
    return line.strip(" \"'“”`*")


def _keeps(question: str, written: str, history: Sequence[Turn]) -> bool:
    """Whether a rewriting says what the question says, adds something, and adds it only from the conversation."""
    said = " ".join([question, *(f"{turn.question} {turn.answer}" for turn in history)])
    added = set(stems(written)) - set(stems(question))
    asks = written.endswith(("?", "？")) or not question.rstrip().endswith(("?", "？"))
    repeats = any(written.casefold().strip("?？ ") == turn.question.casefold().strip("?？ ") for turn in history)
    return (
        asks
        and not repeats
        and has_cjk(written) == has_cjk(question)
        and not _lost(question, written)
        and not _lost(written, said)
        and bool(added & set(informative(said)))
    )


def _lost(source: str, target: str) -> list[str]:
    """Names and figures of `source` that `target` has not."""
    known = target.casefold()
    names = [term.text for term in named_terms(source) if term.text.casefold() not in known]
    figures = {(found.low, found.high) for found in quantities(target)}
    return names + [found.text for found in quantities(source) if (found.low, found.high) not in figures]


__all__ = [
    "UNTRANSLATED",
    "Rewritten",
    "Turn",
    "bounded",
    "is_follow_up",
    "is_foreign",
    "smalltalk",
    "standalone",
    "translate",
]
