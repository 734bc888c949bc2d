"""LaTeX and HTML in bibliographic fields: accents, escapes and braces decoded, mathematics left readable."""

from __future__ import annotations

import html
import logging
import re
from collections.abc import Callable
from functools import cache, lru_cache

from pylatexenc.latex2text import LatexNodes2Text, get_default_latex_context_db

_SYMBOL_ACCENT = r"\\[`'^\"~=.]\s*(?:\{\s*\\?[A-Za-z]\s*\}|\\[ij](?![A-Za-z])|[A-Za-z])"
_LETTER_ACCENT = r"\\[uvHcdbkrt](?:\s*\{\s*\\?[A-Za-z]{1,2}\s*\}|\s+\\[ij](?![A-Za-z])|\s+[A-Za-z](?![A-Za-z]))"
_LETTER = r"\\(?:ss|ae|AE|oe|OE|aa|AA|o|O|l|L|i|j|th|TH|dh|DH|dj|DJ|ng|NG)(?![A-Za-z])(?:\{\}|\s+(?=[A-Za-z]))?"
_NAMED = r"\\text[a-z]+(?:\{\}|(?![A-Za-z{]))|\\l?dots(?:\{\}|(?![A-Za-z{]))"
_ACCENT = re.compile("|".join((_SYMBOL_ACCENT, _LETTER_ACCENT, _LETTER, _NAMED)))
_ESCAPE = re.compile(r"\\([%&_#$])")
MATH = re.compile(r"(?<![\\$])\$(?=[^\s$])((?:[^$\\]|\\.){1,300}?)(?<!\s)\$(?![\d$])|\\\((.{1,300}?)\\\)", re.DOTALL)
_LITERAL = re.compile(
    r"\\\\|\\text(backslash|braceleft|braceright|asciitilde|asciicircum|dollar)(?:\{\}|(?![A-Za-z{]))|\\([{}%&_#$])"
)
_LITERAL_NAMES = {
    "backslash": "\\", "braceleft": "{", "braceright": "}", "asciitilde": "~", "asciicircum": "^", "dollar": "$",
}  # fmt: skip
# a character that was escaped, while the markup around it is taken off: Unicode's code points for internal use
_HELD = {sign: chr(0xFDD0 + at) for at, sign in enumerate("\\{}~^$%&_#")}
_RELEASED = str.maketrans({held: sign for sign, held in _HELD.items()})
_MACRO = re.compile(r"\\([A-Za-z]+)\*?")
_MACRO_TAIL = re.compile(r"\\[A-Za-z]+\*?(?:\[[^\[\]]*\])?$")
_LONGEST, _LONGEST_TITLE = 200_000, 20_000  # characters; more is no title or abstract, and is left as it stands
_BRACE = re.compile(r"(?<!\\)(?:\\\\)*([{}])")
_TAG = re.compile(
    r"</?(?:i|b|u|em|strong|sub|sup|inf|scp|sc|tt|span|br|p|font|title|italic|bold|mml:[a-z]+|jats:[a-z]+)"
    r"(?:\s+[\w:-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'))*\s*/?>",
    re.IGNORECASE,
)
_POWER = re.compile(r"(\d)<sup>", re.IGNORECASE)  # 10<sup>5</sup> is not 105
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,30});", re.IGNORECASE)


def decode(text: str, *, braces: bool = True) -> str:
    """`text` with LaTeX's accents, letters and escapes as characters; mathematics and other commands stay.

    With `braces`, groups that only protect capitals go too, as BibTeX means them.
    """
    if len(text) > _LONGEST or ("\\" not in text and not (braces and "{" in text)):
        return text
    return _outside_math(text, lambda part: _decode_part(part, braces), lambda formula: formula)


