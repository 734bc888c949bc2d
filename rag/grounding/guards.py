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
from rag.grounding.analysis import STRONG, Analysis, Word
from rag.grounding.roles import Relations, compared
from rag.quantities import Quantity, rounds_to, same, same_value

_LATER = 0.7  # a place further on than this lies in a later clause
_TAKEN = 0.25  # belonging from which a figure counts as the one in this place
_MARGIN = 0.06  # lead in belonging from which another figure has this place


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

    `names` are the keys of all names in title and abstract, `own` those that the paper introduces as its own, `main`
    those of them that its title bears: its parts' doings are its own.
    """

    names: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    main: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()


def failures(alignment: Alignment, context: Context) -> list[Failure]:
    """Everything in the claim that the passage does not bear out, gravest first."""
    related = compared(alignment)
    found = [
        *_figures(alignment),
        *_names(alignment, context),
        *_negation(alignment),
        *_direction(alignment, related),
        *_roles(related),
        *_binding(alignment),
        *_overreach(alignment),
    ]
    return sorted(found, key=lambda failure: not failure.conflict)


# Figures


def _figures(alignment: Alignment) -> Iterator[Failure]:
    claim, passage = alignment.claim, alignment.passage
    for quantity in claim.quantities:
        alike = [other for other in passage.quantities if agrees(quantity, other)]
        rivals = [
            other
            for other in passage.quantities
            if other not in alike and _comparable(quantity, other) and not _in_name(passage, other)
        ]
        shown = quantity.text.strip()
        if alike:
            if rivals and (rival := _stolen(alignment, quantity, alike, rivals)) is not None:
                note = f"“{shown}”: in that place the source says “{rival.text.strip()}”"
                yield Failure(Kind.FIGURE, shown, note, True)
        elif (found := _counterpart(alignment, quantity, rivals)) is not None:
            yield Failure(Kind.FIGURE, shown, f"“{shown}”: the source says “{found.text.strip()}”", True)
        elif quantity.weight == 1 and not _spelled(quantity, passage):
            yield Failure(Kind.FIGURE, shown, f"“{shown}” is not in the source", False)


def agrees(one: Quantity, other: Quantity) -> bool:
    """Does the claim's figure state what the passage's does? "below the 81 %" only points at 81 %."""
    if same(one, other) or rounds_to(one, other):
        return True
    return one.spelled and " the " in one.text and same_value(one, other)


def _comparable(one: Quantity, other: Quantity) -> bool:
    """Can one stand in the other's place: same unit, like size, both figures or both words, both years or neither?"""
    if one.unit != other.unit or one.weight != other.weight or _year(one) != _year(other):
        return False
    small, large = sorted((abs(one.high), abs(other.high)))
    return not small or large / small <= 1000


def _in_name(analysis: Analysis, quantity: Quantity) -> bool:
    """Is the number part of a name, as in "Claude 4 Sonnet" or "AIME 2025"?"""
    before = next((word for word in reversed(analysis.words) if word.end <= quantity.start), None)
    return not quantity.unit and before is not None and before.name and quantity.start - before.end == 1


def _year(quantity: Quantity) -> bool:
    return not quantity.unit and quantity.low == quantity.high and 1900 <= quantity.low <= 2100


def _spelled(quantity: Quantity, passage: Analysis) -> bool:
    return quantity.text.lower() in passage.raw


def _pull(analysis: Analysis, quantity: Quantity) -> dict[int, float]:
    """How strongly each content word belongs to a figure, 0 to 1: by distance, and hardly from a clause after it."""
    at = next((k for k, word in enumerate(analysis.words) if word.end > quantity.start), None)
    if at is None:
        return {}
    found = {}
    for index in analysis.content:
        word = analysis.words[index]
        if word.start < quantity.end and quantity.start < word.end:
            continue
        away = analysis.place[index] - analysis.place[at]
        cost = -away if away < 0 else away if away < _LATER else 3 * away
        found[index] = 1 / (1 + cost)
    return found


