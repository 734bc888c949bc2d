"""What is measured of a claim beside its evidence: a handful of numbers that a reader can check by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p

import numpy as np
from numpy.typing import NDArray

from rag.grounding import lexicon
from rag.grounding.alignment import Alignment, align
from rag.grounding.analysis import Analysis
from rag.grounding.evidence import Evidence, Vectors, Window
from rag.grounding.failure import Failure, Kind
from rag.grounding.figures import agrees
from rag.grounding.guards import failures
from rag.grounding.naming import stood_for
from rag.grounding.tendency import tendency

_READ, _EXPLAINING, _RIDGE = 3, 4, 0.1
_UNREAD = 0.8  # without an embedding, similarity is taken for this share of coverage
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_SINGLES = 4  # passages that are laid beside the claim word by word
_ADDED = 0.15  # coverage that a neighbour must add for the pair to be read afresh
COPY = 0.75  # share of words in the same order from which a claim is a copy of a sentence
_PAIRED = 2  # of those, how many are also joined with their neighbours


@dataclass(frozen=True, slots=True)
class Located:
    """The passage that fits a claim best: where, how, and what does not hold. `cosines` are to all passages, `meant`
    are words of the claim that a pronoun of the passage stands for."""

    window: Window
    alignment: Alignment
    failures: tuple[Failure, ...]
    cosines: Vectors
    fit: float
    meant: frozenset[int] = frozenset()

    @property
    def coverage(self) -> float:
        """The alignment's, with what the passage has as a pronoun."""
        claim = self.alignment.claim
        meant = sum(claim.words[i].weight for i in self.meant if i in self.alignment.missing)
        return self.alignment.coverage + (meant / claim.weight if claim.weight else 0.0)

    @property
    def conflicts(self) -> tuple[Failure, ...]:
        return tuple(failure for failure in self.failures if failure.conflict)


def locate(claim: Analysis, evidence: Evidence, cosines: Vectors, prefer: Sequence[int] = ()) -> list[Located]:
    """The windows on the claim's topic, best first; figures play no part in what counts as the topic.

    The sentences that have all of the claim's figures are looked at, too: what the abstracts say of a figure in other
    words is not to be missed.
    """
    if not evidence.passages:
        return []
    total = claim.weight or 1.0
    rough = np.array([_rough(claim, passage.analysis) / total for passage in evidence.passages])
    bonus = np.array([0.01 * (passage.paper in prefer) for passage in evidence.passages])
    order = [int(place) for place in np.argsort(-(rough + 0.5 * cosines + bonus), kind="stable")]
    places: list[tuple[int, ...]] = [(place,) for place in order[:_SINGLES]]
    for place in order[:_PAIRED]:
        places.extend(pair for pair in evidence.neighbours(place) if pair not in places)
    places.extend((place,) for place in _with_figures(claim, evidence, order)[:_PAIRED])
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
        meant = frozenset(stood_for(alignment, evidence.contexts[paper]))
        found.append(Located(window, alignment, failed, cosines, fit + 0.01 * (paper in prefer), meant))
    return sorted(found, key=lambda located: -located.fit)


def _with_figures(claim: Analysis, evidence: Evidence, order: Sequence[int]) -> list[int]:
    """Of the places behind the first few, those that have all figures of a claim with some, in order."""
    stated = [quantity for quantity in claim.quantities if quantity.weight == 1]
    return [
        place
        for place in (order[_SINGLES:] if stated else ())
        if all(any(agrees(one, other) for other in evidence.passages[place].analysis.quantities) for one in stated)
    ]


def _rough(claim: Analysis, passage: Analysis) -> float:
    return sum(
        word.weight * (1.0 if word.key in passage.keys else 0.6 if passage.parts.intersection(word.parts) else 0.0)
        for word in (claim.words[i] for i in claim.content)
    )


NAMES = (
    "cosine",  # of the claim to the nearest sentence
    "explained",  # share of the claim's vector that the four nearest sentences explain together
    "words",  # share of the claim's words in the evidence, function words aside
    "words_squared",
    "worst",  # weight share of the heaviest run of content words that the window lacks
    "names_absent",  # names that are nowhere in the evidence
    "figures_absent",  # numbers that are nowhere in the evidence
    "figures_lost",  # figures that fail in the window
    "negation",  # words that only one of claim and window denies
    "parity",  # one of claim and window has a negation, the other has none
    "direction",  # words whose opposites stand in the window
    "direction_near",  # the same by how well the window covers the claim
    "tendency",  # do "more" and "less" agree around shared words; 0 where words stand in order
    "length",  # log of the number of content words
)


def features(claim: Analysis, located: Located, evidence: Evidence) -> list[float]:
    """One number for each of NAMES."""
    alignment = located.alignment
    count: dict[Kind, int] = {}
    for failure in located.failures:
        count[failure.kind] = count.get(failure.kind, 0) + 1
    cosines = located.cosines
    nearest = np.argsort(-cosines, kind="stable")
    around = [(evidence.passages[place].analysis, float(cosines[place])) for place in nearest[:_READ]]
    words = _words_held(claim, evidence)
    strict = [any(scope.strict for scope in one.scopes) for one in (claim, alignment.passage)]
    direction = float(min(count.get(Kind.DIRECTION, 0), 2))
    return [
        float(cosines[nearest[0]]) if evidence.encode else _UNREAD * alignment.coverage,
        _explained(located, evidence, nearest[:_EXPLAINING]),
        words,
        words**2,
        _worst_run(alignment) / (claim.weight or 1.0),
        float(min(3, len(_absent([word.text for word in claim.words if word.name], evidence.lower)))),
        float(min(3, len(_absent(_NUMBER.findall(claim.text), evidence.lower)))),
        float(min(count.get(Kind.FIGURE, 0), 2)),
        float(min(count.get(Kind.NEGATION, 0), 2)),
        float(strict[0] != strict[1]),
        direction,
        direction * alignment.coverage,
        0.0 if alignment.near_copy else tendency(claim, around),
        log1p(len(claim.content)),
    ]


def _words_held(claim: Analysis, evidence: Evidence) -> float:
    parts = [part for word in claim.words if word.text.lower() not in lexicon.STOP for part in word.parts]
    return sum(part in evidence.stems for part in parts) / len(parts) if parts else 1.0


def _absent(texts: Sequence[str], lower: str) -> set[str]:
    return {text for text in texts if text.lower() not in lower}


def _explained(located: Located, evidence: Evidence, places: NDArray[np.intp]) -> float:
    """Ridge regression of the claim's vector on some sentences' vectors; needs only their cosines."""
    if evidence.vectors is None:
        return _UNREAD * located.alignment.coverage
    rows = evidence.vectors[places]
    gram = rows @ rows.T + _RIDGE * np.eye(len(rows))
    weights = np.linalg.solve(gram, located.cosines[places])
    return float(located.cosines[places] @ weights)


def _worst_run(alignment: Alignment) -> float:
    """Weight of the heaviest run of neighbouring content words that the window lacks."""
    worst = run = 0.0
    missing = set(alignment.missing)
    for i in alignment.claim.content:
        run = run + alignment.claim.words[i].weight if i in missing else 0.0
        worst = max(worst, run)
    return worst
