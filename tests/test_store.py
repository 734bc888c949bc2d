"""The store: a sync makes it hold exactly what a source says, with counts; both sides agree; what is wrong is said."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from encoders import HashEmbedder
from filelock import FileLock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag.chunks import Chunk
from rag.errors import InputError, StoreDamaged, StoreError, StoreLocked, StoreMismatch
from rag.papers import Paper, Skipped
from rag.recovery import rebuild_catalogue
from rag.retrieval import Retriever
from rag.settings import load_settings
from rag.store import Store, SyncReport
from rag.text import sentences

TESTS = Path(__file__).parent
WORDS = [
    *(
        "amber",
        "basalt",
        "cedar",
        "dune",
        "ember",
        "fjord",
        "glacier",
        "harbour",
        "island",
        "juniper",
        "kelp",
        "lagoon",
    ),
    *("meadow", "nectar", "orchard", "pebble", "quartz", "ravine", "summit", "tundra", "umber", "valley", "willow"),
]


def abstract(number: int) -> str:
    """Two dozen words, of which more than half are this number's alone."""
    shared = [WORDS[(number * 7 + step) % len(WORDS)] for step in range(6)]
    own = [f"{WORDS[(number + step) % len(WORDS)]}{number}" for step in range(14)]
    return f"Topic{number} is about {' '.join(shared + own)}."


def paper(number: int, **fields: object) -> Paper:
    return Paper(**{"abstract": abstract(number), "title": f"Title number {number}", **fields})  # type: ignore[arg-type]


def untitled(number: int) -> Paper:
    return Paper(abstract(number))


def counts(report: SyncReport) -> dict[str, int]:
    names = ("new", "updated", "removed", "unchanged", "duplicates", "finished")
    return {name: value for name in names if (value := getattr(report, name))}


def found(store: Store, question: str, top_k: int = 5) -> list[str]:
    return [hit.paper.abstract for hit in Retriever(store).search(question, top_k=top_k).hits]


def elsewhere(code: str, *arguments: str) -> str:
    """What a second process prints that runs `code` on the same data folder."""
    program = "import sys\nfrom encoders import HashEmbedder\nfrom test_store import *\n" + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parent}"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def store() -> Iterator[Store]:
    opened = Store(load_settings(), HashEmbedder())
    yield opened
    opened.close()


# -- counts -----------------------------------------------------------------------------------------------------------

TEN = [paper(n) for n in range(10)]
TEN_UNTITLED = [untitled(n) for n in range(10)]


def edited(one: Paper) -> Paper:
    return replace(one, abstract=one.abstract.replace(" is about ", " reports on "), id="")


def appended(one: Paper) -> Paper:
    return replace(one, abstract=f"{one.abstract} A last sentence was added with seven more words.", id="")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param(TEN, TEN, {"unchanged": 10}, id="same list again"),
        pytest.param(TEN, TEN[::-1], {"unchanged": 10}, id="other order"),
        pytest.param(TEN, [edited(TEN[0]), *TEN[1:]], {"updated": 1, "unchanged": 9}, id="one edited"),
        pytest.param(TEN_UNTITLED, [edited(TEN_UNTITLED[0]), *TEN_UNTITLED[1:]], {"updated": 1, "unchanged": 9},
                     id="one edited, known by its text alone"),
        pytest.param(TEN_UNTITLED, [*TEN_UNTITLED[:9], appended(TEN_UNTITLED[9])], {"updated": 1, "unchanged": 9},
                     id="a sentence added to a text"),
        pytest.param(TEN_UNTITLED, [*map(edited, TEN_UNTITLED[:5]), *TEN_UNTITLED[5:]], {"updated": 5, "unchanged": 5},
                     id="half of the texts edited"),
        pytest.param(TEN, [replace(TEN[0], year=2020, id=""), *TEN[1:]], {"updated": 1, "unchanged": 9},
                     id="a year added"),
        pytest.param(TEN, [replace(TEN[0], doi="10.1000/x", id=""), *TEN[1:]], {"updated": 1, "unchanged": 9},
                     id="a DOI added"),
        pytest.param(TEN, [replace(TEN[0], title="Another title", id=""), *TEN[1:]], {"updated": 1, "unchanged": 9},
                     id="a title changed"),
        pytest.param(TEN, TEN[1:], {"removed": 1, "unchanged": 9}, id="one row removed"),
        pytest.param(TEN, [*TEN, paper(10)], {"new": 1, "unchanged": 10}, id="one row added"),
        pytest.param(TEN, [paper(n) for n in range(10, 20)], {"new": 10, "removed": 10}, id="another list"),
        pytest.param(TEN, [], {"removed": 10}, id="empty list"),
        pytest.param(TEN, [*TEN, TEN[3]], {"unchanged": 10, "duplicates": 1}, id="a row twice"),
    ],
)  # fmt: skip
def test_counts_of_a_second_sync(
    store: Store, first: list[Paper], second: list[Paper], expected: dict[str, int]
) -> None:
    assert counts(store.sync("list", first)) == {"new": 10}
    assert counts(store.sync("list", second)) == expected
    assert sorted(one.abstract for one in store.catalogue.papers()) == sorted({one.abstract for one in second})
    assert counts(store.sync("list", second)).keys() <= {"unchanged", "duplicates"}
    assert store.check().clean


