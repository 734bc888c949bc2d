"""LaTeX formulas and symbols as unicode text ("$10^{-3}$" → "10⁻³", "O(\\sqrt{T})" → "O(√(T))")."""

from __future__ import annotations

import logging
import re
from functools import cache, lru_cache
from typing import Any

from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db
from pylatexenc.latexwalker import LatexWalker
from pylatexenc.latexwalker import get_default_latex_context_db as walker_context_db
from pylatexenc.macrospec import std_macro

_RAISED = str.maketrans("0123456789+-−=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾")
_LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_SIGNED = re.compile(r"[-+−]?\d+$")
_SCRIPT = re.compile(r"([\^_])\s*(?:\{((?:[^{}\\]|\\.|\{[^{}]*\})*)\}|(\d))")
_ALPHABET = re.compile(
    r"\\(?:math(?:cal|scr|frak|bf|sf|tt|it|normal)|boldsymbol|bm|pmb|mathord|operatorname\*?)(?![A-Za-z])"
)
_TYPEFACE = re.compile(r"\\text(?:tt|normal|rm|sf|sc|up|md|sl)(?![A-Za-z])")
_FUNCTION = re.compile(
    r"\\(arg|cos|det|dim|exp|gcd|inf|ker|lim|liminf|limsup|ln|log|max|min|Pr|sin|sup|tan|tanh)\s+(?=[\w\\])"
)
_SIZE = re.compile(r"\\(?:left|right|middle|[bB]igg?[lrm]?)(?![A-Za-z])\s*\.?")
_DOUBLED = re.compile(r"\\\\(?=[A-Za-z%{}&_#|])")  # a backslash escaped once too often by some exporter
_SIMPLE = re.compile(r"\d+(?:\.\d+)?|[^\W\d](?:_\w+|[₀-₉]+)?|\([^()]*\)")
_DINGBATS = {"51": "✓", "52": "✔", "55": "✗", "56": "✘"}


def raised(text: str) -> str:
    """`text` in superscript characters, or "" where some character has none."""
    return _shifted(text, _RAISED)


def lowered(text: str) -> str:
    """`text` in subscript characters, or "" where some character has none."""
    return _shifted(text, _LOWERED)


def _shifted(text: str, table: dict[int, int]) -> str:
    return text.translate(table) if text and all(ord(char) in table or char in " ," for char in text) else ""


@lru_cache(maxsize=8192)
def maths_text(latex: str) -> str:
    """A formula (without its dollars) as one line of readable text; the formula itself where it cannot be read."""
    source = _DOUBLED.sub(r"\\", latex)
    source = re.sub(r"\\([<>*])", r"\1", source)
    source = re.sub(r"(?<!\\)((?:\\\\)*)%", r"\1\\%", source)  # no comment starts in an abstract
    source = re.sub(r"\^\s*\{?\s*\\circ\s*\}?|\\degree(?![A-Za-z])", "°", source)
    source = re.sub(r"\\[td]frac(?![A-Za-z])", r"\\frac", source)
    source = _TYPEFACE.sub(r"\\textit", _SIZE.sub("", _ALPHABET.sub(r"\\mathrm", source)))
    source = _FUNCTION.sub(r"\\\1\\ ", source)
    source = _SCRIPT.sub(_script, source)
    text = " ".join(_converted(source, latex).split())
    return text or ("" if not latex.strip() else " " if not re.search(r"\w", latex) else latex)


def _script(match: re.Match[str]) -> str:
    sign, body = match[1], (match[2] if match[2] is not None else match[3]).strip()
    if _SIGNED.match(body):
        return raised(body) if sign == "^" else lowered(body)
    body = _SCRIPT.sub(_script, body)
    plain_body = re.fullmatch(r"\w*|\\[A-Za-z]+|\\(?:text|mathrm)\s*\{[\w ]*\}", body)
    return f"{sign}{{{body}}}" if plain_body else f"{sign}({body})"


def _fraction(node: Any, l2tobj: Any) -> str:
    parts = [l2tobj.nodelist_to_text([part]).strip() for part in node.nodeargd.argnlist[-2:]]
    over, under = (part if _SIMPLE.fullmatch(part) else f"({part})" for part in parts)
    return f"{over}/{under}"


def _unknown(node: Any, l2tobj: Any) -> str:
    """Its arguments, or its name where it has none: "\\method" is more often a name than a command."""
    arguments = [part for part in (node.nodeargd.argnlist if node.nodeargd else []) if part is not None]
    return str(l2tobj.nodelist_to_text(arguments)) if arguments else str(node.macroname)


def _dingbat(node: Any, l2tobj: Any) -> str:
    code = l2tobj.nodelist_to_text([node.nodeargd.argnlist[-1]]).strip()
    number = int(code) if code.isascii() and code.isdigit() else 0
    if 172 <= number <= 211:
        return chr((0x2460, 0x2776, 0x2780, 0x278A)[(number - 172) // 10] + (number - 172) % 10)
    return _DINGBATS.get(code, "")


@cache
def _contexts() -> tuple[Any, LatexNodes2Text]:
    """What the parser and the writer know about macros; made at the first formula, as it takes a while."""
    logging.getLogger("pylatexenc").setLevel(logging.ERROR)
    words = get_default_latex_context_db()
    words.add_context_category(
        "abstracts",
        prepend=True,
        macros=[
            MacroTextSpec("frac", simplify_repl=_fraction),
            MacroTextSpec("binom", simplify_repl="C(%s, %s)"),
            MacroTextSpec("ding", simplify_repl=_dingbat),
        ],
    )
    words.set_unknown_macro_spec(MacroTextSpec("", simplify_repl=_unknown))
    macros = walker_context_db()
    macros.add_context_category("abstracts", prepend=True, macros=[std_macro("ding", "{"), std_macro("binom", "{{")])
    return macros, LatexNodes2Text(latex_context=words, math_mode="text", keep_comments=True)


def _converted(source: str, fallback: str) -> str:
    macros, writer = _contexts()
    try:
        nodes, _, _ = LatexWalker(source, latex_context=macros, tolerant_parsing=True).get_latex_nodes()
        return str(writer.nodelist_to_text(nodes))
    except Exception:  # whatever the parser trips over in text nobody promised to be LaTeX: shown as it is
        return fallback


@lru_cache(maxsize=2048)
def symbol(name: str) -> str | None:
    """What the macro `\\name` prints without arguments ("alpha" → "α"), or None where it is not known."""
    spec = _contexts()[1].latex_context.get_macro_spec(name)
    if spec is None or not spec.macroname:
        return None
    text = _converted(f"\\{name}", "").strip()
    return text or None
