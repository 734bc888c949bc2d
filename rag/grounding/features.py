"""What is measured of a claim beside its evidence: a handful of numbers that a reader can check by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log1p

import numpy as np

from rag.grounding import lexicon
from rag.grounding.alignment import Alignment, align
from rag.grounding.analysis import Analysis, Word
from rag.grounding.evidence import Evidence, Vectors, Window
from rag.grounding.guards import Failure, Kind, agrees, failures

_SINGLES = 4  # passages that are laid beside the claim word by word
_ADDED = 0.15  # coverage that a neighbour must add for the pair to be read afresh
COPY = 0.75  # share of words in the same order from which a claim is a copy of a sentence
_PAIRED = 2  # of those, how many are also joined with their neighbours


@dataclass(frozen=True, slots=True)
class Located:
    """The passage that fits a claim best: where, how, and what does not hold. `cosines` are to all passages."""

    window: Window
    alignment: Alignment
    failures: tuple[Failure, ...]
    cosines: Vectors
    fit: float

    @property
    def conflicts(self) -> tuple[Failure, ...]:
        return tuple(failure for failure in self.failures if failure.conflict)


def locate(claim: Analysis, evidence: Evidence, cosines: Vectors, prefer: Sequence[int] = ()) -> list[Located]:
    """The windows on the claim's topic, best first; figures play no part in what counts as the topic."""
    if not evidence.passages:
        return []
    total = claim.weight or 1.0
    rough = np.array([_rough(claim, passage.analysis) / total for passage in evidence.passages])
    bonus = np.array([0.01 * (passage.paper in prefer) for passage in evidence.passages])
    order = np.argsort(-(rough + 0.5 * cosines + bonus), kind="stable")[:_SINGLES]
    places: list[tuple[int, ...]] = [(int(place),) for place in order]
    for place in order[:_PAIRED]:
        places.extend(pair for pair in evidence.neighbours(int(place)) if pair not in places)
    found: list[Located] = []
    conflicts: dict[int, tuple[Alignment, tuple[Failure, ...]]] = {}
    for where in places:
        window = evidence.window(*where)
        alignment = align(claim, window.analysis)
        paper = evidence.passages[where[0]].paper
        failed = tuple(failures(alignment, evidence.contexts[paper]))
        if len(where) == 1 and alignment.coverage >= 0.5:
            conflicts[where[0]] = alignment, tuple(failure for failure in failed if failure.conflict)
        for place in where if len(where) > 1 else ():  # a neighbour does not undo what the sentence itself contradicts
            if place not in conflicts:
                continue
            alone, ones = conflicts[place]
            kinds = {failure.kind for failure in failed}
            same = alone.order >= COPY or alignment.coverage - alone.coverage < _ADDED
            failed += tuple(one for one in ones if one.kind not in kinds and (same or one.kind is Kind.ROLES))
        cosine = float(max(cosines[place] for place in where))
        fit = alignment.coverage + 0.3 * alignment.order + 0.3 * cosine
        fit -= 0.06 * (len(where) - 1) + 0.12 * sum(failure.conflict for failure in failed) + 0.05 * len(failed)
        found.append(Located(window, alignment, failed, cosines, fit + 0.01 * (paper in prefer)))
    return sorted(found, key=lambda located: -located.fit)


def _rough(claim: Analysis, passage: Analysis) -> float:
    return sum(
        word.weight * (1.0 if word.key in passage.keys else 0.6 if passage.parts.intersection(word.parts) else 0.0)
        for word in (claim.words[i] for i in claim.content)
    )


NAMES = (
    "coverage",  # of the claim's content by the best window, by weight, without figures
    "coverage_all",  # the same by the whole evidence
    "worst",  # weight share of the heaviest run of words that the window lacks
    "rarest",  # weight of the rarest word that the whole evidence lacks
    "order",  # content words in the same order
    "pairs",  # neighbouring content words that are neighbours in the evidence too
    "cosine",  # of the claim to the nearest sentence
    "cosine_second",  # to the second nearest
    "cosine_mean",  # to the mean of all sentences
    "figures_kept",  # figures, all of which the window has
    "figures_lost",  # that fail in the window
    "figures_absent",  # that are nowhere in the evidence
    "names_lost",  # names that fail in the window
    "names_absent",  # that are nowhere in the evidence
    "negation",
    "parity",  # one of claim and window has a negation, the other has none
    "direction",
    "roles",
    "overreach",
    "hedge",  # the window hedges, the claim does not
    "replaced",  # words in another word's place, neighbours agreeing
    "near_replaced",  # the same in a near-copy
    "length",  # log of the number of content words
)


def features(claim: Analysis, located: Located, evidence: Evidence) -> list[float]:
    """One number for each of NAMES."""
    alignment = located.alignment
    window = alignment.passage
    count: dict[Kind, int] = {}
    for failure in located.failures:
        count[failure.kind] = count.get(failure.kind, 0) + 1
    cosines = np.sort(located.cosines)[::-1]
    replaced = alignment.tight.intersection(alignment.replaced)
    total = claim.weight or 1.0
    held = {i: _held(claim.words[i], alignment.grade.get(i, 0.0), evidence.keys) for i in claim.content}
    strict = [any(scope.strict for scope in one.scopes) for one in (claim, window)]
    return [
        alignment.coverage,
        sum(claim.words[i].weight * grade for i, grade in held.items()) / total,
        _worst_run(alignment) / total,
        max((claim.words[i].weight for i, grade in held.items() if not grade), default=0.0),
        alignment.order,
        _pairs(claim, evidence),
        float(cosines[0]) if len(cosines) else 0.0,
        float(cosines[1]) if len(cosines) > 1 else 0.0,
        float(cosines.mean()) if len(cosines) else 0.0,
        float(bool(claim.quantities) and not count.get(Kind.FIGURE, 0)),
        float(min(count.get(Kind.FIGURE, 0), 2)),
        float(min(2, sum(not any(agrees(one, other) for other in evidence.quantities) for one in claim.quantities))),
        float(min(count.get(Kind.NAME, 0), 3)),
        float(min(3, sum(not held.get(i, 1.0) for i, word in enumerate(claim.words) if word.name))),
        float(min(count.get(Kind.NEGATION, 0), 2)),
        float(strict[0] != strict[1]),
        float(min(count.get(Kind.DIRECTION, 0), 2)),
        float(count.get(Kind.ROLES, 0) > 0),
        float(min(count.get(Kind.OVERREACH, 0), 2)),
        float(bool(window.raw & lexicon.HEDGES) and not claim.raw & lexicon.HEDGES),
        float(min(len(replaced), 3)),
        float(min(len(replaced), 3)) * alignment.near_copy,
        log1p(len(claim.content)),
    ]


def _held(word: Word, grade: float, keys: frozenset[str]) -> float:
    return 1.0 if word.key in keys or set(word.parts) <= keys else grade


def _pairs(claim: Analysis, evidence: Evidence) -> float:
    keys = [claim.words[i].key for i in claim.content]
    wanted = set(pairwise(keys))
    return len(wanted & evidence.pairs) / len(wanted) if wanted else 0.0


def _worst_run(alignment: Alignment) -> float:
    """Weight of the heaviest run of neighbouring content words that the window lacks."""
    worst = run = 0.0
    missing = set(alignment.missing)
    for i in alignment.claim.content:
        run = run + alignment.claim.words[i].weight if i in missing else 0.0
        worst = max(worst, run)
    return worst
