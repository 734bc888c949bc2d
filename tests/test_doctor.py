"""rag doctor: every finding, good and bad."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from servers import FaultyServer, free_port

from rag.doctor import Finding, describe, examine
from rag.settings import load_settings
from rag.store import Health


def found(**settings: object) -> dict[str, Finding]:
    return {finding.name: finding for finding in examine(load_settings(**settings))}


def test_a_fresh_machine_is_in_order() -> None:
    findings = found(ollama_url=f"http://127.0.0.1:{free_port()}")
    assert list(findings) == ["program", "data folder", "store", "embedding", "models", "writes with", "checks with"]
    assert all(finding.good for finding in findings.values())
    assert findings["store"].text == "empty"
    assert "none found" in findings["models"].text
    assert not load_settings().data.exists(), "looking changes nothing"


def test_what_is_wrong_comes_with_what_to_do(sample_data: Path, tmp_path: Path, faulty: FaultyServer) -> None:
    data = tmp_path / "data"
    shutil.copytree(sample_data, data)
    shutil.rmtree(data / "chroma")
    findings = found(llm="ollama/unknown", ollama_url=faulty.url)
    assert (findings["store"].good, findings["writes with"].good) == (False, False)
    assert "19 papers lack chunks" in findings["store"].text
    assert findings["store"].hint == "rag doctor --repair mends it"
    assert "ollama pull unknown" in findings["writes with"].hint + findings["writes with"].text
    assert "small" in findings["models"].text


@pytest.mark.parametrize(
    ("health", "good", "said"),
    [
        (Health(3, 4, 0), True, "3 papers, 4 chunks, both sides agree"),
        (Health(3, 4, 2), False, "2 papers wait to be indexed"),
        (Health(3, 4, 0, missing=("a",)), False, "1 papers lack chunks"),
        (Health(3, 4, 0, orphans=("a@b#0",)), False, "1 chunks belong to no paper"),
        (Health(3, 4, 0, integrity="row 3 is gone"), False, "row 3 is gone"),
    ],
)
def test_health_in_words(health: Health, good: bool, said: str) -> None:
    finding = describe(health)
    assert (finding.good, said in finding.text, bool(finding.hint)) == (good, True, not good)


def test_a_data_folder_that_cannot_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    found = {finding.name: finding for finding in examine(load_settings(data=tmp_path / "file" / "data"))}
    assert not found["data folder"].good
    assert "no folder" in found["data folder"].text
