"""Markdown and HTML: emphasis, code, links, headings; entities and tags."""

from __future__ import annotations

import html
import re

from rag.language.maths import lowered, raised
from rag.language.writer import Writer

_ENTITY = re.compile(r"&(?:amp;)*(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_INLINE = (
    "i|b|u|a|q|em|strong|sub|sup|span|small|big|tt|code|font|mark|ins|del|cite|abbr|sc|it|bold|italic|inf|"
    "underline|xref|ext-link|named-content|styled-content|inline-formula|monospace|(?:mml|jats):[a-z-]+|"
    "math|mi|mn|mo|mrow|msub|msup|mfrac|msqrt|mover|munder|msubsup|mtext|semantics|annotation|tex-math"
)
_BLOCK = (
    "p|br|div|li|ul|ol|tr|td|th|table|tbody|thead|h[1-6]|hr|sec|title|blockquote|dl|dt|dd|section|abstract|"
    "jats:(?:p|title|sec|list|list-item)"
)
_TAG = re.compile(
    rf"""(?:<|(?P<escaped>&lt;))(?P<slash>/?)(?:(?P<block>{_BLOCK})|(?P<name>{_INLINE}))
    (?:\s+[\w:-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|&quot;[^<>]{{0,200}}?&quot;|[^\s"'<>&/]+))*\s*/?(?(escaped)&gt;|>)""",
    re.VERBOSE | re.IGNORECASE,
)
_COMMENT = re.compile(r"<!--.{0,2000}?-->", re.DOTALL)
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^\s<>]+)>")
_LINK = re.compile(
    r"""!?\[(?P<text>(?:[^\[\]\n]|\[[^\[\]\n]{0,100}\]){0,300})\]\(\s*<?
    (?:https?://|mailto:|www\.|\.{0,2}/|\#|[\w/-]+(?:\.[\w-]+)*\.(?:html?|md|pdf|png|jpe?g|gif|svg|com|org|io|net|edu|dev|ai)\b)
    (?:[^\s()<>]|\([^\s()<>]*\))*>?(?:\s+"[^"\n]*")?\s*\)""",
    re.VERBOSE,
)
_MIXED = re.compile(r"\*{3}([^*\n]{1,80})\*\*((?:[^*\n]|\*\*[^*\n]{1,80}\*\*){1,300}?)(?<!\s)\*(?!\*)")
_CODE = re.compile(r"(?<!`)(`{1,2})([^`\n]{1,200})\1(?!`)")
_FENCE = re.compile(r"```[\w+-]*[ \t]*\n(.*?)```", re.DOTALL)
_QUOTE = re.compile(r"(?<![\w`])`(?=\w)([^`'\n]{1,160})'(?![\w'])")