def test_a_closed_store_holds_no_file_open(store: Store) -> None:
    store.sync("list", TEN)
    store.close()
    assert sorted(file.name for file in store.settings.data.iterdir()) == ["catalogue.sqlite", "chroma", "write.lock"]


def test_unchanged_papers_are_not_embedded(store: Store) -> None:
    store.sync("list", TEN)
    embedder = store.embedder
    assert isinstance(embedder, HashEmbedder)
    embedder.encoded.clear()
    store.sync("list", [edited(TEN[0]), *TEN[1:]])
    assert len(embedder.encoded) == 1


def test_removed_paper_is_never_retrieved_again(store: Store) -> None:
    store.sync("list", TEN)
    assert abstract(3) in found(store, "Topic3")
    store.sync("list", TEN[:3] + TEN[4:])
    assert abstract(3) not in found(store, "Topic3", top_k=50)
    assert store.collection.count() == 9


def test_edited_paper_is_found_by_its_new_words_only(store: Store) -> None:
    store.sync("list", TEN)
    store.sync("list", [replace(TEN[0], abstract="Chrysanthemum gardens in autumn.", id=""), *TEN[1:]])
    ranking = Retriever(store).search("Chrysanthemum", top_k=20)
    assert ranking.hits[0].paper.title == TEN[0].title
    assert not any("Topic0" in hit.paper.abstract for hit in ranking.hits)


def test_edited_text_keeps_its_id(store: Store) -> None:
    store.sync("list", TEN_UNTITLED)
    store.sync("list", [edited(TEN_UNTITLED[0]), *TEN_UNTITLED[1:]])
    kept = store.paper(TEN_UNTITLED[0].id)
    assert kept is not None
    assert "reports on" in kept.abstract


def test_text_that_drifted_and_its_first_version_are_two_papers(store: Store) -> None:
    first = untitled(0)
    second = replace(
        first, abstract=" ".join([*first.abstract.split()[:14], *["one", "two", "three", "four", "five", "six"]]), id=""
    )
    third = replace(
        second, abstract=" ".join([*["seven", "eight", "nine", "ten", "eleven"], *second.abstract.split()[5:]]), id=""
    )
    for version in (first, second, third):
        store.sync("list", [version])
    assert counts(store.sync("list", [third, first])) == {"new": 1, "unchanged": 1}
    assert {one.abstract for one in store.catalogue.papers()} == {third.abstract, first.abstract}


def test_a_source_of_which_nothing_can_be_read_any_more_keeps_its_papers(store: Store) -> None:
    store.sync("list", TEN)
    with pytest.raises(InputError, match="10 papers before; they were kept"):
        store.sync("list", [Skipped("list", 1, "the JSON is cut off")])
    assert store.count() == 10
    assert found(store, abstract(3))[0] == abstract(3)
    assert counts(store.sync("list", TEN)) == {"unchanged": 10}


def test_skipped_rows_are_reported_and_good_rows_kept(store: Store) -> None:
    row = Skipped("list", 7, "it has no abstract")
    report = store.sync("list", [TEN[0], row, TEN[1]])
    assert (report.new, report.skipped) == (2, (row,))


