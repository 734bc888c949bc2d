"""From a sentence of an answer to a verdict with the spans that bear it out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag.answer import Verdict
from rag.grounding import weights
from rag.grounding.alignment import RELATED, align
from rag.grounding.analysis import analyse
from rag.grounding.clauses import clauses, heads, tail
from rag.grounding.evidence import Encode, Evidence, Vectors, is_fragment
from rag.grounding.failure import Kind
from rag.grounding.features import COPY, Located, features, locate
from rag.grounding.foreign import check_foreign, is_foreign
from rag.grounding.meta import states_nothing
from rag.grounding.reading import Reading, passage_around, passage_nearest, settle
from rag.grounding.subject import attributed
from rag.grounding.verdicts import Checked, Support, judge
from rag.grounding.verifiers import Located as LocatedVerifier
from rag.grounding.verifiers import Verifier
from rag.language.stopwords import ASKS_FOR_A_THING
from rag.markup import plain_text
from rag.papers import Paper
from rag.quantities import same
from rag.text import has_cjk, informative, named_terms, stems


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
        """Prepare the retrieved abstracts once for all sentences of an answer; a lone word answers `question`."""
        return Grounding(Evidence(papers, self._encode), self.verifier, question)


class Grounding:
    """One answer's evidence; not safe for use by several threads at once."""

    def __init__(self, evidence: Evidence, verifier: Verifier, question: str = "") -> None:
        self._evidence = evidence
        self._verifier = verifier
        self._question = question
        self._asked_names = frozenset(term.text.lower() for term in named_terms(question))

    def warm(self) -> None:
        """Prepare the evidence on another thread, so that the first sentence need not wait for it."""
        self._evidence.warm()

    def check(self, sentence: str, cited: Sequence[int] = ()) -> Checked:
        """The verdict on one sentence, read by the verifier where it reads; `cited` (positions) only breaks ties."""
        checked, reading = self.begin(sentence, cited)
        if reading is None or (opinion := self._verifier.read(reading.claim, reading.passage)) is None:
            return checked
        return settle(reading, opinion, self._verifier.name)

    def begin(self, sentence: str, cited: Sequence[int] = ()) -> tuple[Checked, Reading | None]:
        """The verdict by words alone, and what is left for a verifier that reads to be asked; None if nothing is.

        The exact guards keep their veto, a quotation needs no reader, and what states nothing is not checked at all.
        """
        claim = plain_text(sentence).strip()
        if states_nothing(sentence.strip()):
            return Checked(Verdict.META), None
        if is_foreign(claim, self._evidence):  # how well a model reads across languages has not been measured
            checked, located = check_foreign(claim, self._evidence, frozenset(stems(" ".join(self._asked_names))))
            return (replace(checked, spans=self._spans(located, checked.score)) if located else checked), None
        checked = replace(self.located(claim, cited), echoes=self._is_echo(claim))
        if checked.spans and is_fragment(claim) and not self._is_asked_about(checked.spans):
            return Checked(Verdict.NOT_FOUND, note="no sentence, and from one that is about something else"), None
        if self._evidence.is_title(claim) and not _ASKS_FOR_PAPERS.search(self._question):
            return Checked(Verdict.NOT_FOUND, note="the title of a paper, and no sentence"), None
        if isinstance(self._verifier, LocatedVerifier) or checked.vetoed or checked.quoted:
            return checked, None
        return checked, self.reading(claim, checked)

    def reading(self, claim: str, checked: Checked) -> Reading | None:
        """What to ask of a claim that was located as `checked`: the passage around its spans, else what is nearest.

        What was located in part has the rest elsewhere, if anywhere: there, too, the nearest sentences are read.
        """
        if not self._evidence.passages:
            return None
        if checked.verdict is not Verdict.SUPPORTED or not checked.spans:
            passage, nearest = passage_nearest(claim, self._evidence)
            return Reading(
                claim, passage, checked, checked.spans or self._spans(nearest, 0.0), nearest.alignment.coverage
            )
        return Reading(claim, passage_around(checked.spans, self._evidence), checked, checked.spans, checked.coverage)

    def _is_asked_about(self, spans: Sequence[Support]) -> bool:
        """Does one of these spans speak of what was asked? Only then can a word out of it be an answer.

        Where the question names something that a paper bears, the span has to be in such a paper.
        """
        evidence = self._evidence
        if not self._question or has_cjk(self._question):  # nothing to compare with
            return True
        if (bearers := evidence.bearers(self._question)) and not any(span.paper in bearers for span in spans):
            return False
        asked, close = frozenset(informative(self._question)), evidence.similarities(self._question)
        places = [
            place
            for place, passage in enumerate(evidence.passages)
            for span in spans
            if passage.paper == span.paper and span.start <= passage.start and passage.end <= span.end
        ]
        return any(
            close[place] >= _RELATED or not asked.isdisjoint(stems(evidence.passages[place].text)) for place in places
        )

    def _is_echo(self, claim: str) -> bool:
        """Whether a sentence has only the words of a question that asks which, who or how: it answers nothing."""
        if not ASKS_FOR_A_THING.search(self._question):
            return False
        ours, asked = analyse(claim, self._evidence.names), analyse(self._question, self._evidence.names)
        alignment = align(ours, asked)
        said = all(alignment.grade.get(i, 0.0) >= RELATED for i in ours.content)
        return said and all(any(same(one, other) for other in asked.quantities) for one in ours.quantities)

    def located(self, claim: str, cited: Sequence[int] = ()) -> Checked:
        """The verdict by words alone: the claim as a whole, else each of its clauses where it can be borne out."""
        cosines = self._evidence.similarities(claim)
        whole, copied = self._one(claim, cosines, cited)
        if whole.verdict is Verdict.SUPPORTED and whole.score < 1:
            if added := tail(claim):
                last, _ = self._one(added, cosines, cited)
                if last.verdict is not Verdict.SUPPORTED:
                    note = f"not in the sources: “{added}”"
                    return replace(whole, verdict=Verdict.PARTLY, note=note, vetoed=last.vetoed, quoted=False)
            for head in heads(claim):
                if self._one(head, self._evidence.similarities(head), cited)[0].verdict is Verdict.NOT_FOUND:
                    return replace(whole, verdict=Verdict.PARTLY, note=f"not in the sources: “{head}”", quoted=False)
        parts = clauses(claim)
        if whole.verdict is Verdict.SUPPORTED or copied or len(parts) < 2:
            return whole
        checked = [self._one(part, cosines, cited)[0] for part in parts]
        good = [one.verdict is Verdict.SUPPORTED for one in checked]
        spans = tuple(dict.fromkeys(span for one in checked if one.verdict is Verdict.SUPPORTED for span in one.spans))
        if all(good):
            return Checked(
                Verdict.SUPPORTED,
                spans,
                "",
                max(whole.score, min(one.score for one in checked)),
                coverage=whole.coverage,
            )
        if whole.verdict is Verdict.CONTRADICTED or not any(good):
            return whole
        if (bad := next((one for one in checked if one.verdict is Verdict.CONTRADICTED), None)) is not None:
            return bad
        lacking = "; ".join(
            f"“{part}”" + (f" ({one.note})" if one.vetoed else "")
            for part, one, fine in zip(parts, checked, good, strict=True)
            if not fine
        )
        vetoed = any(one.vetoed for one in checked)
        return replace(whole, verdict=Verdict.PARTLY, spans=spans, note=f"not in the sources: {lacking}", vetoed=vetoed)

    def _one(self, claim: str, cosines: Vectors, cited: Sequence[int]) -> tuple[Checked, bool]:
        """Check one statement against single windows; also, whether it is a sentence of the source that was changed."""
        analysis = analyse(claim, self._evidence.names)
        candidates = [self._asked_of(one) for one in locate(analysis, self._evidence, cosines, cited)]
        if not candidates:
            return Checked(Verdict.NOT_FOUND, note="there is nothing to check against"), False
        score = weights.probability(features(analysis, candidates[0], self._evidence))
        closest = max(candidates, key=lambda one: one.alignment.order)
        best, verdict = closest, judge(analysis, closest, score)
        copied = bool(closest.conflicts) and closest.alignment.order >= COPY
        if copied:  # or is it what another sentence says of another case: "at 1.0 mg/kg it fell by 57%"?
            for other in candidates:
                found = judge(analysis, other, score)
                if analysis.quantities and not other.failures and found.verdict is Verdict.SUPPORTED:
                    best, verdict, copied = other, found, False
                    break
        else:
            judged = [(one, judge(analysis, one, score)) for one in (*candidates[:2], *_with_the_figures(candidates))]
            best, verdict = max(judged, key=lambda pair: (_RANK[pair[1].verdict], not pair[1].vetoed, pair[1].score))
        if verdict.verdict is not Verdict.NOT_FOUND:
            verdict = replace(verdict, spans=self._spans(best, verdict.score))
        return replace(verdict, coverage=best.alignment.coverage), copied

    def _asked_of(self, located: Located) -> Located:
        """With what fails and what does not where the question tells whom a figure is given to."""
        claim, passage = located.alignment.claim, located.window.analysis
        return replace(located, failures=tuple(attributed(claim, passage, self._asked_names, located.failures)))

    def _spans(self, located: Located, score: float) -> tuple[Support, ...]:
        passages = [self._evidence.passages[place] for place in located.window.places]
        return (Support(passages[0].paper, passages[0].start, passages[-1].end, score),)


def _with_the_figures(candidates: Sequence[Located]) -> list[Located]:
    """The first window that has the claim's figures, where the first two fail for want of them."""
    lacking = [any(failure.kind is Kind.FIGURE for failure in one.failures) for one in candidates]
    return [one for one, lacks in zip(candidates, lacking, strict=True) if not lacks][:1] if all(lacking[:2]) else []


_ASKS_FOR_PAPERS = re.compile(
    r"\b(?:papers?|works?|articles?|stud(?:y|ies)|titles?|publications?)\b|论文", re.IGNORECASE
)
_RELATED = 0.35  # cosine of a sentence to a question that it may answer in other words
_RANK = {Verdict.SUPPORTED: 3, Verdict.CONTRADICTED: 2, Verdict.PARTLY: 1, Verdict.NOT_FOUND: 0}


def score_pair(claim: str, evidence: str, encode: Encode | None = None) -> PairScore:
    """One claim beside one text, for fitting and for comparing judges."""
    checked = Grounder(encode).open([Paper(abstract=evidence, id="pair")]).located(plain_text(claim).strip())
    return PairScore(checked.score, checked.verdict, checked.note)
