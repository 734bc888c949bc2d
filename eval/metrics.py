"""What is measured of one answer: pure functions, each 0 to 1 unless said otherwise, None where it does not apply.

None is never NaN and never 0: such a question is left out of that metric's mean, and the mean's `n` says so.
A right refusal counts as right in everything that judges the answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from eval.facts import Fact, holds, is_figure
from rag.answer import Answer, Sentence, Verdict

P = TypeVar("P")  # a passage: a text, or a paper


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric's key, what it says in a table's heading, and which way is better."""

    key: str
    title: str
    group: str
    higher_is_better: bool = True
    share: bool = True  # bounded by 0 and 1
    headline: bool = False  # in the short table and in a comparison's verdict


METRICS: Mapping[str, Metric] = {
    metric.key: metric
    for metric in (
        Metric("hit@1", "a gold paper at rank 1", "retrieval"),
        Metric("recall@1", "gold papers at rank 1", "retrieval"),
        Metric("recall@5", "gold papers in the first 5", "retrieval", headline=True),
        Metric("recall@20", "gold papers in the first 20", "retrieval"),
        Metric("mrr", "reciprocal rank of the first gold paper", "retrieval"),
        Metric("ndcg@10", "nDCG@10", "retrieval"),
        Metric("right", "right: all key facts, or a right refusal", "answer", headline=True),
        Metric("facts", "key facts present", "answer"),
        Metric("numbers", "numbers right", "answer", headline=True),
        Metric("language", "answered in the question's language", "answer"),
        Metric("faithfulness", "factual sentences supported", "faithfulness", headline=True),
        Metric("claims", "claims an answer", "faithfulness", share=False),
        Metric("citation precision", "citation precision (ALCE)", "citations", headline=True),
        Metric("citation recall", "citation recall (ALCE)", "citations", headline=True),
        Metric("quotes", "quotes verbatim", "citations"),
        Metric("refusal", "unanswerable and refused", "refusal", headline=True),
        Metric("answered_unanswerable", "unanswerable, yet answered", "refusal", higher_is_better=False),
        Metric("refused_answerable", "answerable, yet refused", "refusal", higher_is_better=False, headline=True),
        Metric("answer_changed", "answer changed by a repetition", "robustness", higher_is_better=False),
        Metric("citations_changed", "cited papers changed by it", "robustness", higher_is_better=False),
        Metric("verdicts_changed", "verdicts changed by it", "robustness", higher_is_better=False),
        Metric("first_words_seconds", "seconds to the first words", "cost", higher_is_better=False, share=False),
        Metric("total_seconds", "seconds in all", "cost", higher_is_better=False, share=False),
        Metric("tokens_in", "tokens in", "cost", higher_is_better=False, share=False),
        Metric("tokens_out", "tokens out", "cost", higher_is_better=False, share=False),
    )
}


# Retrieval: `ranked` holds paper ids, best first, without repetition; `gold` the right ones.


def recall_at(k: int, ranked: Sequence[str], gold: Sequence[str]) -> float | None:
    """Share of the gold papers in the first k."""
    right = set(gold)
    return len(right & set(ranked[:k])) / len(right) if right else None


def hit_at(k: int, ranked: Sequence[str], gold: Sequence[str]) -> float | None:
    """1 if any gold paper is in the first k."""
    return float(not set(gold).isdisjoint(ranked[:k])) if gold else None


def reciprocal_rank(ranked: Sequence[str], gold: Sequence[str]) -> float | None:
    """1 / rank of the first gold paper; 0 if it is not there."""
    if not gold:
        return None
    return next((1 / rank for rank, paper_id in enumerate(ranked, start=1) if paper_id in set(gold)), 0.0)


def ndcg_at(k: int, ranked: Sequence[str], gold: Sequence[str]) -> float | None:
    """nDCG with gain 1 for a gold paper and discount log2(rank + 1), as trec_eval's ndcg_cut."""
    right = set(gold)
    if not right:
        return None
    gain = sum(1 / math.log2(rank + 1) for rank, paper_id in enumerate(ranked[:k], start=1) if paper_id in right)
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(right)) + 1))


# The answer itself.


def plain_answer(answer: Answer) -> str:
    """The answer's words without citation marks; "" for a refusal."""
    return "" if answer.refusal else "".join(sentence.lead + sentence.text for sentence in answer.sentences).strip()


def facts_present(facts: Sequence[Fact], text: str) -> float | None:
    """Share of the key facts that the text states."""
    return sum(holds(fact, text) for fact in facts) / len(facts) if facts else None


