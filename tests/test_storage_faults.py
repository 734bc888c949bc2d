"""Disks that are full, folders that may not be written, files that others hold: a line that says so, and a way back.

Each test ends by going that way.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from encoders import HashEmbedder
from test_store import TEN, TESTS, abstract, counts, elsewhere, found, paper

from rag import database
from rag.errors import RagError, StoreDamaged, StoreError, StoreLocked
from rag.recovery import rebuild_catalogue
from rag.settings import load_settings
from rag.store import Store

MANY = [*TEN, *(paper(n) for n in range(100, 1600))]
OPERATIONS: dict[str, Callable[[Store], object]] = {
    "ingest": lambda store: store.sync("list", MANY),
    "remove": lambda store: store.remove_source("list"),
    "rebuild": lambda store: store.rebuild(),
    "repair": lambda store: store.repair(),
}


def opened(data: Path) -> Store:
    return Store(load_settings(data=data), HashEmbedder())


def one_line(error: RagError) -> bool:
    return "\n" not in error.message and len(error.message) < 500 and bool(error.hint)


def mounted(*arguments: str) -> bool:
    return (
        shutil.which("mount") is not None and not subprocess.run(["mount", *arguments], capture_output=True).returncode
    )


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, of four megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if not mounted("-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)):
        pytest.skip("this user may not mount a disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("healed", [True, False])
def test_an_index_that_is_just_being_written(tmp_path: Path, *, healed: bool) -> None:
    """Chroma writes it in place: what another process finds cut short is whole a moment later, or it is damaged."""
    store = opened(tmp_path / "data")
    store.sync("list", MANY)
    store.close()
    (index,) = (tmp_path / "data").rglob("index_metadata.pickle")
    whole = index.read_bytes()
    index.write_bytes(b"")
    reader = opened(tmp_path / "data")
    writer = threading.Timer(0.4, index.write_bytes, [whole])
    if healed:
        writer.start()
        assert found(reader, "Topic3", top_k=1) == [abstract(3)]
        writer.join()
    else:
        with pytest.raises(StoreDamaged):
            reader.collection.nearest(HashEmbedder().encode_question("Topic3"), 1)
    reader.close()


class Bomb:
    """What a pickle may hold: a call, made when Python loads it."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.mark),)


def test_an_index_that_would_run_code_runs_none(tmp_path: Path) -> None:
    """From a thousand chunks on Chroma keeps a file in pickle's format; it is read as data, by no Python."""
    store = opened(tmp_path / "data")
    store.sync("list", MANY)
    store.close()
    (index,) = (tmp_path / "data").rglob("index_metadata.pickle")
    index.write_bytes(pickle.dumps(Bomb(tmp_path / "ran")))
    pickle.loads(index.read_bytes())
    (tmp_path / "ran").rmdir()  # it works
    reader = opened(tmp_path / "data")
    with pytest.raises(StoreDamaged):
        reader.collection.nearest(HashEmbedder().encode_question("Topic3"), 1)
    reader.rebuild()
    assert found(reader, "Topic3", top_k=1) == [abstract(3)]
    assert not (tmp_path / "ran").exists()
    reader.close()


