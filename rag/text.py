"""Words, stems and names in plain text; sentences come from `rag.language.sentences`. Pure functions.

Offsets are characters of the text that was given. Stems are those of the full-text index (SQLite FTS5, porter over
unicode61), so that a word counts as found here exactly when it is found there.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import Stemmer

from rag.language.sentences import Span, sentences
from rag.language.stopwords import ASKING, ASKING_CJK, ENGLISH, stopwords
from rag.quantities import quantities

__all__ = ["Span", "Token", "has_cjk", "informative", "named_terms", "sentences", "stems", "tokens"]

_WIDE = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff"
_CJK = re.compile(f"[{_WIDE}]")
_L = rf"(?:(?![{_WIDE}])[^\W_]|[\u0300-\u036f])"
_TOKEN = re.compile(
    rf"""(?P<wide>[{_WIDE}]+)
    | (?P<word>{_L}+(?:(?:[-‐‑'’_@](?!s\b)|\.(?=\d)|(?<=\d),(?=\d{{3}}(?!\d))|(?<=[A-Z])&(?=[A-Z])|(?<=[A-Za-z])–(?=\d))
      {_L}+)*(?:\+\+|\+(?!\w)|\#(?!\w))?)(?:['’]s\b)?""",
    re.VERBOSE,
)
_WORDS = re.compile(rf"(?P<wide>[{_WIDE}]+)|{_L}+")
_MARKS = re.compile("[\u0300-\u036f\u00ad\u200b-\u200d\ufeff]")
_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b", re.IGNORECASE)
_LABELS = frozenset(
    """abstract aim aims background conclusion conclusions context data design discussion findings importance
    interpretation intervention introduction keywords materials measurements methods method objective objectives outcome
    outcomes participants patients purpose result results setting significance subjects summary tldr""".split()  # noqa: SIM905
)
_COMMON = frozenset(
    """algorithm appendix chapter corollary definition equation example figure fig lemma part proposition ref remark
    section step table theorem jan feb mar apr jun jul aug sep sept oct nov dec january february march april may june
    july august september october november december monday tuesday wednesday thursday friday saturday
    sunday""".split()  # noqa: SIM905
)
_FRESH = re.compile(r"[.!?:…。！？][\"'”’)\]*_]*\s*$|^[\s\"'“‘(\[*#>•-]*$|[\"“‘(\[•]\s?$|\n\s*(?:[-*•]|\d+[.)])?\s*$")
_URL = re.compile(r"(?:https?://|www\.)\S+|\b[\w.-]{1,80}\.(?:com|org|io|net|edu|ai|science)/\S*")
_threads = threading.local()  # a Stemmer must not be shared between threads


@dataclass(frozen=True, slots=True)
class Token:
    """A word with its place in the text."""

    text: str
    start: int
    end: int


def has_cjk(text: str) -> bool:
    """Whether there is a Chinese, Japanese or Korean character."""
    return _CJK.search(text) is not None


def tokens(text: str) -> list[Token]:
    """Words; inner hyphens, dots before digits and the like are kept: IL-6, Qwen2.5-7B, v1.5, C++, don't, 1,500.

    A possessive 's is left out. A run of Chinese, Japanese or Korean characters is one token.
    """
    found = []
    for match in _TOKEN.finditer(text):
        kind = "wide" if match["wide"] else "word"
        found.append(Token(match[kind], *match.span(kind)))
    return found


def stems(text: str) -> list[str]:
    """Stems in order: NFKC, case-folded, accents off, compounds split ("IL-6" → il, 6), then Porter's stemmer.

    Of Chinese, Japanese and Korean runs the overlapping pairs of characters.
    """
    return _stems_of(_words(text))


def informative(question: str) -> list[str]:
    """The stems of a question that carry content, in order, each once; empty for a greeting.

    Function words, asking words ("how many") and talk about papers ("according to the authors") are left out.
    """
    folded = ASKING_CJK.sub(" ", ASKING.sub(" ", unicodedata.normalize("NFKC", question)))
    words = _words(folded)
    left_out = stopwords(_words(question))
    words = [word for word in words if word not in left_out]
    whole = [word for word in words if len(word) > 1 or not has_cjk(word)]  # single characters are what cutting left
    return list(dict.fromkeys(_stems_of(whole or words)))


def named_terms(text: str) -> list[Token]:
    """Names and terms that must match exactly: GPT-4, IL-6, p53, LoRA, LLMs, β-amyloid, C++, Cranfield.

    A capital makes a name only inside a sentence, and not in text where most words have one (a title).
    """
    links = [match.span() for match in _URL.finditer(text)]
    words = [word for word in tokens(text) if not any(start <= word.start < end for start, end in links)]
    plain = [word for word in words if len(word.text) > 3 and word.text.isascii() and word.text.isalpha()]
    title_like = sum(word.text[0].isupper() for word in plain) > 0.6 * len(plain) and len(plain) > 3
    shouted = bool(plain) and all(word.text.isupper() for word in plain) and len(plain) > 3
    return [word for word in words if _is_name(word, text, title_like, shouted)]


def _is_name(word: Token, text: str, title_like: bool, shouted: bool) -> bool:
    name = word.text
    lowered = name.lower()
    if has_cjk(name) or not any(char.isalpha() for char in name) or lowered in ENGLISH or lowered.strip("s") in _COMMON:
        return False
    if "'" in name or "’" in name:
        return False
    if any(char.isdigit() for char in name):
        return not _starts_as_quantity(name) or re.search(r"[-‐‑].*[A-Z]", name) is not None
    if name[-1] in "+#":
        return True
    if re.search(r"[\u0370-\u03ff]", name) and re.search(r"[-‐‑]", name):
        return True
    letters = [char for char in name if char.isalpha()]
    capitals = sum(char.isupper() for char in letters)
    if name.isupper() and (shouted or (lowered in _LABELS and _is_fresh(text, word.start))):
        return False
    if capitals >= 2 or (capitals == 1 and not name[0].isupper()):
        return len(letters) > 1 and not (title_like and re.fullmatch(r"[A-Z][a-z]+(?:[-‐‑][A-Z][a-z]+)+", name))
    return capitals == 1 and len(letters) > 1 and not title_like and not _is_fresh(text, word.start)


@lru_cache(maxsize=8192)
def _starts_as_quantity(name: str) -> bool:
    """Whether `name` is a number with a unit or a counted noun ("7B", "20ms", "16-layer"), compared as such."""
    found = quantities(name) if name[0].isdigit() else []
    return bool(found) and not found[0].start


def _is_fresh(text: str, at: int) -> bool:
    """Whether a capital at `at` may be there only because a sentence, quotation or list item begins."""
    return _FRESH.search(text[max(0, at - 12) : at]) is not None


@lru_cache(maxsize=4096)
def _folded(text: str) -> str:
    if text.isascii():
        return _POSSESSIVE.sub("", text.lower())
    split = _MARKS.sub("", unicodedata.normalize("NFKD", _POSSESSIVE.sub("", text)))
    return unicodedata.normalize("NFKC", split).casefold()


def _words(text: str) -> list[str]:
    words: list[str] = []
    for match in _WORDS.finditer(_folded(text)):
        run = match.group()
        if match["wide"] and len(run) > 1:
            words += [run[i : i + 2] for i in range(len(run) - 1)]
        else:
            words.append(run)
    return words


def _stems_of(words: list[str]) -> list[str]:
    if not hasattr(_threads, "stemmer"):
        _threads.stemmer = Stemmer.Stemmer("porter")
    return list(_threads.stemmer.stemWords(words))
