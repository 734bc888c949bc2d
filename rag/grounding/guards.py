"""Exact checks of a claim against the passage it was located in; each returns what fails, in words for the reader.

Overlap finds the topic. These find what overlap cannot see: another figure, another name, a turned-round statement.
A failure is a *conflict* when the passage says something else in that very place, otherwise the passage is silent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rag.grounding import lexicon
from rag.grounding.alignment import OPPOSITE, Alignment, likeness
from rag.grounding.analysis import Analysis, Word
from rag.grounding.roles import swapped
from rag.quantities import Quantity, same

_NEAR = 5  # words on either side of a figure that tell what it is a figure of


class Kind(StrEnum):
    FIGURE = "figure"
    NAME = "name"
    NEGATION = "negation"
    DIRECTION = "direction"
    ROLES = "roles"
    OVERREACH = "overreach"
    HEDGE = "hedge"


@dataclass(frozen=True, slots=True)
class Failure:
    """What in the claim does not hold: `part` of the claim, the `note` for the reader, conflict or silence."""

    kind: Kind
    part: str
    note: str
    conflict: bool


@dataclass(frozen=True, slots=True)
class Context:
    """What a passage may leave unsaid because its paper says it elsewhere.

    `names` are the keys of all names in title and abstract, `own` those that the paper introduces as its own.
    """

    names: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()


def failures(alignment: Alignment, context: Context) -> list[Failure]:
    """Everything in the claim that the passage does not bear out, gravest first."""
    found = [
        *_figures(alignment),
        *_names(alignment, context),
        *_negation(alignment),
        *_direction(alignment),
        *_roles(alignment),
        *_overreach(alignment),
    ]
    return sorted(found, key=lambda failure: not failure.conflict)


# Figures


def _figures(alignment: Alignment) -> Iterator[Failure]:
    claim, passage = alignment.claim, alignment.passage
    for quantity in claim.quantities:
        alike = [other for other in passage.quantities if agrees(quantity, other)]
        rivals = [other for other in passage.quantities if not agrees(quantity, other) and quantity.unit == other.unit]
        if not alike:
            rival = _counterpart(alignment, quantity, rivals)
            if rival is not None:
                yield Failure(Kind.FIGURE, quantity.text, f"“{quantity.text}”: the source says “{rival.text}”", True)
            elif not _spelled(quantity, passage):
                yield Failure(Kind.FIGURE, quantity.text, f"“{quantity.text}” is not in the source", False)
            continue
        if rivals and (rival := _stolen(alignment, quantity, alike, rivals)) is not None:
            yield Failure(
                Kind.FIGURE, quantity.text, f"“{quantity.text}”: in that place the source says “{rival.text}”", True
            )


def agrees(one: Quantity, other: Quantity) -> bool:
    """Same figure: value, sign, range, unit and comparator; a bare number agrees with itself under any unit."""
    return same(one, other)


def _spelled(quantity: Quantity, passage: Analysis) -> bool:
    return quantity.text.lower() in passage.raw


def _surroundings(analysis: Analysis, quantity: Quantity) -> list[Word]:
    """The content words nearest to a figure, nearest first."""
    near = [
        (min(abs(word.start - quantity.end), abs(quantity.start - word.end)), word)
        for word in analysis.words
        if word.content and not (word.start < quantity.end and quantity.start < word.end)
    ]
    return [word for _, word in sorted(near, key=lambda pair: pair[0])[:_NEAR]]


def _context_likeness(claim: Analysis, quantity: Quantity, passage: Analysis, other: Quantity) -> float:
    ours, theirs = _surroundings(claim, quantity), _surroundings(passage, other)
    if not ours or not theirs:
        return 0.0
    total = 0.0
    for rank, word in enumerate(ours):
        best = max(
            ((grade if (grade := likeness(word, near)) > OPPOSITE else 0.0) / (1 + 0.15 * abs(rank - place)))
            for place, near in enumerate(theirs)
        )
        total += best * (1 + word.name) / (rank + 1)
    return total / sum((1 + word.name) / (rank + 1) for rank, word in enumerate(ours))


def _counterpart(alignment: Alignment, quantity: Quantity, rivals: Sequence[Quantity]) -> Quantity | None:
    """The passage's figure that stands where the claim has `quantity`."""
    if not rivals:
        return None
    scored = [(_context_likeness(alignment.claim, quantity, alignment.passage, other), other) for other in rivals]
    best, other = max(scored, key=lambda pair: pair[0])
    return other if best >= 0.3 else None


