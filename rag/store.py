"""The store: the catalogue (SQLite) and the collection (Chroma) kept in step.

Order of writes: papers of a source are marked pending in the catalogue (one transaction for the whole source) → their
chunks are upserted → the catalogue publishes them → the chunks they replace are deleted. Killed anywhere, the next
ingest goes on from there.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout

from rag.catalogue import Catalogue, SourceCount, chunk_id, chunk_owner
from rag.chroma import check_lock
from rag.chunks import Chunk, chunk_papers
from rag.collection import Collection
from rag.database import readable
from rag.embedding import Embedder, Vectors
from rag.errors import InputError, StoreDamaged, StoreError, StoreLocked, StoreMismatch
from rag.logs import fields
from rag.metadata import Recorded
from rag.papers import Paper, Skipped
from rag.settings import Settings
from rag.sync import Marking, SyncReport, drop_origins

log = logging.getLogger(__name__)

__all__ = ["Health", "Progress", "Store", "SyncReport", "make_embedder", "write_lock"]

Progress = Callable[[int, int], None]

_SLAB = 256  # papers embedded, written and published together


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
    def catalogue_is_lost(self) -> bool:
        """There is nothing in it, and something in the collection."""
        return bool(self.chunks) and not (self.papers or self.pending)

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
        self.embedder = embedder or make_embedder(settings)
        self._local = threading.local()
        self._opened: weakref.WeakSet[Catalogue] = weakref.WeakSet()
        self._complete = -1, 0  # the change up to which the collection is known to hold all these chunks
        self.collection = Collection(settings, lambda: self.embedder.fingerprint)
        if check:
            self._check_fingerprint(self.catalogue.meta("fingerprint"))
        self._seen_changes = self.catalogue.change_count

    @property
    def catalogue(self) -> Catalogue:
        """This thread's connection to the catalogue."""
        found: Catalogue | None = getattr(self._local, "catalogue", None)
        if found is None:
            found = self._local.catalogue = Catalogue(self.settings.catalogue_path)
            self._opened.add(found)
        return found

    def close(self) -> None:
        """Let go of all files, also those that other threads opened."""
        self.collection.close()
        self._local = threading.local()
        for catalogue in list(self._opened):
            catalogue.close()
        self._opened.clear()

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
                marking = Marking(self.catalogue, source)
                for item in items:
                    marking.add(item)
                report = marking.finish()
                if report.removed and report.skipped and not report.papers:
                    raise InputError(  # undoes the transaction
                        f"nothing of {source} could be used ({report.skipped[0]}), though it held {report.removed} "
                        "papers before; they were kept",
                        hint=f"mend the file; or rag remove {source}",
                    )
            self.finish_pending(progress)
            with self.catalogue.transaction():
                self.catalogue.mark_synced(self.catalogue.source_number(source))
        report = replace(report, finished=finished, seconds=time.monotonic() - started)
        counts = {name: getattr(report, name) for name in ("new", "updated", "removed", "unchanged", "finished")}
        said = fields(source=source, **counts, skipped=len(report.skipped), seconds=round(report.seconds, 3))
        log.info("synced", extra=said)
        return report

    def remove_source(self, name: str) -> int:
        """Forget a source; the papers that no other source lists are removed and counted."""
        with self.writing():
            self.finish_pending()
            with self.catalogue.transaction():
                if name not in {source.name for source in self.catalogue.sources()}:
                    known = ", ".join(source.name for source in self.catalogue.sources()) or "none"
                    raise StoreError(f"there is no source named {name}", hint=f"sources: {known}")
                number = self.catalogue.source_number(name)
                removed = drop_origins(self.catalogue, number, list(self.catalogue.origins(number)))
                self.catalogue.drop_source(name)
                self.catalogue.count_change()
            self.finish_pending()
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
        self._tell_origins()
        self._delete_stale()
        return len(ids)

    def _embed(self, papers: list[Paper]) -> tuple[list[list[Chunk]], Vectors]:
        chunks = chunk_papers(papers, self.embedder.token_counts, self.embedder.window)
        return chunks, self.embedder.encode([chunk.text for some in chunks for chunk in some])

    def _publish(self, papers: list[Paper], chunks: list[list[Chunk]], vectors: Vectors) -> None:
        catalogue = self.catalogue  # the writer thread's own
        ids = [paper.id for paper in papers]
        self.collection.upsert(papers, chunks, vectors, catalogue.origins_said(ids))
        with catalogue.transaction():
            catalogue.clear_untold(ids)
            for paper, some in zip(papers, chunks, strict=True):
                catalogue.publish(paper, len(some))
            catalogue.count_change()

    def _tell_origins(self) -> None:
        """Have the collection know which sources list the papers, where that changed and nothing else did."""
        untold = self.catalogue.untold()
        for start in range(0, len(untold), _SLAB):
            ids = untold[start : start + _SLAB]
            versions, origins = self.catalogue.versions(ids), self.catalogue.origins_said(ids)
            now = time.time()
            self.collection.tell(
                [
                    Recorded(paper, tuple(origins.get(paper.id, ())), versions[paper.id][1], now)
                    for paper in self.catalogue.papers(ids)
                ]
            )
            with self.catalogue.transaction():
                self.catalogue.clear_untold(ids)

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
        """Index what is missing, delete what belongs to nothing; returns what was found wrong.

        Raises StoreError where the catalogue has no papers and the collection does: then it is the catalogue that was
        lost, or is another machine's.
        """
        with self.writing():
            health = self.check()
            if health.catalogue_is_lost:
                raise StoreError(
                    f"the catalogue in {self.settings.data} is empty, and the collection in {self.collection.where} "
                    f"holds {health.chunks:,} passages; they were left as they are",
                    hint="rag rebuild --catalogue makes the catalogue from them",
                )
            with self.catalogue.transaction():
                for paper in list(self.catalogue.papers(health.missing)):
                    self.catalogue.index_again(paper)
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
            with self.catalogue.transaction():  # first, so that a killed rebuild is finished by the next ingest
                for paper in list(self.catalogue.papers()):
                    self.catalogue.index_again(paper)
                self.catalogue.set_meta("fingerprint", self.embedder.fingerprint)
            try:
                self.collection.clear()
            except StoreDamaged:
                self.collection.close()
                self._move_aside(self.settings.chroma_path)
            with self.catalogue.transaction():
                self.catalogue.clear_stale(self.catalogue.stale_chunks())
                self.catalogue.count_change()  # the readers' collection is gone
            return self.finish_pending(progress)

    def _move_aside(self, path: Path) -> None:
        path.rename(path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}"))

    # -- lock and fingerprint -----------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the writer's lock, with a fresh view; raises StoreLocked when it is not had in time."""
        with write_lock(self.settings):
            check_lock(self.settings)
            self.refresh()
            yield

    def refresh(self) -> None:
        """Take another process's writes into account: an embedded collection is reopened, for its index is held in
        memory, and one on a server looked up again, for a rebuild replaces it."""
        changes = self.catalogue.change_count
        if changes != self._seen_changes:
            if self.settings.chroma_url:
                self.collection.look_up_again()
            else:
                self.collection.close()
        self._seen_changes = changes

    def check_complete(self, *, again: bool = False) -> None:
        """Raise StoreDamaged when chunks of served papers are gone. One count, and only after a change or `again`."""
        changes = self.catalogue.change_count
        known, wanted = self._complete
        if changes == known and not again:
            return
        if changes != known:
            wanted = self.catalogue.chunk_count()
        found = self.collection.count()
        if changes != self.catalogue.change_count or self.catalogue.pending_count():
            return  # somebody is writing
        if found < wanted:
            raise StoreDamaged(
                f"the collection in {self.collection.where} holds {found:,} of {wanted:,} passages",
                hint="rag doctor --repair indexes what is missing; rag rebuild makes all anew",
            )
        self._complete = changes, wanted

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


