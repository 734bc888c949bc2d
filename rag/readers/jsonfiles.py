"""JSON: a list, an object that wraps one, objects one after another, or one a line."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence

from rag.errors import InputError
from rag.papers import Paper, Skipped
from rag.readers.encodings import Text, broken
from rag.readers.fields import check_fields, paper_of
from rag.readers.records import is_paper, values_of
from rag.readers.xmlstream import Broken

_GAP = re.compile(r"[\s,]*")
_NEXT_ELEMENT = re.compile(r"\}\s*,\s*(?=\{)")
_LIST_START = re.compile(
    r'"(?:notes|results?|data|papers|items|works|articles|records|entries|documents|submissions|rows|hits|value)"\s*:\s*(?=\[)'
)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_DEEPEST_LIST = 4
_decoder = json.JSONDecoder()


def is_lines(head: str) -> bool:
    """Whether `head` starts a file of one object a line."""
    lines = [line for line in head.splitlines()[:3] if line.strip()]
    if len(lines) < 2 or not lines[0].lstrip().startswith("{"):
        return False
    return lines[0].rstrip().endswith("}") and lines[1].lstrip().startswith("{")


def read_lines(text: Text, mapping: Mapping[str, str]) -> Iterator[Paper | Skipped]:
    """The papers of a JSON Lines file, read line by line."""
    check_fields(mapping)
    for number, line in enumerate(text.lines(), 1):
        if line := line.strip().lstrip("\ufeff"):
            yield _line_paper(line, mapping, text, number)


def _line_paper(line: str, mapping: Mapping[str, str], text: Text, number: int) -> Paper | Skipped:
    if wrong := broken(line, text.encoding):
        return Skipped(text.name, number, wrong)
    try:
        return _paper(json.loads(line), mapping, text.name, number)
    except (ValueError, RecursionError) as error:
        return Skipped(text.name, number, f"malformed JSON ({_short(error)})")


def read(text: Text, mapping: Mapping[str, str]) -> Iterator[Paper | Skipped]:
    """The papers of a JSON document. Raises InputError where nothing in it is a list of papers."""
    check_fields(mapping)
    document = text.document()
    bad_bytes = broken(document, text.encoding)
    lines = _Lines(document)
    for start, item in _items(document, mapping, text.name):
        line = lines.at(start)
        if isinstance(item, Broken):
            yield Skipped(text.name, line, item.reason)
        elif bad_bytes and (wrong := broken(json.dumps(item, ensure_ascii=False), text.encoding)):
            yield Skipped(text.name, line, wrong)
        else:
            yield _paper(item, mapping, text.name, line)


def _paper(item: object, mapping: Mapping[str, str], source: str, line: int) -> Paper | Skipped:
    if isinstance(item, str):
        item = {"abstract": item}
    if not isinstance(item, Mapping):
        return Skipped(source, line, f"{type(item).__name__} where a paper's object should be")
    return paper_of(_sound(values_of(item, mapping)), source=source, line=line)


def _sound(values: Mapping[str, object]) -> dict[str, object]:
    """`values` with half characters ("\\ud83d" alone), which no store can hold, replaced."""

    def sound(value: object) -> object:
        if isinstance(value, str):
            return value if value.isascii() else _LONE_SURROGATE.sub("\ufffd", value)
        if isinstance(value, list):
            return [sound(item) for item in value]
        if isinstance(value, Mapping):
            return {sound(name): sound(item) for name, item in value.items()}
        return value

    return {name: sound(value) for name, value in values.items()}


def _items(document: str, mapping: Mapping[str, str], name: str) -> Iterator[tuple[int, object]]:
    """Every record with the place it starts at; Broken for what cannot be parsed."""
    at = _past_gap(document, 1 if document.startswith("\ufeff") else 0)
    first = True
    while at < len(document):
        if document[at] == "[":
            at = _past_gap(document, (yield from _elements(document, at)))
            first = False
            continue
        try:
            value, end = _decoder.raw_decode(document, at)
        except (ValueError, RecursionError) as error:
            if not first:
                yield at, Broken(0, f"malformed JSON ({_short(error)}); nothing after it was read")
                return
            if listed := _LIST_START.search(document, at):  # cut off, or broken further down
                yield from _elements(document, listed.end())
                return
            raise InputError(
                f"{name}:{document.count(chr(10), 0, at) + 1}: malformed JSON ({_short(error)})",
                hint="fetch or export the file again",
            ) from error
        yield from _records(document, at, value, mapping, name)
        first = False
        at = _past_gap(document, end)


def _records(
    document: str, at: int, value: object, mapping: Mapping[str, str], name: str
) -> Iterator[tuple[int, object]]:
    if is_paper(value) or (mapping and isinstance(value, Mapping) and values_of(value, mapping).get("abstract")):
        yield at, value
    elif (path := _path_to_list(value)) is not None:
        keys, found = path
        start = at
        for key in keys:
            start = _after_key(document, start, key)
        if isinstance(found, list):
            yield from _elements(document, document.find("[", start))
        elif isinstance(found, Mapping):
            for key, item in found.items():
                start = _after_key(document, start, str(key))
                yield start, item
    else:
        keys_found = ", ".join(map(str, value)) if isinstance(value, Mapping) else type(value).__name__
        raise InputError(
            f"{name}: no list of papers in this JSON; found: {keys_found[:200] or 'nothing'}",
            hint="accepted: a list of objects with an abstract, or an object that holds one under any key",
        )


def _after_key(document: str, start: int, key: str) -> int:
    """Where the value of the next `key` starts."""
    for spelling in (json.dumps(key, ensure_ascii=False), json.dumps(key)):
        at = document.find(spelling, start)
        while at >= 0:
            end = _past_gap(document, at + len(spelling))
            if document.startswith(":", end):
                return _past_gap(document, end + 1)
            at = document.find(spelling, at + 1)
    return start


def _path_to_list(value: object) -> tuple[list[str], object] | None:
    """The keys that lead to the nearest list (or object by ids) of papers, and it; an empty list counts last."""
    level: list[tuple[list[str], object]] = [([], value)]
    empty = None
    for _ in range(_DEEPEST_LIST):
        deeper: list[tuple[list[str], object]] = []
        for keys, item in level:
            members = item.items() if isinstance(item, Mapping) else ()
            for name, member in members:
                path = [*keys, str(name)]
                inner: Sequence[object] = (
                    member[:50]
                    if isinstance(member, list)
                    else list(member.values())[:50]
                    if isinstance(member, Mapping)
                    else ()
                )
                if sum(map(is_paper, inner)) * 2 > len(inner) or any(map(is_paper, inner[:5])):
                    return path, member
                if member == [] and empty is None:
                    empty = path, member
                deeper.append((path, member))
            if keys == [] and isinstance(item, Mapping) and any(map(is_paper, list(item.values())[:5])):
                return keys, item
        level = deeper
    return empty


def _elements(document: str, start: int) -> Generator[tuple[int, object], None, int]:
    """The elements of the list that opens at `start`; after a broken one reading goes on with the next object.

    Returns where the list ends.
    """
    at = start + 1
    while True:
        at = _past_gap(document, at)
        if at >= len(document):
            yield at, Broken(0, "the file is cut off here: the list is never closed")
            return at
        if document[at] == "]":
            return at + 1
        try:
            value, end = _decoder.raw_decode(document, at)
            yield at, value
            at = end
        except (ValueError, RecursionError) as error:
            yield at, Broken(0, f"malformed JSON ({_short(error)})")
            following = _NEXT_ELEMENT.search(document, max(at, getattr(error, "pos", at)))
            if not following:
                return len(document)
            at = following.end()


def _past_gap(document: str, at: int) -> int:
    match = _GAP.match(document, at)
    return match.end() if match else at


def _short(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)[:120]


class _Lines:
    """Line numbers of rising places in a document."""

    def __init__(self, document: str) -> None:
        self._document, self._place, self._line = document, 0, 1

    def at(self, place: int) -> int:
        if place < self._place:
            self._place, self._line = 0, 1
        self._line += self._document.count("\n", self._place, place)
        self._place = place
        return self._line