def test_a_reader_that_fails_changes_nothing(store: Store) -> None:
    def broken() -> Iterable[Paper]:
        yield paper(11)
        raise InputError("the file ends in the middle")

    store.sync("list", TEN)
    with pytest.raises(InputError):
        store.sync("list", broken())
    with pytest.raises(InputError):
        store.sync("other", broken())
    assert counts(store.sync("list", TEN)) == {"unchanged": 10}
    assert [source.name for source in store.sources()] == ["list"]
    assert store.check().clean


def test_progress_reaches_the_end(store: Store) -> None:
    told: list[tuple[int, int]] = []
    store.sync("list", [paper(n) for n in range(600)], lambda done, total: told.append((done, total)))
    assert told[-1] == (600, 600)
    assert told == sorted(told)


# -- metadata and long texts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"year": None}, id="no year"),
        pytest.param({"authors": tuple(f"Author {n}" for n in range(300))}, id="300 authors"),
        pytest.param({"authors": ("O'Brien, Zoë", '李 "四"')}, id="odd names"),
        pytest.param({"keywords": ("a, b", "c;d", "β")}, id="keywords with separators"),
        pytest.param({"abstract": "Alloy." + " A sentence of seven words ends here." * 220}, id="8,000 characters"),
        pytest.param({"abstract": "Five words and no more."}, id="five words"),
        pytest.param({"abstract": "x" * 9000}, id="one word of 9,000 letters"),
        pytest.param({"title": "word " * 400}, id="a title longer than the window"),
        pytest.param({"abstract": r"A gain of $\alpha < 5\%$ &amp; <b>more</b>.\n\nEnd."}, id="markup"),
        pytest.param({"url": "https://example.org/?a=1&b=2", "venue": "Nature 100%_x"}, id="url and venue"),
    ],
)  # fmt: skip
def test_a_paper_comes_back_as_it_went_in(store: Store, fields: dict[str, object]) -> None:
    one = paper(1, **fields)
    store.sync("list", [one])
    assert store.paper(one.id) == one
    assert list(store.collection.papers()) == [one]
    assert store.check().clean


def test_the_tail_of_a_long_abstract_is_searched_by_vectors(store: Store) -> None:
    filler = " ".join(f"Sentence {n} speaks of {WORDS[n % len(WORDS)]} and nothing else." for n in range(200))
    long = paper(1, abstract=f"{filler} Finally the Xylophone protocol converged.")
    store.sync("list", [long, *TEN[2:]])
    hits = store.collection.nearest(store.embedder.encode_question("Xylophone protocol converged"), 1)
    assert [hit.paper_id for hit in hits] == [long.id]


# -- several sources --------------------------------------------------------------------------------------------------

LONG = " ".join(abstract(n) for n in range(3))