def readable(text: str, *, braces: bool = False) -> str:
    """A title as people write it: markup, entities, accents and simple mathematics as plain characters, on one line."""
    if "&" in text:
        text = _ENTITY.sub(lambda match: html.unescape(match.group()), text)
        text = _ENTITY.sub(lambda match: html.unescape(match.group()), text)  # exports often escape twice
    if "<" in text:
        text = _POWER.sub(r"\1^", text)
        text = _TAG.sub("", text)
    if len(text) <= _LONGEST_TITLE and ("\\" in text or "$" in text or (braces and "{" in text)):

        def plain_part(part: str) -> str:
            part = _decode_part(part, braces)
            return _command_text(part) if _MACRO.search(part) else part

        text = _outside_math(text, plain_part, lambda formula: _command_text(formula, math=True))
    return " ".join(text.split())


def _outside_math(text: str, prose: Callable[[str], str], formula: Callable[[str], str]) -> str:
    parts: list[str] = []
    at = 0
    for match in MATH.finditer(text):
        parts += prose(text[at : match.start()]), formula(match.group())
        at = match.end()
    return "".join((*parts, prose(text[at:])))


def _decode_part(text: str, braces: bool) -> str:
    if braces:
        text = _LITERAL.sub(_held, text)
        text = _without_groups(_ACCENT.sub(lambda match: _snippet(match.group()), text))
        return re.sub(r"(?<=[^\W\d_.])~(?=\w)|(?<=\.)~(?=[A-Z])", " ", text).translate(_RELEASED)
    text = _ACCENT.sub(lambda match: _snippet(match.group()), text)
    text = re.sub(r"\{([^\W\d_])\}", r"\1", text) if "{" in text else text  # what was {\'e}
    return _ESCAPE.sub(r"\1", text)


def _held(match: re.Match[str]) -> str:
    name, sign = match.groups()
    return _HELD[_LITERAL_NAMES[name] if name else sign] if name or sign else match.group()


@cache
def _converter() -> LatexNodes2Text:
    logging.getLogger("pylatexenc").setLevel(logging.ERROR)  # it warns of commands without their arguments
    return LatexNodes2Text(math_mode="text", keep_comments=True)


@lru_cache(maxsize=4096)
def _snippet(latex: str) -> str:
    return str(_converter().latex_to_text(latex)).strip() or latex


def _command_text(latex: str, *, math: bool = False) -> str:
    """`latex` through pylatexenc; as it stands where that fails or loses everything."""
    guarded = latex if math else re.sub(r"(?<!\\)([%&#$])", r"\\\1", latex)
    if (
        latex.count("{") != latex.count("}")
        or latex.count("{") > 200
        or not all(map(is_command, _MACRO.findall(latex)))
    ):
        return latex
    try:
        found: str = _converter().latex_to_text(guarded)
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, RecursionError):
        return latex
    return found if found.strip() and "%s" not in found else latex  # %s: an argument is missing


@lru_cache(maxsize=4096)
def is_command(name: str) -> bool:
    """Whether LaTeX (or a usual package) has a command of that name."""
    return get_default_latex_context_db().get_macro_spec(name) is not None


def _without_groups(text: str) -> str:
    """`text` without {…} that is no command's argument; what is not balanced stays."""
    out: list[str] = []
    open_groups: list[tuple[int, bool]] = []  # the place of its brace in `out`, and whether it is kept
    argument_end = -1  # where the last group of a command closed: right after it another may follow
    at = 0
    for match in _BRACE.finditer(text):
        start = match.start(1)
        out.append(text[at:start])
        at = match.end()
        if match[1] == "{":
            tail = text[max(0, start - 60) : start].rstrip()
            kept = argument_end == start or tail[-1:] in ("_", "^") or bool(_MACRO_TAIL.search(tail))
            open_groups.append((len(out), kept))
            out.append("{")
        elif open_groups:
            place, kept = open_groups.pop()
            argument_end = at if kept else -1
            out.append("}" if kept else "")
            if not kept:
                out[place] = ""
        else:
            out.append("}")
    return "".join((*out, text[at:]))
