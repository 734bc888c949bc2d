"""Questions that only name another thing, and what the topic is after them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.conversation import Turn, standalone
from rag.ellipsis import asked_of_another

GAIN = "How much does HiPO gain on AIME 2024?"
VALID = ("What is MELD for?", "How valid are they on QM9?")


@pytest.mark.parametrize(
    ("question", "topic", "asked"),
    [
        ("How about TNT?", (GAIN,), "How much does TNT gain on AIME 2024?"),
        ("And Claude?", (GAIN,), "How much does Claude gain on AIME 2024?"),
        ("but what about the larger LLaMA model?", (GAIN,), "How much does the larger LLaMA model gain on AIME 2024?"),
        ("What about AIME 2025?", (GAIN,), "How much does HiPO gain on AIME 2025?"),
        ("And on BRUMO 2025?", (GAIN,), "How much does HiPO gain on BRUMO 2025?"),
        ("And with Qwen?", (GAIN,), "How much does HiPO gain on AIME 2024 with Qwen?"),
        ("And GRPO?", ("How much better is HiPO than PPO?",), "How much better is GRPO than PPO?"),
        ("那 TNT 呢？", (GAIN,), "How much does TNT gain on AIME 2024?"),
        ("and on ZINC250K?", VALID, "How valid are they on ZINC250K?"),
    ],
)
def test_the_question_before_is_asked_of_another_thing(question: str, topic: tuple[str, ...], asked: str) -> None:
    assert asked_of_another(question, topic) == [*topic[:-1], asked]


FALL = "How much did LDL cholesterol fall at 0.5 mg/kg?"


@pytest.mark.parametrize(
    ("question", "before", "asked"),
    [
        ("and at 1.0?", FALL, "How much did LDL cholesterol fall at 1.0 mg/kg?"),
        ("at 1.0 mg/kg?", FALL, "How much did LDL cholesterol fall at 1.0 mg/kg?"),
        ("and with two?", "How accurate is it with 32 layers?", "How accurate is it with two layers?"),
        ("and of the 12 nm film?", "What is the gap of the 8 nm film?", "What is the gap of the 12 nm film?"),
        ("and in mice?", "Does the transfer work in humans?", "Does the transfer work in mice?"),
        (
            "And under aerobic ones?",
            "What is lost under anaerobic conditions?",
            "What is lost under aerobic conditions?",
        ),
        ("what about those without asthma?", "How many died with asthma?", "How many died without asthma?"),
        ("and in western Germany?", "Did wages rise in eastern Germany?", "Did wages rise in western Germany?"),
        ("and in the dry season?", "How many cases were there?", "How many cases were there in the dry season?"),
        ("and in mice?", "Does it work at 5 mg?", "Does it work at 5 mg in mice?"),
    ],
)
def test_a_setting_takes_the_place_of_the_one_before(question: str, before: str, asked: str) -> None:
    assert asked_of_another(question, (before,)) == [asked]


@pytest.mark.parametrize("question", ["and in what way?", "and without it?", "in general?", "and for whom?"])
def test_what_names_no_setting_changes_none(question: str) -> None:
    assert asked_of_another(question, (FALL,)) == []


def test_where_the_last_question_names_none_the_one_before_it_is_changed() -> None:
    assert asked_of_another("How about TNT?", VALID) == ["What is TNT for?", VALID[1]]


@pytest.mark.parametrize(
    "question",
    [
        "And why?",
        "What about its limitations?",
        "And what about children?",
        "How about HiPO?",
        "What about GRPO needs a reward?",
        "Which papers use LoRA?",
        "How does it compare with PPO?",
    ],
)
def test_other_questions_are_not(question: str) -> None:
    assert asked_of_another(question, (GAIN,)) == []
    assert asked_of_another(question, ()) == []


@pytest.mark.parametrize(
    ("asked", "question", "read"),
    [
        ([GAIN, "How about TNT?"], "Who wrote it?", "Who wrote it? (How much does TNT gain on AIME 2024?)"),
        ([*VALID, "How about TNT?"], "Who wrote it?", "Who wrote it? (What is TNT for?)"),
        ([*VALID], "And on ZINC250K?", "How valid are they on ZINC250K? (What is MELD for?)"),
        ([GAIN, "How about TNT?"], "And on AIME 2025?", "How much does TNT gain on AIME 2025?"),
        ([GAIN, "How about TNT?"], "And HiPO?", GAIN),
        (
            [GAIN, "So what is TNT?"],
            "Does it need a teacher for its two stages?",
            "Does it need a teacher for its two stages? (TNT)",
        ),
    ],
)
def test_what_was_replaced_is_no_longer_the_topic(asked: list[str], question: str, read: str) -> None:
    assert standalone(question, [Turn(one, "An answer.") for one in asked]).question == read


@given(st.text(max_size=40), st.lists(st.text(max_size=60), max_size=3))
def test_any_text_is_taken(question: str, topic: list[str]) -> None:
    for opening in ("", "And ", "How about ", "and on ", "那"):
        changed = asked_of_another(opening + question, topic)
        assert not changed or len(changed) == len(topic)
