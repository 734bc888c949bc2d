"""Files that readers of the page send: taken in under generated names, synced into the store, reported on."""

from __future__ import annotations

import logging
import queue
import re
import secrets
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from rag.errors import InputError, RagError
from rag.papers import Skipped
from rag.readers import Limits, sources
from rag.store import Store, SyncReport

log = logging.getLogger(__name__)

SUFFIXES = (
    ".txt", ".md", ".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".bib", ".ris", ".xml", ".nbib", ".medline",
    ".atom", ".gz", ".zip",
)  # fmt: skip
MOST_BYTES = 200 * 2**20
PREFIX = "upload/"
# A browser may send less than a person at the command line: what it expands to has to fit beside other work.
_LIMITS = Limits(expanded=2 * 2**30, members=2000)
_UNFIT = re.compile(r"[^\w .()\[\]+-]+")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a file is: `done` of `total` papers embedded; `total` is 0 while it is still being read."""

    name: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a file: a report for each source in it, or the error that kept it out."""

    name: str
    reports: tuple[SyncReport, ...] = ()
    error: RagError | None = None


def shown_name(name: str) -> str:
    """A file's name as it may be shown and stored: no folders, no odd characters, not too long."""
    last = PurePath(name.replace("\\", "/")).name
    fit = _UNFIT.sub("_", last).strip(". _")
    return fit[-100:] or "file"


def take(path: Path, name: str, folder: Path) -> Path:
    """Move an uploaded file into `folder` under a generated name. Raises InputError for a wrong kind or size."""
    suffix = PurePath(name.lower()).suffix
    inner = PurePath(name.lower()).with_suffix("").suffix if suffix == ".gz" else ""
    if suffix not in SUFFIXES or (inner and inner not in SUFFIXES):
        kinds = ", ".join(SUFFIXES)
        raise InputError(f"{shown_name(name)}: files of this kind cannot be read", hint=f"accepted: {kinds}")
    if path.stat().st_size > MOST_BYTES:
        raise InputError(
            f"{shown_name(name)}: larger than {MOST_BYTES // 2**20} MB", hint="use rag ingest on the machine itself"
        )
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{secrets.token_hex(12)}{inner}{suffix}"
    shutil.move(path, target)
    return target


def ingest(store: Store, path: Path, name: str, folder: Path) -> Iterator[Progress | Outcome]:
    """Take a file in and sync it; the last thing said is its Outcome. A file of the same name is brought up to date.

    Runs in a thread of its own, and goes on when nobody listens any more: half a sync is never left behind.
    """
    told: queue.SimpleQueue[Progress | Outcome] = queue.SimpleQueue()
    shown = shown_name(name)

    def work() -> None:
        stored: Path | None = None
        try:
            stored = take(path, name, folder)
            reports = []
            for source in sources([str(stored)], limits=_LIMITS):
                inner = source.name.partition("!")[2]
                label = f"{PREFIX}{shown}" + (f"!{inner}" if inner else "")
                report = store.sync(label, source.papers(), lambda done, total: told.put(Progress(shown, done, total)))
                reports.append(_renamed(report, str(stored), shown))
            outcome = Outcome(shown, tuple(reports))
        except RagError as error:
            outcome = Outcome(shown, error=_without_path(error, stored, shown))
        except Exception as error:
            log.exception("an upload failed")
            outcome = Outcome(shown, error=InputError(f"{shown}: {type(error).__name__}", hint="see the log"))
        for file in (path, stored):  # the catalogue has the papers now
            if file is not None:
                file.unlink(missing_ok=True)
        told.put(outcome)

    threading.Thread(target=work, daemon=True).start()
    yield Progress(shown)
    while True:
        event = told.get()
        while not told.empty() and isinstance(event, Progress):
            event = told.get()
        yield event
        if isinstance(event, Outcome):
            return


def _renamed(report: SyncReport, stored: str, shown: str) -> SyncReport:
    """The report in terms of the name the reader knows."""
    skipped = tuple(Skipped(row.source.replace(stored, shown), row.line, row.reason) for row in report.skipped)
    return replace(report, source=report.source.removeprefix(PREFIX), skipped=skipped)


def _without_path(error: RagError, stored: Path | None, shown: str) -> RagError:
    if stored is None:
        return error
    return type(error)(error.message.replace(str(stored), shown), hint=error.hint.replace(str(stored), shown))
