"""Numbers in plain text, with unit, sign, range and comparator, so that they can be compared exactly.

Digits inside names (GPT-4, C2Seg, IL-6, ImageNet-1K), of references (Figure 3, [12], (1) as an item's number) and in
links are no quantities: names are compared as names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from rag.language.comparators import comparator_after, comparator_before
from rag.language.numerals import NUMBER, SCALE, SCALES, WORD_NUMBER, dates, figure_value, normal, word_value
from rag.language.units import CURRENCIES, CURRENCY, UNIT, UNITS, base_of

_LEAD = 60  # characters before a number that may hold its comparator
_LOW_WEIGHT = 0.3
_UNIT = re.compile(rf"(?P<gap>[ \u2009]?|-)(?P<unit>(?:{UNIT})(?![A-Za-zµ°])(?!(?<=[A-Za-z])\d)|[×%])")
_ONLY_ATTACHED = frozenset({"p", "X", "us", "um", "ug"})
_NEEDS_AN_END = frozenset({"s", "m", "h", "g", "L", "V", "W", "J", "pt", "位", "周", "天", "元", "岁", "米", "克"})
_CURRENCY = re.compile(rf"(?:{CURRENCY})\s?$")
_FRACTION = re.compile(r"/(\d{1,4})(?![\w/.]\d|\w)")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b")
_DECADE = re.compile(r"s\b")
_DIMENSION = re.compile(r"x\d")
_FOLD = re.compile(r"[- ]?fold\b")
_TIMES_BEFORE = re.compile(r"(?:^|[\s(:,~∼≈])[×x]\s?$")
_TO = re.compile(r"\s?(?:-|–|~|∼|〜|至|到)\s?|\s(?:to|through)\s")
_AND = re.compile(r"\s?and\s")
_COMMA = re.compile(r"\s?[,;]\s?")
_SIGN = re.compile(rf"(?:{CURRENCY})?\s?([-+]?)")
_INTERVAL = re.compile(r"\bC\.?I\.?[:,=]?\s*[(\[]?$")
_BETWEEN = re.compile(r"\bbetween\s*$")
_RANGING = re.compile(r"\b(?:rang\w*|var(?:y|ies|ied|ying)|spann?\w*|scal\w*|between)\s+from\s*$|\brange of\s*$")
_FROM = re.compile(r"\bfrom\s+(?:about |around |roughly |nearly |only |just |~|≈)?$")
_REFERENCE = re.compile(
    r"\b(?:Fig(?:ure|s)?|Tab(?:le)?s?|Sec(?:tion)?s?|Eqs?|Eqn|Equations?|Appendix|Theorems?|Lemma|Algorithm|Chapter|"
    r"Definition|Corollary|Proposition|Ref(?:erence)?s?)\.?\s*\(?$"
)
_COUNTING_PREFIXES = frozenset(
    {"top", "sub", "under", "over", "pre", "post", "mid", "non", "level", "rank", "order", "degree", "size", "length"}
    | {"dimension", "age", "aged", "best", "first", "last", "the", "of", "is", "by", "to", "and", "or", "near", "plus"}
    | {"minus", "min", "max"}
)
_LETTER = re.compile(r"[A-Za-zµ_@\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u03ff]")
_NAME_TAIL = re.compile(r"[\w.\-/@+]*\w")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number or a range with its unit; `text` is the source's `[start:end]`, comparator and sign included.

    `low` and `high` differ only in ranges. Scale words are worked in ("133B" is 133000000000), units are not ("5 ms" is
    5). `unit` is one name for all its spellings ("%", "pp", "×", "$", "ms"; "date" with the value yyyymmdd; "th" of
    ordinals), "" for none. `comparator` is "", "<", "<=", ">", ">=", "~" (about) or "±"; `spelled` says that it stands
    in words or as in "40+". `weight` is 1, or 0.3 for bare number words and ordinals, whose change matters less.
    """

    low: Decimal
    high: Decimal
    unit: str
    comparator: str
    start: int
    end: int
    text: str
    weight: float = 1.0
    spelled: bool = False


def quantities(text: str) -> list[Quantity]:
    """The quantities in `text`, in order, none within another. Never raises."""
    return _Reader(text).read()


