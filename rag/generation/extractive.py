"""The writer that needs no model: it picks the sentences of the retrieved abstracts that answer best, verbatim."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from rag.embedding import Vectors
from rag.evidence import Sentence, read_paper
from rag.language.orders import is_order
from rag.language.units import base_of
from rag.quantities import Quantity, quantities
from rag.retrieval import Ranking
from rag.subject import bearing, subject_of
from rag.text import named_terms, stems

MOST_SENTENCES = 3
_READ_PAPERS = 5  # papers whose sentences are considered
_COVERAGE_WEIGHT = 1.0  # of the question's words in a sentence, beside its cosine to the question
_FIGURE_BONUS = 0.3  # for a sentence with a figure when one is asked for
_CAUSE_BONUS = 0.2  # for a sentence that gives a reason when one is asked for
_RANK_WEIGHT = 0.35  # how much a paper's own relevance counts
_OWN_SHARE = 0.35  # of its words, by rarity, above which a sentence has what a follow-up asks
_OWN_WEIGHT = 2.0  # of what a follow-up says itself, beside the words that it takes over
_WORTHWHILE = 0.62  # share of the best sentence's score that another needs
_ASKS_FOR_FIGURE = re.compile(
    r"\b(many|much|long|fast(er)?|larger?|big(ger)?|often|far|percent(age)?|scores?|number|accuracy|rate|size|times)\b",
    re.IGNORECASE,
)

_ASKS_HOW_LONG = re.compile(
    r"\bhow (?:long|many (?:second|minute|hour|day|week|month|year)s|much time)\b|\bduration\b", re.IGNORECASE
)
_TIMES = frozenset({"s", "months"})  # what durations are measured in
_ASKS_WHY = re.compile(
    r"\bwhy\b|\bhow come\b|\bwhat (?:causes|caused|explains|explained)\b|\breasons? (?:for|why)\b", re.IGNORECASE
)
_CAUSE = re.compile(
    r"\b(?:because|due to|owing to|since|explain(?:s|ed)?|caus(?:e|es|ed|ing)|mediat(?:e|es|ed)|dr(?:ove|iven|ives)|"
    r"thanks to|account(?:s|ed)? for|result(?:s|ed)? from|lead(?:s)? to|led to|produces?|therefore|so that|stems? from|"
    r"reasons?)\b",
    re.IGNORECASE,
)

Encode = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True, slots=True)
class Picked:
    """A sentence of `hits[paper]`, how well it answers, and what share it has of a follow-up's own words (0 to 1)."""

    paper: int
    sentence: Sentence
    score: float
    own: float = 0.0


def pick_sentences(question: str, ranking: Ranking, encode: Encode, own: Collection[str] = ()) -> list[Picked]:
    """Up to three sentences that answer best, in reading order: by rank of their paper, then as they stand in it.

    They come from one paper, or from those that the question names; where the papers about something are wanted, it is
    one sentence of each. `own` are the stems that a follow-up has not taken over from the questions before it.
    """
    candidates = sorted(score_sentences(question, ranking, encode, own), key=lambda picked: -picked.score)
    if not candidates:
        return []
    subject = subject_of(question)
    if subject is not None and subject.several:
        bests = {rank: next((one for one in candidates if one.paper == rank), None) for rank in bearing(ranking)}
        if listed := [best for best in bests.values() if best is not None]:
            return listed
    named = _papers_named(question, ranking)
    papers = named if len(named) > 1 else {candidates[0].paper}
    mine = [picked for picked in candidates if picked.paper in papers]
    # the best sentence of each paper comes first, then whatever is nearly as good as the best of all
    firsts = [next(picked for picked in mine if picked.paper == paper) for paper in papers]
    chosen = sorted(firsts, key=lambda picked: -picked.score)[:MOST_SENTENCES]
    for picked in mine:
        if len(chosen) < MOST_SENTENCES and picked not in chosen and picked.score >= _WORTHWHILE * mine[0].score:
            chosen.append(picked)
    nearest = max(mine, key=lambda picked: picked.own)  # of several the one with the best score
    if nearest.own >= _OWN_SHARE and nearest.own > max(picked.own for picked in chosen):
        chosen = [nearest, *chosen][:MOST_SENTENCES]
    if subject is not None and len(chosen) == 1:  # a name alone is no explanation; what comes next often is
        chosen += _next_to(chosen[0], candidates)
    return sorted(chosen, key=lambda picked: (picked.paper, picked.sentence.start))


def _next_to(one: Picked, candidates: Sequence[Picked]) -> list[Picked]:
    later = [other for other in candidates if other.paper == one.paper and other.sentence.start >= one.sentence.end]
    return sorted(later, key=lambda other: other.sentence.start)[:1]


