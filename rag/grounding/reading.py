"""What a verifier that reads is asked about a claim, and what its opinion makes of the located verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rag.answer import Verdict
from rag.grounding import weights
from rag.grounding.analysis import analyse
from rag.grounding.evidence import Evidence
from rag.grounding.features import Located, locate
from rag.grounding.verdicts import Checked, Support
from rag.grounding.verifiers import Opinion

_NEAREST = 4  # sentences that are read for a claim that was not located


@dataclass(frozen=True, slots=True)
class Reading:
    """A claim, the passage that may bear it out, and the verdict by words alone.

    `spans` are what is shown if it does; `coverage` is the share of the claim's content that the best window holds.
    """

    claim: str
    passage: str
    located: Checked
    spans: tuple[Support, ...]
    coverage: float


def settle(reading: Reading, opinion: Opinion, name: str) -> Checked:
    """The final verdict: the located one with the opinion of the verifier called `name`."""
    return replace(_settled(reading, opinion, name), echoes=reading.located.echoes)


def _settled(reading: Reading, opinion: Opinion, name: str) -> Checked:
    located = reading.located
    if opinion.reading is not None:
        return _weighed(reading, opinion.reading)
    if opinion.verdict is None:
        return unread(located, f"the {name} judge failed ({opinion.failed}); this is what words alone show")
    if opinion.verdict is Verdict.NOT_FOUND:
        return Checked(opinion.verdict, (), opinion.reason, opinion.score)
    spans = tuple(replace(span, score=opinion.score) for span in reading.spans)
    return Checked(opinion.verdict, spans, opinion.reason, opinion.score)


def unread(located: Checked, note: str) -> Checked:
    """The located verdict, with the reason why nothing more is known."""
    return replace(located, note=f"{located.note}; {note}" if located.note else note)


def _weighed(reading: Reading, ratio: float) -> Checked:
    located = reading.located
    score = weights.read_probability(located.score, ratio)
    spans = tuple(replace(span, score=score) for span in reading.spans)
    against = ratio <= weights.READ_AGAINST
    enough = weights.READ_SUPPORTED if located.verdict is Verdict.SUPPORTED else weights.READ_LIFTED
    if score >= enough and not located.vetoed and not against:
        return Checked(Verdict.SUPPORTED, spans, "", score)
    if against and reading.coverage >= weights.ON_TOPIC:
        note = located.note or "the words are there; read closely, the passage does not bear it out"
        return Checked(Verdict.CONTRADICTED, spans, note, score, located.vetoed)
    if score >= weights.READ_PARTLY and located.verdict in (Verdict.SUPPORTED, Verdict.PARTLY):
        note = located.note or "the words are there; read closely, the passage does not say all of it"
        return Checked(Verdict.PARTLY, spans, note, score, located.vetoed)
    if located.verdict is Verdict.CONTRADICTED:
        return replace(located, score=score)
    return Checked(Verdict.NOT_FOUND, note=located.note, score=score, vetoed=located.vetoed)


def passage_around(spans: Sequence[Support], evidence: Evidence) -> str:
    """The passages of some spans with the sentence before and after each, in reading order."""
    wanted = [
        place
        for place, passage in enumerate(evidence.passages)
        if any(one.paper == passage.paper and one.start < passage.end and passage.start < one.end for one in spans)
    ]
    around = (near for place in wanted for pair in evidence.neighbours(place) for near in pair)
    return _joined({*wanted, *around}, evidence)


def passage_nearest(claim: str, evidence: Evidence) -> tuple[str, Located]:
    """The four sentences nearest to a claim, in reading order, and the window that fits best."""
    cosines = evidence.similarities(claim)
    found = locate(analyse(claim, evidence.names), evidence, cosines)
    places: dict[int, None] = dict.fromkeys(found[0].window.places)
    by_words = (place for located in found for place in located.window.places)
    by_vectors = (int(place) for place in np.argsort(-cosines, kind="stable"))
    for near in _alternately(by_vectors, by_words):
        if len(places) >= _NEAREST:
            break
        places[near] = None
    return _joined(places, evidence), found[0]


def _alternately(first: Iterable[int], second: Iterable[int]) -> Iterable[int]:
    one, other = list(first), list(second)
    for at in range(max(len(one), len(other))):
        yield from one[at : at + 1]
        yield from other[at : at + 1]


def _joined(places: Iterable[int], evidence: Evidence) -> str:
    """The sentences at some places, each paper a paragraph."""
    papers: dict[int, list[str]] = {}
    for place in sorted(places):
        papers.setdefault(evidence.passages[place].paper, []).append(evidence.passages[place].text)
    return "\n\n".join(" ".join(texts) for texts in papers.values())