def fill(disk: Path, *, leave: int) -> Path:
    """A file that takes all room but `leave` bytes."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            pass
        file.truncate(max(file.tell() - leave, 0))
    return ballast


@pytest.mark.parametrize("leave", [0, *(pytest.param(n, marks=pytest.mark.nightly) for n in (40_000, 250_000))])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_full_disk(disk: Path, operation: str, leave: int) -> None:
    """Whatever it interrupts is told, is no damage, and is done when there is room."""
    store = opened(disk / "data")
    store.sync("list", TEN)
    ballast = fill(disk, leave=leave)
    try:
        OPERATIONS[operation](store)
    except StoreError as error:
        assert not isinstance(error, StoreDamaged), error
        assert "no room left" in error.message or "does not read or write" in error.message
        assert "make room" in error.hint or "room on it" in error.hint
        assert one_line(error)
    store.close()
    assert not list((disk / "data").glob("*.damaged-*")), "nothing is moved aside"
    reader = opened(disk / "data")
    if operation in ("ingest", "repair"):
        assert reader.count() == 10
        try:
            assert found(reader, "Topic3", top_k=1) == [abstract(3)]
        except StoreError as error:  # without room Chroma does not even read
            assert "no room left" in error.message
    reader.close()
    ballast.unlink()
    subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
    again = opened(disk / "data")
    if operation != "remove" or again.sources():
        OPERATIONS[operation](again)
    again.sync("list", MANY)
    assert again.count() == len(MANY)
    assert again.check().clean
    assert found(again, "Topic1500", top_k=1) == [abstract(1500)]
    again.close()


def test_a_disk_that_is_full_from_the_start(disk: Path) -> None:
    ballast = fill(disk, leave=0)
    with pytest.raises(StoreError, match="no room left") as caught:
        opened(disk / "data")
    assert one_line(caught.value)
    ballast.unlink()
    store = opened(disk / "data")
    assert counts(store.sync("list", TEN)) == {"new": 10}
    store.close()


def test_a_limit_on_the_size_of_files(tmp_path: Path) -> None:
    """What a quota does, for users who may not mount: writing fails though the disk has room."""
    said = elsewhere(
        """
        import resource
        from rag.errors import StoreError
        store = Store(load_settings(), HashEmbedder())
        store.sync("list", TEN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))
        try:
            store.sync("list", [paper(n) for n in range(3000)])
        except StoreError as error:
            print(type(error).__name__, error.message)
        print(store.count(), len(found(store, abstract(3), 1)))
        """
    )
    first, last = said.splitlines()
    assert first.startswith("StoreError ")
    assert "no room left" in first or "does not read or write" in first
    assert last == "10 1"
    store = opened(tmp_path / "data")
    store.sync("list", TEN)
    assert store.check().clean
    assert store.count() == 10
    store.close()


# -- rights -----------------------------------------------------------------------------------------------------------

AS_NOBODY = """
import json, os, sys
from pathlib import Path
from encoders import HashEmbedder
from test_store import *
from rag.doctor import examine
from rag.errors import RagError

os.chdir("/")  # what is imported on first use may not be readable for nobody, so all is used once
warm = Store(load_settings(data=sys.argv[2]), HashEmbedder())
warm.sync("list", TEN)
found(warm, "Topic3", 1)
warm.close()
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
settings = load_settings(data=sys.argv[1])

def outcome(call):
    try:
        return ["done", str(call()), ""]
    except RagError as error:
        return [type(error).__name__, error.message, error.hint]

def search():
    store = Store(settings, HashEmbedder())
    return found(store, "Topic3", 1)

