"""Which sentences are picked: for reasons, durations, and for what a follow-up asks itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rag.conversation import Turn
from rag.embedding import Embedder
from rag.engine import Engine
from rag.followup import names_said
from rag.papers import Paper

EMANATORS = Paper(
    "Emanators release transfluthrin in small doses. In 40 villages malaria incidence fell by 36% with emanators. "
    "In the dry season no effect was detectable. Landing of mosquitoes fell by 58% outdoors and by 44% indoors. "
    "The protection lasted for nine weeks. Incidence fell because mosquitoes did not enter the houses.",
    title="Transfluthrin emanators against malaria",
)
STEPS = Paper(
    "QuickDrift samples images in few steps. "
    "On CIFAR-10, QuickDrift reaches an FID of 2.9 with 8 steps and 2.4 with 16 steps. "
    "On ImageNet it reaches an FID of 4.0 with 8 steps. Compared with DDIM, FID is lower by a factor of 2.3.",
    title="QuickDrift: sampling in few steps",
)


@pytest.fixture(scope="module")
def engine(over: Callable[[list[Paper], Any], Engine], embedder: Embedder) -> Engine:
    return over([EMANATORS, STEPS], embedder)


def talk(engine: Engine, *questions: str) -> str:
    """The last answer of a conversation."""
    turns: list[Turn] = []
    for question in questions:
        answer = engine.ask(question, history=turns)
        turns.append(Turn.of(answer))
    return answer.text


def test_a_reason_is_picked_where_one_is_asked_for(engine: Engine) -> None:
    assert "because" in talk(engine, "Why did malaria incidence fall with emanators?")
    assert "because" in talk(engine, "How much did malaria incidence fall with emanators?", "why?")


def test_a_duration_is_picked_where_one_is_asked_for(engine: Engine) -> None:
    assert "nine weeks" in talk(engine, "How long did the protection by transfluthrin emanators last?")


@pytest.mark.parametrize(
    ("questions", "held"),
    [
        (("What FID does QuickDrift reach on CIFAR-10 with 16 steps?", "and with 8?"), "2.9 with 8"),
        (("What FID does QuickDrift reach on CIFAR-10 with 8 steps?", "on ImageNet?"), "4.0"),
        (
            ("How much did landing of mosquitoes fall outdoors with emanators?", "which mosquitoes landing indoors?"),
            "44%",
        ),
        (("How much did malaria incidence fall with emanators?", "and in the dry season?"), "no effect"),
    ],
)
def test_a_sentence_that_was_said_is_said_again_where_it_answers(
    engine: Engine, questions: tuple[str, ...], held: str
) -> None:
    assert held in talk(engine, *questions)


def test_a_topic_is_no_unit_and_no_term_of_statistics() -> None:
    assert names_said("It was 0.73 (95% CI 0.61 to 0.88) at 148 GPa with LUMEN (SD 2).") == ["LUMEN"]
