"""Reading verifiers: what they say counts, within the guards' veto; a failed judge falls back and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.answer import Verdict
from rag.errors import ModelUnavailable, SettingsError
from rag.generation.models import Model
from rag.grounding import Grounder
from rag.grounding.verifiers import Complete, Judge, Located, Nli, Opinion, verifier
from rag.papers import Paper
from rag.settings import load_settings
from rag.verification import make_verifier

PAPER = Paper(title="A trial", abstract="Aspirin reduced mortality by 20 % in adults. Fever was rare.", id="trial")
LOOSE = "Grown-ups taking the medicine died less frequently."


def prompt(claim: str, passage: str) -> str:
    return f"{passage}\n{claim}"


def replies(*texts: str) -> Complete:
    left = list(texts)
    return lambda _prompt, _seconds, _stop: left.pop(0)


def test_a_reader_sees_what_words_do_not() -> None:
    judge = Judge(replies('{"verdict": "supported", "reason": "same"}'), prompt)
    assert Grounder(None).open([PAPER]).check(LOOSE).verdict is not Verdict.SUPPORTED
    checked = Grounder(None, judge).open([PAPER]).check(LOOSE)
    assert (checked.verdict, checked.note) == (Verdict.SUPPORTED, "same")
    assert checked.spans


def test_a_reader_cannot_overrule_a_failed_figure() -> None:
    judge = Judge(replies('{"verdict": "supported"}'), prompt)
    assert Grounder(None, judge).open([PAPER]).check("Aspirin reduced mortality by 26 % in adults.").verdict is (
        Verdict.CONTRADICTED
    )


def test_a_quotation_is_not_asked_about() -> None:
    judge = Judge(replies(), prompt)  # would raise when asked
    assert Grounder(None, judge).open([PAPER]).check("Fever was rare.").verdict is Verdict.SUPPORTED


def test_one_retry_then_the_judge_has_failed_and_words_stand() -> None:
    asked: list[str] = []

    def complete(text: str, seconds: float, stop: object) -> str:
        asked.append(text)
        return "Yes and no."

    checked = Grounder(None, Judge(complete, prompt)).open([PAPER]).check(LOOSE)
    assert len(asked) == 2
    assert "judge failed" in checked.note
    assert checked.verdict is not Verdict.SUPPORTED


def test_a_retry_may_succeed() -> None:
    judge = Judge(replies("hm", '{"verdict": "contradicted"}'), prompt)
    assert judge.read("a claim", "a passage") == Opinion(Verdict.CONTRADICTED)


def test_a_model_that_is_gone_costs_no_answer() -> None:
    def complete(prompt: str, seconds: float, stop: object) -> str:
        raise ModelUnavailable("Ollama does not answer")

    assert "Ollama does not answer" in Judge(complete, prompt).read("a", "b").failed


@pytest.mark.parametrize("name", ["", "nli:", "odd", "LLM"])
def test_an_unknown_verifier_is_a_settings_error(name: str) -> None:
    with pytest.raises(SettingsError):
        verifier(name)


def test_llm_needs_a_model() -> None:
    for name in ("llm", "odds"):
        with pytest.raises(SettingsError, match="language model"):
            make_verifier(load_settings(verifier=name), Model("extractive"))


def test_located_reads_nothing() -> None:
    assert verifier("located") == Located()
    assert Located().read("a", "b") is None


def cross_encoder(folder: Path, labels: int) -> str:
    """A tiny cross-encoder with random weights, saved as any published one is."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "fever", "rare", "was"]
    core = Tokenizer(WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    core.pre_tokenizer = Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        num_labels=labels,
    )  # fmt: skip
    if labels == 3:
        config.id2label = {0: "contradiction", 1: "entailment", 2: "neutral"}
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize("labels", [1, 2, 3])
def test_a_cross_encoder_gives_an_opinion(tmp_path: Path, labels: int) -> None:
    reader = verifier(f"nli:{cross_encoder(tmp_path, labels)}")
    opinion = reader.read("fever was rare", "fever was rare")
    assert opinion is not None
    assert opinion.verdict in (Verdict.SUPPORTED, Verdict.NOT_FOUND, Verdict.CONTRADICTED)
    assert 0 <= opinion.score <= 1


def test_a_missing_cross_encoder_is_a_failed_judge(tmp_path: Path) -> None:
    assert "failed" in Nli(str(tmp_path / "nowhere")).read("a", "b").failed
