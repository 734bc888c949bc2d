"""Questions in one sentence: the part that can be answered is, and it is said that the other was not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.engine import Engine
from rag.parts import parts_of


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("How fast is TNT?", ["How fast is TNT?"]),
        ("Which papers compare encoders and decoders?", ["Which papers compare encoders and decoders?"]),
        ("Encoders and what else?", ["Encoders and what else?"]),
        ("How fast is TNT, and who won the cup?", ["How fast is TNT?", "who won the cup?"]),
        ("How fast is TNT? Is HiPO better?", ["How fast is TNT?", "Is HiPO better?"]),
        ("How fast is TNT and what does it cost?", ["How fast is TNT?", "what does it cost? (TNT)"]),
    ],
)
def test_parts(question: str, parts: list[str]) -> None:
    assert parts_of(question) == parts


@pytest.mark.parametrize(
    "question",
    ["How much does HiPO gain and what is its GPU price?", "Who won the World Cup, and how much does HiPO gain?"],
)
def test_the_part_that_can_be_answered_is(sample: Engine, question: str) -> None:
    answer = sample.ask(question, llm="extractive")
    assert answer.refusal is None
    assert "+5.0 percentage points" in answer.text
    assert answer.notices[-1].casefold() == "only this part is answered: how much does hipo gain?"


def test_none_is_answered_where_none_can_be(sample: Engine) -> None:
    assert sample.ask("What is the capital of Australia and who won the World Cup?", llm="extractive").refusal


@given(st.text(max_size=100))
def test_any_text_is_taken(text: str) -> None:
    assert parts_of(text)
