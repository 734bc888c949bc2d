"""Judges: strict about what counts as a word, and never an exception."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from servers import FaultyServer

from eval.cache import Cache
from eval.judges import CachedJudge, Judge, LlamaIndexJudge, LocatedJudge, ReadingJudge, make_judge, nearest
from eval.scoring import Judgement
from rag.errors import ModelUnavailable, SettingsError
from rag.generation.prompts import judging
from rag.grounding.calibration import examples
from rag.grounding.verifiers import Judge as JsonJudge
from rag.papers import Paper
from rag.settings import load_settings

TRIAL = Paper(
    "We studied 120 patients. The drug did not reduce mortality by 26 %. Side effects were rare in both eyes.",
    title="A trial",
    id="t",
)
OTHER = Paper("Sparse attention makes decoding 7 times faster on long inputs.", id="o")


class Canned(CustomLLM):
    """A LlamaIndex model that says one thing, or raises."""

    says: str

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="canned")

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        if self.says == "raise":
            raise TimeoutError("the server is gone")
        return CompletionResponse(text=self.says)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError


def llm_judge(says: str) -> Judge:
    def reply(prompt: str, seconds: float, stop: object) -> str:
        if says == "raise":
            raise ModelUnavailable("the server is gone")
        return says

    return ReadingJudge("llm:canned", JsonJudge(reply, judging))


@pytest.mark.parametrize(
    ("says", "supported"),
    [
        ('{"verdict": "supported"}', True),
        ('```json\n{"verdict": "supported", "reason": "as said"}\n```', True),
        ('{"verdict": "not_found"}', False),
        ('{"verdict": "partly"}', False),
        ("No, both eyes were affected.", None),
        ("yes and no", None),
        ("Yes", None),
        ('{"verdict": "supp', None),
        ('{"verdict": "supported"} {"verdict": "contradicted"}', None),
        ("", None),
        ("raise", None),
    ],
)
def test_the_llm_judge_takes_its_schema_and_nothing_else(says: str, supported: bool | None) -> None:
    judgement = llm_judge(says).judge("Side effects were rare.", [TRIAL])
    assert judgement.supported is supported
    assert supported is not None or judgement.note


def test_llamaindex_as_it_comes_takes_eyes_for_yes() -> None:
    """Kept as the comparison, so its fault is on record: any "yes" passes."""
    assert LlamaIndexJudge(Canned(says="No, both eyes."), "canned").judge("x", [TRIAL]).supported is True
    assert LlamaIndexJudge(Canned(says="NO"), "canned").judge("x", [TRIAL]).supported is False


def test_llamaindex_that_raises_has_failed() -> None:
    judgement = LlamaIndexJudge(Canned(says="raise"), "canned").judge("x", [TRIAL])
    assert judgement.supported is None
    assert "the server is gone" in judgement.note


@pytest.mark.parametrize(
    ("claim", "supported"),
    [
        ("Decoding is 7 times faster on long inputs with sparse attention.", True),
        ("Sparse attention makes decoding 9 times faster on long inputs.", False),
        ("The drug reduced mortality by 26 %.", False),
        ("The drug cures all patients.", False),
    ],
)
def test_located(claim: str, supported: bool) -> None:
    assert LocatedJudge().judge(claim, [TRIAL, OTHER]).supported is supported


def test_located_without_papers_supports_nothing() -> None:
    assert LocatedJudge().judge("Decoding is faster.", []).supported is False


def test_nothing_is_asked_twice_but_failures_are(tmp_path: Path) -> None:
    class Counting:
        name = "counting"
        asked = 0

        def judge(self, claim: str, papers: Sequence[Paper]) -> Judgement:
            self.asked += 1
            return Judgement(None, note="down") if self.asked == 1 else Judgement(True, 0.7, "fine")

    inner = Counting()
    cached = CachedJudge(inner, Cache(tmp_path / "cache.sqlite"))
    said = [cached.judge("claim", [TRIAL]) for _ in range(4)]
    assert [item.supported for item in said] == [None, True, True, True]
    assert said[3] == Judgement(True, 0.7, "fine")
    assert inner.asked == 2
    cached.judge("claim", [OTHER])
    assert inner.asked == 3


def test_nearest_sentences_keep_their_order_and_title() -> None:
    passage = nearest("mortality of 120 patients", [OTHER, TRIAL], 2)
    assert passage == "A trial\nWe studied 120 patients. The drug did not reduce mortality by 26 %."


@pytest.mark.parametrize("name", ["", "nli:", "gpt", "Located"])
def test_unknown_judge(name: str) -> None:
    with pytest.raises(SettingsError, match="located, odds, nli:MODEL, llm, llamaindex"):
        make_judge(name, load_settings())


@pytest.mark.parametrize("name", ["llm", "llamaindex"])
def test_a_judge_that_needs_a_model_says_so(name: str) -> None:
    with pytest.raises(ModelUnavailable, match="needs a language model"):
        make_judge(name, load_settings(llm="extractive"))


@pytest.mark.parametrize(
    ("name", "step"),
    [("llm", step) for step in ("hang", "reset", "break", "html", "empty", 500, 404)]
    + [("llamaindex", step) for step in ("reset", "break", "html", "empty", 500, 404)],
)
def test_a_server_in_trouble_is_a_judge_that_failed(
    faulty: FaultyServer,
    name: str,
    step: str | int,
) -> None:
    faulty.script, faulty.words = [step], ["{", '"verdict"']
    settings = load_settings(
        llm="ollama/small", ollama_url=faulty.url, first_token_seconds=0.4, between_tokens_seconds=0.4
    )
    judgement = make_judge(name, settings).judge("Side effects were rare.", [TRIAL])
    assert judgement.supported is None
    assert judgement.note


def test_the_llm_judge_over_a_real_connection(faulty: FaultyServer) -> None:
    faulty.words = ["<think>both eyes, yes</think>", '{"verdict": ', '"contradicted"}']
    judge = make_judge("llm", load_settings(llm="ollama/small", ollama_url=faulty.url))
    assert judge.name == "llm:ollama/small"
    assert judge.judge("The drug reduced mortality.", [TRIAL]).supported is False
    asked = faulty.calls[0][0]["messages"][0]["content"]
    assert "did not reduce mortality by 26 %" in asked and asked.endswith("Claim: The drug reduced mortality.\nJSON:")


def test_an_nli_model_that_is_not_there_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="cannot be used"):
        make_judge(f"nli:{tmp_path}", load_settings())


def test_an_nli_model_reads(tmp_path: Path) -> None:
    """A real cross-encoder from a folder; it is untrained, so only the way of its word is tested, not the word."""
    folder = untrained_nli(tmp_path / "nli")
    judge = make_judge(f"nli:{folder}", load_settings())
    judgement = judge.judge("Side effects were rare.", [TRIAL])
    assert judgement.supported in (True, False)
    assert 0 <= judgement.score <= 1
    assert judgement == judge.judge("Side effects were rare.", [TRIAL])


def untrained_nli(folder: Path) -> Path:
    """A small BERT with three labels and random weights, the packaged tokenizer beside it."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    from rag.embedding import packaged_folder

    torch.manual_seed(1)
    labels = {0: "contradiction", 1: "entailment", 2: "neutral"}
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(**shape, id2label=labels, label2id={name: place for place, name in labels.items()})
    BertForSequenceClassification(config).save_pretrained(folder)
    AutoTokenizer.from_pretrained(packaged_folder()).save_pretrained(folder)
    return folder


