"""The scanner behind `rag.markup`: walks over the places where markup could start and writes readable text.

Each handler writes text with the span it came from and returns where it stopped, or returns None: then the characters
stand for themselves. In doubt it is no markup: a stray sign in an abstract is better than a lost one.
"""

from __future__ import annotations

import html
import re
from array import array

from rag.language.maths import lowered, maths_text, raised, symbol

_DEPTH = 24  # constructs nested deeper than this are left as they are
SPECIAL = re.compile(
    r"""(?P<url>(?:https?://|\bwww\.)[^\s<>()\[\]{}"*`$\\]+) | (?P<latex>\\) | (?P<dollar>\$) | (?P<entity>&(?=[#\w]))
    | (?P<tag><(?=[/!a-zA-Z])) | (?P<star>\*+) | (?P<under>_+(?!\{)) | (?P<strike>~~(?=\S)) | (?P<tick>`+)
    | (?P<quote>'') | (?P<tie>~) | (?P<script>(?<=[\w)\]}])[\^_]\{[^{}\s$]{1,20}\})
    | (?P<brace>\{) | (?P<link>!?\[) | (?P<dash>(?<!-)---?(?!-))
    | (?P<block>^[ ]{0,3}(?:\#{1,6}[ \t]+(?!of\b)(?=\S)|>[ ](?=[A-Za-z"'*])))""",
    re.VERBOSE | re.MULTILINE,
)
_MACRO = re.compile(r"\\([A-Za-z]+)\*?")
_OPTION = re.compile(r"\s*\[[^\[\]\n]*\]")
_ACCENT = re.compile(
    r"""\\["'`^~=.](?:[A-Za-z]|\\[ij](?![A-Za-z])|\{(?:[A-Za-z]|\\[ij])\})|\\[cvuHkrdbt]\{[A-Za-z]{1,2}\}"""
)
_DROPPED = re.compile(
    r"(?:[Cc]ite|nocite|parencite|textcite|autocite|footcite)\w*|(?:eq|c|C|auto|page|name|v)?ref|label|[vh]space|color|"
    r"includegraphics|bibliography\w*|input|usepackage|documentclass|pagestyle|thispagestyle"
)
_SECOND_ARGUMENT = {"href", "hyperref", "hyperlink", "hypertarget", "textcolor", "colorbox", "scalebox"}
_SWITCH = re.compile(
    r"bf|it|em|rm|sf|tt|sc|sl|tiny|small|footnotesize|scriptsize|normalsize|large|Large|LARGE|huge|Huge|noindent|"
    r"centering|par|bfseries|itshape|rmfamily|sffamily|ttfamily|scshape|upshape|mdseries|xspace|newline|linebreak|"
    r"smallskip|medskip|bigskip|newpage|clearpage|protect|relax|null|maketitle|left|right|displaystyle"
)
_FORMULA = re.compile(r"[td]?frac|sqrt|binom|math(?:bb|cal|frak|scr)|hat|tilde|bar|vec|overline|widehat|widetilde|ding")
_MATHS_PLACE = re.compile(r"\\begin\{(equation|align|gather|multline|eqnarray|math|displaymath)(\*?)\}")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{[A-Za-z]+\*?\}(?:\[[^\[\]\n]*\])?")
_SHORT = {"eg": "e.g.", "ie": "i.e.", "etc": "etc.", "etal": "et al.", "aka": "a.k.a.", "wrt": "w.r.t.", "item": "•"}
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
_BARE_GROUP = re.compile(
    r"\{(?:\\[A-Za-z\"'`^~=.]|[A-Z][A-Za-z0-9]*(?:[ -][A-Za-z0-9]+)*\}|[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+\})"
)
_PROSE = re.compile(r"[A-Za-z]{3,}[,;:.]?\s+[A-Za-z]{3,}")
_MACRO_WITH_TEXT = re.compile(r"\\[A-Za-z]+\*?\s*(?:\{(?:[^{}]|\{[^{}]*\})*\})?")


