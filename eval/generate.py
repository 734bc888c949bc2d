"""Draft questions from a corpus with the configured model, for a person to edit."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from eval.dataset import Question
from eval.runner import SEED
from rag.generation.models import Model
from rag.generation.prompts import drafting
from rag.generation.streaming import complete
from rag.grounding.judgement import parse_json
from rag.markup import plain_text
from rag.papers import Paper
from rag.text import named_terms

_TOKENS = 250
_FIGURE = re.compile(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?\s?(%|×)?")


@dataclass(frozen=True, slots=True)
class Dropped:
    """A draft that was not kept, and why."""

    paper_id: str
    reason: str


def drafts(
    papers: Sequence[Paper], model: Model, count: int, *, seed: int = SEED, say: Callable[[Dropped], None] | None = None
) -> Iterator[Question]:
    """Up to `count` questions over papers drawn at random, one a paper, each with the quote that answers it as note.

    A draft whose quote does not stand in the abstract, or that cannot be read, is dropped and reported by `say`.
    Raises ModelUnavailable.
    """
    order = random.Random(seed).sample(range(len(papers)), len(papers))
    made = 0
    for place in order:
        if made == count:
            return
        paper = papers[place]
        question = _draft(paper, complete(model, drafting(paper), max_tokens=_TOKENS), number=made + 1)
        if isinstance(question, Question):
            made += 1
            yield question
        elif say:
            say(Dropped(paper.id, question))


def _draft(paper: Paper, reply: str, number: int) -> Question | str:
    """The question, or the reason why the reply gives none."""
    found = [item for item in parse_json(reply) if isinstance(item, dict)]
    asked, quote = (found[0].get("question"), found[0].get("quote")) if len(found) == 1 else (None, None)
    if not isinstance(asked, str) or not isinstance(quote, str) or not asked.strip().endswith(("?", "？")):
        return f"no question and quote in the reply: {reply.strip()[:80]!r}"
    quote = " ".join(quote.split()).strip(' ."“”')
    if not quote or quote.casefold() not in " ".join(plain_text(paper.abstract).split()).casefold():
        return f"the quote does not stand in the abstract: {quote[:80]!r}"
    figure = _FIGURE.search(quote)
    fact: object = quote
    if figure:
        number_text = re.match(r"[\d,.]*\d", figure.group())
        fact = {"number": number_text[0].replace(",", "") if number_text else "", "unit": figure[1] or ""}
    elif names := named_terms(quote):
        fact = names[0].text
    return Question.model_validate(
        {
            "id": f"draft-{number}",
            "question": asked.strip(),
            "type": "number" if figure else "fact",
            "gold": [paper.id],
            "facts": [fact],
            "note": f"draft, to be read by a person; quote: {quote}",
        }
    )
