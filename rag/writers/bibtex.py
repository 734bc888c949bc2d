"""BibTeX, for LaTeX as it is today (UTF-8): markup that the source has stays, everything else is escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.answer import Answer
from rag.papers import Paper
from rag.readers.latex import MATH, is_command
from rag.writers.listing import citation_keys, in_proceedings, one_line, papers_of, untitled

_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%#_$"},
}  # fmt: skip
_LONE_BRACES = {"{": r"\textbraceleft{}", "}": r"\textbraceright{}"}
_TOKEN = re.compile(
    r"(?P<escape>\\[&%#_$])|(?P<block>@(?=\w*[ \t]*[({]))|\\(?P<command>[A-Za-z]+)\*?"
    r"|(?P<accent>\\['`^\"~=.](?:\{\\?[A-Za-z]\}|[A-Za-z]))|(?P<sign>[\\{}~^&%#_$])"
)
_NO_FORMULA = re.compile(r"\\\\[{}]|@\w*[ \t]*[({]")  # parsers of BibTeX stumble over these
_UNSAFE_IN_LINKS = re.compile(r"[{}\\]|@(?=\w*\()")
_SWITCHES = {"em", "bf", "it", "rm", "sc", "sf", "sl", "tt"}
_TIE = re.compile(r"(?<=[\w.])~(?=\w)")  # LaTeX's space that does not break; elsewhere it means "about"
_AND = re.compile(r"\band\b", re.IGNORECASE)


def write(answers: Sequence[Answer]) -> str:
    """An entry for each cited paper."""
    papers = papers_of(answers)
    keys = citation_keys(papers)
    return "\n\n".join(_entry(paper, keys[paper.id]) for paper in papers) + "\n" * bool(papers)


def _entry(paper: Paper, key: str) -> str:
    meeting = bool(paper.title) and in_proceedings(paper)  # an untitled entry's booktitle would pass for its title
    fields = {
        "title": f"{{{escaped(one_line(paper.title))}}}" if paper.title else "",
        "author": " and ".join(map(_author, paper.authors)),
        "year": str(paper.year or ""),
        "booktitle" if meeting else "journal": escaped(paper.venue),
        "doi": _link(paper.doi),
        "url": _link(paper.url),
        "keywords": _keywords(paper.keywords),
        "abstract": escaped(paper.abstract),
        "note": escaped(one_line(untitled(paper))),
    }
    body = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{'inproceedings' if meeting else 'article' if paper.venue else 'misc'}{{{key},\n{body}}}"


def escaped(text: str) -> str:
    """`text` for a value in braces. Mathematics and known LaTeX commands stay, all other special signs are escaped.

    Braces always balance, also for programs that count the escaped ones.
    """
    parts: list[str] = []
    at = 0
    for formula in MATH.finditer(text):
        if (kept := _formula(formula.group())) is None:
            continue
        parts += _prose(text[at : formula.start()]), kept
        if parts[-2].endswith("$"):
            parts[-2] += "{}"  # or its dollar sign and the formula's would be read as one
        at = formula.end()
    return "".join((*parts, _prose(text[at:])))


def _formula(latex: str) -> str | None:
    """A formula as it stands, escaped braces by their names where they do not balance; None where it is no formula."""
    if not _balanced(re.sub(r"\\\\|\\[{}]", "", latex)) or _NO_FORMULA.search(latex):
        return None
    if _balanced(latex):
        return latex
    return re.sub(r"\\[{}]", lambda match: r"\lbrace{}" if match.group() == r"\{" else r"\rbrace{}", latex)


def _prose(text: str) -> str:
    pairs = _argument_braces(text)
    literal = [match["sign"] for match in _TOKEN.finditer(text) if match["sign"] and match.start() not in pairs]
    lone = {} if _balanced("".join(sign for sign in literal if sign in "{}")) else _LONE_BRACES
    is_latex = bool(pairs)

    def written(match: re.Match[str]) -> str:
        if match["block"]:
            return "{@}"  # or parsers take it for the next entry
        if match["escape"] or match["accent"] or match.start() in pairs:
            return match.group()
        if command := match["command"]:
            return match.group() if _is_known(command) else _ESCAPES["\\"] + match.group()[1:]
        sign = match["sign"]
        if sign == "~" and is_latex and _TIE.match(text, match.start()):
            return "~"
        return lone.get(sign) or _ESCAPES[sign]

    return _TOKEN.sub(written, text)


def _argument_braces(text: str) -> set[int]:
    """Where braces stand that hold what a known command is applied to: \\textbf{…}, \\frac{…}{…}, {\\em …}."""
    found: set[int] = set()
    groups: list[tuple[int, bool]] = []
    applied_to = -1  # a brace that opens here belongs to the command, or to the argument, before it
    for match in _TOKEN.finditer(text):
        if match["command"] and _is_known(match["command"]):
            applied_to = match.end()
            if groups and groups[-1][0] + 1 == match.start():
                groups[-1] = (groups[-1][0], True)
        elif match["sign"] == "{":
            groups.append((match.start(), match.start() == applied_to))
        elif match["sign"] == "}" and groups:
            start, kept = groups.pop()
            if kept:
                found |= {start, match.start()}
                applied_to = match.end()
    return found


def _is_known(command: str) -> bool:
    return command in _SWITCHES or is_command(command)


def _balanced(text: str) -> bool:
    depth = 0
    for sign in text:
        depth += (sign == "{") - (sign == "}")
        if depth < 0:
            return False
    return depth == 0


def _author(name: str) -> str:
    """A name; in braces where BibTeX would take it apart in the wrong place."""
    text = escaped(name)
    return f"{{{text}}}" if _AND.search(name) or name.count(",") > 2 or name == "others" else text


def _keywords(keywords: Sequence[str]) -> str:
    """Joined by commas; by semicolons where a keyword has a comma (its own semicolons then are commas)."""
    if any(re.search(r"[,;|\n]|^\[.*\]$", keyword) for keyword in keywords):
        return escaped(" ".join(f"{keyword.replace(';', ',')};" for keyword in keywords))
    return escaped(", ".join(keywords))


def _link(text: str) -> str:
    """These fields are taken as they stand; signs that would break the entry are percent-encoded."""
    return _UNSAFE_IN_LINKS.sub(lambda match: f"%{ord(match.group()):02X}", text)