@pytest.mark.parametrize(
    ("one", "other", "papers"),
    [
        pytest.param(paper(1, doi="10.1000/AbC"), paper(2, doi="https://doi.org/10.1000/abc."), 1,
                     id="DOI in two spellings"),
        pytest.param(paper(1, doi="10.1000/a"), paper(1, url="https://openreview.net/forum?id=xYz12"), 1,
                     id="same title and abstract, ids of two kinds"),
        pytest.param(paper(1), replace(paper(1), title="title NUMBER 1.", id=""), 1, id="title in two spellings"),
        pytest.param(paper(1, abstract=LONG), paper(1, abstract=LONG.replace("amber", "Amber-", 1)), 1,
                     id="same title, near-identical abstract"),
        pytest.param(paper(1), untitled(1), 1, id="the same abstract with and without its title"),
        pytest.param(untitled(1), paper(1, doi="10.1000/a"), 1, id="the same abstract, later with title and DOI"),
        pytest.param(paper(1), paper(1, abstract=abstract(2)), 2, id="same title, another abstract"),
        pytest.param(paper(1, doi="10.1000/a"), paper(1, doi="10.1000/b"), 2, id="two DOIs are two papers"),
        pytest.param(paper(1, url="https://openreview.net/forum?id=aaa"), paper(1, url="https://openreview.net/forum?id=bbb"),
                     2, id="two OpenReview ids are two papers"),
        pytest.param(untitled(1), untitled(2), 2, id="two texts"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["two sources", "one source"])
def test_what_is_one_paper(store: Store, one: Paper, other: Paper, papers: int, place: str) -> None:
    if place == "one source":
        report = store.sync("a", [one, other])
        assert (report.new, report.new + report.duplicates) == (papers, 2)
        again = store.sync("a", [one, other])
        assert (again.unchanged, again.unchanged + again.duplicates) == (papers, 2)
    else:
        assert counts(store.sync("a", [one])) == {"new": 1}
        report = store.sync("b", [other])
        assert (report.new, report.papers) == (papers - 1, 1)
        assert counts(store.sync("a", [one])) == counts(store.sync("b", [other])) == {"unchanged": 1}
        assert len(store.catalogue.sources_of(next(store.catalogue.papers()).id)) == 3 - papers
    assert store.count() == papers
    assert store.check().clean


def test_shared_paper_stays_until_the_last_source_drops_it(store: Store) -> None:
    store.sync("a", TEN)
    assert counts(store.sync("b", TEN[:2])) == {"unchanged": 2}
    assert counts(store.sync("a", TEN[1:])) == {"unchanged": 9}
    assert store.paper(TEN[0].id) == TEN[0]
    assert counts(store.sync("b", TEN[1:2])) == {"removed": 1, "unchanged": 1}
    assert store.paper(TEN[0].id) is None


def test_a_shared_paper_is_what_its_sources_say_now(store: Store) -> None:
    """What one source adds goes with it; what it corrects is corrected, also when the correction is shorter."""
    plain, rich = (
        paper(1, doi="10.1000/x"),
        paper(1, doi="10.1000/x", year=2020, venue="Nature", abstract=abstract(1) + " More."),
    )
    store.sync("a", [plain])
    assert counts(store.sync("b", [rich])) == {"updated": 1}
    merged = store.paper(plain.id)
    assert merged is not None
    assert (merged.year, merged.venue, merged.abstract) == (2020, "Nature", rich.abstract)
    assert counts(store.sync("b", [replace(rich, abstract=abstract(1), year=2021)])) == {"updated": 1}
    assert store.paper(plain.id) == replace(rich, abstract=abstract(1), year=2021)
    assert counts(store.sync("b", [])) == {}
    assert store.paper(plain.id) == plain
    assert store.check().clean


def test_remove_source(store: Store) -> None:
    store.sync("a", TEN)
    store.sync("b", [*TEN[:2], paper(20)])
    assert store.remove_source("a") == 8
    assert (store.count(), store.collection.count()) == (3, 3)
    with pytest.raises(StoreError, match=r"no source named a(?s:.*)sources: b"):
        store.remove_source("a")
    assert store.check().clean


# -- many -------------------------------------------------------------------------------------------------------------


@pytest.mark.nightly
def test_six_thousand_records_in_one_ingest(store: Store) -> None:
    """Chroma takes at most 5,461 records in a call."""
    many = [Paper(f"Record{n} stands for itself.", url=f"https://openreview.net/forum?id=r{n}") for n in range(6000)]
    assert counts(store.sync("many", many)) == {"new": 6000}
    assert store.collection.count() == 6000
    assert found(store, "Record4711", top_k=1) == [many[4711].abstract]
    assert counts(store.sync("many", many)) == {"unchanged": 6000}
    assert counts(store.sync("many", many[:1])) == {"removed": 5999, "unchanged": 1}
    assert store.collection.count() == 1


def test_one_paper_may_have_more_chunks_than_a_call_takes(store: Store) -> None:
    one = paper(1)
    chunks = [Chunk(f"part {n}", n, n + 1) for n in range(5500)]
    store.collection.upsert([one], [chunks], np.tile(store.embedder.encode(["part"]), (5500, 1)))
    assert store.collection.count() == 5500
    store.collection.delete(list(store.collection.ids()))
    assert store.collection.count() == 0


# -- any list of edits ------------------------------------------------------------------------------------------------

NUMBERS = st.integers(0, 14)
ROWS = st.lists(
    st.tuples(NUMBERS, st.sampled_from(["titled", "untitled", "doi", "edited"])),
    unique_by=lambda row: row[0],
    max_size=10,
)


def row_paper(number: int, kind: str) -> Paper:
    one = {"titled": paper(number), "untitled": untitled(number), "doi": paper(number, doi=f"10.1000/{number}")}
    return one[kind] if kind != "edited" else edited(paper(number))


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(st.tuples(st.sampled_from("ab"), ROWS), min_size=2, max_size=6))
def test_the_store_holds_what_the_sources_said_last(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, list[tuple[int, str]]]]
) -> None:
    store = Store(load_settings(data=tmp_path_factory.mktemp("store")), HashEmbedder())
    try:
        last: dict[str, list[tuple[int, str]]] = {}
        for source, rows in steps:
            before = store.count()
            report = store.sync(source, [row_paper(*row) for row in rows])
            last[source] = rows
            assert report.papers + report.duplicates == len(rows)
            assert store.count() == before + report.new - report.removed
        said = {number for rows in last.values() for number, _ in rows}
        held = {int(one.abstract.split()[0].removeprefix("Topic")) for one in store.catalogue.papers()}
        assert held == said
        for number, kind in (row for source in last if len(last) == 1 for row in last[source]):
            assert any(one.abstract == row_paper(number, kind).abstract for one in store.catalogue.papers())
        assert store.check().clean
    finally:
        store.close()


