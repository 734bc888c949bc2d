"""Numbers in plain text, with unit, sign, range and comparator, so that they can be compared exactly.

Digits inside names (GPT-4, C2Seg, IL-6, ImageNet-1K), of references (Figure 3, [12], (1) as an item's number) and in
links are no quantities: names are compared as names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from rag.units import CURRENCIES, CURRENCY, UNIT, UNITS, base_of

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_SAME_LENGTH = {
    **{
        ord(wide): plain
        for wide, plain in zip("０１２３４５６７８９％．，＋＜＞＝～（）", "0123456789%.,+<>=~()", strict=True)
    },
    **dict.fromkeys(map(ord, "−‐‑－"), "-"),
    **dict.fromkeys(map(ord, "\u00a0\u202f\u2009\u2007"), "\u2009"),
    ord("μ"): "µ",
    ord("✕"): "×",
    ord("∗"): "*",
}
_POINT = re.compile(r"(?<=\d)·(?=\d)(?!10(?:\^|[⁺⁻⁰¹²³⁴-⁹]))")  # the decimal point of some journals: 0·15
_FAST = re.compile(r"\d|[⁰¹²³⁴-⁹]|[A-Za-z]{3}")
_LINK = re.compile(
    r"(?:https?://|www\.)\S+|\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}|\b10\.\d{4,9}/\S+|\barXiv:\S+|"
    r"\b[\w.-]{1,80}\.(?:com|org|io|net|edu|ai|science)/\S*",
    re.IGNORECASE,
)
_MONTHS = {name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}  # noqa: SIM905
_MONTH = r"(?P<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)(?:[a-z]{1,6})?\.?"
_DATE = re.compile(
    rf"\b(?:(?P<iso>(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?![\d-])"
    rf"|(?P<d1>[12]?\d|3[01])(?:st|nd|rd|th)?\ (?:of\ )?{_MONTH},?\ (?P<y1>(?:19|20)\d\d)\b"
    rf"|{_MONTH.replace('month', 'month2')}\ (?P<d2>[12]?\d|3[01])(?:st|nd|rd|th)?,?\ (?P<y2>(?:19|20)\d\d)\b)"
)
_PLAIN = r"(?:\d{1,3}(?:[,\u2009]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|(?<![\w.])\.\d+)"
_NUMBER = re.compile(
    rf"""(?P<mantissa>{_PLAIN})
    (?: [eE](?P<exponent>[-+]?\d{{1,3}})(?![\w.])
      | \s?[×x*·⋅]\s?10(?:\^[({{]?(?P<ten>[-+]?\d{{1,3}})[)}}]?|(?P<ten_raised>[⁺⁻]?[⁰¹²³⁴-⁹]{{1,3}}))
      | \^[({{]?(?P<power>[-+]?\d{{1,3}})[)}}]?(?!\w) | (?P<raised>[⁺⁻]?[⁰¹²³⁴-⁹]{{1,3}}) )?""",
    re.VERBOSE,
)
_SCALES = {
    "k": 3, "K": 3, "M": 6, "m": 6, "B": 9, "b": 9, "T": 12, "mn": 6, "bn": 9, "thousand": 3, "million": 6, "billion": 9,
    "trillion": 12, "hundred": 2, "mil": 6, "万": 4, "萬": 4, "亿": 8, "億": 8, "千": 3, "百万": 6, "千万": 7, "百": 2,
}  # fmt: skip
_SCALE = re.compile(
    r"[ \u2009-]?(?P<word>(?:hundred|thousand|million|billion|trillion|mn|bn)s?\b|[百千]?[万萬]|[亿億千百])"
    r"|(?P<letter>[kKMBTb]|m(?=[+]?\ (?:param|image|sampl|token|user|dollar)))(?![A-Za-z0-9_])|[ ](?P<apart>[MB])(?![\w'’.])"
)
_UNIT = re.compile(rf"(?P<gap>[ \u2009]?|-)(?P<unit>{UNIT})(?![A-Za-zµ°])(?!(?<=[A-Za-z])\d)")
_LOOSE = frozenset(
    {
        "p",
        "s",
        "m",
        "h",
        "g",
        "L",
        "V",
        "W",
        "J",
        "M",
        "A",
        "pt",
        "us",
        "um",
        "ug",
        "X",
        "位",
        "周",
        "天",
        "元",
        "岁",
        "米",
        "克",
    }
)
_CURRENCY = re.compile(rf"(?:{CURRENCY})\s?$")
_SYMBOLS = {
    "<": "<", ">": ">", "≤": "<=", "≥": ">=", "⩽": "<=", "⩾": ">=", "<=": "<=", ">=": ">=", "≲": "<=", "≳": ">=",
    "< or =": "<=", "> or =": ">=", "≪": "<", "≫": ">", "~": "~", "∼": "~", "≈": "~", "≃": "~", "±": "±", "+/-": "±", "=": "",
}  # fmt: skip
_SYMBOL = re.compile(r"([<>] or =|\+/-|[<>]=|[<>≤≥⩽⩾≲≳≪≫~∼≈≃±=])\s*$")
_WORDS = (
    (">=", r"at least|no (?:less|fewer) than|not less than|(?:a )?minimum of|至少|不少于|不低于"),
    ("<=", r"at most|up to|no more than|not more than|(?:a )?maximum of|as (?:many|much|high|large|long|low) as|至多|最多|不超过|高达|多达|达"),
    (">", r"(?:more|greater|higher|larger|longer|better|older) than|over|above|exceed(?:s|ing|ed)?|beyond|upwards of|in excess of|"
          r"surpass(?:es|ing|ed)?|超过|大于|高于|多于|逾"),
    ("<", r"(?:less|fewer|lower|smaller|shorter|younger) than|under|below|within|少于|低于|小于|不到|不足"),
    ("~", r"about|around|approximately|approx\.?|roughly|nearly|almost|circa|ca\.|some|close to|an estimated|大约|大概|约|接近|将近|近"),
)  # fmt: skip
_WORDED = [
    (sign, re.compile(rf"(?:^|(?<![A-Za-z]))(?:{words})\s*(?:the |an? (?:further |total of )?)?$", re.I))
    for sign, words in _WORDS
]
_COMPARED = re.compile(
    r"(?:improv|gain|boost|speed|advantage|reduc|better|faster|superior|increase|perform|averag|evaluat)\w*(?: \S+){0,4} $",
    re.I,
)
_OR_MORE = re.compile(r"\+(?![\w.])|\s(?:or|and)\s(?:more|higher|greater|above|older|over)\b|以上")
_OR_LESS = re.compile(r"\s(?:or|and)\s(?:less|fewer|lower|below|younger|under)\b|以下")
_TO = re.compile(r"\s?(?:-|–|~|∼|〜|至|到)\s?|\s(?:to|through)\s")
_FRACTION = re.compile(r"/(\d{1,4})(?![\w/.]\d|\w)")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b")
_DECADE = re.compile(r"s\b")
_TIMES = re.compile(r"x\d")
_FOLD = re.compile(r"[- ]?fold\b")
_AND = re.compile(r"\s?and\s")
_COMMA = re.compile(r"\s?[,;]\s?")
_SIGN = re.compile(rf"(?:{CURRENCY})?\s?([-+]?)")
_REFERENCE = re.compile(
    r"\b(?:Fig(?:ure|s)?|Tab(?:le)?s?|Sec(?:tion)?s?|Eqs?|Eqn|Equations?|Appendix|Theorems?|Lemma|Algorithm|Chapter|Definition|"
    r"Corollary|Proposition|Ref(?:erence)?s?)\.?\s*\(?$"
)
_PREFIXES = frozenset(
    [
        "top",
        "sub",
        "under",
        "over",
        "pre",
        "post",
        "mid",
        "non",
        "level",
        "rank",
        "order",
        "degree",
        "size",
        "length",
        "dimension",
        "age",
        "aged",
        "best",
        "first",
        "last",
        "the",
        "of",
        "is",
        "by",
        "to",
        "and",
        "or",
        "ca",
        "circa",
        "near",
        "plus",
        "minus",
        "min",
        "max",
    ]
)
_LETTER = re.compile(r"[A-Za-zµ_@\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u03ff]")
_NAME_TAIL = re.compile(r"[\w.\-/@+]*\w")
_SMALL = {word: number for number, word in enumerate(
    ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"], 2
)}  # fmt: skip
_TENS = {
    word: 10 * number for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}  # noqa: SIM905
_MULTIPLES = {"twice": 2, "thrice": 3, "double": 2, "doubles": 2, "doubled": 2, "doubling": 2, "triple": 3, "triples": 3,
              "tripled": 3, "tripling": 3, "quadruple": 4, "quadrupled": 4}  # fmt: skip
_SHARES = {"half": "0.5", "halves": "0.5", "halved": "0.5", "halving": "0.5", "one-third": "1/3", "two-thirds": "2/3", "one third": "1/3",
           "a third": "1/3", "two thirds": "2/3", "a quarter": "0.25", "one quarter": "0.25", "three quarters": "0.75",
           "three-quarters": "0.75", "one-quarter": "0.25"}  # fmt: skip
_ONES = "|".join(["one", *_SMALL])
_WORD_NUMBER = re.compile(
    rf"""(?<![\w-])(?:(?P<share>{"|".join(sorted(_SHARES, key=len, reverse=True))})(?![\w-]) | (?P<multiple>{"|".join(_MULTIPLES)})(?![\w-])
    | (?P<dozen>(?:an?\ )?dozen)(?!\w)
    | (?:(?P<tens>{"|".join(_TENS)})(?:[- ](?P<ones>{_ONES}))? | (?P<small>{"|".join(_SMALL)}) | (?P<single>an?|one)(?=[ -](?:hundred|thousand|million|billion|trillion|order)))
      (?P<scales>(?:[ -](?:hundred|thousand|million|billion|trillion))*)(?:(?=fold)|(?![A-Za-z])))""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number or a range with its unit; `text == source[start:end]`.

    `low` and `high` are equal but for ranges; scale words are worked in ("133B" is 133000000000), units are not ("5 ms"
    is 5). `unit` is one name for all spellings ("%", "pp", "×", "$", "ms", "date" with value yyyymmdd), "" for none.
    `comparator` is one of "", "<", "<=", ">", ">=", "~" (about), "±". `spelled` says that it is in words ("over", "40+")
    rather than a symbol. `weight` is 1 for figures and 0.3 for number words and ordinals, whose change matters less.
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


