"""Sentences in another language than the abstracts: their figures and Latin names can be compared, no more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from rag.answer import Verdict
from rag.grounding import lexicon
from rag.grounding.alignment import Alignment
from rag.grounding.analysis import Analysis, analyse
from rag.grounding.evidence import Evidence
from rag.grounding.failure import Failure, Kind
from rag.grounding.features import Located, locate
from rag.grounding.figures import agrees, labels
from rag.grounding.verdicts import Checked
from rag.text import has_cjk

NOTE = "written in another language than the abstracts: only figures and names were compared"


def is_foreign(claim: str, evidence: Evidence) -> bool:
    """Chinese, Japanese or Korean over abstracts without any, or European with none of English's function words."""
    if has_cjk(claim):
        return not any(has_cjk(passage.text) for passage in evidence.passages)
    words = claim.lower().split()
    telling = sum(word in lexicon.FOREIGN for word in words)
    return telling >= 2 and not any(word in _english() for word in words) and any(map(str.islower, words))


def check_foreign(
    claim: str, evidence: Evidence, asked: frozenset[str] = frozenset()
) -> tuple[Checked, Located | None]:
    """Partly at best, unless there are two figures or names at least, all of them in one passage, and among them a
    figure or a name with a part that is not `asked`, the stems of the names in the question."""
    analysis = _anchors(analyse(claim, evidence.names))
    anchors = len(analysis.content) + len(analysis.quantities)
    if not anchors:
        return Checked(Verdict.PARTLY, note=NOTE), None
    best: tuple[float, Located] | None = None
    for located in locate(analysis, evidence, evidence.similarities(claim)):
        failures = (*(one for one in located.failures if one.kind is not Kind.FIGURE), *_figures(located.alignment))
        implied = evidence.contexts[evidence.passages[located.window.places[0]].paper].main
        missing = [i for i in analysis.content if i not in located.alignment.pairs]
        if len(missing) == len(analysis.content) and len(failures) >= len(analysis.quantities):
            continue  # nothing of the sentence is there
        lost = len(failures) + sum(analysis.words[i].key not in implied for i in missing)
        kept = max(0.0, 1 - lost / anchors)
        if best is None or kept > best[0]:
            best = kept, replace(located, failures=failures)
    if best is None or best[0] <= 0:
        return Checked(Verdict.NOT_FOUND, note=NOTE), None
    kept, located = best
    names = {part for i in analysis.content for part in analysis.words[i].parts if not part.isdecimal()}
    whole = kept == 1 and anchors >= 2 and bool(analysis.quantities or names - asked)
    notes = "; ".join([NOTE, *(failure.note for failure in located.failures)])
    score = kept if whole else min(kept, 0.5)
    return Checked(Verdict.SUPPORTED if whole else Verdict.PARTLY, (), notes, score, bool(located.failures)), located


def _figures(alignment: Alignment) -> Iterator[Failure]:
    """Figures that the passage lacks, or has beside a name that the claim does not have.

    Word order says nothing across languages, so a figure belongs to the name that stands nearest before it.
    """
    claim, passage = alignment.claim, alignment.passage
    ours, theirs = labels(claim), labels(passage)
    for quantity in claim.quantities:
        if any(start <= quantity.start < end for start, end, _ in ours):
            continue  # the year of "AIME 2024"
        shown = quantity.text.strip()
        alike = [other for other in passage.quantities if agrees(quantity, other)]
        if not alike:
            yield Failure(Kind.FIGURE, shown, f"“{shown}” is not in the source", True)
            continue
        beside = [_nearest(theirs, other.start) for other in alike]
        if not any(name is None or any(name == one for _, _, one in ours) for name in beside):
            yield Failure(Kind.FIGURE, shown, f"“{shown}”: the source says this of “{beside[0]}”", True)


def _nearest(labels: Sequence[tuple[int, int, str]], at: int) -> str | None:
    """The last name before a place, else the first one after it."""
    before = [name for _, end, name in labels if end <= at]
    return before[-1] if before else labels[0][2] if labels else None


def _anchors(analysis: Analysis) -> Analysis:
    """Only the names are content; everything else in the sentence is left out of the comparison."""
    words = tuple(
        word if word.name or word.figure else replace(word, weight=0.0, marked=False, negator=False)
        for word in analysis.words
    )
    content = tuple(i for i, word in enumerate(words) if word.content)
    keys = frozenset(words[i].key for i in content)
    parts = frozenset(part for i in content for part in words[i].parts)
    return replace(analysis, words=words, content=content, keys=keys, parts=parts, scopes=(), negated=frozenset())


@cache
def _english() -> frozenset[str]:
    """Function words that no other of these languages has."""
    return frozenset(word for word in lexicon.STOP - lexicon.FOREIGN if len(word) > 2)
