"""`rag eval run` over the sample corpus with the real engine, from the command to the report."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from servers import FaultyServer

from eval.cli import main
from eval.runs import OVERALL, list_runs, load
from eval.session import Request, evaluate
from eval.systems import SAMPLE, OurSystem, home, ingest
from rag.settings import Settings, load_settings
from rag.store import Store

ANSWER = "Embeddings taken from more than 40 LLMs are set against classic benchmarks of human categorization [1]."


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return load_settings(data=tmp_path_factory.mktemp("end-to-end"), llm="extractive")


def command(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


def test_from_the_command_to_the_report(
    settings: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_DATA", str(settings.data))
    wish = ["run", "--set", "sample", "--llm", "extractive", "--limit", "12", "--jobs", "2"]
    assert command(*wish, "--fail-under", "quotes=1,faithfulness=0.9,citation precision=0.9") == 0
    printed = capsys.readouterr().out
    assert "| quotes verbatim | 1.00 [" in printed
    (folder,) = list_runs(home(settings))
    assert printed.splitlines()[-1] == str(folder / "report.html")
    result = load(folder)
    assert len(result.rows) == 12 and result.failed == result.judge_failed == 0
    assert result.about["model"] == "extractive"
    assert (folder / "report.md").read_text().startswith("### sample · extractive · judge located")
    assert command(*wish) == 0
    assert load(folder).about["cached"] == 12
    assert command(*wish, "--fail-under", "refused_answerable=-1") == 1


def test_the_order_of_the_evidence_is_really_changed(settings: Settings) -> None:
    own = ingest(SAMPLE, settings)
    system = OurSystem(own)
    question = "How many LLMs had their embeddings compared with how people categorize?"
    ranked = system.ranked(question)
    answer = system.ask(question, (), None)
    turned = system.ask(question, (), tuple(reversed(range(settings.top_k))))
    assert answer.refusal is turned.refusal is None
    assert {source.paper.id for source in turned.sources} == {source.paper.id for source in answer.sources}
    assert set(ranked[: settings.top_k]) == {source.paper.id for source in answer.sources}
    assert system.fingerprint == OurSystem(own).fingerprint
    system.close()
    result = evaluate(settings, Request("sample", limit=6, shuffle=3))
    assert [item.variant for item in result.rows[0].outcomes] == ["first", "shuffle 1", "shuffle 2"]
    assert result.summaries()[OVERALL]["answer_changed"].n == 6


def test_a_server_that_goes_away_costs_its_questions_and_not_the_run(
    settings: Settings,
    faulty: FaultyServer,
) -> None:
    faulty.words = [word + " " for word in ANSWER.split()]
    faulty.script = ["words", "words", "words", "reset"]
    modelled = settings.model_copy(update={"llm": "ollama/small", "ollama_url": faulty.url})
    result = evaluate(modelled, Request("sample", limit=14))
    assert len(result.rows) == 14
    assert 0 < result.failed < 14
    failed = [row for row in result.rows if row.failures]
    assert all("small" in row.failures[0] for row in failed)
    assert all(not row.values for row in failed)
    report = (result.folder / "report.md").read_text()
    assert f"{result.failed} questions on which something failed" in report
    faulty.script = ["words"]
    before = len(faulty.calls)
    mended = evaluate(modelled, Request("sample", limit=14))
    assert mended.failed == 0
    assert len(faulty.calls) > before


def test_ones_own_questions_over_ones_own_papers(settings: Settings, tmp_path: Path) -> None:
    corpus = tmp_path / "mine.jsonl"
    corpus.write_text(
        json.dumps(
            {
                "title": "Sparse attention",
                "abstract": "Sparse attention makes decoding 7 times faster.",
                "doi": "10.1234/a",
            }
        )
        + "\n"
    )
    questions = tmp_path / "mine-questions.jsonl"
    asked = {
        "id": "1",
        "question": "How much faster is decoding with sparse attention?",
        "type": "number",
        "gold": ["doi:10.1234/a"],
        "facts": [{"number": "7", "unit": "times"}],
    }
    questions.write_text(json.dumps(asked) + "\n")
    result = evaluate(settings, Request(str(questions), corpus=corpus))
    assert result.rows[0].values["right"] == 1
    assert result.rows[0].values["hit@1"] == 1


def test_a_store_of_another_version_is_made_anew_from_its_file(settings: Settings) -> None:
    own = ingest(SAMPLE, settings)
    database = sqlite3.connect(own.catalogue_path)
    database.execute("UPDATE meta SET value = 'another/384/0000' WHERE key = 'fingerprint'")
    database.commit()
    database.close()
    assert ingest(SAMPLE, settings).data == own.data
    store = Store(own)
    assert store.count() == 19
    store.close()
