"""The library's table, uploads and their reports, without a browser."""

from __future__ import annotations

import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.catalogue import Catalogue
from rag.errors import InputError, StoreError
from rag.papers import Paper
from rag.store import Store
from ui.choices import question_about
from ui.listing import PAGE, Query, page
from ui.tables import details, report, source_list, table
from ui.uploads import Outcome, Progress, ingest, shown_name, take

PAPERS = [
    Paper("Bees dance in circles.", "Bees", ("Ana Ortiz",), 2021, "Insects", keywords=("dance",), id="p1"),
    Paper("Wasps do not.", "asps", ("Bo Li",), 2019, "Insects", id="p2"),
    Paper("蜜蜂跳舞说明方向。", "蜜蜂的舞蹈", (), None, "", id="p3"),
]


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    catalogue = Catalogue(tmp_path / "catalogue.sqlite")
    with catalogue.transaction():
        for paper in PAPERS:
            catalogue.publish(paper, 1)
    return catalogue


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (Query(), ["p1", "p2", "p3"]),
        (Query(descending=True), ["p3", "p2", "p1"]),
        (Query(order="title"), ["p2", "p1", "p3"]),
        (Query(order="year"), ["p2", "p1", "p3"]),
        (Query(order="year", descending=True), ["p1", "p2", "p3"]),
        (Query("bee"), ["p1"]),
        (Query("circ"), ["p1"]),
        (Query("dancing"), ["p1"]),
        (Query("ortiz"), ["p1"]),
        (Query("insects", "venue"), ["p1", "p2"]),
        (Query("跳舞"), ["p3"]),
        (Query("bees wasps"), []),
        (Query('"'), ["p1", "p2", "p3"]),
        (Query("NEAR("), []),
        (Query("100%_"), []),
    ],
)
def test_search_and_order(catalogue: Catalogue, query: Query, found: list[str]) -> None:
    shown = page(catalogue, query)
    assert [paper.id for paper in shown.papers] == found
    assert shown.total == len(found)


@given(st.text(max_size=30))
def test_no_search_breaks_the_query(text: str) -> None:
    catalogue = Catalogue(Path(":memory:"))
    page(catalogue, Query(text))
    catalogue.close()


def test_a_large_library_is_fast_and_only_a_page_leaves_it(tmp_path: Path) -> None:
    catalogue = Catalogue(tmp_path / "catalogue.sqlite")
    with catalogue.transaction():
        for number in range(5000):
            catalogue.publish(
                Paper(f"Text {number} on topic{number % 50}. " * 20, f"Title {number:05}", id=f"p{number}"), 1
            )
    for query in (Query(), Query(order="title", page=199), Query("topic7"), Query("title", "year", True, 3)):
        started = time.perf_counter()
        shown = page(catalogue, query)
        assert time.perf_counter() - started < 0.5
        assert len(shown.papers) == PAGE
    assert shown.pages == 200
    assert page(catalogue, Query(page=10_000)).query.page == 199


def test_the_table_can_be_sorted_paged_and_opened(catalogue: Catalogue) -> None:
    shown = table(page(catalogue, Query(order="title")), "p1")
    assert 'aria-sort="ascending"' in shown
    assert 'data-action="paper" data-paper="p2"' in shown
    assert "1 to 3 of 3" in shown
    assert shown.count('class="current"') == 1


def test_an_empty_library_says_how_to_begin(tmp_path: Path) -> None:
    assert "Add a file" in table(page(Catalogue(tmp_path / "c.sqlite"), Query()))


def test_details_show_everything_that_is_known() -> None:
    shown = details(PAPERS[0], ["/home/ann/bees.csv", "upload/more.bib"])
    for part in ("Bees dance in circles.", "Ana Ortiz", "dance", "p1", "bees.csv, more.bib"):
        assert part in shown
    assert "/home/ann" not in shown


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("papers.csv", "papers.csv"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("../..", "file"),
        ("", "file"),
        ("<script>alert(1)<script>.csv", "script_alert(1)_script_.csv"),
        (".hidden", "hidden"),
        ("Aufsätze 2024 (neu).bib", "Aufsätze 2024 (neu).bib"),
        ("x" * 10_000 + ".csv", "x" * 96 + ".csv"),
    ],
)
def test_names_of_files_are_tamed(name: str, shown: str) -> None:
    assert shown_name(name) == shown


