"""What the disk, its rights or another program does to our files, told from the words of SQLite, Chroma and the system.

Such a file is whole: it must be neither taken for damaged nor made anew.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from pathlib import Path

from rag.errors import StoreError, StoreLocked

# Chroma passes SQLite's result codes on in its texts
_FULL = re.compile(r"is full|no space left|file too large|quota exceeded|\(code: 13\)", re.IGNORECASE)
_LOCKED = re.compile(r"is locked|is busy|\(code: (?:5|6|261|262|517)\)", re.IGNORECASE)
_FORBIDDEN = re.compile(
    r"read-?only|permission denied|not permitted|unable to open|access is denied"
    r"|\(code: (?:8|14|264|520|776|1032|1288)\)",
    re.IGNORECASE,
)
_OUT_OF_ORDER = re.compile(r"disk i/o error|input/output error|\(code: (?:10|\d+10)\)", re.IGNORECASE)


def obstacle(said: str, file: Path) -> StoreError | None:
    """What stands in the way of using `file`, in one line; None where the words are about something else."""
    if _FULL.search(said):
        return StoreError(
            f"there is no room left to write {file}: {said}",
            hint="make room and run it again, it goes on from there; or RAG_DATA names a folder on another disk",
        )
    if _LOCKED.search(said):
        return StoreLocked(
            f"another program keeps {file} locked: {said}",
            hint="close what has it open (a database browser, a backup), then try again",
        )
    if _FORBIDDEN.search(said):
        return StoreError(
            f"{file} cannot be written or opened: {said}",
            hint=f"give your user the right to write in {file.parent} and to what is in it; "
            "or RAG_DATA names another folder",
        )
    if _OUT_OF_ORDER.search(said):
        return StoreError(
            f"the disk does not read or write {file}: {said}",
            hint="check the disk and the room on it; RAG_DATA names another folder",
        )
    return None


def write_whole(path: Path, text: str) -> None:
    """Write a file that is never seen half written. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
