"""Whether the retrieved abstracts hold evidence for a question at all, decided before anything is written.

A logistic regression on what the paper that the question is about contains of it. Its numbers are fitted by
`python -m eval.fit_answerability` on one half of the question sets; the error rates on both halves stand in
docs/results.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from rag.embedding import Vectors
from rag.evidence import ReadPaper, read_paper
from rag.grounding.weights import bounded_logit
from rag.retrieval import Ranking
from rag.subject import bearing, most_of_rare
from rag.text import named_terms, stems

_READ_PAPERS = 3
_NAME_WORTH = 5  # words; a question that bears such a name is as telling as a longer one

# fitted, in the order of Evidence
WEIGHTS = (2.49, 2.68, 2.86, -2.21, -1.74)
INTERCEPT = -7.72
THRESHOLD = 0.47
# with a model that reads: of the log-odds of the probability by words, and of the log-likelihood ratio that the model's
# odds amount to
READ_INTERCEPT, READ_WORDS, READ_READING = -1.63, 1.17, 0.86
READ_THRESHOLD = 0.39

_ON = re.compile(r"\b(?:on|under)\s+(?:the\s+)?\Z", re.IGNORECASE)
_NEAREST = 5  # sentences that the model reads

Encode = Callable[[Sequence[str]], Vectors]
Read = Callable[[str, str], float | None]
"""(passage, question) → log-likelihood ratio that the passage answers the question; None where that is not known."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the decision rests on.

    `coverage`: share of the question's informative words, weighted by rarity, that the paper contains (0 to 1).
    `cosine`: mean cosine of the question with the two nearest sentences. `length`: ln(1 + informative words), since
    the same share of a longer question is more; a name that few papers bear makes them at least five. `detail` and
    `unknown` are 1 when the paper lacks a detail that is asked for and that abstracts leave out, and when the question
    bears a name that no paper has, or none beside what it is asked of.
    """

    coverage: float = 0.0
    cosine: float = 0.0
    length: float = 0.0
    detail: float = 0.0
    unknown: float = 0.0

    @property
    def probability(self) -> float:
        """That the question can be answered, 0 to 1."""
        value = INTERCEPT + sum(weight * x for weight, x in zip(WEIGHTS, astuple(self), strict=True))
        return 1 / (1 + math.exp(-value))


def weigh(ranking: Ranking, encode: Encode, *, named: bool = False) -> Evidence:
    """The strongest evidence: of one of the best papers, or of those together that bear the names asked about.

    `named`: the question names its papers in another way, by who wrote them.
    """
    names = _rare_names(ranking.question, ranking.frequency, ranking.total)
    known = [name for name in names if all(ranking.frequency.get(stem, 0) for stem in name)]
    papers = [read_paper(hit.paper) for hit in ranking.hits]
    unknown = float(len(known) < len(names) or _is_elsewhere(ranking.question, known, papers))
    groups = [[paper] for paper in papers[:_READ_PAPERS]]
    if bearing := [paper for paper in papers if any(name <= paper.stems for name in known)]:
        whole = [paper for paper in bearing if all(name <= paper.stems for name in known)]
        groups = [[paper] for paper in whole] or [bearing]
    found = [_weigh(group, ranking, encode, unknown, named=named or bool(bearing)) for group in groups]
    return max(found, key=lambda one: one.probability, default=Evidence())


def _weigh(papers: Sequence[ReadPaper], ranking: Ranking, encode: Encode, unknown: float, *, named: bool) -> Evidence:
    sentences = [sentence.text for paper in papers for sentence in paper.sentences]
    if not sentences:
        return Evidence(unknown=unknown)
    nearest = np.sort(encode(sentences) @ ranking.vector)[-2:]
    lacking = [stem for stem in ranking.frequency if not any(stem in paper.stems for paper in papers)]
    light = _stems_in("light").intersection(lacking)  # what was "needed" is there in other words
    missing = [stem for stem in lacking if stem not in light]
    total = sum(rarity for stem, rarity in ranking.rarity.items() if stem not in light)
    return Evidence(
        coverage=1 - sum(ranking.rarity[stem] for stem in missing) / total if total else 0.0,
        cosine=float(nearest.mean()),
        length=math.log1p(max(len(ranking.frequency), _NAME_WORTH if named else 0)),
        detail=float(not _stems_in("details").isdisjoint(missing)),
        unknown=unknown,
    )


def is_answerable(ranking: Ranking, encode: Encode, read: Read | None = None, *, named: bool = False) -> bool:
    """Whether to go on and write an answer; `read` has a model look at the nearest sentences; `named` as in `weigh`.

    A question that asks no more than what a thing is, or which papers are about it, is answered where a paper has it.
    """
    if bearing(ranking):
        return True
    by_words = weigh(ranking, encode, named=named).probability
    ratio = read(nearest(ranking, encode), ranking.question) if read else None
    if ratio is None:
        return by_words >= THRESHOLD
    return read_probability(by_words, ratio) >= READ_THRESHOLD


def nearest(ranking: Ranking, encode: Encode) -> str:
    """The sentences of the retrieved papers nearest to the question, in reading order, each paper a paragraph."""
    papers = [read_paper(hit.paper) for hit in ranking.hits]
    places = [(number, at) for number, paper in enumerate(papers) for at in range(len(paper.sentences))]
    if not places:
        return ""
    cosines = encode([papers[number].sentences[at].text for number, at in places]) @ ranking.vector
    chosen = sorted(places[at] for at in np.argsort(-cosines, kind="stable")[:_NEAREST])
    return "\n\n".join(
        " ".join(papers[number].sentences[at].text for owner, at in chosen if owner == number)
        for number in sorted({number for number, _ in chosen})
    )


def read_probability(by_words: float, ratio: float) -> float:
    """That the question can be answered, 0 to 1, from the probability by words and a log-likelihood ratio."""
    return 1 / (1 + math.exp(-READ_INTERCEPT - READ_WORDS * bounded_logit(by_words) - READ_READING * ratio))


def _rare_names(question: str, frequency: Mapping[str, int], total: int) -> list[frozenset[str]]:
    """The stems of each name in the question that few papers bear."""
    most = most_of_rare(total)
    names = (frozenset(stem for stem in stems(term.text) if stem in frequency) for term in named_terms(question))
    return [name for name in names if name and min(frequency[stem] for stem in name) <= most]


def _is_elsewhere(question: str, known: Sequence[frozenset[str]], papers: Sequence[ReadPaper]) -> bool:
    """Whether the question sets one name on another ("HiPO on MATH") that no paper has beside it."""
    settings = [frozenset(stems(term.text)) for term in named_terms(question) if _ON.search(question[: term.start])]
    others = [name for name in known if name not in settings]
    return any(
        bool(others) and not any(setting | other <= paper.stems for other in others for paper in papers)
        for setting in settings
    )


@cache
def _stems_in(name: str) -> frozenset[str]:
    lines = (files("rag") / "data" / "words" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(stem for line in lines if not line.startswith("#") for stem in stems(line))
