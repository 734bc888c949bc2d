"""XML read element by element: nothing external is loaded, no entity is expanded, memory holds one record."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLPullParser

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from rag.errors import InputError
from rag.readers.encodings import Text, broken

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\udc80-\udcff\ud800-\udbff\ufffe\uffff]")
_FORBIDDEN_REFERENCE = re.compile(r"&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|[xX]0*(?:[0-8bcefBCEF]|1[0-9a-fA-F]));")
_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z][A-Za-z0-9]{1,30});")
_PROLOG = re.compile(r"\s*(<\?|<!--|<!DOCTYPE)")
_PROLOG_ENDS = {"<?": "?>", "<!--": "-->", "<!DOCTYPE": ">"}
_ROOT = re.compile(r"\s*<(?:[\w.-]+:)?([\w.-]+)[\s/>]")
_PIECE = 2**16
_DEEPEST = 200


@dataclass(frozen=True, slots=True)
class Broken:
    """Where reading stopped or a record holds bytes of another encoding, and why."""

    line: int
    reason: str


def root_of(head: str) -> str:
    """The name of the first element, without its namespace prefix; "" where there is none."""
    at = 0
    while prolog := _PROLOG.match(head, at):
        end = head.find(_PROLOG_ENDS[prolog[1]], prolog.end())
        if end < 0:
            return ""
        if prolog[1] == "<!DOCTYPE" and "[" in head[prolog.end() : end]:
            end = head.find("]", end)
        at = max(end, prolog.end()) + 1
        at = head.find(">", at - 1) + 1 or len(head)
    match = _ROOT.match(head, at)
    return match[1] if match else ""


def elements(text: Text, names: Collection[str]) -> Iterator[tuple[int, Element] | Broken]:
    """Each element whose local name is in `names`, with the line it starts on; Broken for what cannot be read.

    Raises InputError where the file is broken before its first such element, or is a threat.
    """
    parser = XMLPullParser(("start", "end"), _parser=DefusedXMLParser(target=TreeBuilder()))
    found, start, size, wrong = 0, 1, 0, ""
    path: list[Element] = []
    line = 1
    try:
        for line, piece in _pieces(text):
            wrong = wrong or broken(piece, text.encoding)
            size += len(piece)
            if size > text.blob.limits.document:
                raise InputError(f"{text.name}:{start}: one element of more than {size / 2**30:.1f} G characters")
            parser.feed(_sound(piece))
            for event, element in _events(parser):
                if event == "start":
                    path.append(element)
                    if len(path) > _DEEPEST:
                        raise InputError(f"{text.name}:{line}: XML elements nested more than {_DEEPEST} deep")
                    if local(element) in names:
                        start = line
                    continue
                path.pop()
                if local(element) in names:
                    found += 1
                    yield Broken(start, wrong) if wrong else (start, element)
                    wrong, size = "", 0
                if len(path) == 1:
                    path[0].clear()  # what was read is let go
        parser.close()
    except ParseError as error:
        yield from _stopped(
            text, found, line, f"the XML is broken or cut off here ({error}); nothing after it was read"
        )
    except DefusedXmlException as error:
        raise InputError(
            f"{text.name}:{line}: the XML defines entities or loads files ({type(error).__name__}), which is refused",
            hint="export the file again, or remove its <!ENTITY …> lines",
        ) from error


def _events(parser: XMLPullParser[Element]) -> Iterator[tuple[str, Element]]:
    for item in parser.read_events():
        event, element = item[0], item[-1]
        if isinstance(element, Element):
            yield str(event), element


def _stopped(text: Text, found: int, line: int, reason: str) -> Iterator[Broken]:
    if not found:
        raise InputError(f"{text.name}:{line}: {reason}", hint="export or fetch the file again")
    yield Broken(line, reason)


def _pieces(text: Text) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.lines(), 1):
        for at in range(0, len(line), _PIECE):
            yield number, line[at : at + _PIECE]


def _sound(piece: str) -> str:
    """`piece` without characters that XML forbids but exports hold, and with HTML's named entities resolved."""
    piece = _FORBIDDEN.sub("", piece)
    if "&" in piece:
        piece = _FORBIDDEN_REFERENCE.sub("", piece)
        piece = _ENTITY.sub(lambda match: html.escape(html.unescape(match.group()), quote=False), piece)
    return piece


def local(element: Element) -> str:
    """The element's name without its namespace."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def child(element: Element | None, *names: str) -> Element | None:
    """The descendant down the path of local names, the first at each step."""
    found = element
    for name in names:
        found = next((item for item in found if local(item) == name), None) if found is not None else None
    return found


def children(element: Element | None, name: str) -> list[Element]:
    """The direct children of that local name."""
    return [item for item in element if local(item) == name] if element is not None else []


def text_in(element: Element | None) -> str:
    """All text inside, nested markup gone; a power keeps its sign, 10<sup>5</sup> → 10^5."""
    if element is None:
        return ""
    parts = [element.text or ""]
    for item in element:
        inner = text_in(item) if len(item) else (item.text or "")
        power = local(item) == "sup" and parts[-1][-1:].isdigit() and inner
        parts += f"^{inner}" if power else inner, item.tail or ""
    return "".join(parts)
