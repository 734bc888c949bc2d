"""Plain-text lists with marks: Markdown headings, "Title:" and "Abstract:" labels, numbers or bullets before papers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from rag.papers import Paper, Skipped
from rag.readers.encodings import Text
from rag.readers.fields import FIELDS, paper_of
from rag.readers.paragraphs import LONG_WORDS, clean, count_words, joined, paragraphs, title_and_rest

_LABELS: dict[str, tuple[str, ...]] = {
    "title": ("title", "paper title", "titel", "titre", "título", "标题", "题目", "论文标题", "題名"),
    "abstract": ("abstract", "summary", "zusammenfassung", "résumé", "resumen", "摘要", "要旨"),
    "authors": ("author", "authors", "author(s)", "autor", "autoren", "auteurs", "作者"),
    "year": ("year", "date", "published", "jahr", "année", "年份", "日期"),
    "venue": ("venue", "conference", "journal", "published in", "会议", "期刊"),
    "doi": ("doi",),
    "url": ("url", "link", "pdf", "openreview", "arxiv", "链接"),
    "keywords": ("keywords", "key words", "keyword", "index terms", "schlagwörter", "mots-clés", "关键词"),
}
_FIELD_OF = {name: label for label, names in _LABELS.items() for name in names}
_NAMES = "|".join(sorted(map(re.escape, _FIELD_OF), key=len, reverse=True))
_LABEL = re.compile(
    rf"(?:[-*+>#]+\s+)?[*_]{{0,3}}({_NAMES})\s{{0,3}}[*_]{{0,3}}\s{{0,3}}[:：]\s*[*_]{{0,3}}\s*(.*)", re.IGNORECASE
)
_BARE_LABEL = re.compile(rf"#{{0,6}}\s*[*_]{{0,3}}({_NAMES})[*_]{{0,3}}\s*", re.IGNORECASE)
_HEADING = re.compile(r"(#{1,6})\s+(\S.*)")
_NUMBER = re.compile(r"(?:(\[)(\d{1,5})\]|(\()(\d{1,5})\)|(\d{1,5})([.):、．]))\s*[:.]?\s+(\S.*)")
_BULLET = re.compile(r"([-*+•])\s+(\S.*)")
_LINK = re.compile(r"\[([^\[\]]{1,500})\]\(([^\s()]{1,2000})\)")


@dataclass(frozen=True, slots=True)
class Marks:
    """What starts a paper in a list: `kind` is "label", "heading", "number" or "bullet".

    `first` is the field whose label starts each paper, the style of the numbers, or the bullet.
    """

    kind: str
    first: str = ""
    number: int = 0
    summary: str = "abstract"  # the name that labels abstracts


@dataclass(slots=True)
class _Count:
    """Marks seen in a first pass."""

    labels: dict[str, int] = field(default_factory=dict)
    first_label: str = ""
    summary: str = ""
    headings: int = 0
    under_headings: int = 0
    long: int = 0
    long_before: bool = False  # an abstract stands before the first number or bullet
    style: str = ""
    number: int = 0
    numbered: int = 0
    bullet: str = ""
    bulleted: int = 0
    paragraphs: int = 0


def marks_of(text: Text) -> Marks | None:
    """What marks the papers of this list, or None where only blank lines do."""
    count = _Count()
    for paragraph in paragraphs(text):
        long = paragraph.words >= LONG_WORDS
        for at, line in enumerate(paragraph.lines):
            _count_line(line, count, starts_paragraph=at == 0)
        count.paragraphs += 1
        count.long += long
        count.under_headings += long and count.headings > 0 and not paragraph.continues
        if long and not count.style and not count.bullet:
            count.long_before = True
    titles, abstracts = count.labels.get("title", 0), count.labels.get("abstract", 0)
    if titles >= 2 or (titles and abstracts) or (abstracts >= 2 and count.headings < 2):
        return Marks("label", first=count.first_label, summary=count.summary or "abstract")
    sections = count.under_headings > 1.5 * count.headings
    if (count.headings >= 2 and not sections) or (count.headings == 1 and count.under_headings == 1 == count.long):
        return Marks("heading", summary=count.summary or "abstract")
    if count.long_before:
        return None
    if count.numbered >= 2:
        return Marks("number", first=count.style, number=count.number)
    if count.bulleted >= 2 and count.bulleted >= 0.6 * count.paragraphs:
        return Marks("bullet", first=count.bullet)
    return None


def _count_line(line: str, count: _Count, *, starts_paragraph: bool) -> None:
    if label := _label(line):
        name = label[0]
        count.labels[name] = count.labels.get(name, 0) + 1
        count.first_label = count.first_label or name
        if name == "abstract":
            count.summary = count.summary or label[1]
    elif _HEADING.fullmatch(line):
        count.headings += 1
    elif found := _number(line):
        style, number, _ = found
        if not count.style and starts_paragraph and number <= 1:
            count.style, count.number = style, number
        if style == count.style and number == count.number + count.numbered:
            count.numbered += 1
    elif bullet := _BULLET.match(line):
        if not count.bullet and starts_paragraph:
            count.bullet = bullet[1]
        count.bulleted += bullet[1] == count.bullet


def _label(line: str) -> tuple[str, str, str] | None:
    """(field, the label as written in lower case, what follows it)."""
    found = _number(line)
    match = _LABEL.fullmatch(found[2] if found else line)
    if match:
        return _FIELD_OF[match[1].lower()], match[1].lower(), match[2].strip()
    bare = _BARE_LABEL.fullmatch(line)
    if bare and _FIELD_OF[bare[1].lower()] == "abstract":
        return "abstract", bare[1].lower(), ""
    return None


def _number(line: str) -> tuple[str, int, str] | None:
    """(style, number, what follows) of a line that starts with a number as lists do."""
    match = _NUMBER.fullmatch(line)
    if not match:
        return None
    style = match[1] or match[3] or match[6]
    return style, int(match[2] or match[4] or match[5]), match[7]


@dataclass(slots=True)
class _Entry:
    """A paper being read: field → its lines ("" parts paragraphs)."""

    line: int
    level: int = 0
    lines: dict[str, list[str]] = field(default_factory=dict)
    current: str = "abstract"

    def add(self, line: str) -> None:
        after_gap = bool(self.lines.get(self.current)) and self.lines[self.current][-1] == ""
        if line and after_gap and self.current != "abstract":
            self.current = "abstract"  # a value ends with its paragraph; what follows is the text
        if line or self.current in self.lines:
            self.lines.setdefault(self.current, []).append(line)

    def text(self, name: str) -> str:
        return "\n\n".join(joined(lines) for lines in _split(self.lines.get(name, [])))


def _split(lines: list[str]) -> Iterator[tuple[str, ...]]:
    kept: list[str] = []
    for line in [*lines, ""]:
        if line:
            kept.append(line)
        elif kept:
            yield tuple(kept)
            kept = []


def read(text: Text, marks: Marks) -> Iterator[Paper | Skipped]:
    """The papers of a list whose papers `marks` start; what stands before the first is no paper."""
    entry = _Entry(1, current="preface")
    number = marks.number
    for at, raw in enumerate(text.lines(), 1):
        line = clean(raw)
        started = _start(line, at, entry, marks, number)
        if started is not None:
            yield from _papers(entry, text, marks, next_level=started.level)
            entry = started
            number += marks.kind == "number"
        elif (label := _label(line)) and _opens_field(label, entry, marks):
            entry.current = label[0]
            entry.lines[label[0]] = [label[2]] if label[2] else []
        else:
            entry.add(line)
    yield from _papers(entry, text, marks, next_level=0)


def _opens_field(label: tuple[str, str, str], entry: _Entry, marks: Marks) -> bool:
    """Whether a labelled line starts another field of `entry`, and is not a section inside its abstract."""
    if entry.current == "preface" or (label[0] == "abstract" and label[1] != marks.summary):
        return False
    return marks.kind == "label" or label[0] not in entry.lines


def _start(line: str, at: int, entry: _Entry, marks: Marks, number: int) -> _Entry | None:
    """The entry that `line` starts, or None where it belongs to `entry`."""
    if marks.kind == "label":
        label = _label(line)
        if not label or (label[0] == "abstract" and label[1] != marks.summary):
            return None
        if label[0] != marks.first and label[0] not in entry.lines and entry.current != "preface":
            return None
        return _Entry(at, lines={label[0]: [label[2]] if label[2] else []}, current=label[0])
    if marks.kind == "heading":
        heading = _HEADING.fullmatch(line)
        if not heading or _label(line):
            return None
        title = re.sub(r"^(?:\[?\d{1,4}[.)\]]|\d{1,4}:)\s+", "", heading[2].rstrip("# "))
        lines = {"title": [_LINK.sub(r"\1", title)]}
        if link := _LINK.search(title):
            lines["url"] = [link[2]]
        return _Entry(at, level=len(heading[1]), lines=lines)
    if marks.kind == "number":
        found = _number(line)
        if not found or (found[0], found[1]) != (marks.first, number):
            return None
        label = _label(line)
        return (
            _Entry(at, lines={label[0]: [label[2]]}, current=label[0])
            if label
            else _Entry(at, lines={"abstract": [found[2]]})
        )
    bullet = _BULLET.fullmatch(line)
    return _Entry(at, lines={"abstract": [bullet[2]]}) if bullet and bullet[1] == marks.first else None


def _papers(entry: _Entry, text: Text, marks: Marks, *, next_level: int) -> Iterator[Paper | Skipped]:
    if entry.current == "preface":
        words = entry.text("preface")
        if count_words(words) >= LONG_WORDS:
            yield Skipped(text.name, entry.line, f"text before the first {marks.kind}: {words[:60]}")
        return
    values: dict[str, object] = {name: entry.text(name) for name in FIELDS}
    if marks.kind in ("number", "bullet") and not values["title"]:
        values["title"], values["abstract"] = _title_and_abstract(entry.lines.get("abstract", []))
    if not values["abstract"] and next_level > entry.level > 0:
        return  # a heading over headings
    yield paper_of(values, source=text.name, line=entry.line, encoding=text.encoding)


def _title_and_abstract(lines: list[str]) -> tuple[str, str]:
    parts = list(_split(lines))
    title, rest = "", [*parts]
    if parts and len(parts[0]) == 1 and len(parts) > 1:
        title, _ = title_and_rest((parts[0][0], joined(parts[1])))
        rest = parts[1:] if title else parts
    elif parts:
        title, first = title_and_rest(parts[0])
        rest = [first, *parts[1:]]
    return title.strip("*_ "), "\n\n".join(joined(part) for part in rest)
