"""From a sentence of an answer to a verdict with the spans that bear it out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag.answer import Verdict
from rag.grounding import weights
from rag.grounding.analysis import Analysis, analyse
from rag.grounding.clauses import clauses
from rag.grounding.evidence import Encode, Evidence
from rag.grounding.features import COPY, Located, features, locate
from rag.grounding.meta import states_nothing
from rag.grounding.verifiers import Located as LocatedVerifier
from rag.grounding.verifiers import Verifier
from rag.markup import plain_text
from rag.papers import Paper
from rag.text import has_cjk


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

    `spans` are set for supported and partly supported sentences, and for contradicted ones show the passage that
    says otherwise. `score` is the probability of support, 0 to 1.
    """

    verdict: Verdict
    spans: tuple[Support, ...] = ()
    note: str = ""
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class PairScore:
    """One claim beside one text: probability of support, 0 to 1, and the verdict with its note."""

    probability: float
    verdict: Verdict
    note: str = ""


class Grounder:
    """Opens answers for checking. `encode` maps texts to unit vectors of shape (n, d); without it words decide."""

    def __init__(self, encode: Encode | None = None, verifier: Verifier | None = None) -> None:
        self._encode = encode
        self.verifier: Verifier = verifier or LocatedVerifier()

    def open(self, papers: Sequence[Paper], question: str = "") -> Grounding:
        """Prepare the retrieved abstracts once for all sentences of an answer."""
        return Grounding(Evidence(papers, self._encode), self.verifier, question)


class Grounding:
    """One answer's evidence; not safe for use by several threads at once."""

    def __init__(self, evidence: Evidence, verifier: Verifier, question: str = "") -> None:
        self._evidence = evidence
        self._verifier = verifier
        self._question = question

    def check(self, sentence: str, cited: Sequence[int] = ()) -> Checked:
        """The verdict on one sentence; `cited` (positions in the papers) only breaks ties."""
        claim = plain_text(sentence).strip()
        if states_nothing(sentence.strip()):
            return Checked(Verdict.META)
        if has_cjk(claim):
            return self._foreign(claim, cited)
        checked = self._words(claim, cited)
        return self._read(claim, checked)

    def _words(self, claim: str, cited: Sequence[int]) -> Checked:
        whole, copied = self._one(claim, cited)
        parts = clauses(claim)
        if whole.verdict is Verdict.SUPPORTED or copied or len(parts) < 2:
            return whole
        checked = [self._one(part, cited)[0] for part in parts]
        good = [one.verdict is Verdict.SUPPORTED for one in checked]
        if all(good):
            spans = tuple(dict.fromkeys(span for one in checked for span in one.spans))
            return Checked(Verdict.SUPPORTED, spans, "", min(one.score for one in checked))
        if whole.verdict is Verdict.CONTRADICTED:
            return whole
        bad = next((one for one in checked if one.verdict is Verdict.CONTRADICTED), None)
        if bad is not None and any(good):
            return replace(bad, score=min(bad.score, whole.score))
        if any(good):
            spans = tuple(
                dict.fromkeys(span for one, fine in zip(checked, good, strict=True) if fine for span in one.spans)
            )
            lacking = "; ".join(part for part, fine in zip(parts, good, strict=True) if not fine)
            return Checked(Verdict.PARTLY, spans, f"not in the sources: “{lacking}”", whole.score)
        return whole

    def _one(self, claim: str, cited: Sequence[int]) -> tuple[Checked, bool]:
        """Check one statement against single windows; also, whether it is a sentence of the source that was changed."""
        analysis = analyse(claim, self._evidence.names)
        candidates = locate(analysis, self._evidence, self._evidence.similarities(claim), cited)
        if not candidates:
            return Checked(Verdict.NOT_FOUND, note="there is nothing to check against"), False
        closest = max(candidates, key=lambda one: one.alignment.order)
        best, verdict = closest, judge(analysis, closest, self._evidence)
        copied = bool(closest.conflicts) and closest.alignment.order >= COPY
        if not copied:
            judged = [(one, judge(analysis, one, self._evidence)) for one in candidates[:2]]
            best, verdict = max(judged, key=lambda pair: (_RANK[pair[1].verdict], pair[1].score))
        if verdict.verdict is not Verdict.NOT_FOUND:
            verdict = replace(verdict, spans=self._spans(best, verdict.score))
        return verdict, copied

    def _spans(self, located: Located, score: float) -> tuple[Support, ...]:
        passages = [self._evidence.passages[place] for place in located.window.places]
        return (Support(passages[0].paper, passages[0].start, passages[-1].end, score),)

    def _foreign(self, claim: str, cited: Sequence[int]) -> Checked:
        """A sentence in another script than the abstracts: its figures and Latin names can be compared, no more."""
        latin = " ".join(re.findall(r"[A-Za-z0-9][^\u2e80-\u9fff\uac00-\ud7af，。；：、（）“”！？]*", claim))
        analysis = analyse(latin)
        note = "written in another language than the abstracts: only figures and names were compared"
        if not analysis.content and not analysis.quantities:
            return Checked(Verdict.PARTLY if cited else Verdict.NOT_FOUND, note=note)
        best: tuple[float, Located] | None = None
        for located in locate(analysis, self._evidence, self._evidence.similarities(claim), cited):
            kept = 1 - len(located.failures) / max(1, len(analysis.names) + len(analysis.quantities))
            value = min(kept, located.alignment.coverage)
            if best is None or value > best[0]:
                best = value, located
        if best is None or best[0] <= 0:
            return Checked(Verdict.NOT_FOUND, note=note)
        value, located = best
        anchors = len(analysis.names) + len(analysis.quantities)
        verdict = Verdict.SUPPORTED if not located.failures and value >= 0.99 and anchors >= 2 else Verdict.PARTLY
        lost = "; ".join(failure.note for failure in located.failures)
        return Checked(verdict, self._spans(located, value), f"{note}; {lost}" if lost else note, value)

    def _read(self, claim: str, checked: Checked) -> Checked:
        """Let the verifier read; the exact guards keep their veto."""
        passage = self._passage(claim, checked)
        opinion = self._verifier.read(claim, passage) if passage else None
        if opinion is None:
            return checked
        if opinion.verdict is None:
            note = f"{self._verifier.name} judge failed ({opinion.failed}); located by words"
            return replace(checked, note=f"{checked.note}; {note}" if checked.note else note)
        if checked.verdict is Verdict.CONTRADICTED or (checked.verdict is Verdict.PARTLY and checked.note):
            return checked
        spans = checked.spans or self._nearest(claim)
        if opinion.verdict is Verdict.NOT_FOUND:
            spans = ()
        return Checked(opinion.verdict, spans, opinion.reason, opinion.score)

    def _passage(self, claim: str, checked: Checked) -> str:
        spans = checked.spans or self._nearest(claim)
        return " ".join(plain_text(self._evidence.papers[s.paper].abstract[s.start : s.end]) for s in spans)

    def _nearest(self, claim: str) -> tuple[Support, ...]:
        found = locate(analyse(claim, self._evidence.names), self._evidence, self._evidence.similarities(claim))
        return self._spans(found[0], 0.0) if found else ()


