"""JSON Lines: one object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from rag.papers import Paper, Skipped
from rag.readers.encodings import Text, broken
from rag.readers.fields import columns, identifier_url, key, paper_of


def read(text: Text, mapping: Mapping[str, str]) -> Iterator[Paper | Skipped]:
    """The papers of a file with one JSON object a line."""
    for number, line in enumerate(text.lines(), 1):
        if not line.strip():
            continue
        if wrong := broken(line, text.encoding):
            yield Skipped(text.name, number, wrong)
            continue
        try:
            record = json.loads(line.lstrip("\ufeff"))
        except (ValueError, RecursionError) as error:
            yield Skipped(text.name, number, f"malformed JSON: {error}")
            continue
        if not isinstance(record, dict):
            yield Skipped(text.name, number, "not a JSON object")
            continue
        found = columns(map(str, record), {}, text.name)
        values = {name: next((record[k] for k in keys if record[k]), "") for name, keys in found.items()}
        if not values["url"]:
            values["url"] = identifier_url({key(k): v for k, v in record.items()})
        yield paper_of(values, source=text.name, line=number, encoding=text.encoding)
