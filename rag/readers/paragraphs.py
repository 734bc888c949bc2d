"""Lines of a plain text → paragraphs, and what a paragraph looks like: a title, a list, the rest of an abstract."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rag.errors import InputError
from rag.readers.encodings import Text

SHORT_WORDS = 30  # no abstract, if it does not end as a sentence does
LONG_WORDS = 40  # what has fewer may be a note, or a line of a wrapped text
_BLANK_LINES = "put a blank line between abstracts"
_SENTENCE_END = re.compile(r"[.。．…][\"'”’»)\]*_]*$")
_RULE = re.compile(r"[-=*_~–—•#.]{3,}|[-*_](?:\s+[-*_]){2,}")
_LIST_MARK = re.compile(r"(?:[-*+•–·▪]|\(?\d{1,2}[.)]|\((?:[ivx]{1,4}|[a-h])\)|[a-h]\))\s")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines between blank lines, each stripped; `line` is the number of the first."""

    line: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return joined(self.lines)

    @property
    def words(self) -> int:
        return count_words(self.text)

    @property
    def is_short(self) -> bool:
        """Too short for an abstract and without a sentence's end: a heading or a title."""
        return not ends_sentence(self.text) and self.words <= SHORT_WORDS

    @property
    def continues(self) -> bool:
        """Whether it goes on with the abstract before it: starts in lower case, or is a list."""
        first = self.text.split(maxsplit=1)[0]
        # p53, mTOR and β-amyloid start sentences too
        lower = first[0].islower() and first[0].isascii() and not re.search(r"[A-Z\d]", first)
        return lower or starts_list(self.text)


def paragraphs(text: Text, *, by_line: bool = False) -> Iterator[Paragraph]:
    """Its paragraphs, parted by blank lines and drawn rules (---, ***, ===); `by_line`: every line is one.

    Raises InputError for one that is far too long.
    """
    kept: list[str] = []
    start = size = 0
    for number, line in enumerate(text.lines(), 1):
        stripped = clean(line)
        if kept and (by_line or not stripped):
            yield Paragraph(start, tuple(kept))
            kept, size = [], 0
        if stripped:
            start = start if kept else number
            kept.append(stripped)
            size += len(stripped)
            if size > text.blob.limits.line:
                raise InputError(
                    f"{text.name}:{start}: a paragraph of more than {size:,} characters", hint=_BLANK_LINES
                )
    if kept:
        yield Paragraph(start, tuple(kept))


def is_abstract_a_line(text: Text) -> bool:
    """Whether no blank line parts abstracts, and nearly every line is long enough to be one."""
    lines = long = groups = 0
    in_group = False
    for line in text.lines():
        stripped = clean(line)
        is_long = ends_sentence(stripped) and count_words(stripped) >= LONG_WORDS
        groups += is_long and not in_group
        in_group = bool(stripped) and (in_group or is_long)
        lines += bool(stripped)
        long += is_long
    return groups == 1 and long >= 2 and long >= 0.8 * (lines - 1)


def clean(line: str) -> str:
    """`line` without white space and invisible marks around it; "" for a drawn rule."""
    stripped = line.strip().strip("\ufeff\u200b\u200e\u200f\u2060").strip()
    return "" if _RULE.fullmatch(stripped) else stripped


def joined(lines: Iterable[str]) -> str:
    """Lines as one text: by a space, or by a line break before an item of a list."""
    text = ""
    for line in lines:
        text += f"{chr(10) if starts_list(line) else ' '}{line}" if text else line
    return text


def starts_list(text: str) -> bool:
    """Whether `text` starts with a bullet or a number as lists do."""
    return bool(_LIST_MARK.match(text))


def ends_sentence(text: str) -> bool:
    """Whether `text` ends in a full stop of any script; questions and exclamations may as well be titles."""
    return bool(_SENTENCE_END.search(text))


def count_words(text: str) -> int:
    """Words, two characters of Chinese, Japanese or Korean counting as one."""
    return len(text.split()) + (0 if text.isascii() else len(_CJK.findall(text)) // 2)


def title_and_rest(lines: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The first line as a title and the others, where it looks like one; else "" and all lines."""
    first, rest = lines[0], lines[1:]
    body = joined(rest)
    if not rest or ends_sentence(first) or count_words(first) > SHORT_WORDS or count_words(body) < count_words(first):
        return "", lines
    wrapped = len(rest) > 1 and len(first) >= 0.75 * max(map(len, rest))  # a line of text broken at a fixed width
    if wrapped or rest[0][0].islower() or starts_list(rest[0]):
        return "", lines
    return first, rest
