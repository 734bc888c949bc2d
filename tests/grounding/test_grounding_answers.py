"""Checks that know the question: what an answer in its words, its pronouns or its titles bears out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rag.answer import Verdict
from rag.engine import Engine
from rag.grounding import Grounder, Grounding

HELP = "How much do MCP tools help {} in OSWorld-MCP?"
O3, CLAUDE = (
    "With 15 steps its success rate goes from 8.3% to 20.4%.",
    "With 50 steps its success rate goes from 40.1% to 43.3%.",
)


@pytest.fixture
def open_for(sample: Engine) -> Callable[[str], Grounding]:
    papers = list(sample.store.catalogue.papers())
    return lambda question: Grounder(sample.encode).open(papers, question)


@pytest.mark.parametrize(
    ("asked", "sentence", "verdict"),
    [
        (HELP.format("Claude"), CLAUDE, Verdict.SUPPORTED),
        (HELP.format("OpenAI o3"), O3, Verdict.SUPPORTED),
        ("How much do tools help agents?", O3, Verdict.SUPPORTED),
    ],
)
def test_a_pronoun_stands_for_what_was_asked_about(
    open_for: Callable[[str], Grounding], asked: str, sentence: str, verdict: Verdict
) -> None:
    assert open_for(asked).check(sentence).verdict is verdict


def test_a_figure_of_another_is_not_given_to_it(open_for: Callable[[str], Grounding]) -> None:
    found = open_for(HELP.format("Claude")).check(O3)
    assert found.verdict is not Verdict.SUPPORTED
    assert not found.bears
    assert "the source says this of “openai o3”" in found.note


def test_a_copied_means_does_not_carry_what_stands_before_it(open_for: Callable[[str], Grounding]) -> None:
    copied = (
        "using the Information Bottleneck principle to measure, side by side, how LLMs and people handle the trade-off "
        "between compression and meaning."
    )
    grounding = open_for("How is a vision-language judge kept in line with what people prefer?")
    made_up = grounding.check(f"A vision-language judge is kept in line with what people prefer by {copied}")
    assert made_up.verdict is Verdict.PARTLY
    assert made_up.note == "not in the sources: “A vision-language judge is kept in line with what people prefer”"
    assert grounding.check(f"The paper compares LLMs with people by {copied}").verdict is Verdict.SUPPORTED


@pytest.mark.parametrize(
    "title",
    [
        "HUME: Measuring the Human-Model Performance Gap in Text Embedding Tasks",
        "Measuring the Human-Model Performance Gap in Text Embedding Tasks.",
        "Towards Text-Mask Consistency in Medical Image Segmentation",
    ],
)
def test_a_title_is_an_answer_only_where_papers_are_asked_for(open_for: Callable[[str], Grounding], title: str) -> None:
    assert open_for("Which question sets show that voting helps?").check(title).verdict is Verdict.NOT_FOUND
    assert (
        open_for("Which papers hold models against people?").check(title).note
        != "the title of a paper, and no sentence"
    )


@pytest.mark.parametrize(
    ("asked", "sentence", "bears"),
    [
        ("Which encoder models align with humans better?", "Encoder models align with humans better.", False),
        ("Do encoder models align with humans better?", "Encoder models align with humans better.", True),
        ("Which models are nearer to humans?", "Encoder models align with humans better.", True),
        ("How much faster does TNT train?", "TNT trains up to 17× faster.", True),
    ],
)
def test_no_answer_rests_on_the_questions_own_words(
    open_for: Callable[[str], Grounding], asked: str, sentence: str, bears: bool
) -> None:
    found = open_for(asked).check(sentence)
    assert found.verdict is Verdict.SUPPORTED
    assert found.bears is bears


@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("Nemotron-CC-Math sert à afficher les pages web avant le nettoyage dans Nemotron-CC-Math-3+.", Verdict.PARTLY),
        ("Nemotron-CC-Math-4+ 这个数据集有 52B 个 token。", Verdict.SUPPORTED),
    ],
)
def test_names_that_were_asked_about_bear_out_no_foreign_sentence(
    open_for: Callable[[str], Grounding], sentence: str, verdict: Verdict
) -> None:
    assert open_for("What program renders web pages for Nemotron-CC-Math?").check(sentence).verdict is verdict