# -- several processes and threads ------------------------------------------------------------------------------------


def test_a_second_writer_is_told_who_holds_the_lock() -> None:
    settings = load_settings(lock_seconds=0.1)
    store = Store(settings, HashEmbedder())
    code = "s = Store(load_settings(), HashEmbedder())\nwith s.writing():\n print('held', flush=True); sys.stdin.read()"
    environment = {**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parent}"}
    holder = subprocess.Popen(
        [sys.executable, "-c", f"import sys\nfrom test_store import *\n{code}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert holder.stdin and holder.stdout
    assert holder.stdout.readline().strip() == "held"
    try:
        with pytest.raises(StoreLocked, match=rf"process {holder.pid}, since"):
            store.sync("list", TEN)
        assert store.count() == 0
    finally:
        holder.stdin.close()
        holder.wait(10)
    assert counts(store.sync("list", TEN)) == {"new": 10}


def test_a_second_writer_waits_for_the_first(store: Store) -> None:
    path = store.settings.data / "write.lock"
    lock = FileLock(path, thread_local=False)
    lock.acquire()
    timer = threading.Timer(0.3, lock.release)
    timer.start()
    assert counts(store.sync("list", TEN)) == {"new": 10}
    timer.join()


def test_an_open_reader_sees_what_another_process_ingests(store: Store) -> None:
    """Also with a second store open on the same folder in this process: Chroma shares and caches its index."""
    second = Store(store.settings, HashEmbedder())
    store.sync("list", TEN)
    readers = [Retriever(store), Retriever(second)]
    for reader in readers:
        assert reader.search("Topic3", top_k=1).hits[0].dense > 0.15
    elsewhere("Store(load_settings(), HashEmbedder()).sync('list', [*TEN[1:], paper(40)])")
    for reader in readers:
        hits = reader.search("Topic40", top_k=50).hits
        assert hits[0].paper == paper(40)
        assert hits[0].dense > 0.15
        assert TEN[0] not in [hit.paper for hit in hits]
    second.close()


def test_searches_run_on_while_another_thread_ingests(store: Store) -> None:
    store.sync("list", TEN)
    retriever, failures, over = Retriever(store), list[str](), threading.Event()

    def search() -> None:
        while not over.is_set():
            try:
                hits = retriever.search("Topic3", top_k=3).hits
                assert hits[0].paper.abstract == abstract(3)
            except Exception as error:
                failures.append(repr(error))
                return

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(20, 28):
        store.sync("list", [*TEN, *map(paper, range(20, number))])
    over.set()
    for thread in threads:
        thread.join(30)
    assert failures == []


# -- fingerprint, versions and damage ---------------------------------------------------------------------------------


def test_another_embedding_model_is_refused_until_rebuilt(store: Store) -> None:
    store.sync("list", TEN)
    store.close()
    with pytest.raises(StoreMismatch, match=r"hash-words/384(?s:.*)hash-other/384(?s:.*)rag rebuild"):
        Store(store.settings, HashEmbedder("other"))
    other = Store(store.settings, HashEmbedder("other"), check=False)
    assert other.rebuild() == 10
    assert found(other, "Topic3", top_k=1) == [abstract(3)]
    assert other.check().clean
    other.close()
    with pytest.raises(StoreMismatch):
        Store(store.settings, HashEmbedder())


def test_vectors_of_another_model_in_the_collection_are_refused(store: Store) -> None:
    """The catalogue was lost or copied; the collection still knows whose vectors it holds."""
    store.sync("list", TEN)
    store.close()
    for file in store.settings.data.glob("catalogue.sqlite*"):
        file.unlink()
    other = Store(store.settings, HashEmbedder("other"))
    with pytest.raises(StoreMismatch, match="rag rebuild"):
        other.sync("list", TEN)
    other.close()


def test_a_catalogue_of_another_version_is_refused(store: Store) -> None:
    store.sync("list", TEN)
    store.close()
    with sqlite3.connect(store.settings.catalogue_path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(StoreMismatch, match="schema version 99"):
        Store(store.settings, HashEmbedder())


def test_a_file_that_is_no_catalogue_is_damage(tmp_path: Path) -> None:
    settings = load_settings()
    settings.data.mkdir()
    settings.catalogue_path.write_bytes(b"this is no database" * 500)
    with pytest.raises(StoreDamaged, match=r"rag rebuild --catalogue"):
        Store(settings, HashEmbedder())
    assert settings.catalogue_path.read_bytes().startswith(b"this is no database")


def test_a_data_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="RAG_DATA names another folder"):
        Store(load_settings(data=tmp_path / "file" / "data"), HashEmbedder())


def lose_index(chroma: Path) -> None:
    """Half of the folder is gone: the folders of the vector index."""
    for folder in chroma.iterdir():
        if folder.is_dir():
            shutil.rmtree(folder)


def lose_everything(chroma: Path) -> None:
    shutil.rmtree(chroma)


def scramble(chroma: Path) -> None:
    (chroma / "chroma.sqlite3").write_bytes(b"rubbish" * 5000)


def truncate(chroma: Path) -> None:
    file = chroma / "chroma.sqlite3"
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 3])


def empty_file(chroma: Path) -> None:
    (chroma / "chroma.sqlite3").write_bytes(b"")


@pytest.mark.parametrize("damage", [lose_index, lose_everything, scramble, truncate, empty_file])
def test_a_damaged_collection_is_told_and_rebuilt(store: Store, damage: Callable[[Path], None]) -> None:
    size = 1200 if damage is lose_index else 40  # the index is written when its log holds a thousand
    many = [paper(n) for n in range(size)]
    store.sync("list", many)
    store.close()
    damage(store.settings.chroma_path)
    after = sorted(path.name for path in store.settings.chroma_path.glob("*"))
    reopened = Store(store.settings, HashEmbedder())
    try:
        assert len(found(reopened, "Topic3", top_k=1)) == 1
    except StoreDamaged as error:
        assert "rag rebuild" in error.hint
        assert "\n" not in error.message
        assert set(after) <= {path.name for path in store.settings.chroma_path.glob("*")} or damage is lose_everything
    else:
        assert damage is lose_index
    reopened.close()
    rebuilt = Store(store.settings, HashEmbedder(), check=False)
    assert rebuilt.rebuild() == size
    assert rebuilt.check().clean
    assert found(rebuilt, "Topic3", top_k=1) == [abstract(3)]
    rebuilt.close()


def test_repair_brings_back_missing_chunks_and_drops_orphans(store: Store) -> None:
    store.sync("list", TEN)
    gone = [chunk for chunk in store.collection.ids() if chunk.startswith(TEN[0].id)]
    store.collection.delete(gone)
    store.collection.upsert([paper(50)], [[]], store.embedder.encode([]))
    ghost = paper(51)
    store.collection.upsert([ghost], [[Chunk("ghost", 0, 5)]], store.embedder.encode(["ghost"]))
    health = store.check()
    assert health.missing == (TEN[0].id,)
    assert [orphan.partition("@")[0] for orphan in health.orphans] == [ghost.id]
    assert not health.clean
    assert store.repair() == health
    assert store.check().clean
    assert ghost not in [hit.paper for hit in Retriever(store).search("ghost", top_k=20).hits]


@pytest.mark.parametrize("mend", [Store.rebuild, Store.repair])
def test_mending_does_not_undo_an_edit_that_waits(store: Store, mend: Callable[[Store], object]) -> None:
    """An ingest was killed after marking: the newer version must survive a rebuild or repair."""
    store.sync("list", TEN)
    newer = edited(TEN[0])
    with store.catalogue.transaction():
        store.catalogue.add_pending(newer)
    store.collection.delete([chunk for chunk in store.collection.ids() if chunk.startswith(TEN[0].id)])
    mend(store)
    assert store.paper(newer.id) == newer
    assert store.check().clean


def test_a_killed_rebuild_is_finished_by_the_next_ingest(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.sync("list", TEN)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "finish_pending", killed)
    with pytest.raises(KeyboardInterrupt):
        store.rebuild()
    monkeypatch.undo()
    report = store.sync("list", TEN)
    assert counts(report) == {"unchanged": 10, "finished": 10}
    assert store.check().clean


def test_a_lost_catalogue_is_made_anew_and_taken_over_by_its_source(store: Store) -> None:
    rich = paper(30, authors=("A", "B"), year=2001, venue="V", doi="10.1000/z", keywords=("k",))
    store.sync("list", [*TEN, rich])
    before = sorted(store.catalogue.papers(), key=lambda one: one.id)
    store.close()
    store.settings.catalogue_path.write_bytes(b"rubbish" * 1000)
    assert rebuild_catalogue(store.settings, HashEmbedder()) == 11
    assert list(store.settings.data.glob("catalogue.sqlite.replaced-*"))
    again = Store(store.settings, HashEmbedder())
    assert sorted(again.catalogue.papers(), key=lambda one: one.id) == before
    assert again.check().clean
    assert counts(again.sync("list", [*TEN, rich])) == {"unchanged": 11}
    assert counts(again.sync("list", TEN)) == {"unchanged": 10, "removed": 1}
    assert again.check().clean
    again.close()


def test_a_catalogue_is_not_replaced_by_nothing(store: Store) -> None:
    store.sync("list", TEN)
    store.close()
    shutil.rmtree(store.settings.chroma_path)
    with pytest.raises(StoreError, match="holds no papers"):
        rebuild_catalogue(store.settings, HashEmbedder())
    assert Store(store.settings, HashEmbedder()).count() == 10


# -- other programs ---------------------------------------------------------------------------------------------------


def test_llamaindex_reads_the_collection(store: Store) -> None:
    import chromadb
    from llama_index.core.vector_stores import VectorStoreQuery
    from llama_index.vector_stores.chroma import ChromaVectorStore

    store.sync("list", [replace(one, year=2024) for one in TEN])
    store.close()
    client = chromadb.PersistentClient(str(store.settings.chroma_path))
    vectors = ChromaVectorStore(chroma_collection=client.get_collection(store.settings.chroma_collection))
    question = [float(x) for x in store.embedder.encode_question("Topic3")]
    result = vectors.query(VectorStoreQuery(query_embedding=question, similarity_top_k=2))
    assert result.nodes is not None
    best = result.nodes[0]
    assert abstract(3) in best.get_content()
    assert (best.metadata["title"], best.metadata["year"]) == ("Title number 3", 2024)
    start, end = best.metadata["start"], best.metadata["end"]
    assert abstract(3)[start:end] == abstract(3)
    assert len(sentences(best.get_content())) >= 1
    client.close()


def test_sources_are_listed_with_time_and_papers(store: Store) -> None:
    store.sync("b", TEN[:3])
    store.sync("a", TEN)
    listed = store.sources()
    assert [(source.name, source.papers) for source in listed] == [("a", 10), ("b", 3)]
    assert all(source.synced.endswith("Z") for source in listed)


def test_records_in_the_collection_are_plain_json(store: Store) -> None:
    store.sync("list", TEN[:1])
    (one,) = store.collection.papers()
    assert json.loads(json.dumps(one.title)) == TEN[0].title
