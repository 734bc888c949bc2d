"""Answers as files to download."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from rag.answer import Answer
from rag.export import export_all, format_named

FORMATS = (
    ("Markdown", "markdown"),
    ("BibTeX", "bibtex"),
    ("RIS", "ris"),
    ("JSON", "json"),
    ("CSL-JSON", "csl-json"),
)


def export_file(answers: Sequence[Answer], form: str) -> dict[str, str]:
    """A file of one answer or of several: `{name, type, text}`. Raises InputError for an unknown format."""
    chosen = format_named(form)
    name = f"{file_stem(answers[0].question if answers else '')}{chosen.suffix}"
    return {"name": name, "type": chosen.media_type, "text": export_all(answers, form)}


def file_stem(question: str) -> str:
    """A short file name made of the question's words."""
    folded = unicodedata.normalize("NFKD", question).encode("ascii", "ignore").decode()
    return "-".join(re.findall(r"[a-z0-9]+", folded.lower())[:8])[:60] or "answer"
