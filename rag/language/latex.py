"""LaTeX outside of formulas: macros, quotes, ties, dashes, groups; and what between two dollars is a formula."""

from __future__ import annotations

import re

from rag.language.maths import maths_text, symbol
from rag.language.writer import Writer

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
_BARE_GROUP = re.compile(
    r"\{(?:\\[A-Za-z\"'`^~=.]|[A-Z][A-Za-z0-9]*(?:[ -][A-Za-z0-9]+)*\}|[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+\})"
)
_PROSE = re.compile(r"[A-Za-z]{3,}[,;:.]?\s+[A-Za-z]{3,}")
_MACRO_WITH_TEXT = re.compile(r"\\[A-Za-z]+\*?\s*(?:\{(?:[^{}]|\{[^{}]*\})*\})?")


class Latex(Writer):
    """Handlers: write what stands at `at` and return where it ends, or None where it is no markup."""

    def __init__(self, markup: str) -> None:
        super().__init__(markup)
        self._closing = _braces(markup) if "{" in markup else {}

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
