"""What can be named: files, folders, globs, archives, standard input; and what is refused before it does harm."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import pytest

from rag.errors import InputError
from rag.papers import Paper
from rag.readers import Limits, sources

CSV = b"title,abstract\nBees,They fly.\n"


def names(inputs: list[str], **options: object) -> list[str]:
    return [source.name for source in sources(inputs, **options)]  # type: ignore[arg-type]


def abstracts(inputs: list[str], **options: object) -> list[str]:
    found = [item for source in sources(inputs, **options) for item in source.papers()]  # type: ignore[arg-type]
    return [item.abstract for item in found if isinstance(item, Paper)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "papers"
    for name in ("b.csv", "a.csv", "deep/er/c.CSV", ".hidden.csv", ".git/d.csv", "e.csv.gz", "notes.docx", "README.md"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(CSV) if name.endswith(".gz") else CSV)
    return root


def test_folder(folder: Path) -> None:
    assert names([str(folder)]) == [str(folder / name) for name in ("a.csv", "b.csv", "deep/er/c.CSV", "e.csv.gz")]


def test_glob(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert names([str(folder / "*.csv")]) == [str(folder / "a.csv"), str(folder / "b.csv")]
    monkeypatch.chdir(folder)
    assert names(["**/c.*"]) == [str(folder / "deep/er/c.CSV")]
    assert names(["./d*p"]) == [str(folder / "deep/er/c.CSV")]


def test_names_are_absolute_and_each_file_comes_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert names(["a.csv", "./a.csv", str(folder / "deep/../a.csv"), "?.csv"]) == [
        str(folder / "a.csv"),
        str(folder / "b.csv"),
    ]


def test_a_file_whose_name_looks_like_a_glob(folder: Path) -> None:
    (folder / "x[1].csv").write_bytes(CSV)
    assert names([str(folder / "x[1].csv")]) == [str(folder / "x[1].csv")]


def test_a_named_file_needs_no_known_suffix(folder: Path) -> None:
    (folder / "export").write_bytes(CSV)
    assert abstracts([str(folder / "export"), str(folder / "README.md")]) == ["They fly.", "They fly."]


@pytest.mark.parametrize(
    ("name", "message"),
    [("gone.csv", "no such file"), ("*.gone", "no file matches"), ("empty", "no file of a known kind in this folder")],
)
def test_inputs_that_name_nothing(folder: Path, name: str, message: str) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(InputError, match=message):
        names([str(folder / name)])


def test_standard_input() -> None:
    assert names(["-"], stdin=io.BytesIO(CSV)) == ["-"]
    assert abstracts(["-"], stdin=io.BytesIO(CSV)) == ["They fly."]
    assert abstracts(["-"], stdin=io.BytesIO(gzip.compress(CSV))) == ["They fly."]
    assert abstracts(["-"], stdin=io.BytesIO(b"They fly.\n\nIt burns.")) == ["They fly.", "It burns."]


def test_papers_can_be_read_again(folder: Path) -> None:
    (source,) = sources([str(folder / "e.csv.gz")])
    assert list(source.papers()) == list(source.papers()) != []


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_zip(tmp_path: Path) -> None:
    members = {
        "a.csv": CSV,
        "in/b.json": json.dumps([{"abstract": "It burns."}]).encode(),
        "c.csv.gz": gzip.compress(b"abstract\nIt rains.\n"),
        "../../evil.csv": b"abstract\nIt lies.\n",
        "__MACOSX/a.csv": b"x",
        ".hidden.csv": b"x",
        "picture.png": b"x",
    }
    path = zipped(tmp_path / "x.zip", members)
    assert names([str(path)]) == [f"{path}!{name}" for name in ("a.csv", "in/b.json", "c.csv.gz", "../../evil.csv")]
    assert abstracts([str(path)]) == ["They fly.", "It burns.", "It rains.", "It lies."]
    assert not (tmp_path.parent.parent / "evil.csv").exists()


def test_archives_are_told_by_content(tmp_path: Path) -> None:
    zipped(tmp_path / "a.csv", {"b.csv": CSV})
    (tmp_path / "c.csv").write_bytes(gzip.compress(CSV))
    assert abstracts([str(tmp_path / "a.csv"), str(tmp_path / "c.csv")]) == ["They fly.", "They fly."]


BAD = [
    pytest.param("a.gz", gzip.compress(CSV * 500)[:-20], "damaged or cut off", id="gzip cut off"),
    pytest.param("a.gz", b"\x1f\x8b\x08nonsense", "damaged or cut off", id="no gzip"),
    pytest.param("a.zip", b"PK\x03\x04nonsense", "damaged zip", id="no zip"),
    pytest.param("a.csv", b"", "is empty", id="empty"),
    pytest.param("a.csv", b" \n\t\n", "is empty", id="white space"),
    pytest.param("a.txt", b"%PDF-1.7 abc", "a PDF document", id="PDF"),
    pytest.param("a.txt", b"abc\x00\x01\x02\x00def" * 9, "holds binary data", id="binary"),
    pytest.param("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1", "an old Office document", id="xls"),
    pytest.param("a.csv", b"x" * 257 + b"ustar" + b"y" * 300, "a tar archive", id="tar"),
    pytest.param("a.gz", gzip.compress(gzip.compress(CSV)), "compressed twice", id="compressed twice"),
    pytest.param("a.csv", b"BZh91AY&SY", "compressed with bzip2", id="bzip2"),
    pytest.param("a.csv", b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer", id="LFS"),
    pytest.param(
        "a.md",
        "## How?\n\nSo[^1].\n\n*1 of 1 located · written by extractive · checked by verbatim*\n".encode(),
        "an answer that `rag export` wrote",
        id="export",
    ),
    pytest.param("a.enw", b"%0 Journal Article\n%T Bees\n", "EndNote", id="EndNote"),
    pytest.param("a.bib", b"Dear all, here are my references.", "nothing of BibTeX", id="no BibTeX"),
    pytest.param("a.ris", b"Dear all.", "nothing of RIS", id="no RIS"),
    pytest.param("a.json", b"Dear all.", "nothing of JSON", id="no JSON"),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD)
def test_unreadable_files(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as error:
        abstracts([str(path)])
    assert str(path) in error.value.message


def test_office_documents(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.xlsx", {"[Content_Types].xml": b"<x/>", "xl/sheet.xml": b"<x/>"})
    with pytest.raises(InputError, match="Office document") as error:
        names([str(path)])
    assert "CSV" in error.value.hint


def test_archive_of_nothing_known(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file of a known kind in this archive"):
        names([str(zipped(tmp_path / "a.zip", {"a.png": b"x"}))])


SMALL = Limits(ratio_from=10_000, ratio=50, expanded=5_000_000, members=3, stdin=1000, document=2000, line=2000)
BOMB = b"abstract\n" + b"a b. " * 100_000


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        pytest.param("a.csv.gz", gzip.compress(BOMB), "expands to more than", id="gzip bomb"),
        pytest.param("a.zip", {"a.csv": BOMB}, "expands to more than", id="zip bomb"),
        pytest.param("a.zip", {"a.csv.gz": gzip.compress(BOMB * 9)}, "expands to more than", id="gzip in zip"),
        pytest.param("a.zip", {f"{n}.csv": CSV for n in range(4)}, "holds too much", id="many members"),
        pytest.param("a.zip", {"a.csv": b"x" * 5_000_001}, "holds too much", id="large members"),
        pytest.param("a.csv", b"abstract\n" + b"a" * 2100, "a line of more than 2,000", id="long line"),
        pytest.param("a.jsonl", b'{"abstract": "' + b"a" * 2100, "a line of more than 2,000", id="long JSON line"),
        pytest.param("a.json", b'[{"abstract": "' + b"a" * 2100, "in one document", id="large document"),
        pytest.param("a.xml", b"<feed><entry>\n" + b"<x/>\n" * 1000, "one element of more than", id="large element"),
    ],
)
def test_limits(tmp_path: Path, name: str, content: bytes | dict[str, bytes], message: str) -> None:
    path = tmp_path / name
    if isinstance(content, dict):
        zipped(path, content)
    else:
        path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        abstracts([str(path)], limits=SMALL)


def test_limit_of_standard_input() -> None:
    with pytest.raises(InputError, match="on standard input"):
        names(["-"], stdin=io.BytesIO(b"x" * 1001), limits=SMALL)


def test_encrypted_member(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a.csv": CSV})
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    path.write_bytes(bytes(data))
    with pytest.raises(InputError, match="encrypted"):
        abstracts([str(path)])
