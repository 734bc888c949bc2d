"""Where sentences begin and end in plain text: English with its abbreviations, Chinese, Japanese, lists and tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text: characters `start` up to `end`."""

    start: int
    end: int


_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_CLOSERS = r"[\"'”’»)\]}）】」』〉》*_`]*"
_STARTERS = frozenset(
    """a additionally after all although among an and as at based because before both but by can code compared despite
    do during each empirically existing experiments extensive finally first for from furthermore given hence here how
    however i if importantly in instead is it its many meanwhile more moreover most motivated next no not notably on one
    our overall prior recent remarkably results second since some specifically such surprisingly that the their then
    there therefore these they third this those through thus to two under unlike using we what when where which while
    who why with you your he she his her theoretically together previous previously even only similarly
    consequently""".split()  # noqa: SIM905
)
# After these a sentence never ends; after those of the second set only before a number or a lone letter it does not.
_GOES_ON = frozenset(
    """e.g eg i.e ie cf vs v viz approx resp ca c.f dr prof mr mrs ms st mt messrs gen col lt sgt rep sen gov hon rev
    incl excl est esp aka a.k.a w.r.t s.t a.k i.e. e.g. nb n.b op""".split()  # noqa: SIM905
)
_BEFORE_NUMBER = frozenset(
    """fig figs eq eqs eqn eqns sec secs sect tab tabs ref refs no nos vol vols ch chap p pp art alg algo thm lem prop
    def cor app appx supp suppl ex nr par para pt ver jan feb mar apr jun jul aug sep sept oct nov dec step""".split()  # noqa: SIM905
)
_MAY_END = frozenset("al inc ltd corp co jr sr bros dept univ ph.d phd m.d ed eds etc i.i.d cent avg".split())  # noqa: SIM905
_DOTTED = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]")
_BLOCK = re.compile(
    r"""\n[ \t]*(?=\n)                                              # a blank line
    | \n(?=[ \t]*(?:[-*•–·▪●◦‣+]|\d{1,2}[.)]|\(\d{1,2}\)|[a-z]\)|\([a-zA-Z]\)|\([ivx]{1,4}\))[ \t]+\S)   # list items
    | \n(?=[ \t]*\|) | (?<=\|)[ \t]*\n                              # rows of a table
    | (?<=\s)(?=[•●▪◦‣][ \t])                                       # bullets in one line""",
    re.VERBOSE,
)
_STOP = re.compile(
    rf"""(?P<wide>[。！？｡]+[.!?…]*|(?<=[{_CJK}])[.!?](?=[{_CJK}]))(?P<wide_after>{_CLOSERS})
    | (?P<stop>(?<![.!?…])[.!?…؟।۔‽]++)
      (?P<after>{_CLOSERS}(?:[ ]?(?:\[\d{{1,3}}(?:\s?[,–-]\s?\d{{1,3}})*\])+(?=\s|$))?)(?=\s|[{_CJK}])
    | (?<=[a-z0-9)%]{{2}})(?P<tight>[.!?])(?=[A-Z][a-z]*\s)""",
    re.VERBOSE,
)
_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
_OPENERS = "\"'“‘«([{（【「『*_`¿¡"
_BRACKET = re.compile(r"[(\[{（【「『《]|[)\]}）】」』》]")
_ROMAN = re.compile(r"[ivxIVX]{1,4}")
_ENUMERATOR = re.compile(r"\s*(?:[-*•–]\s+)?\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})\)?")
_NEXT_ITEM = re.compile(r"\s*\((?:\d{1,2}|[a-z]|[ivx]{1,4})\)\s")
_STRAY = re.compile(r"\s*[.!?…,;:]+\s*")
_LONGEST_BRACKET = 300
_HEADING = re.compile(r"(?=[A-Z0-9\u3400-\u9fff])[^\n]{2,40}(?<![,;\-—.!?…。！？])[ \t]*$")


def sentences(text: str) -> list[Span]:
    """Spans of the sentences in order, without white space around them.

    They never overlap and together hold every character that is not white space. List items, table rows, headings and
    what blank lines divide are sentences of their own.
    """
    cuts = [0]
    for start, end in pairwise([0, *_block_cuts(text), len(text)]):
        cuts += [*_stop_cuts(text, start, end), end]
    found: list[Span] = []
    for start, end in pairwise(sorted(set(cuts))):
        piece = text[start:end]
        if found and _STRAY.fullmatch(piece):
            found[-1] = Span(found[-1].start, start + len(piece.rstrip()))
        elif piece.strip():
            found.append(Span(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())))
    return found


