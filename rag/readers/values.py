"""Single values as sources write them → what a `Paper` holds: years, names, keywords, links, abstracts."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from rag.names import Name, joined_name

_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d|21\d\d)(?!\d)")
_COMPACT_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])(?!\d)")
_LARGEST = 1e15  # no year, date or epoch is larger, and a number of 400 digits is no float
_INITIALS = re.compile(r"(?:[^\W\d_]\.?[\s-]?){1,4}")
_NO_ABSTRACT = re.compile(
    r"\W*(?:n/?a|nan|none|null|nil|no abstract(?: (?:is )?(?:available|provided))?|abstract (?:not|un)\s?available)\W*",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)e[+-]?\d+|[+-]?inf(?:inity)?", re.IGNORECASE)  # one with letters in it
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_NAME_KEYS = ("name", "display_name", "fullname", "full_name", "literal", "label", "term", "tag", "value", "keyword")
_GIVEN_KEYS = ("given", "first", "firstname", "first_name", "forename", "givenname")
_FAMILY_KEYS = ("family", "last", "lastname", "last_name", "surname", "familyname")


def one_line(text: str) -> str:
    """`text` with every run of white space as one space."""
    return " ".join(text.split())


def text_of(value: object) -> str:
    """A value that should be text, as text: lists joined, the parts of a structured abstract labelled."""
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "").strip()
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, int | float):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if isinstance(value, list | tuple):
        return " ".join(filter(None, map(text_of, value)))
    if isinstance(value, Mapping):
        if "value" in value:
            return text_of(value["value"])
        return " ".join(f"{key}: {part}" for key, item in value.items() if (part := text_of(item)))
    return ""


def abstract_of(value: object) -> str:
    """The abstract as the source has it, without white space around it; "" for what only says there is none, and for
    a number or other signs, in which no word is."""
    text = text_of(value)
    bare = _TAG.sub("", text).strip()
    if not any(map(str.isalpha, bare)) or _NUMBER.fullmatch(bare) or _NO_ABSTRACT.fullmatch(bare):
        return ""
    return text.strip()  # the name of a part may begin with white space, too


def year_of(value: object) -> int | None:
    """The year in a year, a date in any usual spelling, or an epoch in seconds or milliseconds."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _year_of_number(float(value)) if abs(value) < _LARGEST else None
    if isinstance(value, Mapping):
        keys = ("value", "year", "date-parts", "date", "raw")
        return next((year for key in keys if (year := year_of(value.get(key)))), None)
    if isinstance(value, list | tuple):
        return next((year for item in value if (year := year_of(item))), None)
    if not isinstance(value, str):
        return None
    if match := _YEAR.search(value) or _COMPACT_DATE.search(value):
        return int(match.group(1))
    number = value.strip()
    return _year_of_number(float(number)) if re.fullmatch(r"\d{9,14}(?:\.\d+)?", number) else None


def _year_of_number(number: float) -> int | None:
    if 1500 <= number < 2200:
        return int(number)
    if 19_000_101 <= number <= 21_991_231:  # 20240501
        return year_of(str(int(number)))
    seconds = number / 1000 if number > 1e11 else number
    if 1e8 < seconds < 7e9:
        return datetime.fromtimestamp(seconds, UTC).year
    return None


def names_of(value: object) -> tuple[str, ...]:
    """Authors, each spelled as in the source ("Last, First" stays), from a list, objects or one joined string."""
    if isinstance(value, str):
        listed = _python_list(value)
        return names_of(listed) if listed is not None else tuple(_split_names(value))
    return _unique(_name(item) for item in _items(value))


def _name(item: object) -> str:
    if isinstance(item, str):
        return one_line(item)
    if isinstance(item, list | tuple):  # arXiv's ["Last", "First", "Jr"]
        parts = [one_line(part) for part in item if isinstance(part, str) and part.strip()]
        return " ".join(parts[1:2] + parts[:1] + parts[2:])
    if not isinstance(item, Mapping):
        return ""
    lower = {str(key).lower(): entry for key, entry in item.items()}
    for key in ("author", "creator"):
        if isinstance(lower.get(key), Mapping):  # OpenAlex
            return _name(lower[key])
    given, family = (
        next((one_line(text) for key in keys if (text := text_of(lower.get(key)))), "")
        for keys in (_GIVEN_KEYS, _FAMILY_KEYS)
    )
    if family:
        dropping, particle, suffix = (
            one_line(text_of(lower.get(key))) for key in ("dropping-particle", "non-dropping-particle", "suffix")
        )
        if not (dropping or particle or suffix) and " " not in family:
            return f"{given} {family}".strip()
        return joined_name(Name(family, given, dropping, particle, suffix))
    return next((one_line(text) for key in _NAME_KEYS if (text := text_of(lower.get(key)))), "")


def _split_names(text: str) -> Iterable[str]:
    for separator in (";", "|", "\n"):
        if separator in text.strip():
            return _unique(map(one_line, text.split(separator)))
    groups = re.split(r"\s+(?:and|&|und|et)\s+", one_line(text).replace(", and ", " and "))
    if len(groups) > 1 and all(group.count(",") == 1 for group in groups):  # BibTeX: Last, First and Last, First
        return _unique(groups)
    return _unique(name for group in groups for name in _split_commas(group))


def _split_commas(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) == 2 and " " not in parts[0] and (" " not in parts[1] or _INITIALS.fullmatch(parts[1])):
        return [", ".join(parts)]  # "Smith, John": one person
    if len(parts) > 2 and len(parts) % 2 == 0 and all(map(_INITIALS.fullmatch, parts[1::2])):
        return [f"{last}, {first}" for last, first in zip(parts[0::2], parts[1::2], strict=True)]
    return parts


def keywords_of(value: object) -> tuple[str, ...]:
    """Keywords from a list (of strings or named objects) or a string joined by ; | , or line breaks."""
    if isinstance(value, str):
        listed = _python_list(value)
        if listed is not None:
            return keywords_of(listed)
        separator = next((mark for mark in (";", "|", "\n", ",") if mark in value.strip()), ";")
        return _unique(map(one_line, value.split(separator)))
    return _unique(_name(item) for item in _items(value))


def url_of(value: object) -> str:
    """The first web address in `value`, with its scheme; "" for anything else, scripts above all."""
    if isinstance(value, list | tuple):
        return next((url for item in value if (url := url_of(item))), "")
    text = text_of(value)
    if match := re.match(r"https?://[^\s<>\"]+", text, re.IGNORECASE):
        return match.group().rstrip(";,")
    if re.match(r"[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/[^\s<>\"]+$", text, re.IGNORECASE):
        return f"https://{text}"
    return ""


def _items(value: object) -> list[object]:
    if isinstance(value, Mapping):
        return [value["value"]] if "value" in value and isinstance(value["value"], str) else [value]
    return list(value) if isinstance(value, list | tuple) else []


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))


def _python_list(text: str) -> list[object] | None:
    """What a table made with pandas holds: a list written out as text."""
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")) or len(text) > 2**20:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return None
    return value if isinstance(value, list) else None