said = {
    "search": outcome(search),
    "ingest": outcome(lambda: Store(settings, HashEmbedder()).sync("list", [*TEN, paper(20)])),
    "new": outcome(lambda: Store(load_settings(data=sys.argv[1] + "-new"), HashEmbedder()).sync("list", TEN)),
    "doctor": ["done", *next((f.text, f.hint) for f in examine(settings) if f.name == "data folder")],
}
print(json.dumps(said))
"""


def as_nobody(data: Path, scratch: Path) -> dict[str, list[str]]:
    """What a process without rights is told, by what it tried: [error or "done", message, hint]."""
    environment = {**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parent}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", textwrap.dedent(AS_NOBODY), str(data), str(scratch)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    said: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return said


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that others may look into, as pytest's own are not."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(folder)


def set_rights(data: Path, folders: int, files: int) -> None:
    for path in (data, *data.rglob("*")):
        path.chmod(folders if path.is_dir() else files)


@pytest.mark.parametrize(("folders", "files"), [(0o555, 0o444), (0o000, 0o000)], ids=["read-only", "no right at all"])
def test_a_folder_without_rights(public: Path, tmp_path: Path, folders: int, files: int) -> None:
    data = public / "data"
    store = opened(data)
    store.sync("list", TEN)
    store.close()
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    set_rights(data, folders, files)
    public.chmod(0o555)
    said = as_nobody(data, tmp_path / "warm")
    for tried in ("search", "ingest", "new"):
        kind, message, hint = said[tried]
        if (kind, tried) == ("done", "search"):
            continue  # reading needs no right to write
        assert kind == "StoreError", said[tried]
        assert str(data) in message
        assert "\n" not in message
        assert "right to write" in hint
    assert "cannot be used" in said["doctor"][1] or "not writable" in said["doctor"][1]
    set_rights(data, 0o755, 0o644)
    assert {path: path.read_bytes() for path in before} == before, "nothing was overwritten"
    public.chmod(0o755)
    again = opened(data)
    assert counts(again.sync("list", [*TEN, paper(20)])) == {"unchanged": 10, "new": 1}
    again.close()


def test_a_disk_mounted_to_be_read_only(disk: Path) -> None:
    elsewhere("Store(load_settings(data=sys.argv[1]), HashEmbedder()).sync('list', TEN)", str(disk / "data"))
    if not mounted("-o", "remount,ro", str(disk)):
        pytest.skip("this disk cannot be remounted")
    with pytest.raises(StoreError, match="cannot be written or opened") as caught:
        opened(disk / "data").sync("list", MANY)
    assert not isinstance(caught.value, StoreDamaged)
    assert one_line(caught.value)
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    store = opened(disk / "data")
    assert counts(store.sync("list", [*TEN, paper(20)])) == {"unchanged": 10, "new": 1}
    store.close()


# -- locks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["catalogue.sqlite", "chroma/chroma.sqlite3"])
def test_a_file_that_another_program_keeps_locked(tmp_path: Path, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.5)
    store = Store(load_settings(lock_seconds=1), HashEmbedder())
    store.sync("list", TEN)
    program = (
        "import sqlite3, sys\n"
        "db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "db.execute('BEGIN IMMEDIATE'); db.execute('CREATE TABLE held (x)')\n"
        "print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "data" / file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdin and holder.stdout
    assert holder.stdout.readline().strip() == "held"
    try:
        with pytest.raises(StoreLocked, match="another program keeps") as caught:
            store.sync("list", [*TEN, paper(20)])
        assert one_line(caught.value)
        assert "close what has it open" in caught.value.hint
        if file == "catalogue.sqlite":
            assert found(store, "Topic3", top_k=1) == [abstract(3)], "reading goes on"
        else:  # Chroma cannot be opened for what was written last
            with pytest.raises(StoreLocked, match="another program keeps"):
                found(store, "Topic3", top_k=1)
    finally:
        holder.kill()
        holder.wait(10)
    store.sync("list", [*TEN, paper(20)])
    assert found(store, "Topic20", top_k=1) == [abstract(20)]
    assert store.check().clean
    store.close()


# -- damage and disagreement ------------------------------------------------------------------------------------------


def another_version(data: Path) -> None:
    """Migrations of another Chroma were applied to the folder."""
    elsewhere(
        """
        db = sqlite3.connect(sys.argv[1])
        db.execute("UPDATE migrations SET hash = '0' WHERE version = 1")
        db.commit()
        """,
        str(data / "chroma" / "chroma.sqlite3"),
    )


def older_tables(data: Path) -> None:
    elsewhere(
        "db = sqlite3.connect(sys.argv[1]); db.execute('ALTER TABLE collections RENAME TO collection'); db.commit()",
        str(data / "chroma" / "chroma.sqlite3"),
    )


def not_a_folder(data: Path) -> None:
    shutil.rmtree(data / "chroma")
    (data / "chroma").write_text("a file in the way")


@pytest.mark.parametrize(
    "damage", [another_version, *(pytest.param(one, marks=pytest.mark.nightly) for one in (older_tables, not_a_folder))]
)
def test_a_collection_of_another_version_is_kept_and_made_anew(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    data = tmp_path / "data"
    store = opened(data)
    store.sync("list", TEN)
    store.close()
    damage(data)
    file = data / "chroma" if damage is not_a_folder else data / "chroma" / "chroma.sqlite3"
    before = file.read_bytes()
    for attempt in (lambda: found(store, "Topic3", 1), lambda: store.sync("list", MANY), store.check):
        with pytest.raises(StoreDamaged) as caught:
            attempt()
        assert one_line(caught.value)
        assert "rag rebuild" in caught.value.hint
    store.close()
    assert file.read_bytes()[100:4096] == before[100:4096], "all but SQLite's count of changes is as it was"
    again = Store(store.settings, HashEmbedder(), check=False)
    again.rebuild()
    assert again.check().clean
    assert found(again, "Topic3", top_k=1) == [abstract(3)]
    again.close()
    assert list(data.glob("chroma.damaged-*")), "the old folder is kept"


def test_a_catalogue_cut_off_is_kept_and_made_anew(tmp_path: Path) -> None:
    data = tmp_path / "data"
    store = opened(data)
    store.sync("list", MANY)
    store.close()
    file = data / "catalogue.sqlite"
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 3])
    cut = file.read_bytes()
    with pytest.raises(StoreDamaged) as caught:
        opened(data).sync("list", MANY)
    assert one_line(caught.value)
    assert "rag rebuild --catalogue" in caught.value.hint
    assert file.read_bytes() == cut
    assert rebuild_catalogue(load_settings(data=data), HashEmbedder()) == len(MANY)
    assert min(data.glob("catalogue.sqlite.replaced-*")).read_bytes() == cut
    again = opened(data)
    assert [(source.name, source.papers) for source in again.sources()] == [("list", len(MANY))]
    assert again.check().clean
    again.close()


def test_damage_that_shows_only_when_rows_are_fetched(tmp_path: Path) -> None:
    data = tmp_path / "data"
    store = opened(data)
    store.sync("list", MANY)
    store.close()
    file = data / "catalogue.sqlite"
    content = bytearray(file.read_bytes())
    content[len(content) // 4 : len(content) // 2] = b"\x07" * (len(content) // 2 - len(content) // 4)
    file.write_bytes(bytes(content))
    with pytest.raises(StoreDamaged) as caught:
        list(opened(data).catalogue.papers())
    assert one_line(caught.value)
    assert rebuild_catalogue(load_settings(data=data), HashEmbedder()) == len(MANY)
    again = opened(data)
    assert again.check().clean
    again.close()


def test_an_older_copy_of_the_catalogue(tmp_path: Path) -> None:
    """A backup of one side was put back: what disagrees is told, and mended without embedding what is there."""
    data = tmp_path / "data"
    store = opened(data)
    store.sync("list", TEN)
    store.close()
    shutil.copy(data / "catalogue.sqlite", tmp_path / "backup")
    store.sync("list", [*TEN[2:], paper(20)])
    store.close()
    shutil.copy(tmp_path / "backup", data / "catalogue.sqlite")
    with pytest.raises(StoreDamaged, match="holds 9 of 10 passages") as caught:
        found(store, "Topic3", top_k=1)
    assert "rag doctor --repair" in caught.value.hint
    health = store.repair()
    assert (len(health.missing), len(health.orphans)) == (2, 1)
    assert store.check().clean
    assert found(store, "Topic0", top_k=1) == [abstract(0)]
    assert counts(store.sync("list", [*TEN[2:], paper(20)])) == {"unchanged": 8, "new": 1, "removed": 2}
    assert store.check().clean
    store.close()
