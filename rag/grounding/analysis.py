"""One sentence taken apart for checking: content words, figures, names, and what is negated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise

from rag.grounding import lexicon
from rag.quantities import Quantity, quantities
from rag.text import named_terms, stems, tokens

_SCOPE = 4  # content words after a negation that it can reach
_NEGATED_CONTRACTION = re.compile(r"n['’]t$|^cannot$", re.IGNORECASE)
_CLAUSE_END = re.compile(
    r"[,;:()]|\b(?:but|and|which|while|whereas|because|when|if|unless|until|although)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Word:
    """One token. `key` is its stem (parts of a compound joined by spaces); `weight` is 0 for words without content."""

    text: str
    key: str
    parts: tuple[str, ...]
    start: int
    end: int
    weight: float = 0.0
    figure: bool = False  # (part of) a quantity: left out when topics are compared
    name: bool = False
    negator: bool = False
    marked: bool = False  # a word without content that gives a direction ("more", "after")

    @property
    def content(self) -> bool:
        return self.weight > 0


@dataclass(frozen=True, slots=True)
class Scope:
    """A negation and the words it reaches, nearest first; `strict` when it turns them round ("not", "fails to")."""

    negator: str
    words: tuple[int, ...]
    strict: bool


@dataclass(frozen=True, slots=True)
class Analysis:
    """A sentence with its words; indices below refer to `words`.

    `place` puts the words on a line where clauses stand apart, `clause` counts the clauses.
    `keys` and `parts` are the stems of content words, `raw` all words in lower case, `negated` what any scope reaches.
    """

    text: str
    words: tuple[Word, ...]
    quantities: tuple[Quantity, ...]
    content: tuple[int, ...]
    keys: frozenset[str]
    parts: frozenset[str]
    scopes: tuple[Scope, ...]
    negated: frozenset[int]
    raw: frozenset[str]
    place: tuple[float, ...]
    clause: tuple[int, ...]

    @property
    def weight(self) -> float:
        return sum(self.words[index].weight for index in self.content)

    @property
    def names(self) -> tuple[Word, ...]:
        return tuple(word for word in self.words if word.name)


@lru_cache(maxsize=8192)
def analyse(text: str, known: frozenset[str] = frozenset()) -> Analysis:
    """Take one plain sentence (or two joined ones) apart. Cached: the same sentences come back for every claim.

    `known` are stems of names that are names also where a capital proves nothing, at the start of a sentence.
    """
    figures = tuple(quantities(text))
    names = {(token.start, token.end) for token in named_terms(text)}
    names |= {
        (token.start, token.end)
        for token in tokens(text)[:3]
        if token.text[0].isupper() and " ".join(stems(token.text)) in known
    }
    words = [_word(token.text, token.start, token.end, figures, names) for token in tokens(text)]
    scopes = tuple(_scopes(text, words))
    place = tuple(_places(text, words))
    starts = (right - left >= STRONG for left, right in pairwise((0.0, *place)))
    content = tuple(index for index, word in enumerate(words) if word.content)
    return Analysis(
        text,
        tuple(words),
        figures,
        content,
        frozenset(words[index].key for index in content),
        frozenset(part for index in content for part in words[index].parts),
        scopes,
        frozenset(index for scope in scopes for index in scope.words),
        frozenset(word.text.lower() for word in words),
        place,
        tuple(accumulate(starts)),
    )


def _word(text: str, start: int, end: int, figures: tuple[Quantity, ...], names: set[tuple[int, int]]) -> Word:
    lower = text.lower().replace("’", "'")
    parts = tuple(stems(text))
    key = " ".join(parts)
    name = (start, end) in names
    negator = lower in lexicon.NEGATORS or bool(_NEGATED_CONTRACTION.search(lower))
    figure = any(quantity.start < end and start < quantity.end for quantity in figures)
    if figure and not name:
        return Word(text, key, parts, start, end, figure=True, negator=negator)
    if not parts or lower in lexicon.STOP or lexicon.stop(key) or (negator and lower in lexicon.STRICT_NEGATORS):
        return Word(text, key, parts, start, end, negator=negator, marked=lower in lexicon.MARKED)
    weight = 0.25 if key in lexicon.SELF and not name else lexicon.importance(key, name)
    return Word(text, key, parts, start, end, weight, figure, name, negator)


_STRONG = re.compile(r"[;:]\s|[.!?]\s|\b(?:whereas|while|but|where|although|yet)\b", re.IGNORECASE)
_LINK = re.compile(r"\b(?:and|or|versus|vs)\b", re.IGNORECASE)
_WEAK = re.compile(r"[,():–—]|\b(?:which|that|by|in|on|for|with)\b", re.IGNORECASE)
STRONG, _LINKED, _PAUSE, _STEP = 1.0, 0.8, 0.25, 0.04


def _places(text: str, words: list[Word]) -> Iterator[float]:
    """A running sum of how far each word stands from the one before: little in a phrase, much across clauses."""
    place, end = 0.0, 0
    for word in words:
        between = text[end : word.start] + " " + word.text
        place += _STEP
        if _STRONG.search(between):
            place += STRONG
        elif _LINK.search(between):
            place += _LINKED
        elif _WEAK.search(between):
            place += _PAUSE
        end = word.end
        yield place


def _scopes(text: str, words: list[Word]) -> Iterator[Scope]:
    for position, word in enumerate(words):
        lower = word.text.lower().replace("’", "'")
        if not word.negator or (lower == "not" and _next(words, position) in ("only", "just", "merely", "solely")):
            continue  # "not only A but also B" negates nothing
        if lower in ("rather", "instead") and _next(words, position) not in ("than", "of"):
            continue
        reached: list[int] = []
        for index in range(position + 1, len(words)):
            if reached and _CLAUSE_END.search(text[words[index - 1].end : words[index].start]):
                break
            if _CLAUSE_END.fullmatch(words[index].text):
                break
            if words[index].content or words[index].figure:
                reached.append(index)
                if len(reached) == _SCOPE:
                    break
        if reached:
            strict = lower in lexicon.STRICT_NEGATORS or bool(_NEGATED_CONTRACTION.search(lower))
            yield Scope(word.text, tuple(reached), strict)


def _next(words: list[Word], position: int) -> str:
    return words[position + 1].text.lower() if position + 1 < len(words) else ""
