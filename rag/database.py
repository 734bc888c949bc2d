"""The catalogue's SQLite file: opened, made or brought up to date, and its errors in a line."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rag.disk import obstacle
from rag.errors import StoreDamaged, StoreError, StoreMismatch

SCHEMA_VERSION = 3

_BUSY_SECONDS = 30

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE papers (
    n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, version TEXT NOT NULL, chunks INTEGER NOT NULL,
    title TEXT NOT NULL, abstract TEXT NOT NULL, authors TEXT NOT NULL, year INTEGER, venue TEXT NOT NULL,
    url TEXT NOT NULL, doi TEXT NOT NULL, keywords TEXT NOT NULL, title_key TEXT NOT NULL,
    opening_key TEXT NOT NULL
);
CREATE INDEX papers_title_key ON papers (title_key) WHERE title_key != '';
CREATE INDEX papers_opening_key ON papers (opening_key) WHERE opening_key != '';
CREATE INDEX papers_year ON papers (year);
CREATE TABLE sources (n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, synced TEXT NOT NULL);
CREATE TABLE origins (
    source INTEGER NOT NULL, key TEXT NOT NULL, paper TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (source, key)
) WITHOUT ROWID;
CREATE INDEX origins_paper ON origins (paper);
CREATE TABLE variants (
    n INTEGER PRIMARY KEY, source INTEGER NOT NULL, key TEXT NOT NULL, paper TEXT NOT NULL, record TEXT NOT NULL,
    UNIQUE (source, key)
);
CREATE INDEX variants_paper ON variants (paper);
CREATE TABLE pending (id TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE stale (chunk TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE untold (paper TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE VIRTUAL TABLE fulltext USING fts5(title, abstract, tokenize = 'porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE fulltext_cjk USING fts5(body, tokenize = 'trigram');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(fulltext, 'row');
"""

# what an older catalogue lacks, by its version; the collection is told its sources by the next write
_UPGRADES = {
    2: (
        "CREATE TABLE untold (paper TEXT PRIMARY KEY) WITHOUT ROWID",
        "INSERT INTO untold SELECT id FROM papers",
    ),
}


class _Cursor(sqlite3.Cursor):
    """Damage may show only when rows are fetched."""

    connection: _Connection

    def __next__(self) -> Any:
        try:  # as `held`, for thousands of rows
            with self.connection.lock:
                return super().__next__()
        except sqlite3.Error as error:
            raise readable(error, self.connection.path) from error

    def fetchone(self) -> Any:
        with self.connection.held():
            return super().fetchone()

    def fetchall(self) -> list[Any]:
        with self.connection.held():
            return super().fetchall()


class _Connection(sqlite3.Connection):
    """Says of SQLite's errors where they happened and what to do.

    A store that is closed closes the connections of all its threads, and SQLite crashes where one is closed that is in
    use: closing waits for the call that is going on, and the next call is told.
    """

    path: Path

    def __init__(self, path: Path, *arguments: Any, **options: Any) -> None:
        super().__init__(path, *arguments, **options)
        self.path = path
        self.lock = threading.RLock()

    @contextmanager
    def held(self) -> Iterator[None]:
        """No other thread uses or closes the connection; what SQLite raises is one of our errors."""
        with self.lock:
            try:
                yield
            except sqlite3.Error as error:
                raise readable(error, self.path) from error

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        with self.held():
            return self.cursor(_Cursor).execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:
        with self.held():
            return self.cursor(_Cursor).executemany(*arguments)

    def close(self) -> None:
        with self.lock:
            super().close()


def open_database(path: Path) -> sqlite3.Connection:
    """The catalogue in this file, made or brought up to date where it has to be.

    Raises StoreDamaged when the file is no catalogue, StoreMismatch when its schema is of another version.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(
            path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, factory=_Connection
        )
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        _prepare(db, path)
    except (OSError, sqlite3.Error) as error:
        raise readable(error, path) from error
    return db


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; begins by taking the write lock, so that it cannot fail half-way for want of it."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:  # SQLite itself gives up one that finds the disk full
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    version = _version(db)
    if version == SCHEMA_VERSION:
        return
    statements = _SCHEMA.split(";\n") if version == 0 else _UPGRADES.get(version)
    if statements is None:
        raise StoreMismatch(
            f"the catalogue {path} has schema version {version}, this program reads {SCHEMA_VERSION}",
            hint="RAG_DATA=FOLDER starts a new store; nothing was changed in this one",
        )
    with transaction(db):
        if _version(db) == version:  # another process may have been faster
            for statement in statements:
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def readable(error: Exception, path: Path) -> StoreError:
    """What SQLite or the file system raised, as one of our errors."""
    said = str(error)
    if isinstance(error, sqlite3.ProgrammingError) and "closed" in said:
        return StoreError(f"the catalogue {path} was closed while it was in use", hint="open the store anew")
    if "malformed" not in said:
        if found := obstacle(said, path):
            return found
        if isinstance(error, (OSError, sqlite3.OperationalError)):
            return StoreError(
                f"the data folder {path.parent} cannot be used: {said}", hint="RAG_DATA names another folder"
            )
    return StoreDamaged(
        f"the catalogue {path} is damaged: {said}",
        hint="rag rebuild --catalogue makes it anew from the collection; the damaged file is kept",
    )
