"""The command line as a user meets it: what is printed where, and the exit codes."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from servers import FaultyServer, free_port

from rag.answer import answer_from_dict
from rag.cli import main
from rag.embedding import Embedder

LIST = """Two abstracts about the sea

Coral reefs bleach when the sea warms by 1.5 degrees. Bleached reefs recover within 12 years.

Kelp forests shrink where urchins graze. Removing urchins restored 60 % of the kelp in 3 years.
"""
ASK = "How long do bleached coral reefs need to recover?"


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Rag = Callable[..., Outcome]


@pytest.fixture
def rag(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, embedder: Embedder) -> Rag:
    """Run the command in this process, with a model that is loaded once; `stdin` is what is piped in."""
    monkeypatch.setattr("rag.store.Embedder", lambda *_, **__: embedder)

    def run(*arguments: str, stdin: str = "") -> Outcome:
        monkeypatch.setattr(sys, "argv", ["rag", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


@pytest.fixture
def sea(tmp_path: Path, rag: Rag) -> Rag:
    """The command over a store with two abstracts, made by the command itself."""
    (tmp_path / "sea.txt").write_text(LIST, encoding="utf-8")
    assert rag("ingest", "sea.txt").code == 0
    return rag


@pytest.fixture
def with_sample(sample_data: Path, tmp_path: Path, rag: Rag) -> Rag:
    shutil.copytree(sample_data, tmp_path / "data")
    return rag


def test_ingest_counts_and_the_second_time_nothing_is_new(rag: Rag, tmp_path: Path) -> None:
    (tmp_path / "sea.txt").write_text(LIST, encoding="utf-8")
    first = rag("ingest", "sea.txt")
    assert first.code == 0
    assert "2 new, 0 updated, 0 removed, 0 unchanged" in first.out
    assert "2 papers in" in first.out
    (tmp_path / "sea.txt").write_text(LIST.replace("12 years", "14 years"), encoding="utf-8")
    (report,) = rag("ingest", "sea.txt", "--json").json
    assert {name: report[name] for name in ("new", "updated", "removed", "unchanged")} == {
        "new": 0, "updated": 1, "removed": 0, "unchanged": 1,
    }  # fmt: skip
    assert report["source"] == str(tmp_path / "sea.txt")
    assert "14 years" in rag("ask", ASK).out
    assert rag("ingest", "-", stdin=LIST).code == 0
    assert {Path(source["name"]).name: source["papers"] for source in rag("sources", "--json").json} == {
        "sea.txt": 2,
        "-": 2,
    }
    assert rag("remove", "-").code == 0
    missing = rag("remove", "nowhere")
    assert (missing.code, "no source named nowhere" in missing.err) == (2, True)


def test_strict_ends_with_1_where_a_row_is_unusable(rag: Rag, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("title,abstract\nGood,Five words and no more.\nBad,\n", encoding="utf-8")
    lenient, strict = rag("ingest", "rows.csv"), rag("ingest", "--strict", "rows.csv")
    assert (lenient.code, strict.code) == (0, 1)
    assert "1 row not used" in lenient.out
    assert "rows.csv:3" in lenient.out


def test_one_unreadable_file_does_not_keep_the_others_out(rag: Rag, tmp_path: Path) -> None:
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "a.csv").write_text("no,abstract column\n1,2\n", encoding="utf-8")
    (tmp_path / "lists" / "b.txt").write_text(LIST, encoding="utf-8")
    outcome = rag("ingest", "lists")
    assert outcome.code == 2
    assert "a.csv" in outcome.err
    assert "2 new" in outcome.out
    assert rag("ingest", "lists/b.txt").code == 0


def test_a_source_is_removed_by_the_path_it_was_ingested_by(rag: Rag, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text(LIST.split("\n\n")[1], encoding="utf-8")
    assert rag("ingest", "one.txt").err == ""
    assert rag("remove", "one.txt").out == "1 paper removed, 0 left\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ingest", "nothing.csv"], "nothing.csv"),
        (["ingest", "--map", "title", "sea.txt"], "--map takes field=Column"),
        (["ask", "x", "--unsupported", "hide"], "mark or drop"),
        (["ask", "reefs", "--year", "soon"], "2020-2024"),
        (["ask", "reefs", "--llm", "magic"], "accepted are"),
        (["search"], "Missing argument"),
        (["nonsense"], "No such command"),
        (["serve", "--auth", "nobody"], "user:password"),
        (["serve", "--port", "99999"], "65535"),
    ],
)  # fmt: skip
def test_usage_errors_are_2_and_readable(sea: Rag, arguments: list[str], said: str) -> None:
    outcome = sea(*arguments)
    assert outcome.code == 2
    assert said in outcome.err
    assert "Traceback" not in outcome.err


def test_a_setting_that_cannot_be_used_is_2(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_TOP_K", "many")
    outcome = rag("ask", "x")
    assert (outcome.code, "RAG_TOP_K" in outcome.err, "rag config" in outcome.err) == (2, True, True)


def test_an_unknown_verifier_is_said_before_it_is_needed(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_VERIFIER", "nlx:model")
    outcome = rag("config")
    assert (outcome.code, "nli:MODEL" in outcome.err) == (2, True)


def test_in_a_terminal_nothing_rubs_out_the_answer(sea: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    shown = sea("ask", ASK).out
    before, _, after = shown.partition("Bleached reefs recover within 12 years")
    assert "searching the abstracts" in before
    assert after
    assert not re.search(r"\x1b\[\d*[AK]|\r", after)


def test_an_answer_is_0_and_shows_its_sources(sea: Rag) -> None:
    outcome = sea("ask", ASK)
    assert outcome.code == 0
    assert "Bleached reefs recover within 12 years [1]." in outcome.out
    assert "extractive" in outcome.out


def test_json_is_the_whole_answer(sea: Rag) -> None:
    outcome = sea("ask", ASK, "--json")
    answer = answer_from_dict(outcome.json)
    assert json.loads(json.dumps(answer.to_dict())) == outcome.json
    assert outcome.json["text"] == answer.text
    assert "12 years" in answer.text
    assert answer.citations[0].quote in answer.cited[0].paper.abstract


def test_a_question_may_be_piped_in(sea: Rag) -> None:
    assert "12 years" in sea("ask", stdin=f"{ASK}\n").out


def test_a_refusal_is_4_and_small_talk_is_0(sea: Rag) -> None:
    refused = sea("ask", "Who won the football world cup in 1998?", "--json")
    assert (refused.code, refused.json["refusal"]["reason"]) == (4, "not in these abstracts")
    assert sea("ask", "hello").code == 0
    narrow = sea("ask", ASK, "--year", "1990")
    assert (narrow.code, "No paper passes the filters" in narrow.out) == (4, True)
    strange = sea("ask", ASK, "--author", "Nobody")
    assert (strange.code, "No paper passes the filters" in strange.out) == (4, True)


def test_an_empty_store_is_4_and_says_what_to_do(rag: Rag) -> None:
    outcome = rag("ask", "Anything?")
    assert (outcome.code, "rag ingest FILE" in outcome.out) == (4, True)
    searched = rag("search", "anything")
    assert (searched.code, "rag ingest FILE" in searched.out) == (4, True)


def test_a_model_that_is_not_there_is_3(sea: Rag, monkeypatch: pytest.MonkeyPatch, faulty: FaultyServer) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    monkeypatch.setenv("RAG_OLLAMA_URL", url)
    down = sea("ask", ASK, "--llm", "ollama/small")
    assert (down.code, url in down.out) == (3, True)
    monkeypatch.setenv("RAG_OLLAMA_URL", faulty.url)
    missing = sea("ask", ASK, "--llm", "ollama/unknown")
    assert (missing.code, "ollama pull unknown" in missing.out, "small" in missing.out) == (3, True, True)


def test_search_shows_scores_and_passages(with_sample: Rag) -> None:
    found = with_sample("search", "reinforcement learning", "--top-k", "3", "--json").json
    assert len(found) == 3
    assert all(one["passage"] and one["passage"] in one["paper"]["abstract"] for one in found)
    assert [one["score"] for one in found] == sorted((one["score"] for one in found), reverse=True)
    assert with_sample("search", "x", "--top-k", "50", "--json").json.__len__() == 19
    shown = with_sample("search", "reinforcement learning", "--top-k", "1")
    assert found[0]["paper"]["title"].split()[0] in shown.out


def test_rebuild_and_doctor(sea: Rag) -> None:
    assert "2 papers embedded anew" in sea("rebuild").out
    assert "2 papers read back" in sea("rebuild", "--catalogue").out
    healthy = sea("doctor")
    assert healthy.code == 0, healthy.out
    assert "both sides agree" in healthy.out
    assert "nothing to repair" in sea("doctor", "--repair").out


@pytest.mark.parametrize("stdin", ["", " \n"])
def test_nothing_asked_is_no_answer(sea: Rag, stdin: str) -> None:
    outcome = sea("ask", stdin=stdin)
    assert (outcome.code, outcome.out) == (2, "")
    assert "there is no question" in outcome.err


def test_a_mistyped_setting_is_told_and_the_answer_comes(sea: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_TOPK", "3")
    outcome = sea("ask", ASK)
    assert outcome.code == 0
    assert outcome.err.count("RAG_TOPK is no setting; RAG_TOP_K is") == 1


def test_config_names_every_setting_and_masks_secrets(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_LLM_KEY", "sk-very-secret")
    outcome = rag("config", "--json")
    assert "sk-very-secret" not in outcome.out
    shown = {origin["variable"]: origin for origin in outcome.json}
    assert shown["RAG_LLM_KEY"]["value"] == "set"
    assert shown["RAG_LLM"]["where"] == "environment"
    assert shown["RAG_TOP_K"]["where"] == "default"
    assert all(origin["description"] for origin in shown.values())


def test_markup_of_the_terminal_in_an_abstract_is_text(rag: Rag, tmp_path: Path) -> None:
    text = "The tag [red]alarm[/red] and [/bold] appear in logs of zebra machines. Zebra machines fail in 3 % of runs."
    (tmp_path / "odd.txt").write_text(f"{text}\n\n{LIST}", encoding="utf-8")
    assert rag("ingest", "odd.txt").code == 0
    assert "[red]alarm[/red]" in rag("search", "alarm tag zebra logs", "--top-k", "1").out


def test_a_pipe_that_closes_is_no_traceback() -> None:
    program = f"import sys; sys.argv = ['rag', 'config']; sys.path.insert(0, {str(Path(__file__).parents[1])!r})\n"
    done = subprocess.run(
        ["bash", "-c", f'{sys.executable} -c "$0" | true', program + "from rag.cli import main; main()"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr
