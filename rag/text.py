"""Sentences, words, stems and names in plain text. Pure functions; offsets are characters of the text given."""

from __future__ import annotations

import re
import threading
import unicodedata
from dataclasses import dataclass

import Stemmer

_CJK = re.compile(r"[぀-ヿ㐀-䶿一-鿿豈-﫿가-힯]")
_STOP = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+(?=[\"“(\[]?[A-Z0-9])|(?<=[。！？])|\n\s*\n")
_TOKEN = re.compile(r"[^\W_]+(?:[-‐‑'’_.@][^\W_]+)*")
_WORD = re.compile(r"[^\W_]+")
_STOPWORDS = frozenset(
    "a an and are as at be by do does did for from has have how i in is it its many me of on or paper papers tell that "
    "the their they this to was were what when where which who why will with".split()
)
_local = threading.local()


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    start: int
    end: int


def has_cjk(text: str) -> bool:
    """Whether there is a Chinese, Japanese or Korean character."""
    return _CJK.search(text) is not None


def sentences(text: str) -> list[Span]:
    """Spans of sentences without surrounding white space; they cover all text that is not white space."""
    cuts = [0, *(match.end() for match in _STOP.finditer(text)), len(text)]
    spans = []
    for start, end in zip(cuts, cuts[1:], strict=False):
        piece = text[start:end]
        if piece.strip():
            spans.append(Span(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())))
    return spans


def tokens(text: str) -> list[Token]:
    """Words with inner hyphens and digits kept."""
    return [Token(match.group(), match.start(), match.end()) for match in _TOKEN.finditer(text)]


def stems(text: str) -> list[str]:
    """NFKC, case-folded, Porter-stemmed words; compounds are split."""
    if not hasattr(_local, "stemmer"):
        _local.stemmer = Stemmer.Stemmer("porter")
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return list(_local.stemmer.stemWords(words))


def informative(question: str) -> list[str]:
    """Stems of the words that carry content, in order, each once."""
    words = [word for word in _WORD.findall(question) if word.casefold() not in _STOPWORDS]
    return list(dict.fromkeys(stems(" ".join(words))))


def named_terms(text: str) -> list[Token]:
    """Names: mixed case, digits with letters, acronyms."""
    return [
        token
        for token in tokens(text)
        if any(char.isalpha() for char in token.text)
        and (any(char.isupper() for char in token.text[1:]) or any(char.isdigit() for char in token.text))
    ]
