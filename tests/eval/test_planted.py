"""Planted faults are found, each by the metrics that are about it, and `compare` says so in words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from planted import UNANSWERABLE, change_a_number, invent, miss_the_point, plant, rotate_citations, truthful

from eval.compare import compare, markdown
from eval.judges import LocatedJudge
from eval.metrics import METRICS
from eval.runner import Plan, run
from eval.runs import OVERALL, Run, load
from rag.answer import Answer
from rag.settings import load_settings

FAULTS: dict[str, Callable[[int, Answer], Answer]] = {
    "numbers": change_a_number,
    "citations": rotate_citations,
    "inventions": invent,
    "beside the point": miss_the_point,
}


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """The truthful run and one a fault, each loaded back from its folder."""
    folder = tmp_path_factory.mktemp("planted")
    settings = load_settings(data=folder, llm="extractive")
    questions, honest = truthful()
    systems = {"truthful": honest, **{name: plant(honest, name, fault) for name, fault in FAULTS.items()}}
    judge = LocatedJudge()
    return {name: load(run(Plan(questions), system, judge, settings).folder) for name, system in systems.items()}


def mean(a_run: Run, key: str) -> float:
    value = a_run.summaries()[OVERALL][key].value
    assert value is not None
    return value


def test_the_truthful_set_has_full_marks(sets: dict[str, Run]) -> None:
    honest = sets["truthful"]
    assert len(honest.rows) > 30
    assert honest.failed == honest.judge_failed == 0
    for key in ("right", "numbers", "faithfulness", "citation precision", "citation recall", "quotes", "refusal"):
        assert mean(honest, key) == 1, key
    assert mean(honest, "answered_unanswerable") == mean(honest, "refused_answerable") == 0


@pytest.mark.parametrize(
    ("fault", "lower", "same"),
    [
        (
            "numbers",
            ["numbers", "right", "faithfulness", "citation precision", "citation recall"],
            ["quotes", "refusal"],
        ),
        ("citations", ["citation precision", "citation recall"], ["quotes", "right", "faithfulness", "refusal"]),
        ("beside the point", ["right", "numbers"], ["faithfulness", "citation precision", "quotes", "refusal"]),
        ("inventions", ["refusal", "right", "faithfulness", "citation recall"], ["recall@5", "quotes"]),
    ],
)
def test_each_fault_lowers_what_is_about_it_and_nothing_else(
    sets: dict[str, Run], fault: str, lower: list[str], same: list[str]
) -> None:
    comparison = compare(sets["truthful"], sets[fault])
    assert comparison.verdict == "worse", comparison.because
    assert {key: comparison.differences[key].verdict for key in lower} == dict.fromkeys(lower, "worse")
    assert {key: comparison.differences[key].value for key in same} == dict.fromkeys(same, 0)
    assert "worse than" in markdown(comparison).splitlines()[0]


def test_a_third_of_the_numbers_is_a_third_of_the_marks(sets: dict[str, Run]) -> None:
    answered = [row for row in sets["numbers"].rows if row.question.type == "number"]
    wrong = [row.question.id for row in answered if row.values["faithfulness"] == 0]
    assert wrong == [row.question.id for place, row in enumerate(answered) if place % 3 == 0]


def test_every_invention_counts_as_wrong_everywhere(sets: dict[str, Run]) -> None:
    invented = [row for row in sets["inventions"].rows if row.question.type == "unanswerable"]
    assert len(invented) == UNANSWERABLE
    for row in invented:
        assert {row.values[key] for key in ("right", "facts", "numbers", "refusal", "faithfulness")} == {0}


def test_the_changed_questions_are_named(sets: dict[str, Run]) -> None:
    comparison = compare(sets["truthful"], sets["inventions"])
    assert {change.question_id for change in comparison.changes} == {f"u{number}" for number in range(UNANSWERABLE)}
    text = markdown(comparison)
    assert "`u0` Unanswerable question 0? (" in text and "refusal 1 → 0" in text
    assert f"{UNANSWERABLE} questions changed" in text


@pytest.mark.parametrize("name", ["truthful", *FAULTS])
def test_a_run_beside_itself(sets: dict[str, Run], name: str) -> None:
    comparison = compare(sets[name], sets[name])
    assert comparison.verdict == "cannot tell"
    assert comparison.changes == ()
    assert {item.verdict for item in comparison.differences.values()} == {"cannot tell"}
    assert markdown(comparison).startswith("**cannot tell whether")


def test_the_other_way_round_is_better(sets: dict[str, Run]) -> None:
    assert compare(sets["inventions"], sets["truthful"]).verdict == "better"


def test_better_here_and_worse_there_is_no_verdict(sets: dict[str, Run]) -> None:
    comparison = compare(sets["citations"], sets["beside the point"])
    assert comparison.verdict == "cannot tell"
    assert "better in" in comparison.because and "worse in" in comparison.because


def test_no_value_is_nan_or_out_of_range(sets: dict[str, Run]) -> None:
    for a_run in sets.values():
        for row in a_run.rows:
            for key, value in row.values.items():
                assert value is None or (value >= 0 and (value <= 1 or not METRICS[key].share)), (key, value)


def test_a_run_is_read_back_as_it_was(sets: dict[str, Run], tmp_path: Path) -> None:
    from eval.runs import save

    again = Run(tmp_path / "copy", sets["numbers"].about, sets["numbers"].rows)
    save(again)
    assert load(again.folder).rows == sets["numbers"].rows
