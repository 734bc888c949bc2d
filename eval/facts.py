"""Key facts of a question, and whether an answer states them."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]

_DASHES = str.maketrans("‐‑‒–—−’‘“”", "------''\"\"")
_FIGURE = re.compile(
    r"(?<![\w.])(?<![a-z]-)[-+]?\d[\d,]*(?:\.\d+)?(?:\s?(?:thousand|million|billion|trillion)\b|[kmbt]\b)?",
    re.IGNORECASE,
)
_SCALE = {"k": 3, "thousand": 3, "m": 6, "million": 6, "b": 9, "billion": 9, "t": 12, "trillion": 12}
_PERCENT = re.compile(r"\s?(?:-\s?[\d.,]+\s?)?(?:%|-?per\s?cent|pp\b|points?\b|个?百分点)", re.IGNORECASE)
_TIMES = re.compile(r"\s?(?:-\s?[\d.,]+\s?)?(?:[x×]|-?fold\b|times\b|倍)", re.IGNORECASE)
_MARKS = {"%": _PERCENT, "×": _TIMES, "x": _TIMES, "times": _TIMES, "fold": _TIMES}
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Figure(_Strict):
    """A number, e.g. {"number": "20.39", "unit": "%"}; the value must be equal, not close.

    A unit of `%` or `×` has to stand at the number; any other unit is a note for the reader.
    """

    number: str
    unit: str = ""

    @field_validator("number")
    @classmethod
    def _is_a_number(cls, value: str) -> str:
        try:
            if Decimal(value).is_finite():
                return value
        except InvalidOperation:
            pass
        raise ValueError(f'{value!r} is not a number; write it as digits, e.g. "20.39"')


class Pattern(_Strict):
    """A regular expression, searched in the readable answer regardless of case."""

    pattern: str

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, value: str) -> str:
        try:
            re.compile(value)
        except re.error as error:
            raise ValueError(f"{value!r} is not a regular expression: {error}") from None
        return value


class Choice(_Strict):
    """Holds when one of its facts does."""

    any: tuple[Words | Figure | Pattern, ...] = Field(min_length=1)


Fact = Words | Figure | Pattern | Choice


def holds(fact: Fact, answer: str) -> bool:
    """Whether `answer` (plain text without citation marks) states `fact`."""
    match fact:
        case Choice():
            return any(holds(choice, answer) for choice in fact.any)
        case Figure():
            return _has_figure(Decimal(fact.number), fact.unit, readable(answer))
        case Pattern():
            return re.search(fact.pattern, answer, re.IGNORECASE) is not None
        case _:
            return _has_words(readable(fact), readable(answer))


def is_figure(fact: Fact) -> bool:
    """Whether it is a number, or a choice between numbers."""
    return isinstance(fact, Figure) or (isinstance(fact, Choice) and any(is_figure(choice) for choice in fact.any))


def show(fact: Fact) -> str:
    """The fact as a reader would write it."""
    match fact:
        case Choice():
            return " / ".join(show(choice) for choice in fact.any)
        case Figure():
            return f"{fact.number} {fact.unit}".strip()
        case Pattern():
            return f"/{fact.pattern}/"
        case _:
            return fact


@lru_cache(maxsize=4096)
def readable(text: str) -> str:
    """Case folded, one kind of dash and quote, single spaces, compatibility characters in their plain form."""
    folded = unicodedata.normalize("NFKC", text.translate(_DASHES)).translate(_DASHES).casefold()
    return re.sub(r"\s+", " ", folded).strip()


def _has_words(words: str, answer: str) -> bool:
    """`words` at word boundaries; a hyphen and a space are the same between words; a plural s may follow."""
    body = "[- ]".join(re.escape(part) for part in re.split(r"(?<=\w)[- ](?=\w)", words))
    before = r"(?<![a-z0-9])" if re.match(r"[a-z0-9]", words) else ""
    after = r"(?:e?s)?(?![a-z0-9])" if re.search(r"[a-z0-9]$", words) else ""
    return re.search(before + body + after, answer) is not None


def _has_figure(number: Decimal, unit: str, answer: str) -> bool:
    mark = _MARKS.get(unit.strip().casefold())
    for match in _FIGURE.finditer(answer):
        found = _value(match.group())
        if found in (number, abs(number)) and (mark is None or mark.match(answer, match.end())):
            return True  # "fell by 3.2" states −3.2
    spelled = mark is None and number == number.to_integral_value() and 1 <= number <= len(_WORDS)
    return spelled and _has_words(_WORDS[int(number) - 1], answer)


def _value(figure: str) -> Decimal:
    """1,500 → 1500, 133b → 133000000000, 1.2 million → 1200000."""
    match = re.fullmatch(r"([-+]?[\d,]+(?:\.\d+)?)\s?([a-z]*)", figure)
    if not match:
        raise ValueError(f"no figure: {figure!r}")
    return Decimal(match[1].replace(",", "")).scaleb(_SCALE.get(match[2], 0))
