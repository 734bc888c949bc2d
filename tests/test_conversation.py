"""Follow-ups, changes of topic, other languages and small talk."""

from __future__ import annotations

import json
from typing import Any

import pytest
from servers import FaultyServer

from rag.conversation import (
    UNTRANSLATED,
    Turn,
    bounded,
    is_follow_up,
    is_foreign,
    smalltalk,
    standalone,
    translate,
)
from rag.generation.models import Message, Model
from rag.generation.prompts import REWRITE, TRANSLATE, estimated_tokens
from rag.generation.providers import choose_model
from rag.settings import load_settings

HIPO = [Turn("How much does HiPO gain on AIME 2024?", "It gains 4.6 percentage points over GRPO.")]
ON_2025 = "Did it gain on AIME 2025?"
MOLECULES = [
    Turn("What is MELD for?", "It generates molecules by masked diffusion."),
    Turn("How valid are they on QM9?", "All of them are valid."),
]


@pytest.mark.parametrize(
    "question",
    [
        "and on ZINC250K?",
        "And Claude?",
        "And what about children?",
        "And what does it do on QM9?",
        "And how many tokens were used for training?",
        "what about the larger model?",
        "how does that compare with HiPO?",
        "How does it compare with PPO?",
        "Did they release the code?",
        "How many LLMs did they try as annotators?",
        "What are its limitations?",
        "Does this also hold for larger models?",
        "Does the method need labels?",
        "Who are the authors?",
        "Which one is faster?",
        "What did the second experiment show?",
        "With how many random seeds?",
        "Under what conditions?",
        "any side effects?",
        "what explains the difference?",
        "what does that suggest?",
        "why can't we be sure it is causal?",
        "How much faster?",
        "Why?",
        "它用了多少数据？",
        "那准确率呢？",
        "这个方法需要标签吗？",
        "为什么？",
        "Und wie viele Daten?",
    ],
)
def test_questions_that_lean_on_the_one_before(question: str) -> None:
    assert is_follow_up(question)


@pytest.mark.parametrize(
    "question",
    [
        "What does LoRA do to memory use?",
        "Which papers use LoRA?",
        "Which datasets were used to train MELD?",
        "How does HiPO use its hints?",
        "What makes PMDformer better than its predecessors?",
        "Which papers design an attention module of their own?",
        "Is it true that LoRA saves memory?",
        "Is there evidence that aspirin reduces mortality?",
        "Can a diffusion model plan robot paths that are safe?",
        "What makes it hard to see that two patches of a series have the same shape?",
        "List the papers on time series forecasting.",
        "What is the capital of Australia?",
        "Who proposed Muon?",
        "who invented transformers?",
        "哪些论文研究了分子生成？",
        "C2Seg 用了什么方法？",
        "And which papers study molecule generation?",
        "So what is TNT?",
        "But why does LoRA save memory?",
    ],
)
def test_questions_of_their_own(question: str) -> None:
    """A change of topic drops the old one."""
    assert not is_follow_up(question)
    assert standalone(question, HIPO).question == question
    assert standalone(question, HIPO).note == ""


@pytest.mark.parametrize(
    ("question", "history", "read"),
    [
        ("Did it gain on AIME 2025?", HIPO, "Did it gain on AIME 2025? (HiPO)"),
        ("Does it need a teacher that writes hints?", HIPO, "Does it need a teacher that writes hints? (HiPO, AIME)"),
        ("它在 QM9 上表现如何？", HIPO, "它在 QM9 上表现如何？ (HiPO, AIME)"),
        ("Are they valid?", MOLECULES, "Are they valid? (What is MELD for?)"),
        (
            "Do they keep chemical bonds intact when masked?",
            MOLECULES,
            "Do they keep chemical bonds intact when masked? (MELD, QM9)",
        ),
    ],
)
def test_without_a_model_the_last_topics_names_are_carried_over(question: str, history: list[Turn], read: str) -> None:
    assert standalone(question, history).question == read
    assert standalone(question, history).note


def test_names_of_an_older_topic_are_not_carried_over() -> None:
    history = [Turn("How many tokens has Nemotron-CC-Math?", "133B."), *HIPO]
    assert "Nemotron" not in standalone("Does it need a teacher that writes hints?", history).question


def test_the_first_question_has_nothing_before_it() -> None:
    assert standalone("And on ZINC250K?", []).question == "And on ZINC250K?"


def test_a_turn_whose_own_topic_is_forgotten_is_read_as_it_was_understood() -> None:
    history = [Turn("And on AIME 2025?", "3.1 points.", standalone="How much does HiPO gain on AIME 2025?")]
    assert standalone("How about TNT?", history).question == "How much does TNT gain on AIME 2025?"


