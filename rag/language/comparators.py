"""Comparators before and after a number: "<", "at least", "up to", "about", "40+", "or more", 超过."""

from __future__ import annotations

import re

_SYMBOLS = {
    **{"<": "<", "≪": "<", ">": ">", "≫": ">", "≤": "<=", "⩽": "<=", "<=": "<=", "< or =": "<=", "≲": "<="},
    **{"≥": ">=", "⩾": ">=", ">=": ">=", "> or =": ">=", "≳": ">=", "~": "~", "∼": "~", "≈": "~", "≃": "~"},
    **{"±": "±", "+/-": "±", "=": ""},
}
_SYMBOL = re.compile(r"([<>] or =|\+/-|[<>]=|[<>≤≥⩽⩾≲≳≪≫~∼≈≃±=])\s*$")
_WORDS = (
    (">=", "at least", "no less than", "no fewer than", "not less than", "minimum of", "至少", "不少于", "不低于"),
    ("<=", "at most", "up to", "no more than", "not more than", "maximum of", "至多", "最多", "不超过", "高达", "多达"),
    ("<=", "as many as", "as much as", "as high as", "as large as", "as long as", "as low as"),
    (">", "more than", "greater than", "higher than", "larger than", "longer than", "better than", "older than"),
    (">", "over", "above", "exceed", "exceeds", "exceeding", "exceeded", "beyond", "upwards of", "in excess of"),
    (">", "surpass", "surpasses", "surpassing", "surpassed", "超过", "大于", "高于", "多于", "逾"),
    ("<", "less than", "fewer than", "lower than", "smaller than", "shorter than", "younger than", "under", "below"),
    ("<", "within", "少于", "低于", "小于", "不到", "不足"),
    ("~", "about", "around", "approximately", "approx.", "approx", "roughly", "nearly", "almost", "circa", "ca."),
    ("~", "some", "close to", "an estimated", "大约", "大概", "约", "接近", "将近", "近"),
)
_SIGNS = {word: sign for sign, *words in _WORDS for word in words}
_WORDED = re.compile(
    rf"(?:^|(?<![A-Za-z]))(?:a )?({'|'.join(re.escape(word) for word in sorted(_SIGNS, key=len, reverse=True))})"
    r"\s*(?:the |an? (?:further |total of )?)?$",
    re.IGNORECASE,
)
# "an improvement over 3 baselines" compares with them
_COMPARED = re.compile(
    r"(?:improv|gain|boost|speed|advantage|reduc|better|faster|superior|increase|perform|averag|evaluat)\w*"
    r"(?: \S+){0,4} $",
    re.IGNORECASE,
)
_OR_MORE = re.compile(r"\+(?![\w.])|\s(?:or|and)\s(?:more|higher|greater|above|older|over)\b|以上")
_OR_LESS = re.compile(r"\s(?:or|and)\s(?:less|fewer|lower|below|younger|under)\b|以下")


def comparator_before(lead: str) -> tuple[str, bool, int]:
    """The comparator that `lead` ends with ("" for none), whether it is in words, and its length with blanks."""
    if symbol := _SYMBOL.search(lead):
        sign = _SYMBOLS[symbol[1]]
        return sign, False, len(symbol.group()) if sign else 0
    if match := _WORDED.search(lead):
        word = match[1].lower()
        if word not in ("over", "above") or not _COMPARED.search(lead[: match.start()]):
            sign = _SIGNS[word]
            return sign, sign != "~", len(lead) - match.start()
    return "", False, 0


def comparator_after(norm: str, at: int) -> tuple[str, int]:
    """The comparator that follows a number ending at `at` ("+", "or more"), "" for none, and where it ends."""
    if match := _OR_MORE.match(norm, at):
        return ">=", match.end()
    if match := _OR_LESS.match(norm, at):
        return "<=", match.end()
    return "", at