_RANK = {Verdict.SUPPORTED: 3, Verdict.CONTRADICTED: 2, Verdict.PARTLY: 1, Verdict.NOT_FOUND: 0, Verdict.META: 0}


def judge(claim: Analysis, located: Located, evidence: Evidence) -> Checked:
    """The verdict on a claim and the window it was located in, without spans."""
    coverage = located.alignment.coverage
    if verbatim(claim, located.window.analysis) and not located.conflicts:
        return Checked(Verdict.SUPPORTED, score=1.0)
    score = weights.probability(features(claim, located, evidence))
    notes = "; ".join(dict.fromkeys(failure.note for failure in located.failures))
    if located.conflicts and coverage >= weights.ON_TOPIC:
        return Checked(Verdict.CONTRADICTED, note=notes, score=min(score, 0.1))
    if located.failures:
        verdict = Verdict.PARTLY if coverage >= weights.COVERED_PARTLY else Verdict.NOT_FOUND
        return Checked(verdict, note=notes, score=min(score, 0.4))
    if score >= weights.SUPPORTED and coverage >= weights.COVERED:
        return Checked(Verdict.SUPPORTED, score=score)
    lacking = ", ".join(f"“{claim.words[i].text}”" for i in located.alignment.missing[:6])
    if score >= weights.PARTLY and coverage >= weights.COVERED_PARTLY:
        return Checked(Verdict.PARTLY, note=f"not in the source: {lacking}" if lacking else "", score=score)
    return Checked(Verdict.NOT_FOUND, score=score)


def verbatim(claim: Analysis, passage: Analysis) -> bool:
    """Does the passage hold the claim's words one after the other?"""
    ours = [word.text.lower() for word in claim.words]
    theirs = [word.text.lower() for word in passage.words]
    if not ours or len(ours) < 3:
        return False
    squeezed = re.sub(r"\s+", " ", claim.text.strip().rstrip(".!?")).lower()
    if squeezed not in re.sub(r"\s+", " ", passage.text).lower():
        return False
    return any(theirs[at : at + len(ours)] == ours for at in range(len(theirs) - len(ours) + 1))


def score_pair(claim: str, evidence: str, encode: Encode | None = None) -> PairScore:
    """One claim beside one text, for fitting and for comparing judges."""
    grounding = Grounding(Evidence([Paper(abstract=evidence, id="pair")], encode), LocatedVerifier())
    checked = grounding._words(plain_text(claim), ())
    return PairScore(checked.score, checked.verdict, checked.note)