def same(a: Quantity, b: Quantity) -> bool:
    """Whether `a` and `b` state the same quantity: the same value (see `same_value`) with the same comparator.

    "~70 %" and "70 %" are the same. A comparator in words may stand for its near neighbour: "40+", "over 40", "at
    least 40". In symbols "<" and "≤" differ. "up to 7×" is not "7×".
    """
    if not same_value(a, b):
        return False
    left, right = a.comparator.replace("~", ""), b.comparator.replace("~", "")
    return left == right or ((a.spelled or b.spelled) and bool(left) and left[:1] == right[:1])


def same_value(a: Quantity, b: Quantity) -> bool:
    """Whether the numbers are the same, whatever comparator they have.

    Equal in value, sign, range and unit after conversion: 1,500 = 1500 = 1.5K, 1000 ms = 1 s, 7x = 7-fold = seven
    times, 1e-3 = 10⁻³, $5 million = 5M dollars. A percentage equals its fraction (20 % = 0.20). Nothing is rounded; a
    percentage is not percentage points; a number without a unit equals none with one.
    """
    return _in_base(a) == _in_base(b)


def rounds_to(rough: Quantity, exact: Quantity) -> bool:
    """Whether `rough`, said to be approximate ("about 20 %"), is `exact` (19.6 %) to as many digits, at least two."""
    if rough.comparator != "~" or rough.low != rough.high or exact.low != exact.high:
        return False
    base, value, _ = _in_base(rough)
    exact_base, exact_value, _ = _in_base(exact)
    if base != exact_base or not exact_value:
        return False
    digits = max(2, len(rough.low.normalize().as_tuple().digits))
    step = Decimal(1).scaleb(exact_value.adjusted() - digits + 1)
    return (exact_value / step).to_integral_value() * step == value


def _in_base(quantity: Quantity) -> tuple[str, Decimal, Decimal]:
    base, factor = base_of(quantity.unit)
    if base == "%":
        factor /= 100
        if not quantity.low or 0 < abs(quantity.low * factor) < 1:
            base = ""  # a fraction; but 120 % is not 1.2 of something, and 100 % not 1
    return base, quantity.low * factor, quantity.high * factor


class _Part(NamedTuple):
    """One number with what belongs to it; `more` is a comparator after it ("40+")."""

    value: Decimal
    unit: str
    end: int
    more: str = ""
    ordinal: bool = False


