"""A run: nothing is asked twice, what fails is recorded and the run goes on, and the folder can repeat it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from planted import Scripted, truthful

from eval.cache import code_hash
from eval.dataset import Exchange, Question, QuestionSet
from eval.judges import LocatedJudge
from eval.runner import Plan, run
from eval.runs import OVERALL, find, list_runs, load
from eval.scoring import Judgement
from rag.answer import Answer, Reason, Refusal
from rag.errors import InputError, ModelUnavailable
from rag.papers import Paper
from rag.settings import Settings, load_settings


class Yes:
    """A judge that supports everything."""

    name = "yes"

    def judge(self, claim: str, papers: Sequence[Paper]) -> Judgement:
        return Judgement(True, 1.0)


@dataclass
class Counting(Scripted):
    """Counts the askings, keeps their orders, and fails on the questions named."""

    asked: int = 0
    fails: tuple[str, ...] = ()
    orders: tuple[tuple[int, ...] | None, ...] = ()
    pause: float = 0.0

    def ask(self, question: str, history: Sequence[Exchange], order: Sequence[int] | None) -> Answer:
        self.asked += 1
        self.orders = (*self.orders, None if order is None else tuple(order))
        time.sleep(self.pause)
        if question in self.fails:
            raise ModelUnavailable("the server is gone", hint="start it")
        return self.answers[question]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(data=tmp_path / "data")


@pytest.fixture
def questions() -> QuestionSet:
    return truthful()[0]


@pytest.fixture
def system() -> Counting:
    honest = truthful()[1]
    return Counting(honest.answers, honest.papers)


def test_a_second_run_asks_nothing(settings: Settings, questions: QuestionSet, system: Counting) -> None:
    first = run(Plan(questions), system, Yes(), settings)
    assert system.asked == len(questions.questions) == len(first.rows)
    again = run(Plan(questions), system, Yes(), settings)
    assert system.asked == len(questions.questions)
    assert again.folder == first.folder
    assert [row.values for row in again.rows] == [row.values for row in first.rows]
    assert again.about["cached"] == len(questions.questions)
    run(Plan(questions, fresh=True), system, Yes(), settings)
    assert system.asked == 2 * len(questions.questions)


def test_another_judge_scores_the_same_answers(settings: Settings, questions: QuestionSet, system: Counting) -> None:
    first = run(Plan(questions), system, Yes(), settings)
    second = run(Plan(questions), system, LocatedJudge(), settings)
    assert system.asked == len(questions.questions)
    assert second.folder != first.folder


@pytest.mark.parametrize(
    "changed", [{"top_k": 3}, {"temperature": 0.5}, {"unsupported": "drop"}, {"llm": "ollama/another"}]
)
def test_other_settings_are_another_answer(
    settings: Settings, questions: QuestionSet, system: Counting, changed: dict[str, object]
) -> None:
    plan = Plan(questions, limit=3)
    run(plan, system, Yes(), settings)
    run(plan, system, Yes(), settings.model_copy(update=changed))
    assert system.asked == 6


def test_another_corpus_is_another_answer(settings: Settings, questions: QuestionSet, system: Counting) -> None:
    plan = Plan(questions, limit=3)
    run(plan, system, Yes(), settings)
    run(plan, replace(system, fingerprint="edited", asked=0), Yes(), settings)
    assert system.asked == 3
    assert len(list_runs(settings.data / "evaluations")) == 2


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_failure_costs_its_question_and_not_the_run(
    settings: Settings, questions: QuestionSet, system: Counting, jobs: int
) -> None:
    broken = [question.question for question in questions.questions[2:4]]
    system.fails = tuple(broken)
    seen: list[tuple[int, int, int]] = []
    result = load(
        run(Plan(questions, jobs=jobs), system, Yes(), settings, progress=lambda *now: seen.append(now)).folder
    )
    assert len(result.rows) == len(questions.questions)
    assert [row.question.question for row in result.rows if row.failures] == broken
    assert result.rows[2].failures == ("first: ModelUnavailable: the server is gone start it",)
    assert result.failed == 2
    assert seen[-1] == (len(questions.questions), len(questions.questions), 2)
    assert result.summaries()[OVERALL]["right"].n == len(questions.questions) - 2
    system.fails, system.asked = (), 0
    assert run(Plan(questions, jobs=jobs), system, Yes(), settings).failed == 0
    assert system.asked == 2  # only what had failed


def test_a_model_that_is_gone_is_no_right_refusal(settings: Settings, system: Counting) -> None:
    question = Question(id="u", question="Who won?", type="unanswerable")
    gone = Answer("Who won?", "Who won?", refusal=Refusal(Reason.MODEL_UNAVAILABLE, "Ollama does not answer"))
    result = run(
        Plan(QuestionSet("one", Path("one.jsonl"), (question,), {"u": 1})),
        replace(system, answers={"Who won?": gone}),
        Yes(),
        settings,
    )
    assert result.rows[0].failures == ("first: Ollama does not answer",)
    assert "refusal" not in result.summaries()[OVERALL]


def test_a_judge_that_fails_is_counted_apart(settings: Settings, questions: QuestionSet, system: Counting) -> None:
    class Down:
        name = "down"

        def judge(self, claim: str, papers: Sequence[Paper]) -> Judgement:
            return Judgement(None, note="half a JSON")

    result = run(Plan(questions), system, Down(), settings)
    summary = result.summaries()[OVERALL]
    answered = sum(question.type == "number" for question in questions.questions)
    assert result.judge_failed >= answered
    assert (
        summary["faithfulness"].n == len(questions.questions) - answered
    )  # the refusals, which no judge is asked about
    assert summary["right"].n == len(questions.questions)
    assert result.rows[0].verdicts == ("judge failed",)


def test_a_judge_that_raises_costs_its_question(settings: Settings, questions: QuestionSet, system: Counting) -> None:
    class Broken:
        name = "broken"

        def judge(self, claim: str, papers: Sequence[Paper]) -> Judgement:
            raise ZeroDivisionError("a fault of its own")

    result = run(Plan(questions, limit=5, seed=1), system, Broken(), settings)
    scored = [row for row in result.rows if row.question.type == "number"]
    assert scored and all("not scored: ZeroDivisionError" in row.failures[0] for row in scored)


def test_a_missing_gold_paper_stops_it_before_anything_is_asked(
    settings: Settings, questions: QuestionSet, system: Counting
) -> None:
    system.papers = system.papers[1:]
    with pytest.raises(InputError, match=r"planted\.jsonl:1: gold paper .* is not in the corpus"):
        run(Plan(questions), system, Yes(), settings)
    assert system.asked == 0


def test_shuffles_and_repeats(settings: Settings, questions: QuestionSet, system: Counting) -> None:
    settings = settings.model_copy(update={"top_k": 4})
    result = run(Plan(questions, limit=4, shuffle=3, repeat=2), system, Yes(), settings)
    assert system.asked == 4 * 4
    assert [item.variant for item in result.rows[0].outcomes] == ["first", "shuffle 1", "shuffle 2", "repeat 1"]
    orders = [order for order in system.orders if order is not None]
    assert all(sorted(order) == [0, 1, 2, 3] and order != (0, 1, 2, 3) for order in orders)
    assert result.summaries()[OVERALL]["answer_changed"].value == 0
    run(Plan(questions, limit=4, shuffle=3, repeat=2), system, Yes(), settings)
    assert system.asked == 4 * 4


def test_a_limit_is_the_same_draw_every_time(questions: QuestionSet) -> None:
    drawn = Plan(questions, limit=6).chosen()
    assert len(drawn) == 6 and drawn == Plan(questions, limit=6).chosen()
    assert drawn != questions.questions[:6]
    assert drawn != Plan(questions, limit=6, seed=8).chosen()


def test_stopped_in_the_middle_it_keeps_what_is_done(
    settings: Settings, questions: QuestionSet, system: Counting
) -> None:
    stop = threading.Event()
    result = run(
        Plan(questions), system, Yes(), settings, stop=stop, progress=lambda done, *_: stop.set() if done == 5 else None
    )
    assert (len(result.rows), result.about["finished"]) == (5, 5)
    assert load(result.folder).about["questions"] == len(questions.questions)
    run(Plan(questions), system, Yes(), settings)
    assert system.asked == len(questions.questions)


KILLED = """
import sys
sys.path.insert(0, sys.argv[1])
from test_runner import Counting, Yes
from planted import truthful
from eval.runner import Plan, run
from rag.settings import load_settings
questions, honest = truthful()
system = Counting(honest.answers, honest.papers, pause=0.05)
run(Plan(questions), system, Yes(), load_settings(), progress=lambda done, *_: print(done, flush=True))
"""


def test_killed_it_goes_on_where_it_was(settings: Settings, questions: QuestionSet, system: Counting) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(Path(__file__).parent)],
        stdout=subprocess.PIPE,
        env={**os.environ, "RAG_DATA": str(settings.data), "PYTHONPATH": str(Path(__file__).parents[2])},
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) == 8:
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    code_hash.cache_clear()  # the source may have been edited since this process began
    result = run(Plan(questions), system, Yes(), settings)
    assert len(result.rows) == len(questions.questions)
    assert system.asked <= len(questions.questions) - 8
    assert result.about["cached"] >= 8


def test_the_folder_says_how_to_repeat_it(settings: Settings, questions: QuestionSet, system: Counting) -> None:
    secret = load_settings(data=settings.data, llm_key="sk-secret", top_k=3)
    result = run(Plan(questions, limit=2), system, Yes(), secret)
    about = json.loads((result.folder / "run.json").read_text())
    assert about["settings"]["top_k"] == 3
    assert {"torch", "chromadb", "python"} <= set(about["versions"])
    assert (about["seed"], about["limit"], about["model"], about["judge"]) == (7, 2, "truthful", "yes")
    assert about["corpus"] and about["code"] and about["peak_memory_mb"] > 0
    assert "sk-secret" not in "".join(file.read_text() for file in result.folder.iterdir())
    assert find(settings.data / "evaluations", result.name) == result.folder


def test_no_such_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none yet"):
        find(tmp_path, "nonesuch")
    with pytest.raises(InputError, match=r"run\.json is missing"):
        load(tmp_path)
