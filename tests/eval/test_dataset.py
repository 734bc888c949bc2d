"""Question files: what is wrong is named with its line, and nothing wrong gets through."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.dataset import Question, load, save
from rag.answer import Answer, Citation, Reason, Refusal, Sentence, Source, Verdict
from rag.errors import InputError
from rag.papers import Paper

GOOD = {"id": "a", "question": "How fast is it?", "type": "number", "gold": ["p1"], "facts": [{"number": "7"}]}


def write(path: Path, *rows: object) -> Path:
    path.write_text(
        "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), encoding="utf-8"
    )
    return path


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("{", "not JSON"),
        ("[1]", "an object is expected, not list"),
        ({**GOOD, "id": "a"}, "the id a stands in line 1 already"),
        ({**GOOD, "id": "b", "question": "  "}, "question: String should have at least 1 character"),
        ({**GOOD, "id": "b", "type": "numbers"}, "type: Input should be"),
        ({**GOOD, "id": "b", "gold": []}, "needs at least one gold paper"),
        ({**GOOD, "id": "b", "golds": ["p1"]}, "golds: Extra inputs"),
        ({**GOOD, "id": "b", "type": "unanswerable"}, "has no gold papers and no facts"),
        ({**GOOD, "id": "b", "type": "follow-up"}, "needs a history"),
        ({**GOOD, "id": "b", "facts": [{"number": "seven"}]}, "'seven' is not a number"),
        ({**GOOD, "id": "b", "facts": [{"pattern": "("}]}, "not a regular expression"),
        ({**GOOD, "id": "b", "facts": [{"contains": "x"}]}, "facts: each is a text"),
        ({**GOOD, "id": "b", "language": "english"}, "language"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, row: object, reason: str) -> None:
    path = write(tmp_path / "mine.jsonl", GOOD, "", row)
    with pytest.raises(InputError) as caught:
        load(path)
    assert f"{path}:3: " in str(caught.value)
    assert reason in str(caught.value)


def test_every_bad_line_is_named_at_once(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.jsonl", *["{"] * 25)
    with pytest.raises(InputError, match=r":10: .*\n… and 15 more"):
        load(path)


def test_a_gold_paper_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    questions = load(write(tmp_path / "mine.jsonl", GOOD, {**GOOD, "id": "b", "gold": ["p1", "p9"]}))
    questions.check_gold({"p1", "p9"}.__contains__)
    with pytest.raises(InputError, match=r"mine\.jsonl:2: gold paper p9 of b is not in the corpus"):
        questions.check_gold({"p1"}.__contains__)


def test_unknown_set_lists_the_shipped_ones() -> None:
    with pytest.raises(InputError, match="iclr2026"):
        load("nonesuch")


def test_empty_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no questions"):
        load(write(tmp_path / "mine.jsonl", ""))


def test_saved_and_loaded_again(tmp_path: Path) -> None:
    question = Question.model_validate({**GOOD, "facts": ["x", {"any": ["y", {"number": "2.50", "unit": "%"}]}]})
    save([question], tmp_path / "out.jsonl")
    assert load(tmp_path / "out.jsonl").questions == (question,)
    with pytest.raises(InputError, match="there already"):
        save([question], tmp_path / "out.jsonl")


def test_feedback_of_the_app_is_read(tmp_path: Path) -> None:
    paper = Paper("It is 7 times faster.", id="p1")
    citation = Citation(1, "p1", 0, 21, paper.abstract, 1.0)
    good = Answer(
        "How fast?",
        "How fast is X?",
        (Sentence("It is 7 times faster.", Verdict.SUPPORTED, (citation,)),),
        (Source(paper, 1.0, number=1), Source(Paper("Another.", id="p2"), 0.5)),
    )
    refused = Answer("Who won?", "Who won?", refusal=Refusal(Reason.NOT_IN_ABSTRACTS, "Not here."))
    path = write(
        tmp_path / "feedback.jsonl",
        {"question": "How fast?", "answer": good.to_dict(), "rating": "up", "reason": ""},
        {"question": "Who won?", "answer": refused.to_dict(), "rating": "up"},
        {"question": "How fast?", "answer": good.to_dict(), "rating": "down", "reason": "wrong number"},
    )
    up, refusal, down = load(path).questions
    assert (up.question, up.type, up.gold, up.answerable) == ("How fast is X?", "fact", ("p1",), True)
    assert (refusal.type, refusal.answerable) == ("unanswerable", False)
    assert (down.type, down.gold, down.answerable, down.note) == ("feedback", (), None, "rated down: wrong number")
    broken = write(tmp_path / "broken.jsonl", {"question": "q", "answer": {"question": "q"}, "rating": "up"})
    with pytest.raises(InputError, match=r"broken\.jsonl:1: not a row of feedback"):
        load(broken)


@pytest.mark.parametrize("name", ["sample", "iclr2026"])
def test_the_shipped_sets_load(name: str) -> None:
    assert load(name).questions
