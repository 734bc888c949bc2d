"""Who says whether a claim is supported by some papers: located words, an NLI model, a language model, LlamaIndex's.

A judge never raises because of what it reads or whom it asks: what goes wrong is a Judgement without a word, which is
counted apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from eval.cache import Cache, code_hash, key_of
from eval.scoring import Judgement
from rag.answer import Verdict
from rag.errors import ModelUnavailable, RagError, SettingsError
from rag.markup import plain_text
from rag.papers import Paper
from rag.text import sentences, stems

if TYPE_CHECKING:
    from rag.grounding.evidence import Encode
    from rag.grounding.odds import Odds
    from rag.grounding.verifiers import Verifier
    from rag.settings import Settings

JUDGES = ("located", "odds", "nli:MODEL", "llm", "llamaindex")
READ_SENTENCES = 8  # what a judge that reads is given: NLI models take about 512 tokens


class Judge(Protocol):
    """`name` is what --judge calls it, with the model where it has one."""

    @property
    def name(self) -> str: ...

    def judge(self, claim: str, papers: Sequence[Paper]) -> Judgement:
        """Is the whole claim supported by these papers together?"""


class LocatedJudge:
    """Words, figures, names, negation and direction laid beside the nearest sentences; no model (`rag.grounding`)."""

    name = "located"

    def __init__(self, encode: Encode | None = None) -> None:
        self._encode = encode

    def judge(self, claim: str, papers: Sequence[Paper]) -> Judgement:
        from rag.grounding import Grounder

        checked = Grounder(self._encode).open(papers).check(claim)
        return Judgement(checked.verdict is Verdict.SUPPORTED, checked.score, checked.note)


@dataclass(frozen=True)
class ReadingJudge:
    """A verifier of `rag.grounding` that reads the claim's nearest sentences; with no veto of the located words."""

    name: str
    verifier: Verifier

    def judge(self, claim: str, papers: Sequence[Paper]) -> Judgement:
        try:
            opinion = self.verifier.read(plain_text(claim), nearest(claim, papers, READ_SENTENCES))
        except (RagError, OSError, ValueError, RuntimeError) as error:
            return Judgement(None, note=_one_line(error))
        if opinion is None or opinion.verdict is None:
            return Judgement(None, note=(opinion.failed if opinion else "") or "no word from the judge")
        return Judgement(opinion.verdict is Verdict.SUPPORTED, opinion.score, opinion.reason)


class OddsJudge:
    """What was located, weighed with a model's odds of yes; the exact guards keep their veto, as in answers.

    Every claim is put to the model, also those that words alone would settle. Raises ModelUnavailable where the model
    gives no odds.
    """

    def __init__(self, verifier: Odds, encode: Encode | None = None) -> None:
        self.name = f"odds:{verifier.model}"
        self._verifier, self._encode = verifier, encode
        verifier.measure()

    def judge(self, claim: str, papers: Sequence[Paper]) -> Judgement:
        from rag.grounding import Grounder
        from rag.grounding.reading import settle

        grounding = Grounder(self._encode).open(papers)
        checked, _ = grounding.begin(claim)
        reading = grounding.reading(plain_text(claim).strip(), checked)
        if reading is None or checked.verdict is Verdict.META:
            return Judgement(checked.verdict is Verdict.SUPPORTED, checked.score, checked.note)
        calibration = self._verifier.calibration
        if calibration is None or not calibration.reads:
            return Judgement(checked.verdict is Verdict.SUPPORTED, checked.score, "the model cannot read")
        opinion = self._verifier.read(reading.claim, reading.passage)
        if opinion.reading is None:
            return Judgement(None, note=opinion.failed)
        settled = settle(reading, opinion, "odds")
        return Judgement(settled.verdict is Verdict.SUPPORTED, settled.score, settled.note)


