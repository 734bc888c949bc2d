"""The store: the catalogue (SQLite) and the collection (Chroma) kept in step.

Order of writes: papers of a source are marked pending in the catalogue (one transaction for the whole source) → their
chunks are upserted → the catalogue publishes them → the chunks they replace are deleted. Killed anywhere, the next
ingest goes on from there.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from filelock import FileLock, Timeout

from rag.catalogue import Catalogue, SourceCount, chunk_id, chunk_owner
from rag.chunks import Chunk, chunk_papers
from rag.collection import Collection
from rag.embedding import Embedder, Vectors
from rag.errors import StoreDamaged, StoreError, StoreLocked, StoreMismatch
from rag.identity import merge, near_identical
from rag.papers import Paper, Skipped, normal_text
from rag.settings import Settings

Progress = Callable[[int, int], None]

_SLAB = 256  # papers embedded, written and published together
_MOST_REWORDED = 500  # beyond so many new and vanished texts a source was replaced rather than edited


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync of a source found: papers by what happened to them, rows without a paper, and rows said twice.

    `finished` counts papers that an interrupted ingest had left, `seconds` is the whole time.
    """

    source: str
    new: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    duplicates: int = 0
    finished: int = 0
    skipped: tuple[Skipped, ...] = ()
    seconds: float = 0.0

    @property
    def papers(self) -> int:
        return self.new + self.updated + self.unchanged


@dataclass(frozen=True, slots=True)
class Health:
    """How the two sides agree. `missing` papers lack chunks, `orphans` are chunks of no version that is served."""

    papers: int
    chunks: int
    pending: int
    missing: tuple[str, ...] = ()
    orphans: tuple[str, ...] = ()
    integrity: str = "ok"

    @property
    def clean(self) -> bool:
        return not (self.pending or self.missing or self.orphans) and self.integrity == "ok"


