"""Questions about a paper rather than of its abstract are answered from its record, and are no answers."""

from __future__ import annotations

import pytest

from rag.answer import Reason
from rag.conversation import Turn
from rag.engine import Engine
from rag.papers import Paper
from rag.record import told_by_record

TNT = Paper(
    "TNT trains fast.",
    title="TNT: Improving Chunkwise Training",
    authors=("Ada Lovelace", "Alan Turing", "Grace Hopper"),
    year=2026,
    venue="ICLR 2026",
    doi="10.1000/182",
)
HEADS = Paper(
    "Heads vote, as in TNT and GRPO.", title="Expert Heads: Evidence for GRPO", url="https://example.org/heads"
)
WRITTEN = "it was written by Ada Lovelace, Alan Turing and Grace Hopper"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Who wrote TNT?", WRITTEN),
        ("who are the authors of tnt", WRITTEN),
        ("Who wrote it? (How much does TNT gain?)", WRITTEN),
        ("Who proposed TNT?", WRITTEN),
        ("TNT 是谁写的？", WRITTEN),
        ("Who wrote “Improving Chunkwise Training”?", WRITTEN),
        ("When was TNT published?", "it is from 2026"),
        ("Where was TNT published?", "it appeared in ICLR 2026"),
        ("Which conference accepted TNT?", "it appeared in ICLR 2026"),
        ("Where can I read TNT?", "it is at https://doi.org/10.1000/182"),
    ],
)
def test_the_record_tells(question: str, said: str) -> None:
    assert told_by_record(question, [HEADS, TNT]) == f"The record of “{TNT.title}” says that {said}."


def test_what_the_record_lacks_is_said() -> None:
    told = told_by_record("Who are the authors of the paper on expert heads?", [TNT, HEADS])
    assert told == f"The record of “{HEADS.title}” has no authors."
    assert told_by_record("Where can I find Expert Heads?", [HEADS]).endswith("it is at https://example.org/heads.")


def test_several_fields_are_told_at_once() -> None:
    told = told_by_record("When was TNT published? where? (TNT)", [HEADS, TNT])
    assert told == f"The record of “{TNT.title}” says that it is from 2026 and it appeared in ICLR 2026."


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("When was the paper on chunkwise training published?", [TNT.title]),
        ("Who wrote about expert heads?", [HEADS.title]),
        ("Who wrote about how heads vote?", [HEADS.title]),  # in the abstract
        ("Who wrote about marmots?", []),
    ],
)
def test_a_paper_is_called_by_what_it_is_about(question: str, titles: list[str]) -> None:
    told = told_by_record(question, [HEADS, TNT])
    assert [paper.title for paper in (HEADS, TNT) if f"“{paper.title}”" in told] == titles


def test_what_a_follow_up_takes_over_asks_for_nothing() -> None:
    assert told_by_record("what do they find? (Who wrote TNT?)", [TNT]) == ""
    assert told_by_record("and when? (Who wrote TNT?)", [TNT]).endswith("says that it is from 2026.")


def test_a_question_in_two_halves_that_is_taken_over_asks_for_nothing_again(sample: Engine) -> None:
    first = sample.ask("How fast is TNT and when was it published?")
    assert len(first.notices) == 1
    second = sample.ask("what about state-clashing?", history=[Turn.of(first)])
    assert not any("The record of" in note for note in second.notices)
    both = sample.ask("who wrote it and how fast is it?", history=[Turn("What is TNT?", "A paradigm.")])
    assert any("17×" in sentence.text for sentence in both.sentences)
    assert any("has no authors" in note for note in both.notices)


def test_the_papers_spoken_of_are_those_of_it() -> None:
    assert told_by_record("who ran this study?", [HEADS, TNT], [TNT]).endswith(f"{WRITTEN}.")


def test_many_authors_are_counted() -> None:
    crowd = Paper("Text.", title="Crowd", authors=tuple(f"Author {number}" for number in range(40)))
    assert told_by_record("Who wrote Crowd?", [crowd]).endswith("Author 8 and 31 others.")


@pytest.mark.parametrize(
    "question",
    [
        "Who proposed the idea?",
        "How fast is TNT?",
        "When does TNT help?",
        "What do the authors of TNT prove?",
        "",
    ],
)
def test_of_other_questions_it_says_nothing(question: str) -> None:
    assert told_by_record(question, [HEADS, TNT]) == ""


@pytest.mark.parametrize(
    "question", ["Who wrote Pride and Prejudice?", "Who wrote it?", "Who are the authors of GRPO?"]
)
def test_no_abstract_says_who_wrote_what_no_paper_is_called(question: str) -> None:
    assert told_by_record(question, [HEADS, TNT]) == "No paper that was found is called that."


@pytest.mark.parametrize(
    "question", ["Who wrote the FooNet paper?", "authors? (What is FooNet?)", "when was FooNet published?"]
)
def test_a_paper_is_called_by_what_it_introduces(question: str) -> None:
    paper = Paper("We propose FooNet, a network.", title="Deep Foo", authors=("Ada Lovelace",), year=2020)
    assert told_by_record(question, [TNT, paper]).startswith("The record of “Deep Foo” says that it ")
    assert told_by_record("Who proposed FooNet?", [TNT, paper]) == ""  # its authors, or those of an older paper


def test_that_no_paper_introduces_it_is_said() -> None:
    told = told_by_record("Who proposed GRPO?", [HEADS, TNT])  # in a title, but as what that paper builds on
    assert told == "No paper that was found introduces GRPO."


def test_what_the_record_says_is_a_refusal_with_the_paper_listed(sample: Engine) -> None:
    answer = sample.ask("When was it published?", history=[Turn("How fast is TNT?", "17 times.")], llm="extractive")
    assert answer.refusal is not None
    assert answer.refusal.reason is Reason.NOT_IN_ABSTRACTS
    assert "TNT: Improving Chunkwise Training" in answer.refusal.message
    assert "2026" in answer.refusal.message
    assert any(source.paper.title.startswith("TNT") for source in answer.sources)


def test_the_half_of_a_question_that_asks_for_the_record_is_told_beside_the_answer(sample: Engine) -> None:
    answer = sample.ask("How fast is TNT and when was it published?")
    assert any("17×" in sentence.text for sentence in answer.sentences)
    assert [note for note in answer.notices if note.endswith("says that it is from 2026.")]
    both = sample.ask("Who wrote TNT and when was it published?")
    assert both.refusal is not None
    assert both.refusal.message.startswith("Abstracts do not say that. The record of “TNT")