class Scanner:
    """One pass over `markup`; `pieces`, `starts`, `ends` and `groups` are what `rag.markup.Plain` holds."""

    def __init__(self, markup: str) -> None:
        self.markup = markup
        self.pieces: list[str] = []
        self.starts = array("L")
        self.ends = array("L")
        self.groups: list[tuple[int, int]] = []
        self._closing = _braces(markup) if "{" in markup else {}

    def scan(self, at: int, end: int, depth: int = 0) -> None:
        """Write what `markup[at:end]` shows."""
        done = at
        while depth < _DEPTH and (match := SPECIAL.search(self.markup, at, end)):
            kind = match.lastgroup or ""
            here = match.start()
            self._copy(done, here)
            done = here
            after = getattr(self, f"_{kind}")(here, end, depth)
            if after is None:
                at = match.end() if kind in ("star", "under", "tick") else here + 1
                self._copy(done, at)
                done = at
            else:
                at = done = after
        self._copy(done, end)

    # ---- writing

    def _copy(self, start: int, end: int) -> None:
        if start < end:
            self.pieces.append(self.markup[start:end])
            self.starts.extend(range(start, end))
            self.ends.extend(range(start + 1, end + 1))

    def _put(self, text: str, start: int, end: int) -> int:
        """Show `text` for the whole of `markup[start:end]`."""
        if text:
            self.pieces.append(text)
            self.starts.extend([start] * len(text))
            self.ends.extend([end] * len(text))
        return end

    def _inside(self, start: int, inner_start: int, inner_end: int, end: int, depth: int) -> int:
        """Show the content of a construct without its signs."""
        self.groups.append((start, end))
        self.scan(inner_start, inner_end, depth + 1)
        return end

    def _last(self) -> str:
        return self.pieces[-1][-1] if self.pieces else "\n"

    def _unspace(self) -> None:
        """Take back the blank before something that shows nothing ("method \\cite{x}.")."""
        if self.pieces and self.pieces[-1].endswith(" "):
            self.pieces[-1] = self.pieces[-1][:-1]
            if not self.pieces[-1]:
                self.pieces.pop()
            self.starts.pop()
            self.ends.pop()

    # ---- LaTeX

    def _latex(self, at: int, end: int, depth: int) -> int | None:
        text = self.markup
        following = text[at + 1] if at + 1 < end else ""
        if match := _ACCENT.match(text, at, end):
            return self._put(maths_text(match.group()), at, match.end())
        if following.isascii() and following.isalpha():
            return self._macro(at, end, depth)
        if following == "\\":
            if at + 2 < end and ((text[at + 2].isascii() and text[at + 2].isalpha()) or text[at + 2] in "%&_#${}"):
                return at + 1  # escaped once too often
            return self._put("" if self._last().isspace() or text[at + 2 : at + 3].isspace() else " ", at, at + 2)
        if following in "([" and following:
            close = text.find("\\" + {"(": ")", "[": "]"}[following], at + 2, end)
            if (
                close > 0
                and not text[at + 2 : close].isdigit()
                and _is_maths(text[at + 2 : close], signed=following == "(")
            ):
                return self._put(maths_text(text[at + 2 : close]), at, close + 2)
        if following == "\n":
            return at + 1  # Markdown's hard line break
        if following == "`" and text.startswith("``", at + 1):
            return at + 1
        if following in " /@" and following:
            return self._put(" " if following == " " else "", at, at + 2)
        if following == ",":
            spaced = text[at - 1 : at].isdigit() and text[at + 2 : at + 3].isalnum()
            return self._put("\u2009" if spaced else ",", at, at + 2)
        if following == "-" and text[at - 1 : at].isalpha() and text[at + 2 : at + 3].isalpha():
            return at + 2
        if following and following in "!\"#$%&'()*+-.:;<=>?[]^_`{|}~":
            return self._put(following, at, at + 2)
        return None

    def _macro(self, at: int, end: int, depth: int) -> int | None:
        text = self.markup
        match = _MACRO.match(text, at, end)
        if match is None:
            return None
        name, after = match[1], match.end()
        if name[0] in "nt" and (len(name) == 1 or name[1].isupper()) and not text.startswith("{", after):
            return self._put("\n" if name[0] == "n" else " ", at, at + 2)  # an escaped line break of some exporter
        if name in ("begin", "end"):
            return self._environment(at, end, after)
        if _DROPPED.fullmatch(name):
            return self._dropped(at, end, after)
        if _SWITCH.fullmatch(name):
            while after < end and text[after] in " \t":
                after += 1
            return after
        argument = self._argument(after, end)
        if argument is None:
            if text.startswith("{", after):  # never closed: only the sign goes
                return after + 1
            if text.startswith("{}", after):
                after += 2
            shown = _SHORT.get(name) or symbol(name) or name
            if shown.endswith(".") and text.startswith(".", after):
                after += 1
            return self._put(shown, at, after)
        start, close = argument
        if _FORMULA.fullmatch(name):
            second = self._argument(close + 1, end) if name.endswith(("frac", "binom")) else None
            stop = second[1] + 1 if second else close + 1
            return self._put(maths_text(text[at:stop]), at, stop)
        if name in _SECOND_ARGUMENT and (second := self._argument(close + 1, end)):
            return self._inside(at, second[0], second[1], second[1] + 1, depth)
        if name in ("url", "path", "nolinkurl"):
            self.groups.append((at, close + 1))
            self._copy(start, close)
            return close + 1
        if not text[start:close].strip():
            return self._put(_SHORT.get(name) or symbol(name) or name, at, close + 1)
        if name in ("footnote", "thanks"):
            self._put("(" if self._last().isspace() else " (", at, close + 1)
            self.scan(start, close, depth + 1)
            self.groups.append((at, close + 1))
            self._put(")", at, close + 1)
            return close + 1
        return self._inside(at, start, close, close + 1, depth)

    def _argument(self, at: int, end: int) -> tuple[int, int] | None:
        """Bounds of the content of the `{…}` at `at`, options and one blank before it passed over."""
        if match := _OPTION.match(self.markup, at, end):
            at = match.end() if self.markup.startswith("{", match.end()) else at
        elif self.markup.startswith(" {", at):
            at += 1
        close = self._closing.get(at, end)
        return (at + 1, close) if close < end else None

    def _dropped(self, at: int, end: int, after: int) -> int:
        while match := _OPTION.match(self.markup, after, end):
            after = match.end()
        if argument := self._argument(after, end):
            after = argument[1] + 1
        if not self.markup[after : after + 1].isalnum():
            self._unspace()
        return after

    def _environment(self, at: int, end: int, after: int) -> int:
        if match := _MATHS_PLACE.match(self.markup, at, end):
            closing = f"\\end{{{match[1]}{match[2]}}}"
            close = self.markup.find(closing, match.end(), end)
            if close > 0:
                return self._put(maths_text(self.markup[match.end() : close]), at, close + len(closing))
        place = _ENVIRONMENT.match(self.markup, at, end)
        return place.end() if place else after

    def _dollar(self, at: int, end: int, depth: int) -> int | None:
        text = self.markup
        width = 2 if text.startswith("$$", at) else 1
        close = text.find("$" * width, at + width, end)
        while close > 0 and text[close - 1] == "\\" and text[close - 2] != "\\":
            close = text.find("$" * width, close + 1, end)
        if close < 0:
            return None
        inner, after = text[at + width : close], text[close + width : close + width + 1]
        if not _is_maths(inner, signed=width == 2) or (after.isdigit() and re.fullmatch(r"[^\\^_]*\w[^\\^_]*", inner)):
            return None
        return self._put(maths_text(inner), at, close + width)

    def _script(self, at: int, end: int, depth: int) -> int:
        close = self.markup.index("}", at) + 1
        return self._put(maths_text(self.markup[at:close]), at, close)

    def _brace(self, at: int, end: int, depth: int) -> int | None:
        close = self._closing.get(at, end)
        if close >= end or not _BARE_GROUP.match(self.markup, at, end):
            return None
        return self._inside(at, at + 1, close, close + 1, depth)

    def _tie(self, at: int, end: int, depth: int) -> int | None:
        before, after = self.markup[at - 1 : at], self.markup[at + 1 : at + 2]
        tied = re.match(r"[A-Za-z\\$({]", after) if re.match(r"[\d%$)}]", before) else re.match(r"[\w\\$({\[]", after)
        return self._put(" ", at, at + 1) if tied and re.match(r"[\w.,;:)}\]%$']", before) else None

    def _dash(self, at: int, end: int, depth: int) -> int | None:
        width = 3 if self.markup.startswith("---", at) else 2
        before, after = self.markup[at - 1 : at], self.markup[at + width : at + width + 1]
        attached = before.strip() and before not in "|:" and after not in "|:"
        spaced = before == " " and (after == " " or width == 3) and after != "|"
        return self._put("—" if width == 3 else "–", at, at + width) if attached or spaced else None

    def _quote(self, at: int, end: int, depth: int) -> int | None:
        before, after = self.markup[max(0, at - 2) : at], self.markup[at + 2 : at + 3]
        if after.isalnum() and (not before or before[-1] in " \n(") and self.markup.find("''", at + 2, at + 120) > 0:
            return self._put("“", at, at + 2)
        opened = self.markup.rfind("``", max(0, at - 300), at) >= 0 or re.search(r"[A-Za-z]{2}|[.,!?)…}*]$", before)
        return self._put("”", at, at + 2) if opened and before and not after.isalnum() and after != "'" else None

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

    # ---- Markdown

    def _url(self, at: int, end: int, depth: int) -> int:
        match = SPECIAL.match(self.markup, at, end)
        stop = match.end() if match else at + 1
        stop = at + len(self.markup[at:stop].rstrip("_~'&"))
        self._copy(at, stop)
        return stop

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

    def _block(self, at: int, end: int, depth: int) -> int | None:
        match = SPECIAL.match(self.markup, at, end)
        return match.end() if match else None

    # ---- HTML

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


