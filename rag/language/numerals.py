"""How numbers are written: figures, powers, scale words, dates, number words; and what they are worth."""

from __future__ import annotations

import re
from decimal import Decimal

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_WIDE = dict(zip(map(ord, "０１２３４５６７８９％．，＋＜＞＝～（）"), "0123456789%.,+<>=~()", strict=True))
_SAME_LENGTH: dict[int, str] = {
    **_WIDE,
    **dict.fromkeys(map(ord, "−‐‑－"), "-"),
    **dict.fromkeys(map(ord, "\u00a0\u202f\u2009\u2007"), "\u2009"),
    **{ord("μ"): "µ", ord("✕"): "×", ord("∗"): "*"},
}
_POINT = re.compile(r"(?<=\d)·(?=\d)(?!10(?:\^|[⁺⁻⁰¹²³⁴-⁹]))")  # the decimal point of some journals: 0·15
_LINK = re.compile(
    r"(?:https?://|www\.)\S+|\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}|\b10\.\d{4,9}/\S+|\barXiv:\S+|"
    r"\b[\w.-]{1,80}\.(?:com|org|io|net|edu|ai|science)/\S*",
    re.IGNORECASE,
)
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
_MONTH = r"(?P<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)(?:[a-z]{1,6})?\.?"
_DATE = re.compile(
    rf"\b(?:(?P<iso>(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?![\d-])"
    rf"|(?P<d1>[12]?\d|3[01])(?:st|nd|rd|th)?\ (?:of\ )?{_MONTH},?\ (?P<y1>(?:19|20)\d\d)\b"
    rf"|{_MONTH.replace('month', 'month2')}\ (?P<d2>[12]?\d|3[01])(?:st|nd|rd|th)?,?\ (?P<y2>(?:19|20)\d\d)\b)"
)
_FIGURES = r"(?:\d{1,3}(?:[,\u2009]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|(?<![\w.])\.\d+)"
NUMBER = re.compile(
    rf"""(?P<mantissa>{_FIGURES})
    (?: [eE](?P<exponent>[-+]?\d{{1,3}})(?![\w.])
      | \s?[×x*·⋅]\s?10(?:\^[({{]?(?P<ten>[-+]?\d{{1,3}})[)}}]?|(?P<ten_raised>[⁺⁻]?[⁰¹²³⁴-⁹]{{1,3}}))
      | \^[({{]?(?P<power>[-+]?\d{{1,3}})[)}}]?(?!\w) | (?P<raised>[⁺⁻]?[⁰¹²³⁴-⁹]{{1,3}}) )?""",
    re.VERBOSE,
)
SCALES = {
    **{"k": 3, "K": 3, "M": 6, "m": 6, "B": 9, "b": 9, "T": 12, "mn": 6, "bn": 9},
    **{"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12},
    **{"百": 2, "千": 3, "万": 4, "萬": 4, "百万": 6, "百萬": 6, "千万": 7, "千萬": 7, "亿": 8, "億": 8},
}
_BIG = "hundred|thousand|million|billion|trillion"
SCALE = re.compile(
    rf"[ \u2009-]?(?P<word>(?:{_BIG}|mn|bn)s?\b|[百千]?[万萬]|[亿億千百])"
    r"|(?P<letter>[kKMBTb]|m(?=[+]?\ (?:param|image|sampl|token|user|dollar)))(?![A-Za-z0-9_])"
    r"|[ ](?P<apart>[MB])(?![\w'’.])"
)
_SMALL = {
    word: number
    for number, word in enumerate(
        (
            *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
            *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
        ),
        start=2,
    )
}
_TENS = {
    word: 10 * number
    for number, word in enumerate(
        ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), start=2
    )
}
_MULTIPLES = {
    **dict.fromkeys(("twice", "double", "doubles", "doubled", "doubling"), 2),
    **dict.fromkeys(("thrice", "triple", "triples", "tripled", "tripling"), 3),
    **dict.fromkeys(("quadruple", "quadruples", "quadrupled"), 4),
}
_SHARES = {
    **dict.fromkeys(("half", "halves", "halved", "halving"), Decimal("0.5")),
    **dict.fromkeys(("one-third", "one third", "a third"), Decimal(1) / 3),
    **dict.fromkeys(("two-thirds", "two thirds"), Decimal(2) / 3),
    **dict.fromkeys(("one-quarter", "one quarter", "a quarter"), Decimal("0.25")),
    **dict.fromkeys(("three-quarters", "three quarters"), Decimal("0.75")),
}
WORD_NUMBER = re.compile(
    rf"""(?<![\w-])(?:
      (?P<share>{"|".join(name.replace(" ", "[ ]") for name in _SHARES)})(?![\w-])
    | (?P<multiple>{"|".join(_MULTIPLES)})(?![\w-])
    | (?P<dozen>(?:an?\ )?dozen)(?!\w)
    | (?: (?P<tens>{"|".join(_TENS)})(?:[- ](?P<ones>{"|".join(["one", *_SMALL])}))?
        | (?P<small>{"|".join(sorted(_SMALL, key=len, reverse=True))})
        | (?P<single>an?|one)(?=[ -](?:{_BIG}|order)) )
      (?P<scales>(?:[ -](?:{_BIG}))*)(?:(?=fold)|(?![A-Za-z])) )""",
    re.VERBOSE | re.IGNORECASE,
)


def normal(text: str) -> str:
    """`text` with typographic variants of figures and signs replaced one for one, and links and addresses blanked."""
    return _LINK.sub(lambda match: " " * len(match.group()), _POINT.sub(".", text.translate(_SAME_LENGTH)))


def figure_value(match: re.Match[str]) -> Decimal:
    """What a match of `NUMBER` is worth: "1,500", "1e-3", "3.7×10^5", "2^16", "10⁻³"."""
    value = Decimal(re.sub("[,\u2009]", "", match["mantissa"]))
    ten = match["exponent"] or match["ten"] or (match["ten_raised"] or "").translate(_RAISED)
    if ten:
        return value.scaleb(int(ten))
    if power := match["power"] or (match["raised"] or "").translate(_RAISED):
        exponent = int(power)
        too_big = not value or abs(exponent) * max(1, value.adjusted()) > 5000
        return value if too_big else value**exponent
    return value


def word_value(match: re.Match[str]) -> Decimal:
    """What a match of `WORD_NUMBER` is worth: "twenty-five", "two million", "half", "a dozen", "twice"."""
    if match["share"]:
        return _SHARES[match["share"].lower()]
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
        value = value.scaleb(SCALES[scale])
    return value


def dates(norm: str) -> list[tuple[int, int, int]]:
    """Full dates as start, end and yyyymmdd."""
    found = []
    for match in _DATE.finditer(norm):
        if match["iso"]:
            value = int(match["iso"].replace("-", ""))
        else:
            month = _MONTHS[(match["month"] or match["month2"])[:3].lower()]
            value = int(match["y1"] or match["y2"]) * 10000 + month * 100 + int(match["d1"] or match["d2"])
        found.append((match.start(), match.end(), value))
    return found