def same(a: Quantity, b: Quantity) -> bool:
    """Whether `a` and `b` state the same quantity: the same value (see `same_value`) with the same comparator.

    "~70 %" and "70 %" are the same. A comparator in words may stand for its near neighbour: "40+", "over 40", "at
    least 40". In symbols "<" and "≤" differ. "up to 7×" is not "7×".
    """
    if not same_value(a, b):
        return False
    left, right = a.comparator.replace("~", ""), b.comparator.replace("~", "")
    if left == right:
        return True
    return (a.spelled or b.spelled) and left[:1] == right[:1] and bool(left)


def same_value(a: Quantity, b: Quantity) -> bool:
    """Whether the numbers are the same, whatever comparator they have.

    Equal in value, sign, range and unit after conversion: 1,500 = 1500 = 1.5K, 1000 ms = 1 s, 7x = 7-fold = seven
    times, 1e-3 = 10⁻³, $5 million = 5M dollars. A percentage equals its fraction (20 % = 0.20). Nothing is rounded;
    a percentage is not percentage points; a number without a unit equals none with one.
    """
    return _in_base(a) == _in_base(b)


def rounds_to(rough: Quantity, exact: Quantity) -> bool:
    """Whether `rough`, said to be approximate ("about 20 %"), is `exact` (19.6 %) rounded to as many digits, at least two."""
    if rough.comparator != "~" or rough.low != rough.high or exact.low != exact.high:
        return False
    base, value, _ = _in_base(rough)
    exact_base, exact_value, _ = _in_base(exact)
    digits = max(2, len(rough.low.normalize().as_tuple().digits))
    if base != exact_base or not exact_value:
        return False
    step = Decimal(1).scaleb(exact_value.adjusted() - digits + 1)
    return (exact_value / step).to_integral_value() * step == value


