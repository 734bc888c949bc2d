"""What was asked or judged before under the very same conditions is not asked again."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import rag


class Cache:
    """Answers and judgements by a hash of all that they depend on. Safe for threads and several processes."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path, check_same_thread=False, timeout=30, isolation_level=None)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT NOT NULL)")

    def get(self, key: str) -> Any:
        """The stored value (plain JSON types), or None."""
        with self._lock:
            row = self._database.execute("SELECT value FROM entries WHERE key = ?", (key,)).fetchone()
        return json.loads(row[0]) if row else None

    def put(self, key: str, value: Any) -> None:
        text = json.dumps(value, ensure_ascii=False)
        with self._lock:
            self._database.execute("INSERT OR REPLACE INTO entries VALUES (?, ?)", (key, text))

    def once(self, key: str, make: Callable[[], Any]) -> Any:
        """The stored value, else what `make` returns, which is stored. What raises is not stored."""
        found = self.get(key)
        if found is None:
            found = make()
            self.put(key, found)
        return found

    def close(self) -> None:
        with self._lock:
            self._database.close()


def key_of(*parts: object) -> str:
    """32 hex digits over plain JSON values."""
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:32]


@lru_cache(maxsize=1)
def code_hash() -> str:
    """16 hex digits over the source of `rag`: another code may answer otherwise."""
    digest = hashlib.sha256()
    folder = Path(rag.__file__).parent
    for file in sorted(folder.rglob("*.py")):
        digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