class Markdown(Writer):
    """Handlers: write what stands at `at` and return where it ends, or None where it is no markup."""

    def _tick(self, at: int, end: int, depth: int) -> int | None:
        if match := _FENCE.match(self.markup, at, end):
            self.groups.append((at, match.end()))
            self._copy(*match.span(1))
            return match.end()
        code = _CODE.match(self.markup, at, end)
        if code and not (code[1] == "``" and "''" in code[2]) and not code[2].isspace():
            self.groups.append(code.span())
            self._copy(*code.span(2))
            return code.end()
        if self.markup.startswith("``", at) and not self.markup.startswith("```", at):
            return self._put("“", at, at + 2) if self.markup[at + 2 : at + 3].strip() else None
        if match := _QUOTE.match(self.markup, at, end):
            self.groups.append(match.span())
            self._put("‘", at, at + 1)
            self.scan(*match.span(1), depth + 1)
            return self._put("’", match.end() - 1, match.end())
        return None

    def _star(self, at: int, end: int, depth: int) -> int | None:
        return self._emphasis("*", at, end, depth)

    def _under(self, at: int, end: int, depth: int) -> int | None:
        return self._emphasis("_", at, end, depth)

    def _strike(self, at: int, end: int, depth: int) -> int | None:
        return self._emphasis("~", at, end, depth)

    def _emphasis(self, sign: str, at: int, end: int, depth: int) -> int | None:
        """ "**strong**", "*em*", "_em_", "~~gone~~", and single letters: "**R**einforcement"."""
        text = self.markup
        width = len(text[at:end]) - len(text[at:end].lstrip(sign))
        before, after = text[at - 1 : at], text[at + width : at + width + 1]
        if width > 3 or not after.strip() or (before == "\\"):
            return None
        word_before = before.isalnum() and before < "\u2e80"
        if word_before and (sign == "_" or width == 1 or after.isdigit()):
            return None
        run = re.escape(sign) * width
        inner = rf"((?:(?!\n\s*\n)(?:[^\\{re.escape(sign)}]|\\.|{re.escape(sign)}(?!{run[:2]})(?<!{run}))){{1,1500}}?)"
        # "***C****onditional*": a run of four is the end of one and the start of the next
        beyond = {1: r"(?!\*)|(?=\*{3}\w)", 3: r"(?!\*)|(?=\*\w)"} if sign == "*" else {}
        closing = re.compile(rf"{inner}(?<!\s){run}(?:{beyond.get(width, f'(?!{re.escape(sign)})')})", re.DOTALL)
        match = closing.match(text, at + width, end)
        if match is None and width == 3 and (mixed := _MIXED.match(text, at, end)):
            self.groups.append(mixed.span())
            self.scan(*mixed.span(1), depth + 1)
            self.scan(*mixed.span(2), depth + 1)
            return mixed.end()
        if match is None:
            return None
        content, follows = match[1], text[match.end() : match.end() + 1]
        word_after = follows.isalnum() and follows < "\u2e80"
        if sign == "_" and (word_after or (width == 2 and re.fullmatch(r"[a-z_]+", content))):
            return None
        if word_after and (follows.isdigit() or (width == 1 and not content.isalpha())):
            return None
        if (word_before or word_after) and re.search(r"\s[-+*/=<>]\s|[=<>]", content):
            return None
        return self._inside(at, *match.span(1), match.end(), depth)

    def _link(self, at: int, end: int, depth: int) -> int | None:
        match = _LINK.match(self.markup, at, end)
        return self._inside(at, *match.span("text"), match.end(), depth) if match else None


class Html(Writer):
    """Handlers of the same kind."""

    def _entity(self, at: int, end: int, depth: int) -> int | None:
        if (tag := self._tag(at, end, depth)) is not None:
            return tag
        match = _ENTITY.match(self.markup, at, end)
        if match is None:
            return None
        raw = match.group()
        shown = html.unescape(html.unescape(raw) if raw.startswith("&amp;") else raw).replace("\xa0", " ")
        return None if shown == raw else self._put(shown, at, match.end())

    def _tag(self, at: int, end: int, depth: int) -> int | None:
        text = self.markup
        if match := _COMMENT.match(text, at, end):
            return match.end()
        if match := _AUTOLINK.match(text, at, end):
            self.groups.append(match.span())
            self._copy(*match.span(1))
            return match.end()
        match = _TAG.match(text, at, end)
        if match is None:
            return None
        if match["block"]:
            if len(match["block"]) == 1 and not re.search(r"(?i)</?p\s*/?(?:>|&gt;)", text[:at] + text[match.end() :]):
                return None
            return self._put("" if self._last() == "\n" else "\n", at, match.end())
        name = match["name"]
        if match["slash"]:
            return None if len(name) == 1 else match.end()
        angles = ("&lt;", "&gt;") if match["escaped"] else ("<", ">")
        closing = re.compile(rf"{angles[0]}/{re.escape(name)}\s*{angles[1]}", re.IGNORECASE)
        close = closing.search(text, match.end(), min(end, match.end() + 3000))
        if close is None:
            return None if len(name) == 1 or match["escaped"] else match.end()
        if name.lower() in ("sub", "sup", "inf"):
            shift = raised if name.lower() == "sup" else lowered
            if shown := shift(text[match.end() : close.start()].strip()):
                return self._put(shown, at, close.end())
        return self._inside(at, match.end(), close.start(), close.end(), depth)
