"""Threats that are no matter of one module, and that SECURITY.md names only tests that exist."""

from __future__ import annotations

import ast
import pickle
import pickletools
import re
import sqlite3
import zipfile
from pathlib import Path

import pytest
from servers import FaultyServer

from rag.embedding import Embedder
from rag.engine import Engine
from rag.errors import InputError
from rag.export import FORMATS, export
from rag.papers import Paper
from rag.readers import sources
from rag.settings import load_settings
from rag.store import Store

ROOT = Path(__file__).parents[1]
KEY = "sk-live-0123456789abcdef"
PICKLES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}


def is_pickle(data: bytes) -> bool:
    """Whether `data` reads as a pickle of protocol 2 or later up to its end mark, without loading it.

    Its first two bytes say little: Chroma's `length.bin` holds what was in memory, which may begin alike.
    """
    try:
        names = [opcode.name for opcode, _, _ in pickletools.genops(data)]
    except ValueError:
        return False
    return names[0] == "PROTO"


def test_every_test_that_security_md_names_exists() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", text))
    there = set()
    for file in (ROOT / "tests").rglob("test_*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        there |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert named - there == set()
    rows = [line for line in text.splitlines() if line.startswith("|")][2:]
    assert len(rows) >= 11
    assert [row for row in rows if "`test_" not in row.split("|")[3]] == []


def test_our_code_loads_no_pickle() -> None:
    for file in [path for package in ("rag", "ui", "eval") for path in (ROOT / package).rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert not {alias.name.split(".")[0] for alias in node.names} & PICKLES, file
            elif isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] not in PICKLES, file
            elif isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in ("torch.load", "eval", "exec"), file
                if called in ("np.load", "numpy.load"):
                    options = {option.arg: ast.unparse(option.value) for option in node.keywords}
                    assert options.get("allow_pickle", "False") == "False", file
                assert called not in ("yaml.load", "yaml.unsafe_load"), file


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_pickle_is_known_by_reading_it(protocol: int) -> None:
    assert is_pickle(pickle.dumps({"ids": [1, 2], "text": "a paper"}, protocol))
    assert not is_pickle(b"\x80\x05\x00\x04\x66\x7f\x00\x00")
    assert not is_pickle(b"")


def test_no_file_of_the_data_folder_is_a_pickle(sample_copy: Path) -> None:
    files = [path for path in sample_copy.rglob("*") if path.is_file()]
    assert len(files) > 3
    assert [path for path in files if path.suffix in (".pickle", ".pkl", ".joblib")] == []
    assert [path for path in files if is_pickle(path.read_bytes())] == []
    for database in sample_copy.rglob("*.sqlite*"):
        if database.suffix in (".sqlite", ".sqlite3"):
            with sqlite3.connect(database) as connection:
                names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
                for name in names:
                    if not name.startswith("fulltext"):
                        rows = connection.execute(f'SELECT * FROM "{name}" LIMIT 50').fetchall()
                        blobs = [value for row in rows for value in row if isinstance(value, bytes)]
                        assert not any(is_pickle(value) for value in blobs), name


@pytest.mark.parametrize("name", ["../../climbed.csv", "/climbed.csv", "a/../../climbed.csv", "..\\climbed.csv"])
def test_a_member_that_climbs_out_of_its_archive_writes_nothing(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "inner" / "deep"
    folder.mkdir(parents=True)
    packed = folder / "list.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(name, "title,abstract\nA title,An abstract that climbs out of its archive and its folder.\n")
    before = sorted(tmp_path.rglob("*"))
    try:
        found = [item for source in sources([str(packed)]) for item in source.papers()]
    except InputError:  # a name that begins with a point is a hidden file's
        assert name.startswith("..\\")
    else:
        assert any(isinstance(item, Paper) for item in found)
    assert sorted(tmp_path.rglob("*")) == before
    assert not Path("/climbed.csv").exists()


@pytest.mark.parametrize(
    "said",
    [
        f"Incorrect API key provided: {KEY}",
        f"cannot GET https://models.example/v1?key={KEY}&alt=sse",
        f"header was 'Authorization: Bearer {KEY}'",
    ],
)
@pytest.mark.parametrize("code", [400, 500])
def test_a_key_that_a_server_repeats_is_not_shown(sample: Engine, faulty: FaultyServer, said: str, code: int) -> None:
    faulty.script, faulty.detail = [code], said
    settings = load_settings(
        data=sample.settings.data, llm="openai-compatible/small", llm_url=f"{faulty.url}/v1", llm_key=KEY
    )
    answer = Engine(sample.store, settings).ask("By what factor does TNT speed up training?")
    assert answer.refusal is not None
    assert faulty.calls
    assert KEY not in str(answer.to_dict())
    assert "***" in answer.refusal.message


def test_no_export_holds_a_key(sample: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    settings = load_settings(data=sample.settings.data, llm="extractive", llm_key=KEY, chroma_token=KEY)
    answer = Engine(sample.store, settings).ask("By what factor does TNT speed up training?")
    assert answer.cited
    for form in FORMATS:
        assert KEY not in export(answer, form)
    assert KEY not in str(answer.to_dict())


def test_a_store_made_without_a_key_holds_none(tmp_path: Path, embedder: Embedder) -> None:
    store = Store(load_settings(data=tmp_path / "data", llm_key=KEY, chroma_token=KEY), embedder)
    store.sync("sea", [Paper("Bleached coral reefs recover within 12 years.")])
    store.close()
    for file in (tmp_path / "data").rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes()
