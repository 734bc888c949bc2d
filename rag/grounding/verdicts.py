"""From what was measured to a verdict: the guards first, then probability and coverage."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag.answer import Verdict
from rag.grounding import weights
from rag.grounding.analysis import Analysis
from rag.grounding.failure import Kind
from rag.grounding.features import COPY, Located

# What is left of the probability after a conflict in a copy, and elsewhere, where the features have counted it already.
_CHANGED_COPY, _CONTRADICTED = 0.15, 0.8
_QUOTED = 0.95  # coverage, and share of words in the same order, from which a sentence is as good as a quotation


@dataclass(frozen=True, slots=True)
class Support:
    """A span of `papers[paper].abstract` (original characters) and how well it bears the sentence out, 0 to 1."""

    paper: int
    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found out about one sentence; `note` says what does not hold, in words.

    `spans` are set for supported and partly supported sentences; for contradicted ones they show the passage that
    says otherwise. `score` is the probability of support, 0 to 1. `vetoed` says that an exact guard failed, which no
    reading verifier may overrule; `quoted`, that the passage has the sentence's words in their order, so that there is
    nothing to read. `coverage` is the share of the claim's content that the best window holds, 0 to 1. `echoes`
    says that it only repeats what was asked.
    """

    verdict: Verdict
    spans: tuple[Support, ...] = ()
    note: str = ""
    score: float = 0.0
    vetoed: bool = False
    quoted: bool = False
    coverage: float = 0.0
    echoes: bool = False

    @property
    def bears(self) -> bool:
        """Whether an answer may rest on this sentence: borne out, or in part and without a wrong figure or name, and
        more than the question's own words."""
        partly = self.verdict is Verdict.PARTLY and not self.vetoed
        return (self.verdict is Verdict.SUPPORTED or partly) and not self.echoes


def judge(claim: Analysis, located: Located, score: float) -> Checked:
    """The verdict on a claim and a window it was located in, without spans; `score` is its probability of support."""
    coverage = located.coverage
    if verbatim(claim, located.window.analysis) and not located.conflicts:
        return Checked(Verdict.SUPPORTED, score=1.0, quoted=True)
    notes = "; ".join(dict.fromkeys(failure.note for failure in located.failures))
    if located.conflicts and coverage >= weights.ON_TOPIC:
        left = _CHANGED_COPY if located.alignment.order >= COPY else _CONTRADICTED
        return Checked(Verdict.CONTRADICTED, note=notes, score=score * left, vetoed=True)
    if located.failures:
        near = coverage >= weights.COVERED_PARTLY
        vetoed = near or any(failure.kind is Kind.FIGURE for failure in located.failures)
        verdict = Verdict.PARTLY if near else Verdict.NOT_FOUND
        return Checked(verdict, note=notes, score=score, vetoed=vetoed)
    if score >= weights.SUPPORTED and coverage >= weights.COVERED:
        quoted = coverage >= _QUOTED and located.alignment.order >= _QUOTED
        return Checked(Verdict.SUPPORTED, score=score, quoted=quoted)
    lacking = ", ".join(f"“{claim.words[i].text}”" for i in located.alignment.missing[:6])
    if score >= weights.PARTLY and coverage >= weights.COVERED_PARTLY:
        return Checked(Verdict.PARTLY, note=f"not in the source: {lacking}" if lacking else "", score=score)
    return Checked(Verdict.NOT_FOUND, score=score)


def verbatim(claim: Analysis, passage: Analysis) -> bool:
    """Does the passage hold the claim's words (three at least) one after the other, marks included?"""
    if len(claim.words) < 3:
        return False
    ours = _squeezed(claim.text.strip().rstrip(".!?"))
    theirs = _squeezed(passage.text)
    return re.search(rf"(?<!\w){re.escape(ours)}(?!\w)", theirs) is not None


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text).lower()
