"""A run's words, checked anew: the same words and nothing asked; another verifier may change the verdicts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from servers import FaultyServer

from eval.agreement import Pair, verdict_table
from eval.replay import Replay
from eval.runs import Run
from eval.session import Request, evaluate
from eval.systems import SAMPLE
from rag.answer import Verdict
from rag.errors import RagError, SettingsError
from rag.settings import load_settings

QUESTIONS = [
    {
        "id": "meld",
        "question": "On which datasets does MELD reach 100% chemical validity?",
        "type": "fact",
        "gold": ["hash:f804f947882a7ef6eaab"],
        "facts": ["QM9"],
    },
    {"id": "moons", "question": "How many moons does Jupiter have?", "type": "unanswerable"},
]
TRUE = "MELD reaches 100% chemical validity on QM9 and ZINC250K."
FALSE = "MELD reaches 70% chemical validity on QM9."


@pytest.fixture
def recorded(tmp_path: Path, faulty: FaultyServer) -> Run:
    """A run of two questions, written by a model that says one true and one false sentence."""
    questions = tmp_path / "two.jsonl"
    questions.write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS), encoding="utf-8")
    faulty.words = [f"{TRUE} [1] ", f"{FALSE} [1]"]
    settings = load_settings(llm="ollama/small", ollama_url=faulty.url, verifier="located")
    return evaluate(settings, Request(str(questions), corpus=SAMPLE, out=tmp_path / "first"))


def replayed(recorded: Run, tmp_path: Path) -> Run:
    request = Request(
        str(tmp_path / "two.jsonl"), system=f"replay:{recorded.folder}", corpus=SAMPLE, out=tmp_path / "second"
    )
    return evaluate(load_settings(), request)


def test_the_same_words_get_the_same_verdicts_and_nobody_is_asked(
    recorded: Run, tmp_path: Path, faulty: FaultyServer
) -> None:
    before = len(faulty.calls)
    again = replayed(recorded, tmp_path)
    assert len(faulty.calls) == before
    assert again.failed == 0
    first, second = (row.answer for row in (recorded.rows[0], again.rows[0]))
    assert first is not None
    assert second is not None
    assert [s.verdict for s in first.sentences] == [Verdict.SUPPORTED, Verdict.CONTRADICTED]
    assert second.sentences == first.sentences
    assert (second.model, second.tokens_out) == (first.model, first.tokens_out)
    assert again.rows[1].answer is not None
    assert again.rows[1].answer.refusal


def test_verdicts_and_citations_are_laid_beside_labels(recorded: Run) -> None:
    answer = recorded.rows[0].answer
    assert answer is not None
    cited = next(source.paper for source in answer.sources if source.number == 1)
    labels = [
        Pair(id="meld", claim=TRUE, evidence=f"{cited.title}\n{cited.abstract}", label="supported"),
        Pair(id="meld", claim=FALSE, evidence=cited.abstract, label="not_supported"),
        Pair(id="moons", claim=TRUE, evidence=cited.abstract, label="supported"),  # was not written there
    ]
    assert measures(recorded, labels) == ["2", "1", "1.00", "1.00", "2", "0.50", "0.50", "1.00"]
    wrong = [pair.model_copy(update={"label": "not_supported"}) for pair in labels]
    assert measures(recorded, wrong)[2] == "0.00"
    other = [pair.model_copy(update={"evidence": "Another paper."}) for pair in labels]
    assert measures(recorded, other)[5:] == ["0.00", "0.00", "1.00"]
    asked = recorded.rows[0].question.model_copy(update={"gold": ("another",)})
    elsewhere = replace(recorded, rows=(replace(recorded.rows[0], question=asked),))
    assert measures(elsewhere, labels)[5:] == ["0.50", "0.50", "0.00"]


def measures(run: Run, labels: list[Pair]) -> list[str]:
    """The cells of its line but the name, without intervals."""
    cells = verdict_table([run], labels).splitlines()[-1].strip("| ").split("|")[1:]
    return [cell.split()[0] for cell in cells]


def test_a_run_without_a_models_words_cannot_be_replayed(recorded: Run) -> None:
    from dataclasses import replace

    plain = replace(recorded, about={**recorded.about, "model": "extractive"})
    with pytest.raises(RagError, match="no words"):
        Replay(plain, load_settings())


def test_a_reading_verifier_of_a_replay_must_be_named(recorded: Run) -> None:
    with pytest.raises(SettingsError, match="RAG_VERIFIER_LLM"):
        Replay(recorded, load_settings(verifier="odds"))
