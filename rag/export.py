"""Answers as text for other programs, and the last answer, kept for that."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag.answer import Answer, answer_from_dict
from rag.disk import write_whole
from rag.errors import InputError, StoreError
from rag.settings import Settings
from rag.writers import bibtex, notes, records, ris

LAST = "last"
_LAST_FILE = "last_answer.json"


@dataclass(frozen=True, slots=True)
class Format:
    """A format that answers can be written in; `papers_only`: it holds the cited papers and nothing else."""

    suffix: str
    media_type: str
    write: Callable[[Sequence[Answer]], str]
    papers_only: bool = True


FORMATS: Mapping[str, Format] = {
    "markdown": Format(".md", "text/markdown", notes.write, papers_only=False),
    "bibtex": Format(".bib", "application/x-bibtex", bibtex.write),
    "ris": Format(".ris", "application/x-research-info-systems", ris.write),
    "json": Format(".json", "application/json", records.write, papers_only=False),
    "csl-json": Format(".csl.json", "application/vnd.citationstyles.csl+json", records.write_csl),
}


def format_named(name: str) -> Format:
    """Raises InputError for a name that is no format's."""
    if name not in FORMATS:
        raise InputError(f"{name!r} is no format of an export", hint=f"formats: {', '.join(FORMATS)}")
    return FORMATS[name]


def export(answer: Answer, format: str) -> str:
    """The answer's cited papers, in its order and with its numbers; Markdown and JSON hold the answer itself too.

    `format` is markdown, bibtex, ris, json or csl-json; raises InputError for others. No paper but the cited ones is
    written. Equal answers give equal text: no date, no timing.
    """
    return export_all([answer], format)


def export_all(answers: Sequence[Answer], format: str) -> str:
    """Several answers as one text; a paper that more than one cites is listed once."""
    return format_named(format).write(answers)


def remember(answer: Answer, settings: Settings) -> None:
    """Keep the answer as the last one: wholly or not at all. Raises StoreError where the folder cannot be written."""
    try:
        write_whole(settings.data / _LAST_FILE, json.dumps(answer.to_dict()))
    except OSError as error:
        raise StoreError(
            f"{settings.data / _LAST_FILE}: the answer cannot be kept for export ({error.strerror or error})",
            hint="RAG_DATA names the folder; rag doctor checks it",
        ) from error


def load_answer(which: str, settings: Settings) -> Answer:
    """The last answer for "last", else the one in a file that `rag ask --json` wrote ("-": standard input).

    Raises StoreError where there is no last answer, InputError where the file holds none.
    """
    if which == LAST:
        path = settings.data / _LAST_FILE
        if not path.is_file():
            raise StoreError(f"{settings.data}: there is no last answer yet", hint='ask first: rag ask "…"')
        try:
            return _answer(path.read_bytes())
        except (OSError, ValueError) as error:
            raise StoreError(
                f"{path}: the last answer cannot be read ({error})", hint='ask again: rag ask "…"'
            ) from error
    try:
        return _answer(sys.stdin.buffer.read() if which == "-" else Path(which).read_bytes())
    except OSError as error:
        raise InputError(
            f"{which}: cannot be read ({error.strerror or error})", hint="--answer takes last, or a file"
        ) from error
    except ValueError as error:
        raise InputError(
            f"{which}: holds no answer ({error})", hint='what is read: rag ask "…" --json > answer.json'
        ) from error


def write_file(path: str, text: str) -> None:
    """Write an export as UTF-8, line ends as they are. Raises InputError where that cannot be done."""
    try:
        Path(path).write_bytes(text.encode("utf-8", errors="replace"))
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from error


def _answer(raw: bytes) -> Answer:
    """Raises ValueError for what is no answer."""
    data = json.loads(raw)
    if not isinstance(data, dict) or "sentences" not in data or "sources" not in data:
        raise ValueError("it is JSON, but not an answer")
    try:
        return answer_from_dict(data)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"a field is missing or of the wrong kind: {error}") from error
