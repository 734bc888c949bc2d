"""Text → safe HTML. Every string of papers, models and users is escaped here and nowhere else.

`tag` escapes every child that is not `Html` already, and only this module makes `Html` from text.
"""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from rag.markup import plain
from ui.maths import Formula, formulas, mathml

_VOID = frozenset({"br", "hr", "img", "input", "progress-bar"})
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_MATHML = frozenset(
    [
        "math",
        "mrow",
        "mi",
        "mn",
        "mo",
        "mtext",
        "mspace",
        "ms",
        "mfrac",
        "msqrt",
        "mroot",
        "mstyle",
        "mpadded",
        "mphantom",
        "mfenced",
        "menclose",
        "msub",
        "msup",
        "msubsup",
        "munder",
        "mover",
        "munderover",
        "mmultiscripts",
        "mprescripts",
        "none",
        "mtable",
        "mtr",
        "mtd",
    ]
)
_MATHML_ATTRIBUTES = frozenset(
    [
        "display",
        "displaystyle",
        "scriptlevel",
        "mathvariant",
        "stretchy",
        "fence",
        "form",
        "separator",
        "largeop",
        "movablelimits",
        "accent",
        "accentunder",
        "lspace",
        "rspace",
        "minsize",
        "maxsize",
        "symmetric",
        "linethickness",
        "columnalign",
        "rowspacing",
        "columnspacing",
        "columnlines",
        "rowlines",
        "width",
        "height",
        "depth",
        "notation",
        "open",
        "close",
        "separators",
    ]
)
_ATTRIBUTE_VALUE = re.compile(r"[\w .,%+()\[\]{}|#-]{0,60}")


class Html(str):
    """HTML that is safe as it is."""

    __slots__ = ()


class Mark(NamedTuple):
    """`text[start:end]` is to be highlighted; `name` tells marks apart ("0", "1", …)."""

    start: int
    end: int
    name: str


Child = str | Html | None | Iterable["str | Html | None"]
Attribute = str | int | float | bool | None


def escape(text: str) -> Html:
    """`text` as HTML text or attribute value; what no browser or JSON may hold becomes �."""
    return Html(html.escape(_CONTROL.sub("\ufffd", text)))


def tag(name: str, *children: Child, **attributes: Attribute) -> Html:
    """An element. Children that are not Html are escaped; attributes too: `class_`, `data_number` → `data-number`.

    An attribute that is None or False is left out, True stands alone.
    """
    opening = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        shown = key.rstrip("_").replace("_", "-")
        opening.append(shown if value is True else f'{shown}="{escape(str(value))}"')
    start = f"<{' '.join(opening)}>"
    return Html(start if name in _VOID else f"{start}{join(*children)}</{name}>")


def join(*children: Child) -> Html:
    """The children one after another, those that are not Html escaped."""
    parts: list[str] = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, Html):
            parts.append(child)
        elif isinstance(child, str):
            parts.append(escape(child))
        else:
            parts.append(join(*child))
    return Html("".join(parts))


def safe_url(url: str) -> str | None:
    """`url` if it is an http or https address of a host, else None: a link never runs a script or opens a file."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return None
    fit = parts.scheme in ("http", "https") and parts.netloc and not re.search(r"[\s<>\"]", url.strip())
    return url.strip() if fit else None


def link(url: str, *children: Child, **attributes: Attribute) -> Html:
    """A link that opens beside the app and tells the other side nothing; only its text where the URL is not safe."""
    href = safe_url(url)
    if not href:
        return join(*children)
    return tag("a", *children, href=href, target="_blank", rel="noopener noreferrer", **attributes)


@lru_cache(maxsize=4096)
def rich(text: str, marks: Sequence[Mark] = ()) -> Html:
    """A text with markup in it as HTML: formulas as MathML, the rest as readable plain text, marks highlighted.

    Offsets of marks are those of `text` itself. A mark that ends within a formula takes in all of it.
    """
    readable = plain(text)
    drawn: dict[int, tuple[Formula, ElementTree.Element]] = {}
    for formula in formulas(text):
        if (tree := mathml(formula.latex, formula.block)) is not None:
            drawn |= dict.fromkeys(range(formula.start, formula.end), (formula, tree))
    out: list[Html] = []
    run: list[str] = []
    covering: tuple[str, ...] = ()
    done: Formula | None = None

    def flush() -> None:
        if run:
            out.append(_marked(escape("".join(run)), covering))
            run.clear()

    for character, start, end in zip(readable.text, readable.starts, readable.ends, strict=False):
        piece = drawn.get(start) or drawn.get(end - 1)
        if piece and piece[0] is done:
            continue
        first, last = (piece[0].start, piece[0].end) if piece else (start, end)
        names = tuple(mark.name for mark in marks if mark.start < last and mark.end > first)
        if names != covering:
            flush()
            covering = names
        if piece:
            flush()
            out.append(_marked(_serialise(piece[1]), covering))
            done = piece[0]
        else:
            run.append(character)
    flush()
    return Html("".join(out))


def _marked(inner: Html, names: tuple[str, ...]) -> Html:
    return tag("mark", inner, data_marks=" ".join(names)) if names else inner


def _serialise(node: ElementTree.Element) -> Html:
    """A MathML tree as HTML with known elements and harmless attributes only: no link, no style, no handler."""
    children = join(node.text, (join(_serialise(child), child.tail) for child in node))
    if node.tag not in _MATHML:
        return tag("mrow", children)
    attributes = {
        key: value
        for key, value in node.attrib.items()
        if key in _MATHML_ATTRIBUTES and _ATTRIBUTE_VALUE.fullmatch(value)
    }
    return tag(node.tag, children, **attributes)