def _in_base(quantity: Quantity) -> tuple[str, Decimal, Decimal]:
    base, factor = base_of(quantity.unit)
    if base == "%":
        base, factor = "", factor / 100
        if not 0 < abs(quantity.low * factor) < 1 and quantity.low:
            base, factor = "%", factor  # 120 % is not 1.2 of something, 100 % not 1
    return base, quantity.low * factor, quantity.high * factor


def quantities(text: str) -> list[Quantity]:
    """The quantities in `text`, in order, none within another."""
    if not _FAST.search(text):
        return []
    return _Reader(text).read()


@dataclass(frozen=True, slots=True)
class _Part:
    """One number with what belongs to it: its value, unit ("" for none), and where it ends."""

    value: Decimal
    unit: str
    end: int
    more: str = ""  # a comparator after the number ("40+")
    ordinal: bool = False


class _Reader:
    """Reads one text; `norm` is the text with typographic variants replaced one for one, links blanked out."""

    def __init__(self, text: str) -> None:
        self.text = text
        norm = _POINT.sub(".", text.translate(_SAME_LENGTH))
        self.norm = _LINK.sub(lambda match: " " * len(match.group()), norm)
        self.found: list[Quantity] = []

    def read(self) -> list[Quantity]:
        taken = self._dates()
        at = 0
        while match := _NUMBER.search(self.norm, at):
            within = next((end for start, end in taken if start <= match.start() < end), None)
            at = within or self._number(match)
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
        weight: float = 1.0,
        spelled: bool = False,
    ) -> int:
        self.found.append(Quantity(low, high, unit, sign, start, end, self.text[start:end], weight, spelled))
        return end

    def _dates(self) -> list[tuple[int, int]]:
        taken = []
        for match in _DATE.finditer(self.norm):
            if match["iso"]:
                value = match["iso"].replace("-", "")
            else:
                month = _MONTHS[(match["month"] or match["month2"])[:3].lower()]
                value = f"{match['y1'] or match['y2']}{month:02}{int(match['d1'] or match['d2']):02}"
            self._add(Decimal(value), Decimal(value), "date", "", *match.span())
            taken.append(match.span())
        return taken

    def _number(self, match: re.Match[str]) -> int:
        """Read the number at `match`, or pass over the name or reference it belongs to; where to go on."""
        norm, start = self.norm, match.start()
        before = norm[max(0, start - 60) : start]
        if self._in_name(before) or self._is_reference(before, match):
            return _tail(norm, match.end())
        currency = _CURRENCY.search(before)
        begin = currency.start() - len(before) + start if currency else start
        lead = norm[max(0, begin - 60) : begin]
        negative, positive = False, False
        if lead[-1:] in ("-", "–", "+") and not lead.endswith("+/-"):
            negative, positive = lead[-1] != "+", lead[-1] == "+"
            if negative and re.search(r"[\w%)°]\s?$", lead[:-1]) and not re.search(r"\s$", lead[:-1]):
                negative = False  # "top-5", "10%-25%"
            if negative or positive:
                begin, lead = begin - 1, lead[:-1]
        times = re.search(r"(?:^|[\s(:,~∼≈])[×x]\s?$", lead)
        part = self._part(match, CURRENCIES.get(currency.group().strip(), "") if currency else "")
        if part is None:
            return _tail(norm, match.end())
        if times and not part.unit and not re.search(r"\d\s?[×x]\s?$", lead):
            begin, lead = begin - len(times.group().lstrip(" (:,~∼≈\n")), lead[: times.start() + 1]
            part = _Part(part.value, "×", part.end, part.more)
        sign, spelled, begin = self._comparator(lead, begin)
        low = high = -part.value if negative else part.value
        unit, end, more = part.unit, part.end, part.more
        if other := self._range(match, part, lead, negative):
            first, second, split = other
            if split:  # "from 10 to 25 %": two quantities that share a unit
                self._add(low, low, unit or second.unit, sign, begin, end, spelled=spelled)
                return self._add(
                    second.value, second.value, second.unit, second.more, first, second.end, spelled=bool(second.more)
                )
            high, unit, end, more = second.value, second.unit or unit, second.end, second.more
            if not part.unit and low < 1000 < high and low * 1000 < high:  # "1-3B", "5–10K"
                scale = Decimal(10) ** (3 * ((high.adjusted()) // 3))
                low = low * scale if low * scale <= high else low
        if more:
            sign, spelled = more, True
        return self._add(low, high, unit, sign, begin, end, 0.3 if part.ordinal else 1.0, spelled)

    def _in_name(self, before: str) -> bool:
        """Whether the number goes on a word: "GPT-4", "p53", "v1.5", "1.2.3", not "top-5" or "提升20"."""
        if not before:
            return False
        last = before[-1]
        if _LETTER.match(last):
            return not re.search(r"(?:^|[\s(:,~∼≈]|\d)x$", before)
        if last == "." and len(before) > 1 and (before[-2].isdigit() or _LETTER.match(before[-2])):
            return True
        if last in "-–/" and len(before) > 1 and (_LETTER.match(before[-2]) or before[-2].isdigit()):
            word = re.search(r"[\w.-]*$", before[:-1])
            name = word.group() if word else ""
            if last == "/":
                return re.search(r"[A-Z]", name) is not None  # "ViT-B/16"
            if name[-1:].isdigit():
                return any(_LETTER.match(char) for char in name)
            return name.lower() not in _PREFIXES
        return last in "⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉_#@" and last != "#"

    def _is_reference(self, before: str, match: re.Match[str]) -> bool:
        """Whether it numbers something: "Figure 3", "[12]", "(1) first", "2. second" at the start of a line."""
        if _REFERENCE.search(before):
            return True
        after = self.norm[match.end() : match.end() + 2]
        short = match.group().isdigit() and len(match.group()) <= 2
        if before.endswith("[") and after[:1] == "]" and match.group().isdigit() and len(match.group()) <= 3:
            return True
        if short and after[:1] == ")" and re.search(r"(?:^|[\s:;,.])\($|(?:^|\n|[:;,]\s|\s(?:and|or)\s)$", before):
            return after[1:2] in (" ", "\n")
        return short and after in (". ", ".\u2009") and re.search(r"(?:^|\n)[ \t]*$", before) is not None

    def _part(self, match: re.Match[str], currency: str) -> _Part | None:
        """The number at `match` with scale and unit; None where letters that are no unit make it a name ("3D")."""
        norm, end = self.norm, match.end()
        value = _value(match)
        if norm[end : end + 1] == "." and norm[end + 1 : end + 2].isdigit():
            return None  # 1.2.3
        if fraction := _FRACTION.match(norm, end):
            under = int(fraction[1])
            if value == value.to_integral_value() and 0 < value < under:
                return _Part(value / under, "", fraction.end())
        if ordinal := _ORDINAL.match(norm, end):
            return _Part(value, "th", ordinal.end(), ordinal=True)
        if re.fullmatch(r"(?:1[89]|20)\d0", match.group()) and _DECADE.match(norm, end):
            return _Part(value, "", end + 1)
        unit, more = "", ""
        found = self._unit(end)
        scale = _SCALE.match(norm, end)
        if scale and not (found and found[1] > scale.end() and scale["letter"]):
            word = (scale["word"] or scale["letter"] or scale["apart"]).removesuffix("s")
            value, end = value.scaleb(_SCALES[word]), scale.end()
            if more_match := _OR_MORE.match(norm, end):
                more, end = ">=", more_match.end()
            found = self._unit(end)
        if found:
            unit, end = found
        elif end < len(norm) and _LETTER.match(norm[end]) and not _TIMES.match(norm, end):
            return None
        if not more and (match_after := _OR_MORE.match(norm, end)):
            more, end = ">=", match_after.end()
        elif not more and (match_after := _OR_LESS.match(norm, end)):
            more, end = "<=", match_after.end()
        return _Part(value, currency or unit, end, more)

    def _unit(self, at: int) -> tuple[str, int] | None:
        match = _UNIT.match(self.norm, at)
        if match is None:
            return None
        name, gap = match["unit"], match["gap"]
        after = self.norm[match.end() : match.end() + 12]
        if name in ("x", "X", "×"):
            if (
                re.match(r"\s?\d", after)
                or (name != "×" and gap and not re.match(r" [a-z]", after))
                or after[:1].isupper()
            ):
                return None
        elif (
            (gap == "-" and not (name.isalpha() and len(name) > 2))
            or (gap and name == "p")
            or (gap and name in _LOOSE and not re.match(r"[\s.,;:)\]/]|$", after))
        ):
            return None
        if name == "times" and re.match(r" (?:series|step|stamp)", after):
            return None
        return UNITS[name].name, match.end()

    def _comparator(self, lead: str, begin: int) -> tuple[str, bool, int]:
        """The comparator that `lead` ends with, whether it is in words, and where it begins."""
        if symbol := _SYMBOL.search(lead):
            sign = _SYMBOLS[symbol[1]]
            return sign, False, begin - len(symbol.group()) if sign else begin
        for sign, words in _WORDED:
            if match := words.search(lead):
                if match.group().lower().startswith(("over", "above")) and _COMPARED.search(lead[: match.start()]):
                    continue
                return sign, sign != "~", begin - len(lead) + match.start()
        return "", False, begin

    def _range(self, match: re.Match[str], part: _Part, lead: str, negative: bool) -> tuple[int, _Part, bool] | None:
        """Start and content of the second number of a range, and whether it is a change "from … to …" instead."""
        norm = self.norm
        if part.more or part.ordinal:
            return None
        between = re.search(r"\bbetween\s*$", lead)
        ci = re.search(r"\bC\.?I\.?[:,=]?\s*[(\[]?$", lead)
        joint = _AND.match(norm, part.end) if between else None
        joint = joint or (_COMMA.match(norm, part.end) if ci else None) or _TO.match(norm, part.end)
        if joint is None:
            return None
        second = _SIGN.match(norm, joint.end())
        number = _NUMBER.match(norm, second.end()) if second else None
        if number is None or second is None:
            return None
        other = self._part(number, part.unit if part.unit in CURRENCIES.values() else "")
        if other is None or other.ordinal:
            return None
        value = -other.value if second[1] == "-" else other.value
        low = -part.value if negative else part.value
        dash = joint.group().strip() in ("-", "–")
        if re.fullmatch(r"(?:19|20)\d\d", match.group()) and len(number.group()) == 2 and dash and value > low % 100:
            value += low - low % 100
        units = {unit for unit in (part.unit, other.unit) if unit}
        other = _Part(value, other.unit or part.unit, other.end, other.more)
        if dash and (low >= value or len(units) > 1 or joint.group().count(" ") == 1 or number.group()[:2] == "00"):
            return None
        if joint.group().strip() == "to":
            ranging = re.search(
                r"\b(?:rang\w*|var(?:y|ies|ied|ying)|spann?\w*|scal\w*|between)\s+from\s*$|\brange of\s*$", lead
            )
            changes = (
                re.search(r"\b(?:from)\s+(?:about |around |roughly |nearly |only |just |~|≈)?$", lead) and not ranging
            )
            if changes or low >= value or len(units) > 1:
                return second.start(), other, True
        return second.start(), other, False

    def _number_words(self) -> None:
        """Numbers in words, where no figure was read already; low weight but with a scale ("two million")."""
        taken = [(quantity.start, quantity.end) for quantity in self.found]
        for match in _WORD_NUMBER.finditer(self.norm):
            if any(start < match.end() and match.start() < end for start, end in taken):
                continue
            value, unit, end, weight = _word_value(match), "", match.end(), 0.3
            if match["multiple"]:
                unit = "×"
            elif not match["share"] and (found := self._unit(end)):
                unit, end = found
            elif fold := _FOLD.match(self.norm, end):
                unit, end = "×", fold.end()
            if match["single"] and not (match["scales"] or unit == "order of magnitude"):
                continue
            if match["scales"] or unit:
                weight = 1.0
            sign, spelled, begin = self._comparator(
                self.norm[max(0, match.start() - 60) : match.start()], match.start()
            )
            if more := _OR_MORE.match(self.norm, end):
                sign, spelled, end = ">=", True, more.end()
            self._add(value, value, unit, sign, begin, end, weight, spelled)


def _tail(norm: str, at: int) -> int:
    """Where the name that holds a number ends: all of "4-turbo", "10/100", but not "5–10" of the next words."""
    match = _NAME_TAIL.match(norm, at)
    return match.end() if match else at


def _value(match: re.Match[str]) -> Decimal:
    value = Decimal(re.sub("[,\u2009]", "", match["mantissa"]))
    ten = match["exponent"] or match["ten"] or (match["ten_raised"] or "").translate(_RAISED)
    if ten:
        return value.scaleb(int(ten))
    if power := match["power"] or (match["raised"] or "").translate(_RAISED):
        exponent = int(power)
        return value if not value or abs(exponent) * max(1, value.adjusted()) > 5000 else value**exponent
    return value


def _word_value(match: re.Match[str]) -> Decimal:
    if match["share"]:
        over, _, under = _SHARES[match["share"].lower()].partition("/")
        return Decimal(over) / Decimal(under or 1)
    if match["multiple"]:
        return Decimal(_MULTIPLES[match["multiple"].lower()])
    if match["dozen"]:
        return Decimal(12)
    value = Decimal(1)
    if match["tens"]:
        ones = (match["ones"] or "").lower()
        value = Decimal(_TENS[match["tens"].lower()] + (1 if ones == "one" else _SMALL.get(ones, 0)))
    elif match["small"]:
        value = Decimal(_SMALL[match["small"].lower()])
    for scale in re.findall("[a-z]+", match["scales"].lower()):
        value = value.scaleb(_SCALES[scale])
    return value