def test_history_is_bounded_from_its_end() -> None:
    history = [Turn(f"Question {number}?", "word " * 50) for number in range(20)]
    kept = bounded(history, 300)
    assert kept == tuple(history[-len(kept) :])
    assert sum(estimated_tokens(turn.question + turn.answer) for turn in kept) <= 300
    assert len(kept) >= 3
    assert bounded(history, 0) == ()


def test_of_a_very_long_answer_at_least_the_question_is_kept() -> None:
    assert bounded([Turn("What is MELD?", "word " * 9000, ("p1",))], 100) == (Turn("What is MELD?", "", ("p1",)),)


# ── with a model ──


def scripted(faulty: FaultyServer, *words: str) -> Model:
    """A model, over a real connection, that says these words."""
    faulty.words = list(words)
    return choose_model(load_settings(llm="ollama/small", ollama_url=faulty.url))


@pytest.mark.parametrize(
    "reply",
    [
        "How much does HiPO gain on AIME 2025?",
        "  How much does HiPO gain on AIME 2025?\n",
        '"How much does HiPO gain on AIME 2025?"',
        "Stand-alone question: How much does HiPO gain on AIME 2025?",
        "<think>They mean HiPO.\nSo [1]…</think>\n\nHow much does HiPO gain on AIME 2025?",
    ],
)
def test_a_models_rewriting_is_taken(reply: str, faulty: FaultyServer) -> None:
    model = scripted(faulty, reply)
    read = standalone(ON_2025, HIPO, model, load_settings())
    assert read.question == "How much does HiPO gain on AIME 2025?"
    assert "ollama/small" in read.note
    sent = json.dumps(faulty.calls[0][0])
    assert "AIME 2024" in sent
    assert REWRITE.splitlines()[0] in sent


@pytest.mark.parametrize(
    "reply",
    [
        "How much does HiPO gain?",  # lost the name and the year
        "How much does HiPO gain on AIME 2026?",  # another year
        "How much does HiPO gain on AIME 2025 with GPT-4?",  # a name from nowhere
        "How much does HiPO gain on AIME 2024?",  # the question before
        ON_2025,  # nothing done
        "HiPO gains 4.6 percentage points on AIME 2025.",  # an answer
        "How much does HiPO gain on AIME 2025?\nIt gains 4.9 points.",  # and an answer
        "HiPO 在 AIME 2025 上提高了多少？",  # another language
        "HiPO AIME 2025 " * 60 + "?",
        "",
    ],
)
def test_a_rewriting_that_says_something_else_is_not(reply: str, faulty: FaultyServer) -> None:
    read = standalone(ON_2025, HIPO, scripted(faulty, reply), load_settings())
    assert read.question == f"{ON_2025} (HiPO)"


def test_a_model_that_fails_leaves_the_names_carried_over(faulty: FaultyServer) -> None:
    model = scripted(faulty)
    faulty.script = [500]
    assert "HiPO" in standalone(ON_2025, HIPO, model).question


def test_the_model_is_not_asked_about_a_question_of_its_own(faulty: FaultyServer) -> None:
    standalone("Which papers use LoRA?", HIPO, scripted(faulty))
    assert not faulty.calls


def test_nor_about_one_that_only_names_another_thing(faulty: FaultyServer) -> None:
    assert standalone("How about TNT?", HIPO, scripted(faulty)).question == "How much does TNT gain on AIME 2024?"
    assert not faulty.calls


def test_but_about_one_that_still_leans_on_the_topic(faulty: FaultyServer) -> None:
    model = scripted(faulty, "How valid are the molecules of MELD on ZINC250K?")
    assert (
        standalone("And on ZINC250K?", MOLECULES, model).question == "How valid are the molecules of MELD on ZINC250K?"
    )


# ── other languages ──


@pytest.mark.parametrize(
    ("question", "foreign"),
    [
        ("How much does HiPO gain?", False),
        ("HiPO AIME 2025", False),
        ("Is β-amyloid toxic at 5 µg?", False),
        ("Why is Schrödinger naïve?", False),
        ("HiPO 提高了多少个百分点？", True),
        ("Nemotron-CC-Math-4+ 有多少 token？", True),
        ("Um welchen Faktor beschleunigt TNT das Training?", True),
        ("Quel navigateur sert à afficher les pages dans Nemotron-CC-Math ?", True),
        ("¿Qué es HiPO?", True),
        ("¿Cuántos modelos se compararon en el estudio?", True),
        ("Сколько данных нужно для обучения?", True),
    ],
)
def test_which_questions_need_translation(question: str, foreign: bool) -> None:
    assert is_foreign(question) is foreign


