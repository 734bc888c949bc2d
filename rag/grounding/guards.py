"""Exact checks of a claim against the passage it was located in; each returns what fails, in words for the reader.

Overlap finds the topic. These find what overlap cannot see: another figure, another name, a turned-round statement.
A failure is a *conflict* when the passage says something else in that very place, otherwise the passage is silent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.grounding import lexicon
from rag.grounding.alignment import Alignment
from rag.grounding.analysis import Word
from rag.grounding.failure import Context, Failure, Kind
from rag.grounding.figures import figures
from rag.grounding.naming import names
from rag.grounding.polarity import direction, negation
from rag.grounding.roles import Relations, compared, ranks

_ENUMERATION = re.compile(r"^\s*(?:first|second|third|last)(?:ly)?\s*,", re.IGNORECASE)


def failures(alignment: Alignment, context: Context) -> list[Failure]:
    """Everything in the claim that the passage does not bear out, gravest first."""
    related = compared(alignment)
    found = [
        *figures(alignment),
        *names(alignment, context),
        *negation(alignment),
        *direction(alignment, related),
        *_roles(related),
        *_overreach(alignment),
        *_comparison(alignment),
    ]
    return sorted(found, key=lambda failure: not failure.conflict)


def _roles(related: Relations) -> Iterator[Failure]:
    if related.crossed:
        note = f"“{related.crossed}”: in the source it is the other way round, or said of something else"
        yield Failure(Kind.ROLES, related.crossed, note, True)


def _overreach(alignment: Alignment) -> Iterator[Failure]:
    claim, passage = alignment.claim, alignment.passage
    for index, word in enumerate(claim.words):
        lower = word.text.lower()
        if lower not in lexicon.OVERREACH or (index == 0 and _ENUMERATION.match(claim.text)):
            continue
        if lower == "only" and (
            (index and claim.words[index - 1].text.lower() == "not")
            or any(word.figure for word in claim.words[index + 1 : index + 3])
        ):
            continue
        if passage.raw & lexicon.overreach_alike(lower) or passage.keys & lexicon.overreach_alike(lower):
            continue
        yield Failure(Kind.OVERREACH, word.text, f"“{word.text}” goes beyond the source", False)


def _comparison(alignment: Alignment) -> Iterator[Failure]:
    """A claim that something is higher or better, where the passage compares nothing ("A scores 78 % and B 80 %")."""
    passage = alignment.passage
    if any(_compares(word) for word in passage.words) or any(
        quantity.unit == "×" or quantity.text.lstrip().startswith("+") for quantity in passage.quantities
    ):
        return
    for index, word in enumerate(alignment.claim.words):
        if word.text.lower() in lexicon.COMPARING and index not in alignment.pairs:
            yield Failure(Kind.DIRECTION, word.text, f"“{word.text}” is not in the source", False)


def _compares(word: Word) -> bool:
    lower = word.text.lower()
    return word.marked or lower in lexicon.COMPARING or lexicon.sign(word.key) != 0 or ranks(word.key)