class Store:
    """The papers of one data folder. Reading is safe from several threads and processes, writing takes a lock.

    Raises StoreMismatch when the folder was made with another embedding model, unless `check` is False, as it is to
    rebuild it.
    """

    def __init__(self, settings: Settings, embedder: Embedder | None = None, *, check: bool = True) -> None:
        self.settings = settings
        self.embedder = embedder or Embedder(settings.embed_model, settings.embed_precision)
        self._local = threading.local()
        self.collection = Collection(settings, lambda: self.embedder.fingerprint)
        if check:
            self._check_fingerprint(self.catalogue.meta("fingerprint"))

    @property
    def catalogue(self) -> Catalogue:
        """This thread's connection to the catalogue."""
        found: Catalogue | None = getattr(self._local, "catalogue", None)
        if found is None:
            found = self._local.catalogue = Catalogue(self.settings.catalogue_path)
        return found

    def close(self) -> None:
        self.collection.close()
        if catalogue := getattr(self._local, "catalogue", None):
            catalogue.close()
            self._local.catalogue = None

    def count(self) -> int:
        return self.catalogue.count()

    def paper(self, paper_id: str) -> Paper | None:
        return self.catalogue.paper(paper_id)

    def sources(self) -> list[SourceCount]:
        return self.catalogue.sources()

    # -- writing ------------------------------------------------------------------------------------------------------

    def sync(self, source: str, items: Iterable[Paper | Skipped], progress: Progress | None = None) -> SyncReport:
        """Make the store hold exactly what `items` say of this source.

        `items` is read once and to its end before anything of it is served; an error raised by it leaves the store
        as it was. `progress` is called with papers indexed and papers to index.
        """
        started = time.monotonic()
        with self.writing():
            self._adopt_fingerprint()
            finished = self.finish_pending(progress)
            with self.catalogue.transaction():
                marking = _Marking(self.catalogue, source)
                for item in items:
                    marking.add(item)
                report = marking.finish()
            self.finish_pending(progress)
            with self.catalogue.transaction():
                self.catalogue.mark_synced(self.catalogue.source_number(source))
        return replace(report, finished=finished, seconds=time.monotonic() - started)

    def remove_source(self, name: str) -> int:
        """Forget a source; the papers that no other source lists are removed and counted."""
        with self.writing():
            self.finish_pending()
            with self.catalogue.transaction():
                if name not in {source.name for source in self.catalogue.sources()}:
                    known = ", ".join(source.name for source in self.catalogue.sources()) or "none"
                    raise StoreError(f"there is no source named {name}", hint=f"sources: {known}")
                number = self.catalogue.source_number(name)
                removed = self.catalogue.drop_origins(number, list(self.catalogue.origins(number)))
                self.catalogue.drop_source(name)
                self.catalogue.count_change()
            self._delete_stale()
        return removed

    def finish_pending(self, progress: Progress | None = None) -> int:
        """Embed, write and publish every pending paper, then delete what they replaced. Needs the lock."""
        ids = self.catalogue.pending_ids()
        slabs = [ids[start : start + _SLAB] for start in range(0, len(ids), _SLAB)]
        writing: Future[None] | None = None
        done = 0
        with ThreadPoolExecutor(1, thread_name_prefix="store-writer") as pool:
            try:
                for slab in slabs:
                    papers = [paper for paper in map(self.catalogue.pending_paper, slab) if paper]
                    chunks, vectors = self._embed(papers)
                    if writing:
                        writing.result()
                    writing = pool.submit(self._publish, papers, chunks, vectors)
                    done += len(slab)
                    if progress:
                        progress(done, len(ids))
            finally:
                if writing:
                    writing.result()
        self._delete_stale()
        return len(ids)

    def _embed(self, papers: list[Paper]) -> tuple[list[list[Chunk]], Vectors]:
        chunks = chunk_papers(papers, self.embedder.token_counts, self.embedder.window)
        return chunks, self.embedder.encode([chunk.text for some in chunks for chunk in some])

    def _publish(self, papers: list[Paper], chunks: list[list[Chunk]], vectors: Vectors) -> None:
        self.collection.upsert(papers, chunks, vectors)
        catalogue = self.catalogue  # the writer thread's own
        with catalogue.transaction():
            for paper, some in zip(papers, chunks, strict=True):
                catalogue.publish(paper, len(some))
            catalogue.count_change()

    def _delete_stale(self) -> None:
        if stale := self.catalogue.stale_chunks():
            self.collection.delete(stale)
            with self.catalogue.transaction():
                self.catalogue.clear_stale(stale)

    # -- health -------------------------------------------------------------------------------------------------------

    def check(self) -> Health:
        """Compare both sides, chunk by chunk. Reads every id of the collection."""
        served = {
            chunk_id(paper, version, index)
            for paper, (version, chunks) in self.catalogue.versions().items()
            for index in range(chunks)
        }
        found = set(self.collection.ids())
        missing = dict.fromkeys(chunk_owner(chunk)[0] for chunk in sorted(served - found))
        return Health(
            papers=self.count(),
            chunks=len(found),
            pending=self.catalogue.pending_count(),
            missing=tuple(missing),
            orphans=tuple(sorted(found - served)),
            integrity=self.catalogue.check(),
        )

    def repair(self, progress: Progress | None = None) -> Health:
        """Index what is missing, delete what belongs to nothing; returns what was found wrong."""
        with self.writing():
            health = self.check()
            with self.catalogue.transaction():
                for paper in self.catalogue.papers(health.missing):
                    self.catalogue.add_pending(paper)
            self.finish_pending(progress)
            # chunks of papers that were pending are served by now
            orphans = self.check().orphans
            self.collection.delete(orphans)
        return health

    def rebuild(self, progress: Progress | None = None) -> int:
        """Embed every paper anew with the embedding model of the settings; returns how many there are.

        An embedded collection that cannot be emptied is moved aside, never overwritten.
        """
        with self.writing():
            try:
                self.collection.clear()
            except StoreDamaged:
                self.collection.close()
                self._move_aside(self.settings.chroma_path)
            with self.catalogue.transaction():
                for paper in list(self.catalogue.papers()):
                    self.catalogue.add_pending(paper)
                self.catalogue.clear_stale(self.catalogue.stale_chunks())
                self.catalogue.set_meta("fingerprint", self.embedder.fingerprint)
            return self.finish_pending(progress)

    def _move_aside(self, path: Path) -> None:
        path.rename(path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}"))

    # -- lock and fingerprint -----------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the writer's lock; raises StoreLocked, naming the holder, when it is not had in time."""
        path = self.settings.data / "write.lock"
        holder = path.with_suffix(".holder")
        lock = FileLock(path)
        try:
            lock.acquire(timeout=self.settings.lock_seconds)
        except Timeout:
            raise StoreLocked(
                f"another process is writing to {self.settings.data}: {_holder(holder)}",
                hint=f"waited {self.settings.lock_seconds:g} s (RAG_LOCK_SECONDS); try again when it has finished",
            ) from None
        try:
            holder.write_text(json.dumps({"pid": os.getpid(), "since": time.strftime("%H:%M:%S")}))
            self.refresh()
            yield
        finally:
            holder.unlink(missing_ok=True)
            lock.release()

    def refresh(self) -> None:
        """Reopen an embedded collection if another process has written since; its index is held in memory."""
        changes = self.catalogue.change_count
        if changes != getattr(self, "_seen_changes", changes) and not self.settings.chroma_url:
            self.collection.close()
        self._seen_changes = changes

    def _adopt_fingerprint(self) -> None:
        if not self.catalogue.meta("fingerprint"):
            self.catalogue.set_meta("fingerprint", self.embedder.fingerprint)

    def _check_fingerprint(self, found: str) -> None:
        if found and found != self.embedder.fingerprint:
            raise StoreMismatch(
                f"the store in {self.settings.data} was made with the embedding model {found}, "
                f"the settings ask for {self.embedder.fingerprint}",
                hint="rag rebuild embeds every paper anew; or set RAG_EMBED_MODEL back; nothing was changed",
            )


