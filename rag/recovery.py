"""A catalogue made anew from the collection: after a loss, or on a machine that joins others at one Chroma server."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from rag.catalogue import COLLECTION, Catalogue, Origin, chunk_owner, paper_version
from rag.collection import Collection
from rag.embedding import Embedder
from rag.errors import StoreError
from rag.metadata import Recorded
from rag.settings import Settings
from rag.store import make_embedder, write_lock


@dataclass
class _Found:
    """What the collection holds: `served` the newest whole version of each paper, `waiting` papers of which only
    parts were written, `stale` the chunks of all other versions."""

    served: dict[str, Recorded] = field(default_factory=dict)
    waiting: dict[str, Recorded] = field(default_factory=dict)
    stale: list[str] = field(default_factory=list)


def rebuild_catalogue(settings: Settings, embedder: Embedder | None = None) -> int:
    """Make the catalogue anew from the collection; the old file is kept beside it. Returns the number of papers.

    Papers and the sources that list them come back as they were, without the times of their syncs. What an older
    version of this program wrote does not name its sources: those papers come under one named "collection", until an
    ingest of the real one takes them over.
    """
    embedder = embedder or make_embedder(settings)
    collection = Collection(settings, lambda: embedder.fingerprint)
    with write_lock(settings):
        found = _found(collection)
        collection.close()
        if not found.served and not found.waiting:
            raise StoreError(
                f"the collection in {collection.where} holds no papers, so no catalogue can be made from it",
                hint="rag ingest FILE adds them again; nothing was changed",
            )
        _set_aside(settings.catalogue_path)
        catalogue = Catalogue(settings.catalogue_path)
        with catalogue.transaction():
            _restore(catalogue, found)
            catalogue.set_meta("fingerprint", embedder.fingerprint)
            catalogue.count_change()
        catalogue.close()
    return len(found.served) + len(found.waiting)


def _found(collection: Collection) -> _Found:
    chunks: dict[tuple[str, str], list[str]] = {}
    for chunk in collection.ids():
        chunks.setdefault(chunk_owner(chunk)[:2], []).append(chunk)
    found = _Found()
    for recorded in sorted(collection.recorded(), key=lambda one: one.written):
        written = len(chunks[_version(recorded)])
        if recorded.chunks in (0, written):
            found.served[recorded.paper.id] = replace(recorded, chunks=written)  # the last written stays
        else:
            found.waiting[recorded.paper.id] = recorded
    for paper_id in found.served.keys() & found.waiting.keys():  # the next ingest sees what changed, by the hash
        del found.waiting[paper_id]
    kept = {_version(recorded) for recorded in (*found.served.values(), *found.waiting.values())}
    found.stale = [chunk for owner in chunks.keys() - kept for chunk in chunks[owner]]
    return found


def _version(recorded: Recorded) -> tuple[str, str]:
    return recorded.paper.id, paper_version(recorded.paper)


def _restore(catalogue: Catalogue, found: _Found) -> None:
    for recorded in found.served.values():
        catalogue.publish(recorded.paper, recorded.chunks)
    for recorded in found.waiting.values():
        catalogue.add_pending(recorded.paper)
    unknown: list[str] = []
    for recorded in (*found.served.values(), *found.waiting.values()):
        paper = recorded.paper
        if not recorded.origins:
            unknown.append(paper.id)
        for origin in recorded.origins or (Origin(COLLECTION, paper.id, paper.content_hash),):
            number = catalogue.source_number(origin.source)
            catalogue.set_origin(number, origin.key, paper.id, origin.hash)
            if origin.said:
                catalogue.set_variant(number, origin.key, paper.id, origin.said)
    catalogue.clear_untold(set(catalogue.untold()) - set(unknown))
    catalogue.add_stale(found.stale)


def _set_aside(path: Path) -> None:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for suffix in ("", "-wal", "-shm"):
        file = path.with_name(path.name + suffix)
        if file.exists():
            shutil.move(file, file.with_name(f"{path.name}.replaced-{stamp}{suffix}"))