def _belonging(alignment: Alignment, quantity: Quantity, other: Quantity) -> float:
    """How well the claim's words around a figure are those around a figure of the passage, 0 to 1."""
    claim, passage = alignment.claim, alignment.passage
    ours, theirs = _pull(claim, quantity), _pull(passage, other)
    total = got = 0.0
    for i, pull in ours.items():
        word = claim.words[i]
        if word.key in lexicon.SELF:
            continue
        weight = pull * word.weight
        total += weight
        got += weight * max(
            (grade * near for j, near in theirs.items() if (grade := likeness(word, passage.words[j])) > OPPOSITE),
            default=0.0,
        )
    return got / total if total else 0.0


def _counterpart(alignment: Alignment, quantity: Quantity, rivals: Sequence[Quantity]) -> Quantity | None:
    """The passage's figure that stands where the claim has `quantity`."""
    scored = [(_belonging(alignment, quantity, other), rank, other) for rank, other in enumerate(rivals)]
    best, _, other = max(scored, default=(0.0, 0, None))
    return other if best >= _TAKEN else None


def _stolen(
    alignment: Alignment, quantity: Quantity, alike: Sequence[Quantity], rivals: Sequence[Quantity]
) -> Quantity | None:
    """The figure that stands in this place, when the claim's figure stands in the passage for something else."""
    mine, _, place = max((_belonging(alignment, quantity, other), -rank, other) for rank, other in enumerate(alike))
    for rival in rivals:
        lead = _belonging(alignment, quantity, rival) - mine
        partner = next((other for other in alignment.claim.quantities if agrees(other, rival)), None)
        if partner is not None:  # the claim has both figures: exchanged?
            lead += _belonging(alignment, partner, place) - _belonging(alignment, partner, rival)
        if lead >= (_MARGIN if partner is None else 2 * _MARGIN):
            return rival
    return None


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
            subject = _subject_name(alignment)
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


def _subject_name(alignment: Alignment) -> Word | None:
    """The name among the first content words of the clause that the claim agrees with most."""
    passage = alignment.passage
    clauses = [_clause_of(passage, j) for j in range(len(passage.words))]
    agreeing = [clauses[j] for j in alignment.pairs.values()]
    if not agreeing:
        return None
    main = max(set(agreeing), key=lambda clause: (agreeing.count(clause), -clause))
    first = [passage.words[j] for j in passage.content if clauses[j] == main][:3]
    return next((word for word in first if word.name), None)


# Negation and direction


def _negation(alignment: Alignment) -> Iterator[Failure]:
    claim, passage, pairs = alignment.claim, alignment.passage, alignment.pairs
    crossed = {i for i, _ in alignment.opposites}
    crossed_back = {j for _, j in alignment.opposites}
    back = {j: i for i, j in pairs.items()}
    for scope in claim.scopes:
        ours = [i for i in scope.words if i in pairs]
        if not scope.strict or not ours or crossed.intersection(scope.words):
            continue
        if all(_turned(claim, i, passage, pairs[i]) for i in ours[:3]):
            part = f"{scope.negator} {claim.words[ours[0]].text}"
            yield Failure(Kind.NEGATION, part, f"“{part}”: the source does not deny this", True)
    for scope in passage.scopes:
        theirs = [j for j in scope.words if j in back]
        if not scope.strict or not theirs or crossed_back.intersection(scope.words):
            continue
        adverb = passage.words[scope.words[0]].text.endswith("ly")
        if theirs[0] in scope.words[: 1 + adverb] and all(_turned(passage, j, claim, back[j]) for j in theirs[:3]):
            part = claim.words[back[theirs[0]]].text
            denied = f"{scope.negator} … {passage.words[theirs[0]].text}"
            yield Failure(Kind.NEGATION, part, f"“{part}”: the source denies this (“{denied}”)", True)