def test_the_odds_judge_weighs_what_was_located_with_what_the_model_says(faulty: FaultyServer) -> None:
    known = {one.claim: one.supported for one in examples()}

    def odds(prompt: str) -> dict[str, float]:
        claim = prompt.split("Claim: ")[-1].split("\n")[0]
        yes = known.get(claim, "fewer" in claim)
        return {"Yes": -0.1 if yes else -4.0, "No": -4.0 if yes else -0.1, "Well": -9.0 - len(claim) % 5}

    faulty.odds = odds
    settings = load_settings(llm="ollama/small", ollama_url=faulty.url)
    judge = make_judge("odds", settings)
    assert judge.name == "odds:ollama/small"
    believed = judge.judge("With the new drug fewer people had trouble from it.", [TRIAL])
    doubted = judge.judge("With the new drug more people had trouble from it.", [TRIAL])
    assert believed.score > doubted.score
    assert doubted.supported is False
    wrong = judge.judge("The drug reduced mortality by 26 %, fewer died.", [TRIAL])
    assert wrong.supported is False, "a wrong figure is never supported"
    faulty.odds = None
    with pytest.raises(ModelUnavailable, match="log-probabilities"):
        make_judge("odds", load_settings(llm="openai-compatible/other", llm_url=f"{faulty.url}/v1"))
