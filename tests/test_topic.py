"""What a conversation is about: what the papers have together, and "tell me more"."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answer import Answer, Reason
from rag.conversation import Turn, standalone
from rag.engine import Engine
from rag.shelf import Library
from rag.topic import asks_for_more, read, topic_of

GAIN = "How much does HiPO gain on AIME 2025?"


def talk(engine: Engine, *questions: str) -> list[Answer]:
    """The answers to the questions of one conversation."""
    history: list[Turn] = []
    answers = []
    for question in questions:
        answers.append(engine.ask(question, history=history, llm="extractive"))
        history.append(Turn(question, answers[-1].text))
    return answers


@pytest.mark.parametrize(
    ("asked", "question", "understood"),
    [
        ([GAIN], "How about TNT?", "How much does TNT gain?"),  # no paper has TNT and AIME
        ([GAIN], "und TNT?", "How much does TNT gain?"),
        ([GAIN], "and MATH?", "How much does HiPO gain on MATH?"),  # a benchmark, as little a title as AIME
        ([GAIN], "And on BRUMO 2025?", "How much does HiPO gain on BRUMO 2025?"),
        ([GAIN], "And Everest?", "How much does Everest gain on AIME 2025?"),  # no paper has it: left to be refused
        ([GAIN, "How about TNT?"], "How fast is it?", "How fast is it? (How much does TNT gain?)"),
        (
            [GAIN, "How about TNT?", "How fast is it?"],
            "And EF21-Muon?",
            "How fast is it? (How much does EF21-Muon gain?)",
        ),
        ([GAIN], "What about molecules?", "What about molecules?"),  # in the papers, not beside HiPO
        ([GAIN], "how about EF21-Muon?", "How much does EF21-Muon gain?"),  # introduced, though in no title
        (["How much do MCP tools help o3?"], "And Claude?", "How much do MCP tools help Claude?"),
        (["What is state-clashing?"], "How about TNT?", "What is TNT?"),
        (["Which papers are about molecules?"], "and about robots?", "and about robots?"),
        ([GAIN, "What about molecules?"], "And medical images?", "And medical images?"),
        (["What is TNT for?"], "And memory?", "And memory? (What is TNT for?)"),  # TNT's own abstract has it
        ([GAIN, "Tell me more"], "And TNT?", "How much does TNT gain?"),
    ],
)
def test_the_papers_tell_whether_the_old_topic_and_the_new_thing_belong_together(
    sample: Engine, asked: list[str], question: str, understood: str
) -> None:
    history = [Turn(one, "An answer.") for one in asked]
    assert standalone(question, history, shelf=Library(sample.store)).question == understood


@pytest.mark.parametrize(
    "question",
    [
        "Tell me more",
        "tell me more about it, please.",
        "more",
        "Anything else?",
        "what else?",
        "go on",
        "Why?",
        "And why?",
        "Can you elaborate?",
        "Why is that so?",
        "more details",
        "explain",
        "What else do they say?",
        "还有吗？",
        "为什么？",
    ],
)
def test_asks_for_more(question: str) -> None:
    assert asks_for_more(question)


@pytest.mark.parametrize(
    "question",
    [
        "Why does LoRA save memory?",
        "Tell me more about LoRA",
        "Which is more accurate?",
        "How much more?",
        "",
        "And TNT?",
    ],
)
def test_asks_something_else(question: str) -> None:
    assert not asks_for_more(question)


def test_more_is_what_the_cited_abstract_has_not_said_yet_until_it_has_said_all(sample: Engine) -> None:
    answers = talk(sample, "What does HiPO do?", "Tell me more", "Why?", "more", "anything else?")
    told = [sentence.text for answer in answers for sentence in answer.sentences]
    assert len(told) == len(set(told)) == 9  # as many as the abstract has
    assert {citation.paper_id for answer in answers for citation in answer.citations} == {
        answers[0].citations[0].paper_id
    }
    assert [answer.standalone for answer in answers] == ["What does HiPO do?"] * 5
    assert answers[1].notices == ("what else the abstracts say on the question before",)
    refusal = answers[-1].refusal
    assert refusal is not None
    assert (refusal.reason, refusal.message) == (
        Reason.NOT_IN_ABSTRACTS,
        "The abstracts that were cited say no more on that.",
    )


def test_a_follow_up_reads_on_where_the_answer_before_said_it(sample: Engine) -> None:
    first, second = talk(sample, "What is TNT?", "What are its two stages?")
    assert any("second stage" in sentence.text for sentence in second.sentences)
    again = {one.text for one in first.sentences} & {one.text for one in second.sentences}
    assert all("two stages" in text for text in again)  # what was asked for may be said again, and nothing else


def test_what_is_asked_on_another_benchmark_is_not_answered_from_the_old_one(sample: Engine) -> None:
    asked = talk(sample, "By how much does HiPO beat GRPO on AIME 2024?", "and on AIME 2025?", "and on MATH?")
    assert [bool(answer.refusal) for answer in asked] == [False, False, True]


def test_more_is_no_question_of_the_topic() -> None:
    assert topic_of(["What is TNT for?", "Tell me more", "Why?"]) == ("What is TNT for?",)
    assert not read("Tell me more", ()).more


@given(st.lists(st.text(max_size=60), max_size=4), st.text(max_size=60))
def test_any_conversation_is_read(asked: list[str], question: str) -> None:
    topic = topic_of(asked)
    assert bool(topic) == bool(asked)
    reading = read(question, topic)
    assert reading.topic
    assert reading.question == reading.topic[-1]