def _turned(one: Analysis, i: int, other: Analysis, j: int) -> bool:
    """Is word `i` of one text denied an odd number of times more than word `j` of the other?

    A negation that is none everywhere ("avoids", "instead of") makes up for one.
    """
    strict = [sum(scope.strict for scope in text.scopes if at in scope.words) for text, at in ((one, i), (other, j))]
    loose = [sum(not scope.strict for scope in text.scopes if at in scope.words) for text, at in ((one, i), (other, j))]
    return strict[0] % 2 != strict[1] % 2 and not (loose[1] > loose[0] and strict[0] > strict[1])


def _direction(alignment: Alignment, related: Relations) -> Iterator[Failure]:
    claim, passage = alignment.claim, alignment.passage
    for i, j in alignment.opposites:
        one, other = claim.words[i], passage.words[j]
        if (i in claim.negated) != (j in passage.negated):
            continue  # "not higher" for "lower"
        if related.straight and (one.key in related.words or other.key in related.words):
            continue  # "A is faster than B" for "B is slower than A"
        if (
            one.key in passage.parts
            and other.key in claim.parts
            and (related.straight or (i, j) not in alignment.tight)
        ):
            continue  # both words are in both, in another order
        yield Failure(Kind.DIRECTION, one.text, f"“{one.text}”: the source says “{other.text}”", True)


def _roles(related: Relations) -> Iterator[Failure]:
    if related.crossed:
        yield Failure(
            Kind.ROLES, related.crossed, f"“{related.crossed}”: in the source it is the other way round", True
        )


def _binding(alignment: Alignment) -> Iterator[Failure]:
    """What the claim says of its first name, the passage says in a clause without it, of a name of its own."""
    claim, passage, pairs = alignment.claim, alignment.passage, alignment.pairs
    subject = _first_names(claim)
    clause = [_clause_of(passage, j) for j in range(len(passage.words))]
    if not subject or not clause or not clause[-1]:
        return
    where = [{clause[j] for j, word in enumerate(passage.words) if word.key == claim.words[i].key} for i in subject]
    homes = set.intersection(*where)
    weight: dict[int, float] = {}
    first: dict[int, int] = {}
    for i, j in pairs.items():
        word = claim.words[i]
        if i in subject or not word.content or word.key in lexicon.SELF:
            continue
        spots = {clause[k] for k, other in enumerate(passage.words) if other.key == passage.words[j].key}
        if len(spots) == 1:
            weight[clause[j]] = weight.get(clause[j], 0.0) + word.weight
            first[clause[j]] = min(first.get(clause[j], j), j)
    at_home = max((weight.get(home, 0.0) for home in homes), default=0.0)
    keys = {word.key for word in claim.words}
    for other, total in weight.items():
        if not homes or other in homes or total < 2 or total <= 2 * at_home:
            continue
        before = [w for j, w in enumerate(passage.words) if clause[j] == other and w.name and j < first[other]]
        rival = next((word for word in before if word.key not in keys), None)
        if rival is not None:
            part = claim.words[subject[0]].text
            yield Failure(Kind.NAME, part, f"“{part}”: the source says this of “{rival.text}”", True)
            return


def _first_names(claim: Analysis) -> list[int]:
    """The first run of names in a claim."""
    run: list[int] = []
    for i, word in enumerate(claim.words):
        if word.name and (not run or i == run[-1] + 1):
            run.append(i)
        elif run:
            break
    return run


def _clause_of(passage: Analysis, index: int) -> int:
    """Which clause a word is in, counted from 0; clauses end where a strong boundary stands."""
    count = 0
    for left, right in zip(passage.place[:index], passage.place[1 : index + 1], strict=True):
        count += right - left >= STRONG
    return count


# Overreach

_ENUMERATION = re.compile(r"^\s*(?:first|second|third|last)(?:ly)?\s*,", re.IGNORECASE)


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
