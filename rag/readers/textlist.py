"""Plain text: abstracts separated by blank lines, with or without a heading, titles, numbers or labels."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rag.papers import Paper, Skipped
from rag.readers import outline
from rag.readers.encodings import Text
from rag.readers.fields import paper_of
from rag.readers.paragraphs import Paragraph, is_abstract_a_line, paragraphs, title_and_rest


@dataclass(slots=True)
class _Survey:
    """What the paragraphs of a list are like; found in a first pass, so that the second can stream."""

    words: list[int] = field(default_factory=list)
    short: list[bool] = field(default_factory=list)
    titled: int = 0  # paragraphs whose first line looks like a title

    def add(self, paragraph: Paragraph) -> None:
        self.words.append(paragraph.words)
        self.short.append(paragraph.is_short)
        self.titled += bool(title_and_rest(paragraph.lines)[0])

    @property
    def long(self) -> int:
        return len(self.short) - sum(self.short)

    @property
    def titles_apart(self) -> bool:
        """Most abstracts have a short paragraph of their own before them."""
        pairs = sum(first and not second for first, second in zip(self.short, self.short[1:], strict=False))
        return pairs >= 2 and pairs >= 0.6 * self.long

    @property
    def titles_inside(self) -> bool:
        """Most abstracts start with a line that looks like a title."""
        return self.titled >= 2 and self.titled >= 0.6 * self.long

    @property
    def sentence_heading(self) -> bool:
        """The first paragraph, though a sentence, is far shorter than all that follows."""
        others = self.words[1:]
        if self.short[0]:
            return False
        return len(others) >= 3 and self.words[0] <= 15 and 5 * self.words[0] < min(statistics.median(others), 500)


def read(text: Text, mapping: Mapping[str, str]) -> Iterator[Paper | Skipped]:
    """The papers of a list. `mapping` has no meaning here."""
    if marks := outline.marks_of(text):
        yield from outline.read(text, marks)
        return
    by_line = is_abstract_a_line(text)
    survey = _Survey()
    for paragraph in paragraphs(text, by_line=by_line):
        survey.add(paragraph)
    for entry in _entries(paragraphs(text, by_line=by_line), survey, text.name):
        if isinstance(entry, Skipped):
            yield entry
        else:
            line, title, abstract = entry
            yield paper_of({"title": title, "abstract": abstract}, source=text.name, line=line, encoding=text.encoding)


def _entries(found: Iterator[Paragraph], survey: _Survey, source: str) -> Iterator[tuple[int, str, str] | Skipped]:
    """(line, title, abstract) of each paper."""
    title: Paragraph | None = None
    entry: tuple[int, str, list[str]] | None = None
    for index, paragraph in enumerate(found):
        if index == 0:
            heading, rest = _without_heading(paragraph, survey)
            if heading:
                yield Skipped(source, paragraph.line, heading)
            if rest is None:
                continue
            paragraph = rest
        if entry and paragraph.continues:
            entry[2].append(paragraph.text)
            continue
        if entry:
            yield _finished(entry)
            entry = None
        if survey.long and survey.short[index]:
            if title:
                yield Skipped(source, title.line, f"taken for a heading: {title.text[:60]}")
            title = paragraph
            continue
        line, name, lines = paragraph.line, "", paragraph.lines
        if title and survey.titles_apart:
            line, name = title.line, title.text
        elif title:
            yield Skipped(source, title.line, f"taken for a heading: {title.text[:60]}")
        elif survey.titles_inside:
            name, lines = title_and_rest(lines)
        title = None
        entry = (line, name, [Paragraph(paragraph.line, lines).text])
    if entry:
        yield _finished(entry)
    if title:
        yield Skipped(source, title.line, f"taken for a heading: {title.text[:60]}")


def _finished(entry: tuple[int, str, list[str]]) -> tuple[int, str, str]:
    line, title, parts = entry
    return line, title, "\n\n".join(parts)


def _without_heading(first: Paragraph, survey: _Survey) -> tuple[str, Paragraph | None]:
    """What to say of the list's heading, and the first paragraph without it (None where it is nothing else)."""
    following_short = len(survey.short) > 1 and survey.short[1]
    is_title = survey.titles_apart and not following_short
    if survey.short[0] and survey.long and not is_title:
        return "", None
    if survey.sentence_heading and len(first.lines) == 1:
        return f"taken for the list's heading: {first.text[:60]}", None
    if len(first.lines) > 1 and not survey.titles_inside and (survey.long > 1 or first.lines[0].startswith("#")):
        title, rest = title_and_rest(first.lines)
        if title and (len(rest) == 1 or title.startswith("#")):
            return "", Paragraph(first.line + 1, rest)
    return "", first