class _Reader:
    """Reads one text; `norm` is the text in normal figures and signs, character for character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.norm = normal(text)
        self.found: list[Quantity] = []

    def read(self) -> list[Quantity]:
        taken = dates(self.norm)
        for start, end, value in taken:
            self._add(Decimal(value), Decimal(value), "date", "", start, end)
        at = 0
        while match := NUMBER.search(self.norm, at):
            inside = next((end for start, end, _ in taken if start <= match.start() < end), None)
            at = inside or self._number(match)
        self._number_words()
        return sorted(self.found, key=lambda quantity: quantity.start)

    def _add(
        self,
        low: Decimal,
        high: Decimal,
        unit: str,
        sign: str,
        start: int,
        end: int,
        *,
        weight: float = 1.0,
        spelled: bool = False,
    ) -> int:
        self.found.append(Quantity(low, high, unit, sign, start, end, self.text[start:end], weight, spelled))
        return end

    def _lead(self, at: int) -> str:
        return self.norm[max(0, at - _LEAD) : at]

    def _number(self, match: re.Match[str]) -> int:
        """Read the number at `match`, or pass over the name or reference it belongs to; where to go on."""
        begin = match.start()
        before = self._lead(begin)
        if _goes_on(before) or self._is_reference(before, match):
            return self._tail(match.end())
        currency = _CURRENCY.search(before)
        begin -= len(currency.group()) if currency else 0
        lead = self._lead(begin)
        negative = False
        if lead[-1:] in ("-", "–", "+") and not lead.endswith("+/-"):
            negative = lead[-1] != "+" and not re.search(r"[\w%)°]$", lead[:-1])  # not in "top-5", "10%-25%"
            begin, lead = begin - 1, lead[:-1]
        part = self._part(match, CURRENCIES[currency.group().strip()] if currency else "")
        if part is None:
            return self._tail(match.end())
        times = _TIMES_BEFORE.search(lead)
        if times and not part.unit and not re.search(r"\d\s?[×x]\s?$", lead):  # "×7"
            begin -= len(lead) - times.end() + len(times.group().lstrip(" \n(:,~∼≈"))
            lead, part = self._lead(begin), part._replace(unit="×")
        sign, spelled, length = comparator_before(lead)
        begin -= length
        low = high = -part.value if negative else part.value
        unit, end, more = part.unit, part.end, part.more
        if other := self._range(match, part, lead, low):
            first, second, change = other
            if change:  # "from 10 to 25 %": two quantities that share a unit
                self._add(low, low, unit or second.unit, sign, begin, end, spelled=spelled)
                return self._add(second.value, second.value, second.unit, second.more, first, second.end)
            high, unit, end, more = second.value, second.unit or unit, second.end, second.more
            low = _scaled_with(low, high)
        if more:
            sign, spelled = more, True
        weight = _LOW_WEIGHT if part.ordinal else 1.0
        return self._add(low, high, unit, sign, begin, end, weight=weight, spelled=spelled)

    def _tail(self, at: int) -> int:
        """Where the name ends that holds the number before `at`."""
        match = _NAME_TAIL.match(self.norm, at)
        return match.end() if match else at

    def _is_reference(self, before: str, match: re.Match[str]) -> bool:
        """Whether it numbers something: "Figure 3", "[12]", "(1) first", "2. second" at the start of a line."""
        if _REFERENCE.search(before):
            return True
        after, digits = self.norm[match.end() : match.end() + 2], match.group()
        if not digits.isdigit() or len(digits) > 3:
            return False
        if before.endswith("[") and after[:1] == "]":
            return True
        if len(digits) == 3:
            return False
        if after[:1] == ")" and re.search(r"(?:^|[\s:;,.])\($|(?:^|\n|[:;,]\s|\s(?:and|or)\s)$", before):
            return after[1:2] in (" ", "\n")
        return after in (". ", ".\u2009") and re.search(r"(?:^|\n)[ \t]*$", before) is not None

    def _part(self, match: re.Match[str], currency: str) -> _Part | None:
        """The number at `match` with scale and unit; None where letters that are no unit make it a name ("3D")."""
        norm, end, value = self.norm, match.end(), figure_value(match)
        if norm[end : end + 1] == "." and norm[end + 1 : end + 2].isdigit():
            return None  # 1.2.3
        if (fraction := _FRACTION.match(norm, end)) and 0 < value < int(fraction[1]) and value == int(value):
            return _Part(value / int(fraction[1]), "", fraction.end())
        if ordinal := _ORDINAL.match(norm, end):
            return _Part(value, "th", ordinal.end(), ordinal=True)
        if re.fullmatch(r"(?:1[89]|20)\d0", match.group()) and _DECADE.match(norm, end):
            return _Part(value, "", end + 1)
        more, found = "", self._unit(end)
        scale = SCALE.match(norm, end)
        if scale and not (found and found[1] > scale.end() and scale["letter"]):
            word = (scale["word"] or scale["letter"] or scale["apart"]).removesuffix("s")
            value = value.scaleb(SCALES[word])
            more, end = comparator_after(norm, scale.end())
            found = self._unit(end)
        if found:
            unit, end = found
        elif end < len(norm) and _LETTER.match(norm[end]) and not _DIMENSION.match(norm, end):
            return None
        else:
            unit = ""
        if not more:
            more, end = comparator_after(norm, end)
        return _Part(value, currency or unit, end, more)

    def _unit(self, at: int) -> tuple[str, int] | None:
        """Name and end of the unit at `at`; spellings that could be another word are taken only where they fit."""
        match = _UNIT.match(self.norm, at)
        if match is None:
            return None
        name, gap = match["unit"], match["gap"]
        after = self.norm[match.end() : match.end() + 12]
        if name in ("x", "X", "×"):
            another_word = name != "×" and gap and not re.match(r" [a-z]", after)
            if another_word or re.match(r"\s?\d", after) or after[:1].isupper():
                return None  # "3 x 3", "8×H100"
        elif (
            (gap == "-" and not (name.isalpha() and len(name) > 2))
            or (gap and name in _ONLY_ATTACHED)
            or (gap and name in _NEEDS_AN_END and not re.match(r"[\s.,;:)\]/]|$", after))
        ):
            return None
        if name == "times" and re.match(r" (?:series|step|stamp)", after):
            return None
        return UNITS[name].name, match.end()

    def _range(self, match: re.Match[str], part: _Part, lead: str, low: Decimal) -> tuple[int, _Part, bool] | None:
        """Start and content of the second number of a range, and whether it is a change "from … to …" instead."""
        norm = self.norm
        if part.more or part.ordinal:
            return None
        joint = _AND.match(norm, part.end) if _BETWEEN.search(lead) else None
        joint = joint or (_COMMA.match(norm, part.end) if _INTERVAL.search(lead) else None) or _TO.match(norm, part.end)
        second = _SIGN.match(norm, joint.end()) if joint else None
        number = NUMBER.match(norm, second.end()) if second else None
        if joint is None or second is None or number is None:
            return None
        other = self._part(number, part.unit if part.unit in CURRENCIES.values() else "")
        if other is None or other.ordinal:
            return None
        value = -other.value if second[1] == "-" else other.value
        dash = joint.group().strip() in ("-", "–")
        if dash and re.fullmatch(r"(?:19|20)\d\d", match.group()) and re.fullmatch(r"\d\d", number.group()):
            value += low - low % 100 if value > low % 100 else 0  # "2020–24"
        units = {unit for unit in (part.unit, other.unit) if unit}
        other = other._replace(value=value, unit=other.unit or part.unit)
        if dash and (low >= value or len(units) > 1 or joint.group().count(" ") == 1):
            return None
        word = joint.group().strip() == "to"
        change = word and (_FROM.search(lead) is not None and not _RANGING.search(lead))
        if not dash and (low >= value or len(units) > 1):
            change = True
        return second.start(), other, change

    def _number_words(self) -> None:
        """Numbers in words, where no figure was read already."""
        taken = [(quantity.start, quantity.end) for quantity in self.found]
        for match in WORD_NUMBER.finditer(self.norm):
            if any(start < match.end() and match.start() < end for start, end in taken):
                continue
            value, unit, end = word_value(match), "", match.end()
            if match["multiple"]:
                unit = "×"
            elif not match["share"] and (found := self._unit(end)):
                unit, end = found
            elif fold := _FOLD.match(self.norm, end):
                unit, end = "×", fold.end()
            if match["single"] and not (match["scales"] or base_of(unit)[0] == "orders"):
                continue
            sign, spelled, length = comparator_before(self._lead(match.start()))
            more, end = comparator_after(self.norm, end)
            if more:
                sign, spelled = more, True
            weight = 1.0 if match["scales"] or unit else _LOW_WEIGHT
            self._add(value, value, unit, sign, match.start() - length, end, weight=weight, spelled=spelled)


def _goes_on(before: str) -> bool:
    """Whether a number after `before` goes on a word: "GPT-4", "p53", "v1.5", "1.2.3"; not "top-5" or "提升20"."""
    if not before:
        return False
    last, earlier = before[-1], before[-2:-1]
    if _LETTER.match(last):
        return not re.search(r"(?:^|[\s(:,~∼≈]|\d)x$", before)
    if last == ".":
        return earlier.isdigit() or _LETTER.match(earlier) is not None
    if last in "-–/" and (_LETTER.match(earlier) or earlier.isdigit()):
        word = re.search(r"[\w.-]*$", before[:-1])
        name = word.group() if word else ""
        if last == "/":
            return re.search(r"[A-Z]", name) is not None  # "ViT-B/16"
        if earlier.isdigit():
            return _LETTER.search(name) is not None
        return name.lower() not in _COUNTING_PREFIXES
    return last in "⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉"


def _scaled_with(low: Decimal, high: Decimal) -> Decimal:
    """The lower end of "1-3B" or "5–10K", to which the scale of the upper one applies."""
    if not 0 < low < 1000 < high or low * 1000 >= high:
        return low
    scaled = low.scaleb(3 * (high.adjusted() // 3))
    return scaled if scaled <= high else low
