"""Whether the ranking abstracts hold evidence for a question at all, decided before anything is written.

A logistic regression on four measures of the best paper; its numbers are fitted by `python -m eval.fit_answerability`
on one half of the question sets, and the error rates on both halves are in docs/results.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag.embedding import Vectors
from rag.evidence import read_paper
from rag.retrieval import Ranking

_READ_PAPERS = 3

# fitted: intercept, coverage, focus, cosine of the best sentence
INTERCEPT, COVERAGE, FOCUS, COSINE = -4.6, 3.4, 2.6, 4.6
THRESHOLD = 0.5

Encode = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the decision rests on: IDF-weighted shares of the question's words in the paper and in its best sentence
    (0 to 1), and the cosine of the question with the best sentence."""

    coverage: float
    focus: float
    cosine: float

    @property
    def probability(self) -> float:
        """That the question can be answered, 0 to 1."""
        value = INTERCEPT + COVERAGE * self.coverage + FOCUS * self.focus + COSINE * self.cosine
        return 1 / (1 + math.exp(-value))


def weigh(ranking: Ranking, encode: Encode) -> Evidence:
    """The strongest evidence among the best papers."""
    found = [Evidence(0.0, 0.0, 0.0)]
    for hit, evidence in zip(ranking.hits[:_READ_PAPERS], ranking.evidence, strict=False):
        sentences = read_paper(hit.paper).sentences
        if not sentences:
            continue
        cosine = float((encode([sentence.text for sentence in sentences]) @ ranking.vector).max())
        found.append(Evidence(evidence.coverage, evidence.focus, cosine))
    return max(found, key=lambda one: one.probability)


def is_answerable(ranking: Ranking, encode: Encode) -> bool:
    """Whether to go on and write an answer."""
    return weigh(ranking, encode).probability >= THRESHOLD
