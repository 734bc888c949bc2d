"""A catalogue from the collection: what a killed ingest left, and what older versions of this program wrote."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import asdict

import pytest
from encoders import HashEmbedder
from test_store import TEN, appended, counts, edited, found, paper

from rag.catalogue import chunk_id, paper_version
from rag.chunks import chunk_papers
from rag.papers import Paper
from rag.recovery import rebuild_catalogue
from rag.settings import load_settings
from rag.store import Store

LONG = paper(30, abstract=" ".join(f"Sentence {n} of the long abstract is about lagoons." for n in range(40)))


@pytest.fixture
def store() -> Iterator[Store]:
    opened = Store(load_settings(), HashEmbedder())
    yield opened
    opened.close()


def write_chunks(store: Store, one: Paper, *, lost: int) -> None:
    """The chunks of a version, but for the last ones, as an ingest leaves them that is killed before publishing."""
    chunks = chunk_papers([one], store.embedder.token_counts, store.embedder.window)
    vectors = store.embedder.encode([chunk.text for chunk in chunks[0]])
    assert len(chunks[0]) > lost
    store.collection.upsert([one], chunks, vectors)
    last = len(chunks[0]) - lost
    store.collection.delete([chunk_id(one.id, paper_version(one), last + index) for index in range(lost)])


def rebuilt(store: Store) -> Store:
    store.close()
    assert rebuild_catalogue(store.settings, HashEmbedder())
    return store


def test_of_two_versions_the_last_whole_one_is_served(store: Store) -> None:
    store.sync("list", [*TEN, LONG])
    newer, halved = edited(TEN[0]), appended(LONG)
    assert (newer.id, halved.id) != (TEN[0].id, LONG.id)
    newer, halved = Paper(**{**asdict(newer), "id": TEN[0].id}), Paper(**{**asdict(halved), "id": LONG.id})
    write_chunks(store, newer, lost=0)
    write_chunks(store, halved, lost=1)
    rebuilt(store)
    assert store.paper(newer.id) == newer
    assert store.paper(LONG.id) == LONG
    report = store.sync("list", [newer, *TEN[1:], LONG])
    assert (report.new, report.removed) == (0, 0)
    assert store.check().clean
    assert store.collection.count() == store.catalogue.chunk_count()


def test_a_paper_of_which_only_a_part_was_written_is_finished(store: Store) -> None:
    store.sync("list", TEN)
    write_chunks(store, LONG, lost=2)
    rebuilt(store)
    assert store.paper(LONG.id) is None, "not served half-written"
    assert counts(store.sync("list", [*TEN, LONG])) == {"unchanged": 11, "finished": 1}
    assert store.paper(LONG.id) == LONG
    assert store.check().clean


def test_sources_are_told_where_nothing_else_changed(store: Store) -> None:
    """A second list of the same papers embeds nothing, and is known to the collection all the same."""
    store.sync("a", TEN)
    assert isinstance(store.embedder, HashEmbedder)
    store.embedder.encoded.clear()
    store.sync("b", TEN[:4])
    store.sync("c", TEN[4:])
    store.remove_source("c")
    assert store.embedder.encoded == []
    rebuilt(store)
    assert [(source.name, source.papers) for source in store.sources()] == [("a", 10), ("b", 4)]
    assert counts(store.sync("a", [])) == {"removed": 6}
    assert found(store, "Topic3", top_k=1) == [TEN[3].abstract]


def make_old(store: Store) -> None:
    """The store as the version before wrote it: no sources in the collection, no table of what it was not told."""
    with store.collection._connected() as connection:
        chunks = store.collection._chunks(connection)
        ids = [chunk_id(one.id, paper_version(one), 0) for one in TEN]
        chunks.update(ids, metadatas=[{"record": json.dumps(asdict(one), ensure_ascii=False)} for one in TEN])
    store.close()
    with sqlite3.connect(store.settings.catalogue_path) as db:
        db.execute("DROP TABLE untold")
        db.execute("PRAGMA user_version = 2")
    db.close()


def test_an_old_store_is_read_and_its_collection_told_by_the_next_ingest(store: Store) -> None:
    store.sync("list", TEN)
    make_old(store)
    assert found(store, "Topic3", top_k=1) == [TEN[3].abstract]
    assert counts(store.sync("list", TEN)) == {"unchanged": 10}
    rebuilt(store)
    assert [(source.name, source.papers) for source in store.sources()] == [("list", 10)]


def test_an_old_collection_gives_its_papers_under_one_source(store: Store) -> None:
    store.sync("list", TEN)
    make_old(store)
    rebuilt(store)
    assert [(source.name, source.papers) for source in store.sources()] == [("collection", 10)]
    assert store.check().clean
    assert counts(store.sync("list", TEN)) == {"unchanged": 10}
    assert counts(store.sync("list", TEN[1:])) == {"unchanged": 9, "removed": 1}