def figures(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    return tuple(fact for fact in facts if is_figure(fact))


_SCRIPTS = {"zh": r"[一-鿿]", "ja": r"[぀-ヿ一-鿿]", "ko": r"[가-힯]", "ru": r"[а-яё]", "el": r"[α-ω]", "ar": r"[؀-ۿ]"}
_FUNCTION_WORDS = {
    "en": "the of and is are was were to in that with for by on as from which than it this",
    "de": "der die das und ist sind mit von für auf den dem ein eine als nicht wird werden im zu",
    "fr": "le la les et est sont avec de des pour une un dans sur que qui du au plus par",
    "es": "el la los las y es son con de para una un en que por del se más como al",
    "it": "il lo la gli e è sono con di per una un in che del della si più come al",
    "pt": "o a os as e é são com de para uma um em que por do da se mais como",
}


def language_right(language: str, text: str) -> float | None:
    """1 if the text is in that language (ISO 639-1), told by script or function words; None if that cannot be told."""
    folded = text.casefold()
    letters = len(re.findall(r"[^\W\d_]", folded))
    if not letters:
        return None
    foreign = {code: len(re.findall(pattern, folded)) / letters for code, pattern in _SCRIPTS.items()}
    if language in _SCRIPTS:
        return float(foreign[language] >= 0.3)  # Latin names and terms stay as they are
    if language not in _FUNCTION_WORDS:
        return None
    if max(foreign.values()) >= 0.3:
        return 0.0
    words = re.findall(r"[^\W\d_]+", folded)
    counts = {code: sum(word in known.split() for word in words) for code, known in _FUNCTION_WORDS.items()}
    if not any(counts.values()):
        return None  # a bare name or figure is right in any language
    return float(counts[language] == max(counts.values()))


# Faithfulness and citations.

_MEASURED = re.compile(r"\d{2}|\d[.,]\d|\d\s?[%×]")


def is_factual(sentence: Sentence) -> bool:
    """Whether it states something. Not so for `meta`, unless it cites or gives a measured figure."""
    if not re.search(r"\w", sentence.text):
        return False
    return sentence.verdict is not Verdict.META or bool(sentence.citations or _MEASURED.search(sentence.text))


@dataclass(frozen=True, slots=True)
class Support:
    """Of one answer: share of its judged factual sentences that are supported, and how many the judge failed on."""

    score: float | None
    claims: int
    failed: int


def support(verdicts: Sequence[bool | None]) -> Support:
    """`verdicts` holds the judge's word on each factual sentence; None where it failed."""
    judged = [verdict for verdict in verdicts if verdict is not None]
    score = sum(judged) / len(judged) if judged else None
    return Support(score, len(verdicts), len(verdicts) - len(judged))


@dataclass(frozen=True, slots=True)
class CitationScores:
    """ALCE's citation precision and recall of one answer; `failed` sentences are in neither."""

    precision: float | None
    recall: float | None
    failed: int


def citation_scores(
    sentences: Sequence[tuple[str, Sequence[P]]], entails: Callable[[str, Sequence[P]], bool | None]
) -> CitationScores:
    """Citation recall and precision as ALCE defines them (Gao et al. 2023, section 4), over one answer.

    `sentences` holds each factual sentence with the passages that it cites; `entails` says whether a claim is entailed
    by passages together, None where the judge failed. Recall: the share of sentences that have
    citations and are entailed by all of them together. Precision: the share of citations that are relevant; a
    citation is irrelevant when its sentence has no recall, or when it does not entail the sentence alone and the
    others entail it without it. No citation at all: recall 0, precision does not apply.
    """
    recalled = judged = relevant = cited = failed = 0
    for claim, passages in sentences:
        whole = entails(claim, passages) if passages else False
        counts = _relevant(claim, passages, entails) if whole and len(passages) > 1 else len(passages) * bool(whole)
        if whole is None or counts is None:
            failed += 1
            continue
        judged += 1
        recalled += whole
        cited += len(passages)
        relevant += counts
    return CitationScores(relevant / cited if cited else None, recalled / judged if judged else None, failed)


def _relevant(claim: str, passages: Sequence[P], entails: Callable[[str, Sequence[P]], bool | None]) -> int | None:
    """How many of several passages are needed or enough, given that together they entail the claim."""
    count = 0
    for i in range(len(passages)):
        alone = entails(claim, passages[i : i + 1])
        others = entails(claim, [*passages[:i], *passages[i + 1 :]]) if alone is False else False
        if alone is None or others is None:
            return None
        count += alone or not others
    return count


def quotes_verbatim(answer: Answer) -> float | None:
    """Share of citations whose quote is exactly that span of the cited, retrieved abstract."""
    abstracts = {source.paper.id: source.paper.abstract for source in answer.sources}
    citations = answer.citations
    if not citations:
        return None
    exact = [
        0 <= citation.start < citation.end and abstracts.get(citation.paper_id, "")[citation.start : citation.end]
        for citation in citations
    ]
    return sum(span == citation.quote for span, citation in zip(exact, citations, strict=True)) / len(citations)


# Repetitions of one question: the first answer against each of the others.


def changed(answers: Sequence[Answer]) -> dict[str, float] | None:
    """Share of the later answers whose words, cited papers or verdicts differ from the first one's."""
    if len(answers) < 2:
        return None
    first, later = answers[0], answers[1:]

    def share(what: Callable[[Answer], object]) -> float:
        return sum(what(answer) != what(first) for answer in later) / len(later)

    return {
        "answer_changed": share(lambda answer: re.findall(r"\w+", plain_answer(answer).casefold())),
        "citations_changed": share(lambda answer: {citation.paper_id for citation in answer.citations}),
        "verdicts_changed": share(lambda answer: sorted(sentence.verdict for sentence in answer.sentences)),
    }