def _braces(text: str) -> dict[int, int]:
    """Where each balanced `{` is closed; escaped ones do not count."""
    opened: list[int] = []
    closing: dict[int, int] = {}
    for match in re.finditer(r"\\\\|\\[{}]|[{}]", text):
        if match.group() == "{":
            opened.append(match.start())
        elif match.group() == "}" and opened:
            closing[opened.pop()] = match.start()
    return closing


def _is_maths(inner: str, *, signed: bool) -> bool:
    """Whether what stands between two dollars is a formula and not "5 million and "; `signed`: between \\( and \\)."""
    if not inner.strip() or len(inner) > 1500 or re.search(r"\n\s*\n", inner):
        return False
    if _PROSE.search(_MACRO_WITH_TEXT.sub(" ", inner)):
        return False
    if signed and re.search(r"\S", inner):
        return True
    if re.search(r"\\[A-Za-z,;{}|%!#$]|[\^_]", inner):
        return True
    bare = inner.strip()
    if inner[0].isspace() or inner[-1].isspace():
        lone = len(bare) == 1 or re.fullmatch(r"[\w.+-]*\d|\S+[=<>≤≥+]\S+|\w\([\w,]*\)|\w \S \w", bare)
        return bool(lone) and inner[0].isspace() == inner[-1].isspace()
    unfinished = (len(bare) > 1 and bare[-1] in "/-(;:&") or (bare[-1] == "," and bare[0].isdigit())
    return not unfinished and not re.search(r";\s|[\w)] +[\w(]", bare)
