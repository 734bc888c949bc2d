"""The catalogue: papers, their sources, what is still to be indexed, and the full-text index, in one SQLite file.

It alone decides what is served. A new version of a paper waits in `pending` until its chunks are in the collection;
then one transaction replaces the row, its full text and its version, and lists the old chunks in `stale` for deletion.
A reader therefore sees the old paper or the new one, and a chunk whose version is not the paper's is ignored.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rag.database import open_database, transaction
from rag.errors import StoreDamaged
from rag.markup import plain_text
from rag.papers import Paper, normal_text
from rag.text import has_cjk

COLLECTION = "collection"
"""The source that papers read back from the collection belong to, until a real one lists them again."""

_VERSION_DIGITS = 12
_OPENING_WORDS = 8
_COLUMNS = "id, title, abstract, authors, year, venue, url, doi, keywords"


@dataclass(frozen=True, slots=True)
class SourceCount:
    """A source that was ingested: its name, when it was last synced (ISO 8601, UTC), and its papers."""

    name: str
    synced: str
    papers: int


@dataclass(frozen=True, slots=True)
class Origin:
    """A row of a source that stands for a paper: its key, the hash of what it said, and, where several rows stand
    for the paper, what it said."""

    source: str
    key: str
    hash: str
    said: Paper | None = None


class Catalogue:
    """One connection to the catalogue. Not for use by several threads at once: open one a thread.

    Raises StoreDamaged when the file is no catalogue, StoreMismatch when its schema is of another version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = open_database(path)

    def close(self) -> None:
        self._db.close()

    def __del__(self) -> None:
        """A thread that ends lets go of its catalogue; the connection refers to itself, and would stay open until the
        collector comes by, with SQLite's side files beside the catalogue."""
        with suppress(AttributeError):  # it could not be opened
            self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, with the write lock held from the start."""
        with transaction(self._db):
            yield

    # -- meta ---------------------------------------------------------------------------------------------------------

    def meta(self, key: str) -> str:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else ""

    def set_meta(self, key: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    @property
    def change_count(self) -> int:
        """Rises with every commit by any process; tells a reader that what it cached may be old."""
        return int(self.meta("changes") or 0)

    def count_change(self) -> None:
        self.set_meta("changes", str(self.change_count + 1))

    # -- papers -------------------------------------------------------------------------------------------------------

    def count(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM papers").fetchone()[0])

    def paper(self, paper_id: str) -> Paper | None:
        row = self._db.execute(f"SELECT {_COLUMNS} FROM papers WHERE id = ?", (paper_id,)).fetchone()
        return _paper(row) if row else None

    def papers(self, ids: Sequence[str] | None = None) -> Iterator[Paper]:
        """The papers with these ids (unknown ones left out, order not kept), or all of them."""
        if ids is None:
            rows = self._db.execute(f"SELECT {_COLUMNS} FROM papers ORDER BY n")
        else:
            rows = self._db.execute(
                f"SELECT {_COLUMNS} FROM papers WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
            )
        return map(_paper, rows)

    def versions(self, ids: Sequence[str] | None = None) -> dict[str, tuple[str, int]]:
        """id → (version, number of chunks) of the papers that are served."""
        query, arguments = "SELECT id, version, chunks FROM papers", ()
        if ids is not None:
            query += " WHERE id IN (SELECT value FROM json_each(?))"
            arguments = (json.dumps(list(ids)),)  # type: ignore[assignment]
        return {paper: (version, chunks) for paper, version, chunks in self._db.execute(query, arguments)}

    def alike(self, paper: Paper) -> list[Paper]:
        """Served papers with this one's title in any spelling, or whose abstracts open with the same words."""
        rows = self._db.execute(
            f"SELECT {_COLUMNS} FROM papers WHERE title_key = ? AND title_key != ''"
            f" UNION ALL SELECT {_COLUMNS} FROM papers WHERE opening_key = ? AND opening_key != ''",
            (title_key(paper), opening_key(paper)),
        )
        return [_paper(row) for row in rows]

    def chunk_count(self) -> int:
        """Of the papers that are served."""
        return int(self._db.execute("SELECT total(chunks) FROM papers").fetchone()[0])

    # -- sync ---------------------------------------------------------------------------------------------------------

    def source_number(self, name: str) -> int:
        self._db.execute("INSERT OR IGNORE INTO sources (name, synced) VALUES (?, '')", (name,))
        return int(self._db.execute("SELECT n FROM sources WHERE name = ?", (name,)).fetchone()[0])

    def mark_synced(self, source: int) -> None:
        self._db.execute("UPDATE sources SET synced = strftime('%Y-%m-%dT%H:%M:%SZ', 'now') WHERE n = ?", (source,))

    def origins(self, source: int) -> dict[str, tuple[str, str]]:
        """What a source said last time: its key → (paper id, content hash)."""
        rows = self._db.execute("SELECT key, paper, hash FROM origins WHERE source = ?", (source,))
        return {key: (paper, content) for key, paper, content in rows}

    def origin_count(self, paper_id: str) -> int:
        return int(self._db.execute("SELECT count(*) FROM origins WHERE paper = ?", (paper_id,)).fetchone()[0])

    def set_origin(self, source: int, key: str, paper_id: str, content_hash: str) -> None:
        self._untell(source, key)
        self._db.execute("INSERT OR REPLACE INTO origins VALUES (?, ?, ?, ?)", (source, key, paper_id, content_hash))
        self._untell(source, key)

    def origins_of(self, paper_id: str) -> list[tuple[int, str]]:
        """The (source, key) rows that stand for this paper."""
        return list(self._db.execute("SELECT source, key FROM origins WHERE paper = ?", (paper_id,)))

    def forget_origin(self, source: int, key: str) -> str:
        """Forget a row of a source; returns the id of the paper it stood for, "" when there is no such row."""
        row = self._db.execute("SELECT paper FROM origins WHERE source = ? AND key = ?", (source, key)).fetchone()
        self._untell(source, key)
        self._db.execute("DELETE FROM origins WHERE source = ? AND key = ?", (source, key))
        self._db.execute("DELETE FROM variants WHERE source = ? AND key = ?", (source, key))
        return str(row[0]) if row else ""

    def variants(self, paper_id: str) -> list[Paper]:
        """What each row says of a paper that several stand for, the last said first; nothing for other papers."""
        rows = self._db.execute("SELECT record FROM variants WHERE paper = ? ORDER BY n DESC", (paper_id,))
        return [paper_from_record(json.loads(record)) for (record,) in rows]

    def set_variant(self, source: int, key: str, paper_id: str, said: Paper) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO variants (source, key, paper, record) VALUES (?, ?, ?, ?)",
            (source, key, paper_id, _record(said)),
        )
        self._untell(source, key)

    def has_variant(self, source: int, key: str) -> bool:
        return bool(self._db.execute("SELECT 1 FROM variants WHERE source = ? AND key = ?", (source, key)).fetchone())

    def origins_said(self, ids: Sequence[str]) -> dict[str, list[Origin]]:
        """The rows that stand for each of these papers, what was said last at the end."""
        rows = self._db.execute(
            "SELECT origins.paper, name, origins.key, hash, record FROM origins JOIN sources ON source = sources.n"
            " LEFT JOIN variants USING (source, key)"
            " WHERE origins.paper IN (SELECT value FROM json_each(?)) ORDER BY variants.n, name, origins.key",
            (json.dumps(list(ids)),),
        )
        said: dict[str, list[Origin]] = {}
        for paper, name, key, content, record in rows:
            origin = Origin(name, key, content, paper_from_record(json.loads(record)) if record else None)
            said.setdefault(paper, []).append(origin)
        return said

    def untold(self) -> list[str]:
        """Ids of papers of whose sources the collection does not know the latest."""
        return [row[0] for row in self._db.execute("SELECT paper FROM untold ORDER BY paper")]

    def clear_untold(self, ids: Iterable[str]) -> None:
        self._db.executemany("DELETE FROM untold WHERE paper = ?", ((paper,) for paper in ids))

    def _untell(self, source: int, key: str) -> None:
        self._db.execute(
            "INSERT OR IGNORE INTO untold SELECT paper FROM origins WHERE source = ? AND key = ?", (source, key)
        )

    def drop_source(self, name: str) -> None:
        self._db.execute("DELETE FROM sources WHERE name = ?", (name,))

    def add_pending(self, paper: Paper) -> None:
        """Have this version indexed, in place of any that waits."""
        self._db.execute("INSERT OR REPLACE INTO pending VALUES (?, ?)", (paper.id, _record(paper)))

    def index_again(self, paper: Paper) -> None:
        """Have a served version indexed anew; a newer one that waits already goes before it."""
        self._db.execute("INSERT OR IGNORE INTO pending VALUES (?, ?)", (paper.id, _record(paper)))

    def drop_pending(self, paper_id: str) -> None:
        self._db.execute("DELETE FROM pending WHERE id = ?", (paper_id,))

    def pending_paper(self, paper_id: str) -> Paper | None:
        row = self._db.execute("SELECT record FROM pending WHERE id = ?", (paper_id,)).fetchone()
        return paper_from_record(json.loads(row[0])) if row else None

    def pending_count(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM pending").fetchone()[0])

    def pending_ids(self) -> list[str]:
        return [row[0] for row in self._db.execute("SELECT id FROM pending ORDER BY id")]

    def publish(self, paper: Paper, chunks: int) -> None:
        """Serve this version from now on; to be called when its chunks are in the collection."""
        self._unserve(paper.id, keep=paper_version(paper))
        cursor = self._db.execute(
            "INSERT INTO papers (id, version, chunks, title, abstract, authors, year, venue, url, doi, keywords,"
            " title_key, opening_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                paper.id,
                paper_version(paper),
                chunks,
                paper.title,
                paper.abstract,
                json.dumps(paper.authors, ensure_ascii=False),
                paper.year,
                paper.venue,
                paper.url,
                paper.doi,
                json.dumps(paper.keywords, ensure_ascii=False),
                title_key(paper),
                opening_key(paper),
            ),
        )
        title, abstract = searchable(paper.title), searchable(paper.abstract)
        self._db.execute(
            "INSERT INTO fulltext (rowid, title, abstract) VALUES (?, ?, ?)", (cursor.lastrowid, title, abstract)
        )
        if has_cjk(title + abstract):
            self._db.execute(
                "INSERT INTO fulltext_cjk (rowid, body) VALUES (?, ?)", (cursor.lastrowid, f"{title}\n{abstract}")
            )
        self.drop_pending(paper.id)

    def remove(self, paper_id: str) -> None:
        """Serve this paper no more, in whatever state it is."""
        self._unserve(paper_id)
        self.drop_pending(paper_id)

    def _unserve(self, paper_id: str, keep: str = "") -> None:
        row = self._db.execute("SELECT n, version, chunks FROM papers WHERE id = ?", (paper_id,)).fetchone()
        if not row:
            return
        number, version, chunks = row
        if version != keep:
            stale = ((chunk_id(paper_id, version, index),) for index in range(chunks))
            self._db.executemany("INSERT OR IGNORE INTO stale VALUES (?)", stale)
        for table in ("fulltext", "fulltext_cjk"):
            self._db.execute(f"DELETE FROM {table} WHERE rowid = ?", (number,))
        self._db.execute("DELETE FROM papers WHERE n = ?", (number,))

    def stale_chunks(self) -> list[str]:
        return [row[0] for row in self._db.execute("SELECT chunk FROM stale")]

    def add_stale(self, chunks: Iterable[str]) -> None:
        self._db.executemany("INSERT OR IGNORE INTO stale VALUES (?)", ((chunk,) for chunk in chunks))

    def clear_stale(self, chunks: Iterable[str]) -> None:
        self._db.executemany("DELETE FROM stale WHERE chunk = ?", ((chunk,) for chunk in chunks))

    # -- looking around -----------------------------------------------------------------------------------------------

    def sources(self) -> list[SourceCount]:
        rows = self._db.execute(
            "SELECT name, synced, (SELECT count(DISTINCT paper) FROM origins WHERE source = n)"
            " FROM sources ORDER BY name"
        )
        return [SourceCount(*row) for row in rows]

    def sources_of(self, paper_id: str) -> list[str]:
        rows = self._db.execute(
            "SELECT DISTINCT name FROM origins JOIN sources ON source = n WHERE paper = ? ORDER BY name", (paper_id,)
        )
        return [row[0] for row in rows]

    def check(self) -> str:
        """SQLite's own word on the file: "ok", or what is wrong."""
        try:
            self._db.execute("INSERT INTO fulltext(fulltext) VALUES ('integrity-check')")
            return str(self._db.execute("PRAGMA quick_check").fetchone()[0])
        except StoreDamaged as error:
            return error.message

    def select(self, query: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows of a reading query; for the modules that search and filter."""
        return self._db.execute(query, arguments).fetchall()


def chunk_id(paper_id: str, version: str, index: int) -> str:
    return f"{paper_id}@{version}#{index}"


def chunk_owner(chunk: str) -> tuple[str, str, int]:
    """The paper id, version and index in a chunk's id."""
    rest, _, index = chunk.rpartition("#")
    paper, _, version = rest.rpartition("@")
    return paper, version, int(index)


def paper_version(paper: Paper) -> str:
    return paper.content_hash[:_VERSION_DIGITS]


def title_key(paper: Paper) -> str:
    return normal_text(paper.title)


def opening_key(paper: Paper) -> str:
    """The first words of the abstract, to find the same abstract in a list without titles; "" where it is shorter."""
    words = normal_text(paper.abstract[: _OPENING_WORDS * 60]).split()[:_OPENING_WORDS]
    return " ".join(words) if len(words) == _OPENING_WORDS else ""


def searchable(markup: str) -> str:
    """What the full-text index holds of a text: plain, with compatible characters made one (CO₂ → CO2, ﬁ → fi)."""
    return unicodedata.normalize("NFKC", plain_text(markup))


def _record(paper: Paper) -> str:
    return json.dumps(asdict(paper), ensure_ascii=False)


def paper_from_record(fields: Mapping[str, Any]) -> Paper:
    """A paper from its fields as JSON has them."""
    return Paper(**{**fields, "authors": tuple(fields["authors"]), "keywords": tuple(fields["keywords"])})


def _paper(row: tuple[Any, ...]) -> Paper:
    paper_id, title, abstract, authors, year, venue, url, doi, keywords = row
    return Paper(
        id=paper_id,
        title=title,
        abstract=abstract,
        authors=tuple(json.loads(authors)),
        year=year,
        venue=venue,
        url=url,
        doi=doi,
        keywords=tuple(json.loads(keywords)),
    )