def _block_cuts(text: str) -> list[int]:
    cuts = [match.end() for match in _BLOCK.finditer(text)]
    if "\n" in text:  # a short line before a longer one that starts anew is a heading
        fresh = {0, *cuts}
        at, previous = 0, ""
        for line, following in pairwise(text.split("\n")):
            after = at + len(line) + 1
            starts = at in fresh or not previous.strip()
            if starts and _HEADING.match(line) and following[:1].isupper() and len(following) > 1.5 * len(line):
                cuts.append(after)
            at, previous = after, line
    return sorted(set(cuts))


def _stop_cuts(text: str, start: int, end: int) -> list[int]:
    cuts: list[int] = []
    if text[start:end].lstrip().startswith("|"):
        return cuts  # a row of a table
    brackets = _brackets(text, start, end)
    for match in _STOP.finditer(text, start, end):
        after = match.end()
        if any(opened < match.start() < closed and after <= closed for opened, closed in brackets):
            continue
        if match["wide"]:
            quoted = match["wide_after"].endswith(("」", "』")) and text.startswith(("と", "って"), after)
            if not quoted:
                cuts.append(after)
        elif match["tight"]:
            word = _WORD.match(text, after)
            if word and word.group().lower() in _STARTERS and not _is_abbreviation(_before(text, match.start(), start)):
                cuts.append(after)
        elif _ends(text, cuts[-1] if cuts else start, match, end):
            cuts.append(after)
    return cuts


def _brackets(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Pairs of brackets close enough together that a stop inside does not end the sentence around them."""
    opened: list[int] = []
    pairs = []
    for match in _BRACKET.finditer(text, start, end):
        if match.group() in "([{（【「『《":
            opened.append(match.start())
        elif opened:
            first = opened.pop()
            if match.start() - first <= _LONGEST_BRACKET:
                pairs.append((first, match.start()))
    return pairs


def _before(text: str, stop: int, start: int) -> str:
    """The word that the stop follows, inner dots included ("e.g", "al", "U.S")."""
    match = re.search(r"[^\W_]+(?:[.&'’-][^\W_]+)*$", text[max(start, stop - 40) : stop])
    return match.group() if match else ""


def _is_abbreviation(word: str) -> bool:
    return word.lower() in _GOES_ON or word.lower() in _BEFORE_NUMBER or _DOTTED.fullmatch(word) is not None


def _ends(text: str, sentence: int, match: re.Match[str], end: int) -> bool:
    """Whether the stop in `match` ends the sentence that began at `sentence`."""
    at = match.end()
    while at < end and (text[at].isspace() or text[at] in _OPENERS):
        at += 1
    if at >= end:
        return True
    word_match = _WORD.match(text, at)
    word = word_match.group() if word_match else ""
    first = text[at]
    starter = word.lower() in _STARTERS
    name = first.isascii() and any(char.isupper() or char.isdigit() for char in word[1:])  # vLLM, p53
    low = first.islower() and first.isascii() and not name
    if match["stop"] != ".":
        return not low
    before = _before(text, match.start(), sentence)
    lowered = before.lower()
    if _ENUMERATOR.fullmatch(text, sentence, match.start()) and (
        before.isdigit() or len(before) == 1 or _ROMAN.fullmatch(before)
    ):
        return False
    if before.isdigit() and len(before) <= 2 and text[: match.start() - len(before)].rstrip().endswith((":", ";", ",")):
        return False
    if lowered in _GOES_ON:
        return False
    if _NEXT_ITEM.match(text, match.end()):
        return len(before) > 4
    if lowered in _BEFORE_NUMBER:
        return not (first.isdigit() or (len(word) == 1 and word not in "AI") or low)
    if lowered == "etc":
        return not low
    if lowered in _MAY_END or _DOTTED.fullmatch(before) or _initial(text, match.start(), before):
        return starter and first.isupper()
    if low:
        if before.isdigit() and len(before) <= 2:
            return False
        return bool(before) and ")" not in match["after"] and (starter or (len(before) > 4 and before.islower()))
    return True


def _initial(text: str, stop: int, before: str) -> bool:
    """Whether `before` is the initial of a name ("J. Smith"), not the end of a compound ("A/H.", "top-K.")."""
    return (
        len(before) == 1
        and before.isascii()
        and before.isupper()
        and text[max(0, stop - 2) : stop - 1] in ("", " ", "(", ".")
    )
