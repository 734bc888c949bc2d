"""Bounds for CI, the table of a sweep, and the commands that need no model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from planted import change_a_number, invent, plant, truthful

from eval.cli import main
from eval.dataset import load
from eval.judges import LocatedJudge
from eval.runner import Plan, run
from eval.runs import Run
from eval.session import broken_gates, open_system, parse_gates, sweep_table
from eval.speed import Speed, table
from rag.errors import InputError, ModelUnavailable, SettingsError
from rag.settings import load_settings


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """Three runs in one data folder."""
    settings = load_settings(data=tmp_path_factory.mktemp("session"), llm="extractive")
    questions, honest = truthful()
    systems = [honest, plant(honest, "inventive", invent), plant(honest, "misread", change_a_number)]
    return {system.model: run(Plan(questions), system, LocatedJudge(), settings) for system in systems}


@pytest.mark.parametrize(
    ("model", "gates", "broken"),
    [
        ("truthful", "faithfulness=0.95,refusal=0.9,answered_unanswerable=0.1", []),
        ("inventive", "refusal=0.9", ["refusal 0.000 < 0.9"]),
        ("inventive", "answered_unanswerable=0.1", ["answered_unanswerable 1.000 > 0.1"]),
        ("inventive", "quotes=1", []),
        ("misread", "quotes=1, faithfulness=0.9", ["faithfulness"]),
        ("truthful", "answer_changed=0.1", ["answer_changed was not measured"]),
        ("truthful", "", []),
    ],
)
def test_gates(made: dict[str, Run], model: str, gates: str, broken: list[str]) -> None:
    found = broken_gates(made[model], parse_gates(gates))
    assert len(found) == len(broken)
    assert all(line.startswith(start) for line, start in zip(found, broken, strict=True))


def test_a_run_with_failures_or_cut_short_passes_no_gate(made: dict[str, Run]) -> None:
    whole = made["truthful"]
    cut = Run(whole.folder, whole.about, whole.rows[:-1])
    assert broken_gates(cut, {"quotes": 1.0}) == ["1 questions were not asked"]
    assert broken_gates(cut, {}) == []


@pytest.mark.parametrize("text", ["faith=0.9", "faithfulness", "faithfulness=high"])
def test_a_gate_that_makes_no_sense(text: str) -> None:
    with pytest.raises(InputError, match="--fail-under"):
        parse_gates(text)


def test_sweep_table(made: dict[str, Run]) -> None:
    lines = sweep_table([({"model": name, "papers": "3"}, one) for name, one in made.items()]).splitlines()
    assert lines[0].startswith("| model | papers | n | recall@5 | right |")
    assert lines[2].startswith("| truthful | 3 | ")
    assert len({line.count("|") for line in lines}) == 1


def command(*arguments: str) -> int:
    """The exit code of `rag eval …`."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


def test_compare_and_report_by_name(
    made: dict[str, Run], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_DATA", str(made["truthful"].folder.parents[1]))
    good, bad = made["truthful"].name, made["inventive"].name
    assert command("compare", good, bad, "--html", str(tmp_path / "two.html")) == 0
    assert f"{bad} is worse than {good}" in capsys.readouterr().out
    assert "<svg" in (tmp_path / "two.html").read_text()
    assert command("report", bad, "--against", good, "--fail-under", "refusal=0.9") == 1
    captured = capsys.readouterr()
    assert "refusal 0.000 < 0.9" in captured.err
    assert "worse than" in (made["inventive"].folder / "report.html").read_text()
    assert command("list") == 0
    assert set(capsys.readouterr().out.split()) >= {one.name for one in made.values()}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["compare", "a", "b"], "there is no evaluation a"),
        (["report"], "there is no evaluation in"),
        (["run", "--set", "nonesuch"], "there is no question set nonesuch"),
        (["run", "--fail-under", "faith=1"], "there is no metric faith"),
        (["judges", "--data", "nonesuch.jsonl"], "cannot be read"),
    ],
)
def test_what_is_not_there(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(*arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and said in error
    assert "Traceback" not in error


def test_drafting_without_a_model_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert command("generate", "--out", str(tmp_path / "drafts.jsonl")) == 3
    assert "needs a language model" in capsys.readouterr().err


def test_judges_on_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pairs = [
        {"claim": "It is 7 times faster.", "evidence": "The method is 7 times faster.", "label": "supported"},
        {"claim": "It is 9 times faster.", "evidence": "The method is 7 times faster.", "label": "not_supported"},
    ]
    file = tmp_path / "pairs.jsonl"
    file.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    assert command("judges", "--data", str(file), "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found[0]["judge"], found[0]["n"], found[0]["failed"]) == ("located", 2, 0)
    assert found[0]["passed"] == {"supported": [1, 1], "not_supported": [0, 1]}


def test_unknown_system_and_a_peer_without_a_model() -> None:
    with pytest.raises(SettingsError, match="askabstracts, llamaindex"):
        open_system("ragas", load_settings())
    with pytest.raises(ModelUnavailable, match="needs a language model"):
        open_system("llamaindex", load_settings())


def test_speed_table_has_the_ratios() -> None:
    speed = Speed(100, 150, 2, "bf16", 90.0, 95.0, 25.0, 0.4, 6.0, 9.0, 5.0, 3.2, 600.0, 900.0, 12.0, 30.0)
    text = table(speed)
    assert "3.60 × LlamaIndex, 0.95 × bare" in text
    assert "1.20 × embedding the question" in text


@pytest.mark.nightly
def test_speed_is_measured_for_all_three(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("speed", "--papers", "60", "--questions", "5", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["papers"] == 60 and found["chunks"] >= 60
    assert min(found["ours_rate"], found["bare_rate"], found["peer_rate"], found["ours_memory_mb"]) > 0
    assert found["cold_seconds"] is not None


def test_importing_the_commands_loads_nothing_heavy() -> None:
    heavy = ["torch", "numpy", "chromadb", "llama_index", "pydantic", "gradio"]
    code = f"import sys, eval.cli; print([name for name in {heavy} if name in sys.modules])"
    root = str(Path(__file__).parents[2])
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert found.stdout.strip() == "[]"


def test_the_sample_set_is_what_was_promised() -> None:
    questions = load("sample").questions
    kinds = [question.type for question in questions]
    assert len(questions) >= 80
    assert kinds.count("unanswerable") >= 20
    assert kinds.count("follow-up") >= 8
    assert sum(question.language == "zh" for question in questions) >= 8
    assert len({paper for question in questions for paper in question.gold}) == 19