class LlamaIndexJudge:
    """LlamaIndex's FaithfulnessEvaluator as it comes; it passes whatever has "yes" in it, "both eyes" included."""

    def __init__(self, llm: Any, model: str) -> None:
        from llama_index.core.evaluation import FaithfulnessEvaluator

        self.name = f"llamaindex:{model}"
        self._evaluator = FaithfulnessEvaluator(llm=llm)

    def judge(self, claim: str, papers: Sequence[Paper]) -> Judgement:
        texts = [plain_text(paper.abstract) for paper in papers]
        try:
            result = self._evaluator.evaluate(response=claim, contexts=texts)
        except Exception as error:  # its own, httpx's and every SDK's: all of them mean that the judge failed
            return Judgement(None, note=_one_line(error))
        if result.passing is None or (result.feedback or "").strip() in ("", "Empty Response"):
            return Judgement(None, note="no word from the judge")  # it would call a server's failure "not supported"
        return Judgement(bool(result.passing), float(result.score or 0), result.feedback or "")


@dataclass(frozen=True)
class CachedJudge:
    """A judge that is not asked twice the same thing; what it failed on is asked again."""

    inner: Judge
    cache: Cache

    @property
    def name(self) -> str:
        return self.inner.name

    def judge(self, claim: str, papers: Sequence[Paper]) -> Judgement:
        texts = [[paper.id, paper.title, paper.abstract] for paper in papers]
        key = key_of("judgement", code_hash(), self.name, claim, texts)
        if found := self.cache.get(key):
            return Judgement(**found)
        judgement = self.inner.judge(claim, papers)
        if judgement.supported is not None:
            said = {"supported": judgement.supported, "score": judgement.score, "note": judgement.note}
            self.cache.put(key, said)
        return judgement


def make_judge(name: str, settings: Settings, encode: Encode | None = None) -> Judge:
    """The judge that --judge names; `llm` and `llamaindex` ask the model of RAG_LLM, `located` uses `encode` if given.

    Raises SettingsError for an unknown name and ModelUnavailable where the model is not there.
    """
    from rag.grounding.verifiers import verifier

    if name == "located":
        return LocatedJudge(encode or _encode(settings))
    if name.startswith("nli:") and len(name) > len("nli:"):
        reader = verifier(name)
        tried = reader.read("It is small.", "It is small.")  # a model that is missing is said once, here
        if tried is None or tried.verdict is None:
            reason = " ".join((tried.failed if tried else "it says nothing").split())
            raise ModelUnavailable(
                f"the judge {name} cannot be used: {reason}", hint="a folder is read without network"
            )
        return ReadingJudge(name, reader)
    if name in ("odds", "llm", "llamaindex"):
        from rag.generation.providers import choose_model
        from rag.verification import make_judge as make_reader
        from rag.verification import make_odds

        wanted = settings.verifier_llm if name == "odds" and settings.verifier_llm else settings.llm
        model = choose_model(settings.model_copy(update={"llm": wanted}))
        if model.llm is None:
            raise ModelUnavailable(f"the judge {name} needs a language model: {model.reason}", hint="set RAG_LLM")
        if name == "odds":
            return OddsJudge(make_odds(settings, model), encode or _encode(settings))
        if name == "llamaindex":
            return LlamaIndexJudge(model.llm, model.name)
        return ReadingJudge(f"llm:{model.name}", make_reader(model))
    raise SettingsError(f"there is no judge {name}", hint=f"one of {', '.join(JUDGES)}")


def _encode(settings: Settings) -> Encode:
    from rag.embedding import Embedder, Remembered

    return Remembered(Embedder(settings.embed_model, settings.embed_precision))


def nearest(claim: str, papers: Sequence[Paper], count: int) -> str:
    """The `count` sentences with the most of the claim's words, in reading order, each paper under its title."""
    wanted = set(stems(plain_text(claim)))
    found: list[tuple[float, int, int, str]] = []
    for number, paper in enumerate(papers):
        text = plain_text(paper.abstract)
        for place, span in enumerate(sentences(text)):
            sentence = text[span.start : span.end]
            found.append((-len(wanted & set(stems(sentence))), number, place, sentence))
    kept = sorted(sorted(found)[:count], key=lambda item: item[1:3])
    blocks = []
    for number, paper in enumerate(papers):
        body = " ".join(sentence for _, owner, _, sentence in kept if owner == number)
        if body:
            blocks.append(f"{paper.title}\n{body}" if paper.title else body)
    return "\n\n".join(blocks)


def _one_line(error: BaseException) -> str:
    return re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")[:300]
