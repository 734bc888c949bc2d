"""Words whose meaning matters to checking: what negates, what is opposite, what is the same, what overreaches.

Small tables written by hand for the prose of abstracts (`rag/data/words`). Meanings are looked up by stem, so that
"increases", "increased" and "increasing" are one entry.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from rag.text import stems


def _lines(name: str) -> list[str]:
    text = (files("rag") / "data" / "words" / f"{name}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _words(name: str) -> frozenset[str]:
    return frozenset(" ".join(_lines(name)).split())


STOP = _words("stop")
SELF = _words("self")
STRICT_NEGATORS = _words("negators")
NEGATORS = STRICT_NEGATORS | _words("avoiders")
HEDGES = _words("hedges")
OVERREACH = _words("overreach")
MARKED = _words("marked")
COMPARING = _words("comparing")
FOREIGN = _words("foreign")


_RAREST = 5.5


@cache
def _rareness() -> dict[str, float]:
    table = {}
    for line in _lines("common"):
        value, *found = line.split()
        table.update(dict.fromkeys(found, float(value)))
    return table


@cache
def importance(key: str, name: bool) -> float:
    """How much a word tells of the topic, 0.2 to 1.5: by its rareness; a compound counts as its rarest part."""
    rareness = max((_rareness().get(part, _RAREST) for part in key.split(" ")), default=_RAREST)
    return max(0.2, rareness / _RAREST) * (1.3 if name else 1.0)


@cache
def stem(word: str) -> str:
    """The stem of one word, its parts joined where it is a compound ("test-time" → "test time")."""
    return " ".join(stems(word))


@cache
def _opposite_table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for line in _lines("opposites"):
        one, other = ({stem(word) for word in side.split()} for side in line.split("|"))
        for left, right in ((one, other), (other, one)):
            for key in left - right:
                table.setdefault(key, set()).update(right - left)
    return {key: frozenset(value) for key, value in table.items()}


@cache
def _synonym_table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for line in _lines("synonyms"):
        group = {stem(word) for word in line.split()}
        for key in group:
            table.setdefault(key, set()).update(group - {key})
    return {key: frozenset(value) for key, value in table.items()}


_PREFIXES = (
    "un",
    "in",
    "im",
    "non",
    "ir",
    "il",
    "dis",
    "mis",
    "anti",
    "de",
    "non ",
    "mal",
    "under",
    "over",
    "hypo",
    "a",
)


def _prefixed(one: str, other: str) -> bool:
    """Is one the other with a negating prefix ("unstabl" of "stabl")?"""
    if len(one) < len(other):
        one, other = other, one
    return len(other) >= 4 and one.endswith(other) and one[: -len(other)] in _PREFIXES


@cache
def opposite(one: str, other: str) -> bool:
    """Do two stems exclude one another?"""
    if one == other:
        return False
    return other in _opposite_table().get(one, ()) or _prefixed(one, other)


@cache
def synonymous(one: str, other: str) -> bool:
    """Do two stems stand for the same in an abstract?"""
    return one == other or other in _synonym_table().get(one, ())


@cache
def directional(key: str) -> bool:
    """Has this stem an opposite in the table?"""
    return key in _opposite_table()


@cache
def sign(key: str) -> int:
    """1 for a word that says "more", -1 for "less", 0 for neither."""
    ups, downs = _stemmed(_words("up")), _stemmed(_words("down"))
    return 1 if key in ups else -1 if key in downs else 0


@cache
def harm(key: str) -> bool:
    """Does this stem say that something is done harm, so that to deny it is good news?"""
    return key in _stemmed(_words("harm"))


@cache
def _stemmed(words: frozenset[str]) -> frozenset[str]:
    return frozenset(stem(word) for word in words)


def stop(word: str) -> bool:
    return word in STOP


@cache
def overreach_alike(word: str) -> frozenset[str]:
    """The words that license a quantifier in the source: itself and its like."""
    alike = {word, stem(word)}
    for line in _lines("overreach_alike"):
        group = line.split()
        if word in group:
            alike.update(group)
            alike.update(stem(other) for other in group)
    return frozenset(alike)