def pick_others(
    question: str,
    ranking: Ranking,
    encode: Encode,
    said: str,
    cited: Collection[str],
    own: Collection[str] = (),
    *,
    worthwhile: bool,
) -> list[Picked]:
    """Up to three sentences that `said`, the answers before, has not, the best ones in reading order; with `worthwhile`
    only such as are nearly as good as the best of them.

    They come from the papers that those answers cite: by id, else those of which they have a sentence.
    """
    candidates = score_sentences(question, ranking, encode, own)
    ids = [hit.paper.id for hit in ranking.hits]
    mine = {index for index, paper in enumerate(ids) if paper in cited} or {
        picked.paper for picked in candidates if _is_in(picked, said)
    }
    left = [one for one in candidates if (one.paper in mine or not mine) and not _is_in(one, said)]
    chosen = sorted(left, key=lambda picked: -picked.score)[:MOST_SENTENCES]
    if worthwhile:
        chosen = [one for one in chosen if one.score >= _WORTHWHILE * chosen[0].score]
    return sorted(chosen, key=lambda picked: (picked.paper, picked.sentence.start))


def pick_next(
    question: str, ranking: Ranking, encode: Encode, said: str, cited: Collection[str], own: Collection[str]
) -> list[Picked]:
    """As `pick_sentences`, for a follow-up to answers that have `said` something: to read on says more than to say it
    again, unless that is what the follow-up asks for ("and with 8 steps?")."""
    chosen = pick_sentences(question, ranking, encode, own)
    again = [one for one in chosen if _is_in(one, said) and one.own >= _OWN_SHARE]
    fresh = [one for one in chosen if not _is_in(one, said)]
    if not fresh:
        others = pick_others(question, ranking, encode, said, cited, own, worthwhile=True)
        fresh = [one for one in others if one.own] if again else others
    picked = sorted([*again, *fresh][:MOST_SENTENCES], key=lambda one: (one.paper, one.sentence.start))
    return picked or chosen


def _is_in(picked: Picked, said: str) -> bool:
    return picked.sentence.text.rstrip(".!?。！？ ") in said  # marks of citations stand before the full stop


def score_sentences(question: str, ranking: Ranking, encode: Encode, own: Collection[str] = ()) -> list[Picked]:
    """Every sentence of the best papers with its score; higher is better, comparable within one question only."""
    read = [read_paper(hit.paper) for hit in ranking.hits[:_READ_PAPERS]]
    listed = [
        (index, sentence)
        for index, paper in enumerate(read)
        for sentence in paper.sentences
        if not is_order(sentence.text)
    ]
    if not listed:
        return []
    similarity = encode([sentence.text for _, sentence in listed]) @ ranking.vector
    weights = {stem: weight * (_OWN_WEIGHT if stem in own else 1.0) for stem, weight in ranking.rarity.items()}
    total = sum(weights.values()) or 1.0
    mine = [stem for stem in weights if stem in own]
    whole = sum(weights[stem] for stem in mine) or 1.0
    why = _ASKS_WHY.search(question) is not None
    figure = None if why else _figure_asked_for(question)
    top = max(hit.score for hit in ranking.hits) or 1.0
    picked = []
    for (index, sentence), cosine in zip(listed, similarity, strict=True):
        coverage = sum(weight for stem, weight in weights.items() if stem in sentence.stems) / total
        score = float(cosine) + _COVERAGE_WEIGHT * coverage
        score += _FIGURE_BONUS * (figure is not None and any(map(figure, quantities(sentence.text))))
        score += _CAUSE_BONUS * (why and _CAUSE.search(sentence.text) is not None)
        borne = sum(weights[stem] for stem in mine if stem in sentence.stems) / whole
        picked.append(
            Picked(index, sentence, score * (1 - _RANK_WEIGHT * (1 - ranking.hits[index].score / top)), borne)
        )
    return picked


def _figure_asked_for(question: str) -> Callable[[Quantity], bool] | None:
    """Which figures the question wants: durations, or any; None where it wants none."""
    if _ASKS_HOW_LONG.search(question):
        return lambda quantity: base_of(quantity.unit)[0] in _TIMES
    return (lambda _: True) if asks_for_figure(question) else None


def asks_for_figure(question: str) -> bool:
    """Whether the question wants a number."""
    return _ASKS_FOR_FIGURE.search(question) is not None


def _papers_named(question: str, ranking: Ranking) -> set[int]:
    """The papers that bear the names in the question: for each name the best one that has it in its title, or the
    best one whose abstract has it; names that half of the papers bear say nothing."""
    papers = [read_paper(hit.paper) for hit in ranking.hits[:_READ_PAPERS]]
    found = set()
    for term in named_terms(question):
        wanted = set(stems(term.text))
        entitled = [index for index, paper in enumerate(papers) if wanted <= paper.title_stems]
        bearing = entitled or [index for index, paper in enumerate(papers) if wanted <= paper.stems]
        if bearing and 2 * len(bearing) <= len(papers):
            found.add(bearing[0])
    return found
