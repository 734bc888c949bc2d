"""Conversations, kept in the store's folder, each belonging to the browser that made it.

A browser is known by a long random name that only it has; without that name nothing of it can be read.
Bounded: the oldest conversations go when a browser has too many, and so do those of browsers not seen for long.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rag.answer import Answer, answer_from_dict

PER_BROWSER = 200  # conversations
PER_CONVERSATION = 100  # turns
ALTOGETHER = 20_000  # conversations
NAME_LENGTH = 80

_SCHEMA = """
CREATE TABLE IF NOT EXISTS conversation (
    id TEXT PRIMARY KEY, browser TEXT NOT NULL, name TEXT NOT NULL, updated REAL NOT NULL);
CREATE INDEX IF NOT EXISTS conversation_browser ON conversation (browser, updated);
CREATE TABLE IF NOT EXISTS turn (
    conversation TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
    number INTEGER NOT NULL, question TEXT NOT NULL, text TEXT NOT NULL, answer TEXT NOT NULL,
    rating TEXT NOT NULL DEFAULT '', PRIMARY KEY (conversation, number));
"""


@dataclass(frozen=True, slots=True)
class Summary:
    """A conversation in the list."""

    id: str
    name: str
    updated: float
    turns: int


@dataclass(frozen=True, slots=True)
class Kept:
    """A kept turn; `rating` is "", "up" or "down"."""

    number: int
    answer: Answer
    rating: str


class Conversations:
    """The conversations of all browsers, in one small database that several threads and processes may use."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._database() as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.executescript(_SCHEMA)

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        database = sqlite3.connect(self._path, timeout=20)
        try:
            database.execute("PRAGMA foreign_keys = ON")
            with database:
                yield database
        finally:
            database.close()

    def start(self, browser: str, question: str) -> str:
        """A new conversation, named after its first question. Returns its id."""
        identity = secrets.token_urlsafe(12)
        with self._database() as database:
            database.execute(
                "INSERT INTO conversation VALUES (?, ?, ?, ?)", (identity, browser, _name(question), time.time())
            )
            database.execute(
                "DELETE FROM conversation WHERE browser = ? AND id NOT IN"
                " (SELECT id FROM conversation WHERE browser = ? ORDER BY updated DESC, rowid DESC LIMIT ?)",
                (browser, browser, PER_BROWSER),
            )
            database.execute(
                "DELETE FROM conversation WHERE id IN"
                " (SELECT id FROM conversation ORDER BY updated DESC, rowid DESC LIMIT -1 OFFSET ?)",
                (ALTOGETHER,),
            )
        return identity

    def add(self, browser: str, conversation: str, answer: Answer) -> int:
        """Keep a turn at the end. Returns its number, 0 if the conversation is not this browser's (any more)."""
        with self._database() as database:
            if not self._owns(database, browser, conversation):
                return 0
            (number,) = database.execute(
                "SELECT coalesce(max(number), 0) + 1 FROM turn WHERE conversation = ?", (conversation,)
            ).fetchone()
            database.execute(
                "INSERT INTO turn (conversation, number, question, text, answer) VALUES (?, ?, ?, ?, ?)",
                (conversation, number, answer.question, answer.text, json.dumps(answer.to_dict())),
            )
            database.execute(
                "DELETE FROM turn WHERE conversation = ? AND number <= ?", (conversation, number - PER_CONVERSATION)
            )
            database.execute("UPDATE conversation SET updated = ? WHERE id = ?", (time.time(), conversation))
        return int(number)

    def turns(self, browser: str, conversation: str) -> list[Kept]:
        """The turns of this browser's conversation, none if it is not (or no longer) there."""
        with self._database() as database:
            rows = database.execute(
                "SELECT number, answer, rating FROM turn JOIN conversation ON conversation = id"
                " WHERE id = ? AND browser = ? ORDER BY number",
                (conversation, browser),
            ).fetchall()
        return [Kept(number, answer_from_dict(json.loads(answer)), rating) for number, answer, rating in rows]

    def turn(self, browser: str, conversation: str, number: int) -> Kept | None:
        return next((kept for kept in self.turns(browser, conversation) if kept.number == number), None)

    def cut(self, browser: str, conversation: str, number: int) -> None:
        """Forget turn `number` and those after it."""
        with self._database() as database:
            if self._owns(database, browser, conversation):
                database.execute("DELETE FROM turn WHERE conversation = ? AND number >= ?", (conversation, number))

    def rate(self, browser: str, conversation: str, number: int, rating: str) -> None:
        with self._database() as database:
            if self._owns(database, browser, conversation):
                database.execute(
                    "UPDATE turn SET rating = ? WHERE conversation = ? AND number = ?", (rating, conversation, number)
                )

    def list(self, browser: str, search: str = "") -> list[Summary]:
        """This browser's conversations, the latest first; with `search`, those where it occurs."""
        pattern = "%" + search.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        with self._database() as database:
            rows = database.execute(
                "SELECT id, name, updated, (SELECT count(*) FROM turn WHERE conversation = id) FROM conversation"
                " WHERE browser = :browser AND (:search = '' OR name LIKE :pattern ESCAPE '\\' OR EXISTS"
                " (SELECT 1 FROM turn WHERE conversation = id"
                "  AND (question LIKE :pattern ESCAPE '\\' OR text LIKE :pattern ESCAPE '\\')))"
                " ORDER BY updated DESC, rowid DESC",
                {"browser": browser, "search": search, "pattern": pattern},
            ).fetchall()
        return [Summary(*row) for row in rows]

    def rename(self, browser: str, conversation: str, name: str) -> None:
        if name.strip():
            with self._database() as database:
                database.execute(
                    "UPDATE conversation SET name = ? WHERE id = ? AND browser = ?",
                    (_name(name), conversation, browser),
                )

    def delete(self, browser: str, conversation: str) -> None:
        with self._database() as database:
            database.execute("DELETE FROM conversation WHERE id = ? AND browser = ?", (conversation, browser))

    @staticmethod
    def _owns(database: sqlite3.Connection, browser: str, conversation: str) -> bool:
        query = "SELECT 1 FROM conversation WHERE id = ? AND browser = ?"
        return database.execute(query, (conversation, browser)).fetchone() is not None


def _name(text: str) -> str:
    words = " ".join(text.split())
    return (words if len(words) <= NAME_LENGTH else words[: NAME_LENGTH - 1].rstrip() + "…") or "(no question)"
