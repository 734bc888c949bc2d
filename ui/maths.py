"""Where a text is mathematics, and what it looks like: LaTeX between dollars or `\\(…\\)` → a MathML tree."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from functools import lru_cache

from latex2mathml.converter import convert_to_element

LONGEST = 400  # characters of one formula; what is longer is shown as it was written

# The dollars of a formula touch what they enclose and no digit follows the last one: "$5 million to $7 million"
# and "costs $5, or $10" have none. What is enclosed holds no blank line, and no dollar.
_DOLLARS = re.compile(
    r"(?<![\\$])\$\$(?P<block>[^$]{1,400}?)\$\$(?!\$)"
    r"|(?<![\\$])\$(?P<inline>[^\s$](?:[^$]{0,398}[^\s$\\])?)\$(?![\d$])"
    r"|\\\((?P<round>.{1,400}?)\\\)"
    r"|\\\[(?P<square>.{1,400}?)\\\]",
    re.DOTALL,
)
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_SIGN = re.compile(r"[\\^_=<>+*/|{}()\[\]~≤≥≈×·±∈→∞-]")
_WORDS = re.compile(r"[A-Za-z]{3,}")
_COMMAND = re.compile(r"\\[A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Formula:
    """`text[start:end]` is the formula with its delimiters, `latex` what stands between them."""

    start: int
    end: int
    latex: str
    block: bool


def formulas(text: str) -> list[Formula]:
    """The formulas of `text`, in order. A dollar that is money is none."""
    if "$" not in text and "\\(" not in text and "\\[" not in text:
        return []
    found = []
    position = 0
    while match := _DOLLARS.search(text, position):
        kind = match.lastgroup or ""
        latex = match.group(kind)
        before = text[match.start() - 1 : match.start()]
        if kind in ("round", "square") or (_is_formula(latex) and _may_follow(before, latex)):
            found.append(Formula(match.start(), match.end(), latex.strip(), kind in ("block", "square")))
            position = match.end()
        else:  # perhaps its last dollar opens one
            position = match.start() + 1
    return found


def _may_follow(before: str, latex: str) -> bool:
    """Whether a formula can stand right after this character: H$_2$O and 10$^{-3}$, but not US$5."""
    if before.isdigit():
        return latex[:1] in "^_\\"
    return not (before.isalpha() and latex[:1].isdigit())


def _is_formula(latex: str) -> bool:
    if not latex.strip() or _BLANK_LINE.search(latex):
        return False
    bare = _COMMAND.sub(" ", latex)
    if bare[:1].isdigit() and not _SIGN.search(latex):
        return not _WORDS.search(bare) and " " not in bare.strip()
    if _SIGN.search(latex):
        # "$5 million (or more) than $" has signs too, but its words run on
        return "\\" in latex or "^" in latex or "_" in latex or len(_WORDS.findall(bare)) < 3
    return len(bare.split()) == 1  # a lone letter or name: $n$, $x'$


@lru_cache(maxsize=2048)
def mathml(latex: str, block: bool = False) -> ElementTree.Element | None:
    """The formula as a MathML tree, None where it cannot be read. The tree is not to be changed, it is shared."""
    if len(latex) > LONGEST:
        return None
    try:
        root = convert_to_element(latex, display="block" if block else "inline")
    except Exception:  # the converter raises a dozen kinds, IndexError and RecursionError among them
        return None
    for node in root.iter():
        if node.text:
            node.text = html.unescape(node.text)
    return root