def test_a_file_is_taken_in_under_a_generated_name(tmp_path: Path) -> None:
    sent = tmp_path / "sent"
    sent.write_text("text", encoding="utf-8")
    stored = take(sent, "../../x.csv", tmp_path / "uploads")
    assert stored.parent == tmp_path / "uploads"
    assert stored.suffix == ".csv"
    assert "x" not in stored.stem
    assert not sent.exists()


@pytest.mark.parametrize("name", ["paper.pdf", "x.exe", "x", "page.html", "x.exe.gz", ".csv"])
def test_other_kinds_of_files_are_refused(tmp_path: Path, name: str) -> None:
    sent = tmp_path / "sent"
    sent.write_bytes(b"x")
    with pytest.raises(InputError, match="cannot be read"):
        take(sent, name, tmp_path / "uploads")


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.uploads.MOST_BYTES", 3)
    sent = tmp_path / "sent"
    sent.write_bytes(b"four")
    with pytest.raises(InputError, match="larger than"):
        take(sent, "x.csv", tmp_path / "uploads")


def send(store: Store, path: Path, name: str) -> tuple[list[Progress], Outcome]:
    *steps, last = ingest(store, path, name, store.settings.data / "uploads")
    assert isinstance(last, Outcome)
    return [step for step in steps if isinstance(step, Progress)], last


def csv(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(["title,abstract", *rows]), encoding="utf-8")
    return path


def test_an_upload_reports_rows_used_and_not_used(store: Store, tmp_path: Path) -> None:
    rows = ("Bees,Bees dance in circles to tell the way.", "Empty,", "Wasps,Wasps sting but they do not dance.")
    steps, outcome = send(store, csv(tmp_path / "sent", *rows), "../bees.csv")
    assert steps[0] == Progress("bees.csv")
    assert outcome.error is None
    (one,) = outcome.reports
    assert (one.new, len(one.skipped)) == (2, 1)
    assert (one.skipped[0].source, one.skipped[0].line) == ("bees.csv", 3)
    shown = report(outcome)
    assert "2 new" in shown
    assert "1 row not used" in shown
    assert str(store.settings.data) not in shown
    assert list((store.settings.data / "uploads").iterdir()) == []


def test_the_same_name_again_brings_the_source_up_to_date(store: Store, tmp_path: Path) -> None:
    send(store, csv(tmp_path / "a", "Bees,Bees dance in circles.", "Wasps,Wasps sting."), "x.csv")
    before = store.count()
    _, outcome = send(store, csv(tmp_path / "b", "Bees,Bees dance in circles."), "x.csv")
    (one,) = outcome.reports
    assert (one.unchanged, one.removed, one.new) == (1, 1, 0)
    assert store.count() == before - 1


def test_an_archive_reports_each_file_in_it(store: Store, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "z", "w") as archive:
        archive.writestr("a.csv", "title,abstract\nBees,Bees dance in circles.")
        archive.writestr("b.csv", "title,abstract\nWasps,Wasps sting now and then.")
    _, outcome = send(store, tmp_path / "z", "both.zip")
    assert [one.source for one in outcome.reports] == ["both.zip!a.csv", "both.zip!b.csv"]


def test_a_file_that_cannot_be_read_is_an_error_and_changes_nothing(store: Store, tmp_path: Path) -> None:
    before = store.count()
    (tmp_path / "sent").write_bytes(b"PK\x03\x04 broken")
    _, outcome = send(store, tmp_path / "sent", "x.zip")
    assert outcome.error is not None
    assert "x.zip" in outcome.error.message
    assert str(store.settings.data) not in str(outcome.error)
    assert store.count() == before


def test_sources_can_be_removed(store: Store, tmp_path: Path) -> None:
    send(store, csv(tmp_path / "a", "Bees,Bees dance in circles."), "x.csv")
    shown = source_list(store.sources())
    assert 'data-source="upload/x.csv"' in shown
    assert ">x.csv<" in shown
    assert store.remove_source("upload/x.csv") == 1
    with pytest.raises(StoreError):
        store.remove_source("upload/x.csv")


@pytest.mark.parametrize(
    ("title", "question"),
    [
        ("TNT: Improving Chunkwise Training", "What is TNT, and what does it do?"),
        ("From Tokens to Thoughts: How LLMs Trade Compression", "What is known about how LLMs Trade Compression?"),
        ("Do bees dance at night?", "Do bees dance at night?"),
        ("Learning Flexible Forward Trajectories", "What is known about learning Flexible Forward Trajectories?"),
        ("An $x^2$ bound", ""),
        ("", ""),
    ],
)
def test_questions_about_papers(title: str, question: str) -> None:
    assert question_about(Paper("Some text.", title)) == question