@dataclass
class _Marking:
    """The first phase of a sync: compare each paper with what the source said before, and mark the differences."""

    catalogue: Catalogue
    source: str
    seen: dict[str, Paper | None] = field(default_factory=dict)  # key → paper when it is new to the source
    titles: dict[str, str] = field(default_factory=dict)  # title key → id, of papers new in this run
    skipped: list[Skipped] = field(default_factory=list)
    new: int = 0
    updated: int = 0
    unchanged: int = 0
    duplicates: int = 0

    def __post_init__(self) -> None:
        self.number = self.catalogue.source_number(self.source)
        self.before = self.catalogue.origins(self.number)

    def add(self, item: Paper | Skipped) -> None:
        if isinstance(item, Skipped):
            self.skipped.append(item)
        elif item.id in self.seen:
            self.duplicates += 1
        else:
            self._add_paper(item)

    def _add_paper(self, paper: Paper) -> None:
        content = paper.content_hash
        known = self.before.get(paper.id)
        self.seen[paper.id] = None if known else paper
        if known and known[1] == content:
            self.unchanged += 1
            return
        target = known[0] if known else self._same_paper(paper)
        existing = self.catalogue.pending_paper(target) or self.catalogue.paper(target)
        self.catalogue.set_origin(self.number, paper.id, target, content)
        if existing is None:
            self.new += 1
            self.catalogue.add_pending(paper)
            if paper.title:
                self.titles.setdefault(normal_text(paper.title), paper.id)
            return
        shared = self.catalogue.origin_count(target) > 1
        wanted = replace(merge(paper, existing) if shared else paper, id=target)
        if wanted.content_hash == existing.content_hash:
            self.unchanged += 1
        else:
            self.updated += 1
            self.catalogue.add_pending(wanted)

    def _same_paper(self, paper: Paper) -> str:
        """Its own id, or that of a paper with the same title and a near-identical abstract.

        Two ids of one kind are two papers, whatever they say: a list knows its own items.
        """
        if self.catalogue.paper(paper.id) or not paper.title:
            return paper.id
        candidates = self.catalogue.same_title(paper.title)
        if (twin := self.titles.get(normal_text(paper.title))) and (pending := self.catalogue.pending_paper(twin)):
            candidates.append(pending)
        for candidate in candidates:
            same_kind = candidate.id.partition(":")[0] == paper.id.partition(":")[0] != "hash"
            if not same_kind and near_identical(candidate.abstract, paper.abstract):
                return candidate.id
        return paper.id

    def finish(self) -> SyncReport:
        gone = [key for key in self.before if key not in self.seen]
        reworded = self._reworded(gone)
        removed = self.catalogue.drop_origins(self.number, [key for key in gone if key not in reworded])
        self.catalogue.count_change()
        return SyncReport(
            source=self.source,
            new=self.new,
            updated=self.updated,
            removed=removed,
            unchanged=self.unchanged,
            duplicates=self.duplicates,
            skipped=tuple(self.skipped),
        )

    def _reworded(self, gone: list[str]) -> set[str]:
        """Keys of vanished papers, known by their text alone, that came back with a few words changed.

        They are one paper updated, not one removed and one new: it keeps its id.
        """
        vanished = [key for key in gone if key.startswith("hash:")]
        fresh = [paper for key, paper in self.seen.items() if paper and key.startswith("hash:")]
        if max(len(vanished), len(fresh)) > _MOST_REWORDED:
            return set()
        matched: set[str] = set()
        for paper in fresh:
            if self.catalogue.pending_paper(paper.id) is None:
                continue
            for key in vanished:
                target = self.before[key][0]
                old = self.catalogue.paper(target)
                if key in matched or old is None or self.catalogue.origin_count(target) != 1:
                    continue
                same_title = paper.title and normal_text(paper.title) == normal_text(old.title)
                if same_title or near_identical(old.abstract, paper.abstract):
                    matched.add(key)
                    self.catalogue.drop_pending(paper.id)
                    self.catalogue.drop_origins(self.number, [paper.id])
                    self.catalogue.set_origin(self.number, paper.id, target, paper.content_hash)
                    self.catalogue.forget_origin(self.number, key)
                    self.catalogue.add_pending(replace(paper, id=target))
                    self.new -= 1
                    self.updated += 1
                    break
        return matched


