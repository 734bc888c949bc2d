"""Conversations are kept for the browser that made them, and for no other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.dataset import load
from rag.answer import Answer, Sentence, Source, Verdict
from rag.papers import Paper
from ui import conversations as module
from ui.conversations import Conversations
from ui.feedback import Feedback

PAPER = Paper("Bees dance.", "Bees", id="p1")


def answer(question: str, text: str = "Bees dance.") -> Answer:
    return Answer(question, question, (Sentence(text, Verdict.SUPPORTED),), (Source(PAPER, 0.5, number=1),))


@pytest.fixture
def kept(tmp_path: Path) -> Conversations:
    return Conversations(tmp_path / "data" / "conversations.sqlite")


def test_what_was_kept_comes_back_equal_after_a_restart(kept: Conversations, tmp_path: Path) -> None:
    one = kept.start("ann", "Do bees dance?")
    assert kept.add("ann", one, answer("Do bees dance?")) == 1
    assert kept.add("ann", one, answer("And wasps?")) == 2
    again = Conversations(tmp_path / "data" / "conversations.sqlite").turns("ann", one)
    assert [(turn.number, turn.answer) for turn in again] == [(1, answer("Do bees dance?")), (2, answer("And wasps?"))]


def test_another_browser_sees_and_changes_nothing(kept: Conversations) -> None:
    one = kept.start("ann", "Do bees dance?")
    kept.add("ann", one, answer("Do bees dance?"))
    assert kept.list("bob") == []
    assert kept.turns("bob", one) == []
    assert kept.add("bob", one, answer("Mine?")) == 0
    kept.cut("bob", one, 1)
    kept.rename("bob", one, "stolen")
    kept.rate("bob", one, 1, "down")
    kept.delete("bob", one)
    assert [(turn.answer.question, turn.rating) for turn in kept.turns("ann", one)] == [("Do bees dance?", "")]
    assert kept.list("ann")[0].name == "Do bees dance?"


def test_cutting_forgets_a_turn_and_those_after_it(kept: Conversations) -> None:
    one = kept.start("ann", "a")
    for question in "abc":
        kept.add("ann", one, answer(question))
    kept.cut("ann", one, 2)
    kept.add("ann", one, answer("d"))
    assert [(turn.number, turn.answer.question) for turn in kept.turns("ann", one)] == [(1, "a"), (2, "d")]


@pytest.mark.parametrize(
    ("search", "found"),
    [("", ["Wasps?", "Bees?"]), ("bees", ["Bees?"]), ("sting", ["Wasps?"]), ("100%", []), ("_", []), ("'", [])],
)
def test_search_looks_in_names_questions_and_answers(kept: Conversations, search: str, found: list[str]) -> None:
    for question, text in (("Bees?", "They dance."), ("Wasps?", "They sting.")):
        one = kept.start("ann", question)
        kept.add("ann", one, answer(question, text))
    assert [item.name for item in kept.list("ann", search)] == found


def test_rename_and_delete(kept: Conversations) -> None:
    one = kept.start("ann", "Bees?")
    kept.rename("ann", one, "  About   bees ")
    assert kept.list("ann")[0].name == "About bees"
    kept.rename("ann", one, "   ")
    assert kept.list("ann")[0].name == "About bees"
    kept.delete("ann", one)
    assert kept.list("ann") == []
    assert kept.turns("ann", one) == []


def test_the_oldest_go_when_there_are_too_many(kept: Conversations, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PER_BROWSER", 3)
    monkeypatch.setattr(module, "PER_CONVERSATION", 2)
    made = [kept.start("ann", f"q{number}") for number in range(5)]
    assert [item.name for item in kept.list("ann")] == ["q4", "q3", "q2"]
    for question in "abc":
        kept.add("ann", made[-1], answer(question))
    assert [turn.answer.question for turn in kept.turns("ann", made[-1])] == ["b", "c"]
    monkeypatch.setattr(module, "ALTOGETHER", 2)
    kept.start("bob", "mine")
    assert len(kept.list("ann")) + len(kept.list("bob")) == 2


def test_a_long_question_gives_a_short_name(kept: Conversations) -> None:
    kept.start("ann", "word " * 100)
    assert len(kept.list("ann")[0].name) <= module.NAME_LENGTH


def test_feedback_can_be_read_as_cases(tmp_path: Path) -> None:
    feedback = Feedback(tmp_path / "data" / "feedback.jsonl")
    feedback.add(answer("Do bees dance?"), "up")
    feedback.add(answer("Do wasps?"), "down", "  wrong\npaper ")
    questions = load(feedback.path).questions
    assert [(one.question, one.type, one.gold) for one in questions] == [
        ("Do bees dance?", "fact", ("p1",)),
        ("Do wasps?", "feedback", ()),
    ]
    lines = [json.loads(line) for line in feedback.path.read_text(encoding="utf-8").splitlines()]
    assert lines[1]["reason"] == "wrong\npaper"