def _stolen(
    alignment: Alignment, quantity: Quantity, alike: Sequence[Quantity], rivals: Sequence[Quantity]
) -> Quantity | None:
    """The figure that stands in this place, when the claim's figure stands in the passage for something else."""
    claim, passage = alignment.claim, alignment.passage
    ours = max(_context_likeness(claim, quantity, passage, other) for other in alike)
    best, rival = max(
        ((_context_likeness(claim, quantity, passage, other), other) for other in rivals), key=lambda pair: pair[0]
    )
    if any(agrees(rival, other) for other in claim.quantities):  # both figures are there: are they swapped?
        return rival if best - ours >= 0.2 and best >= 0.45 else None
    return rival if best - ours >= 0.25 and best >= 0.5 else None


# Names


def _names(alignment: Alignment, context: Context) -> Iterator[Failure]:
    claim, passage = alignment.claim, alignment.passage
    places = dict(alignment.replaced)
    there = {word.key for word in passage.names}
    for index, word in enumerate(claim.words):
        if not word.name or index in alignment.pairs:
            continue
        rival = passage.words[places[index]] if index in places else None
        if rival is not None and rival.name and rival.key not in {other.key for other in claim.names}:
            yield Failure(Kind.NAME, word.text, f"“{word.text}”: the source speaks of “{rival.text}”", True)
        elif word.key in context.own:
            rivals = [other for other in passage.names if other.key not in {name.key for name in claim.names}]
            subject = _subject_name(passage)
            if (
                subject is not None
                and subject.key not in context.own
                and subject in rivals
                and _is_subject(claim, word)
            ):
                yield Failure(Kind.NAME, word.text, f"“{word.text}”: the source says this of “{subject.text}”", True)
        elif word.key in context.names:
            yield Failure(Kind.NAME, word.text, f"the source does not say this of “{word.text}”", False)
        elif not (word.parts and set(word.parts) <= (passage.parts | context.keys)) and word.key not in there:
            yield Failure(Kind.NAME, word.text, f"“{word.text}” is not in the source", False)


def _is_subject(analysis: Analysis, word: Word) -> bool:
    before = [other for other in analysis.words if other.end <= word.start and other.content]
    return len(before) <= 2


def _subject_name(analysis: Analysis) -> Word | None:
    """The name among the first content words of a passage."""
    return next((analysis.words[i] for i in analysis.content[:2] if analysis.words[i].name), None)


# Negation and direction


def _negation(alignment: Alignment) -> Iterator[Failure]:
    claim, passage, pairs = alignment.claim, alignment.passage, alignment.pairs
    crossed = dict(alignment.opposites)
    back = {j: i for i, j in pairs.items()}
    crossed_back = {j: i for i, j in crossed.items()}
    for scope in claim.scopes:
        if not scope.strict or any(i in crossed for i in scope.words):
            continue
        matched = [i for i in scope.words if i in pairs]
        if matched and not any(pairs[i] in passage.negated for i in matched[:3]):
            part = f"{scope.negator} {claim.words[matched[0]].text}"
            yield Failure(Kind.NEGATION, part, f"“{part}”: the source does not deny this", True)
    for scope in passage.scopes:
        if not scope.strict or any(j in crossed_back for j in scope.words):
            continue
        matched = [j for j in scope.words if j in back]
        if matched and matched[0] in scope.words[:2] and not any(back[j] in claim.negated for j in matched[:3]):
            part = claim.words[back[matched[0]]].text
            denied = f"{scope.negator} … {passage.words[matched[0]].text}"
            yield Failure(Kind.NEGATION, part, f"“{part}”: the source denies this (“{denied}”)", True)


def _direction(alignment: Alignment) -> Iterator[Failure]:
    claim, passage = alignment.claim, alignment.passage
    for i, j in alignment.opposites:
        one, other = claim.words[i], passage.words[j]
        if (i in claim.negated) != (j in passage.negated):
            continue  # "not higher" for "lower"
        if one.key in passage.parts and other.key in claim.parts and (i, j) not in alignment.tight:
            continue  # both words are in both, in another order: `roles` tells
        yield Failure(Kind.DIRECTION, one.text, f"“{one.text}”: the source says “{other.text}”", True)


def _roles(alignment: Alignment) -> Iterator[Failure]:
    if (found := swapped(alignment)) is not None:
        yield Failure(Kind.ROLES, found, f"“{found}”: in the source it is the other way round", True)


# Overreach

_ENUMERATION = re.compile(r"^\s*(?:first|second|third|last)(?:ly)?\s*,", re.IGNORECASE)


def _overreach(alignment: Alignment) -> Iterator[Failure]:
    claim, passage = alignment.claim, alignment.passage
    for index, word in enumerate(claim.words):
        lower = word.text.lower()
        if lower not in lexicon.OVERREACH or (index == 0 and _ENUMERATION.match(claim.text)):
            continue
        if lower == "only" and index and claim.words[index - 1].text.lower() == "not":
            continue
        if passage.raw & lexicon.overreach_alike(lower) or passage.keys & lexicon.overreach_alike(lower):
            continue
        yield Failure(Kind.OVERREACH, word.text, f"“{word.text}” goes beyond the source", False)