def rebuild_catalogue(settings: Settings) -> int:
    """Make the catalogue anew from the collection; the old file is kept beside it. Returns the number of papers.

    The papers come back under one source named "collection"; an ingest of the real sources takes them over.
    """
    path = settings.catalogue_path
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for suffix in ("", "-wal", "-shm"):
        file = path.with_name(path.name + suffix)
        if file.exists():
            shutil.move(file, file.with_name(f"{path.name}.replaced-{stamp}{suffix}"))
    store = Store(settings)
    with store.writing(), store.catalogue.transaction():
        counts: dict[tuple[str, str], int] = {}
        for chunk in store.collection.ids():
            owner = chunk_owner(chunk)[:2]
            counts[owner] = counts.get(owner, 0) + 1
        number = store.catalogue.source_number("collection")
        for paper in store.collection.papers():
            store.catalogue.publish(paper, counts.get((paper.id, paper.content_hash[:12]), 1))
            store.catalogue.set_origin(number, paper.id, paper.id, paper.content_hash)
        store.catalogue.mark_synced(number)
        store.catalogue.set_meta("fingerprint", store.embedder.fingerprint)
        store.catalogue.count_change()
    papers = store.count()
    store.close()
    return papers


def _holder(file: Path) -> str:
    try:
        fields = json.loads(file.read_text())
        return f"process {fields['pid']}, since {fields['since']}"
    except (OSError, ValueError, KeyError):
        return "it did not leave its name"