@contextmanager
def write_lock(settings: Settings) -> Iterator[None]:
    """The lock that all writers of a data folder take; raises StoreLocked, naming the holder, when it is not had."""
    path = settings.data / "write.lock"
    holder = path.with_suffix(".holder")
    lock = FileLock(path)
    try:
        settings.data.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=settings.lock_seconds)
    except Timeout:
        raise StoreLocked(
            f"another process is writing to {settings.data}: {_holder(holder)}",
            hint=f"waited {settings.lock_seconds:g} s (RAG_LOCK_SECONDS); try again when it has finished",
        ) from None
    except OSError as error:
        raise readable(error, settings.catalogue_path) from error
    try:
        with suppress(OSError):  # a full disk is told by what needs the room
            holder.write_text(json.dumps({"pid": os.getpid(), "since": time.strftime("%H:%M:%S")}))
        yield
    finally:
        with suppress(OSError):
            holder.unlink(missing_ok=True)
        lock.release()


def make_embedder(settings: Settings) -> Embedder:
    """The embedding model that the settings name."""
    return Embedder(settings.embed_model, settings.embed_precision, offline=not settings.hub_models)


def _holder(file: Path) -> str:
    try:
        fields = json.loads(file.read_text())
        return f"process {fields['pid']}, since {fields['since']}"
    except (OSError, ValueError, KeyError):
        return "it did not leave its name"
