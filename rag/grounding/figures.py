"""The guard on figures: the same value, sign, range, unit and comparator, and in the same place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rag.grounding import lexicon
from rag.grounding.alignment import OPPOSITE, Alignment, likeness
from rag.grounding.analysis import Analysis
from rag.grounding.failure import Failure, Kind
from rag.quantities import Quantity, rounds_to, same, same_value

_LATER = 0.7  # a place further on than this lies in a later clause
_TAKEN = 0.25  # belonging from which a figure counts as the one in this place
_FIGURE_WEIGHT = 2.0  # of another figure nearby, beside words by how rare they are
_CONTINUES = re.compile(  # what a figure follows in a part that leaves the rest out: "and 2.4", ", in the west by 5 %"
    r"(?:,|;|\band|\bor|\bbut|\bwhereas)\s+(?:(?P<setting>in|on|at|with|for|under)\s+(?:\w[\w-]*\s+){1,3}?)?"
    r"(?:only\s+|about\s+)?(?:(?:by|to|of|at|from|in)\s+)?(?:only\s+|about\s+)?\Z",
    re.IGNORECASE,
)
_MARGIN = 0.06  # lead in belonging from which another figure has this place


def figures(alignment: Alignment) -> Iterator[Failure]:
    """Figures of the claim that the passage lacks, or has for something else."""
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
            owner, right = _listed(alignment, alike)
            if owner:
                yield Failure(Kind.FIGURE, shown, f"“{shown}”: the source says this of “{owner}”", True)
            elif not right and rivals and (rival := _stolen(alignment, quantity, alike, rivals)) is not None:
                note = f"“{shown}”: in that place the source says “{rival.text.strip()}”"
                yield Failure(Kind.FIGURE, shown, note, True)
        elif (found := _counterpart(alignment, quantity, rivals)) is not None:
            yield Failure(Kind.FIGURE, shown, f"“{shown}”: the source says “{found.text.strip()}”", True)
        elif quantity.weight == 1 and not _spelled(quantity, passage):
            yield Failure(Kind.FIGURE, shown, f"“{shown}” is not in the source", False)


def labels(analysis: Analysis) -> list[tuple[int, int, str]]:
    """The names with the number that belongs to them ("AIME 2024"): start, end, text."""
    found = []
    for word, after in zip_longest(analysis.words, analysis.words[1:]):
        if not word.name:
            continue
        numbered = after is not None and after.figure and after.start - word.end == 1 and after.text.isdecimal()
        end = after.end if numbered else word.end
        found.append((word.start, end, analysis.text[word.start : end]))
    return found


def _listed(alignment: Alignment, alike: Sequence[Quantity]) -> tuple[str, bool]:
    """Of a figure that the passage gives in a list "A (1), B (2)": whose it is, where the claim gives B that of A; and
    whether the claim gives it to whom it belongs."""
    passage = alignment.passage
    listed = {
        other: name
        for other in passage.quantities
        for _, end, name in labels(passage)
        if re.fullmatch(r"\s*\(\s*", passage.text[end : other.start])
    }
    owners = [listed.get(other, "") for other in alike]
    ours = {name for _, _, name in labels(alignment.claim)}
    if not ours.isdisjoint(owners):
        return "", True
    rivals = {name for other, name in listed.items() if other not in alike}
    return (owners[0] if all(owners) and ours & rivals else ""), False


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
    at = _index(analysis, quantity)
    if at is None:
        return {}
    found = {
        index: _nearness(analysis, at, index)
        for index in analysis.content
        if analysis.words[index].start >= quantity.end or quantity.start >= analysis.words[index].end
    }
    twins = _twins(analysis)
    if (twin := twins.get(quantity)) is not None:
        for index, near in _pull(analysis, twin.figure).items():
            if analysis.words[index].end <= twin.shared:
                apart = twin.apart[0] <= analysis.words[index].start < twin.apart[1]
                found[index] = min(found[index], near) / 2 if apart else max(found[index], near)
    for later in (one for one in twins.values() if one.figure is quantity):
        for index in found:
            if later.setting[0] <= analysis.words[index].start < later.setting[1]:
                found[index] /= 2
    return found


@dataclass(frozen=True, slots=True)
class _Twin:
    """The figure that stands in the part before where another stands in its own; what ends before `shared` is said of
    both, but for the setting at `apart`, for which the other part has its own at `setting` ("in the east …, in the
    west …"). The places are characters of the text."""

    figure: Quantity
    shared: int
    apart: tuple[int, int]
    setting: tuple[int, int]


def _twins(analysis: Analysis) -> dict[Quantity, _Twin]:
    """The figures of parts that leave out what they share with the part before: "reaches 2.9 with 8 steps and 2.4 with
    16" says "reaches" of both."""
    found: dict[Quantity, _Twin] = {}
    part: list[Quantity] = []
    before: list[Quantity] = []
    clause, setting, opened = None, "", 0
    for quantity in sorted(analysis.quantities, key=lambda one: one.start):
        at = _index(analysis, quantity)
        continues = _CONTINUES.search(analysis.text[: quantity.start])
        if part and continues and continues.start() >= part[-1].end:
            before, part = part, [quantity]
            setting, opened = continues["setting"] or "", continues.start()
        elif part and at is not None and analysis.clause[at] == clause:
            part.append(quantity)
        else:
            before, part = [], [quantity]
        clause = analysis.clause[at] if at is not None else None
        if len(part) <= len(before) and _comparable(quantity, twin := before[len(part) - 1]):
            shared = found[before[0]].shared if before[0] in found else before[0].start
            place = (opened, part[0].start) if setting else (0, 0)
            found[quantity] = _Twin(twin, shared, _setting(analysis.text[:shared], setting), place)
    return found


def _setting(text: str, preposition: str) -> tuple[int, int]:
    """Where the first phrase with this preposition stands: up to a name, else one word; (0, 0) where there is none."""
    if not preposition:
        return 0, 0
    phrase = re.search(
        rf"\b(?i:{preposition})\s+(?:the\s+)?(?:(?:[a-z][\w-]*\s+)?[A-Z][\w-]*(?:\s+[A-Z][\w-]*)*|[\w-]+)", text
    )
    return phrase.span() if phrase else (0, 0)


def _index(analysis: Analysis, quantity: Quantity) -> int | None:
    """Of the first word of a figure."""
    return next((k for k, word in enumerate(analysis.words) if word.end > quantity.start), None)


def _nearness(analysis: Analysis, at: int, index: int) -> float:
    away = analysis.place[index] - analysis.place[at]
    cost = -away if away < 0 else away if away < _LATER else 3 * away
    return 1 / (1 + cost)


def _figures_near(analysis: Analysis, quantity: Quantity) -> list[tuple[Quantity, float]]:
    """The other figures, and how strongly each belongs to this one, 0 to 1."""
    at = _index(analysis, quantity)
    places = [(other, _index(analysis, other)) for other in analysis.quantities if other is not quantity]
    return [(other, _nearness(analysis, at, place)) for other, place in places if at is not None and place is not None]


def _side_by_side(analysis: Analysis, one: Quantity, other: Quantity) -> bool:
    first, second = sorted((one, other), key=lambda quantity: quantity.start)
    return re.fullmatch(r"[\s,;]*(?:to|and|or|vs\.?|versus)?\s*", analysis.text[first.end : second.start]) is not None


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
    theirs_near = _figures_near(passage, other)
    for figure, near in _figures_near(claim, quantity):  # "2.9 with 8 steps and 2.4 with 16 steps"
        there = [strength for one, strength in theirs_near if agrees(figure, one)]
        if there and not _side_by_side(claim, quantity, figure):  # the ends of a range do not tell whose it is
            total += near * _FIGURE_WEIGHT
            got += near * _FIGURE_WEIGHT * max(there)
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