def test_a_question_is_translated_for_the_search(faulty: FaultyServer) -> None:
    model = scripted(faulty, "English question: How many tokens has Nemotron-CC-Math-4+?")
    read = translate("Nemotron-CC-Math-4+ 这个数据集有多少 token？", model)
    assert read.question == "How many tokens has Nemotron-CC-Math-4+?"
    assert "translated by ollama/small" in read.note
    assert TRANSLATE.splitlines()[0] in json.dumps(faulty.calls[0][0])


def test_an_english_question_is_left_alone(faulty: FaultyServer) -> None:
    assert translate("How many tokens?", scripted(faulty)).note == ""
    assert not faulty.calls


@pytest.mark.parametrize("model", [None, Model("extractive")])
def test_without_a_model_the_reader_is_told_why_the_search_is_weak(model: Model | None) -> None:
    read = translate("HiPO 提高了多少？", model)
    assert read.question == "HiPO 提高了多少？"
    assert read.note == UNTRANSLATED


@pytest.mark.parametrize(
    ("reply", "says"),
    [("How much does it gain?", "lost HiPO"), ("HiPO 的提高", "did not"), ("", "gave nothing usable")],
)
def test_a_bad_translation_is_not_used(reply: str, says: str, faulty: FaultyServer) -> None:
    read = translate("HiPO 提高了多少？", scripted(faulty, reply))
    assert read.question == "HiPO 提高了多少？"
    assert says in read.note


# ── small talk ──


@pytest.mark.parametrize(
    ("said", "reply"),
    [
        ("hello", "Hello!"),
        ("Hi there!", "Hello!"),
        ("Good morning", "Hello!"),
        ("Hi, how are you?", "Hello!"),
        ("你好！", "你好"),
        ("Thanks a lot!", "You are welcome."),
        ("谢谢你", "不客气"),
        ("bye", "Goodbye."),
        ("What can you do?", "I answer questions"),
        ("ok", "Ask something"),
        ("", "Ask something"),
        ("  \n ", "Ask something"),
        ("😀😀", "Ask something"),
        ("???", "Ask something"),
        ("123", "Ask something"),
    ],
)
def test_small_talk_gets_a_fitting_reply(said: str, reply: str) -> None:
    answer = smalltalk(said)
    assert answer is not None
    assert reply in answer
    assert "[" not in answer


@pytest.mark.parametrize("question", ["list all papers", "How many papers are there?", "what are the papers about?"])
def test_what_is_here_is_told_by_other_means(question: str) -> None:
    assert "rag sources" in (smalltalk(question) or "")


def test_a_file_that_is_no_text_is_no_question() -> None:
    assert smalltalk(bytes(range(256)).decode("utf-8", "replace") * 4) is not None
    assert smalltalk("How fast\nis TNT?\n") is None


@pytest.mark.parametrize(
    "question",
    [
        "Hi-C data?",
        "Hello World programs in which benchmarks?",
        "What is a thank-you note?",
        "How do you do proof by induction?",
        "What is this benchmark for?",
        "why",
        "分子生成",
        "word " * 3000,
    ],
)
def test_what_can_be_looked_up_is_no_small_talk(question: str) -> None:
    assert smalltalk(question) is None


# ── a real model ──


@pytest.mark.model
def test_a_real_small_model_never_makes_a_follow_up_worse(local_model: str) -> None:
    """Whatever it writes, the names and figures asked about stay and none is made up."""
    model = choose_model(load_settings(llm="openai-compatible/small", llm_url=local_model))
    read = standalone(ON_2025, HIPO, model, load_settings())
    assert "2025" in read.question
    assert "HiPO" in read.question
    assert "GPT" not in read.question


@pytest.mark.model
def test_a_real_small_model_translates_or_says_that_it_could_not(local_model: str) -> None:
    model = choose_model(load_settings(llm="openai-compatible/small", llm_url=local_model))
    read: Any = translate("C2Seg 在几个公开的医学影像数据集上做了实验？", model)
    assert "C2Seg" in read.question
    assert read.note
    assert not is_foreign(read.question) or "could not be translated" in read.note


def test_prompts_hold_the_conversation_in_order() -> None:
    from rag.generation.prompts import rewriting

    system, user = rewriting(ON_2025, [*MOLECULES, Turn("Why?", "Because [1] says so.")])
    assert (system.role, user.role) == ("system", "user")
    assert user.text.index("MELD") < user.text.index("QM9") < user.text.index("Why?") < user.text.index("AIME 2025")
    assert "[1]" not in user.text
    assert isinstance(user, Message)
