"""Questions that name who wrote a paper: "papers by Müller", "what did Okafor find on corals?", "Okafor et al. (2021)".

No abstract says who wrote it. So the name narrows the papers, by their records, and the rest is asked of their text.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from rag.catalogue import Catalogue
from rag.fulltext import FullText
from rag.language.stopwords import ENGLISH
from rag.text import tokens

_MOST_WORDS: Final = 4  # of a name that was typed in small letters
_WORK = r"(?:papers?|works?|articles?|stud(?:y|ies)|publications?|abstracts?|research|anything|something)"
_TITLES: Final = ("dr", "prof", "professor", "mr", "mrs", "ms")
_BY = re.compile(
    rf"\b{_WORK}\s+(?:(?:that\s+|which\s+)?(?:(?:was|were|is|are|has been|have been)\s+)?"
    rf"(?:written|(?:co-?)?authored|published)\s+)?(?P<by>by\s+)(?:(?:{'|'.join(_TITLES)})\.?\s+)*\Z",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r",?\s+(?:et\.? al\b\.?|(?:and|&)\s+(?:(?:his|her|their)\s+)?(?:colleagues|co-?workers|co-?authors|others)\b)",
    re.IGNORECASE,
)
_DID = re.compile(r"\b(?:did|has|have)\s+\Z", re.IGNORECASE)
_WROTE = re.compile(
    rf"(?:{_OTHERS.pattern})?\s+(?:find|show|write|publish|report|say|conclude|argue|claim|study|measure|observe|propose|found|"
    r"shown|written|published|reported|said|concluded|argued|claimed|studied|measured|observed|proposed)\b",
    re.IGNORECASE,
)
_ABOUT = re.compile(  # every abstract finds or says something: only what it is about is asked
    r"\Awhat (?:did|do|have|has) the (?:authors|paper) (?:find|found|say|said|write|written|report|reported|show|shown|"
    r"conclude|concluded|publish|published) (?:about|on|regarding|concerning)\b",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"\b(?:by|in|of|from|according to|per)\s+(?:the\s+)?\Z", re.IGNORECASE)
_OWN = re.compile(r"['’]s?(?!\w)")
_YEAR = re.compile(r",?\s*\(?(?P<year>(?:19|20)\d\d)\b\)?")
_BETWEEN = re.compile(r"\.?\s+")
_STROKED: Final = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})
_PARTICLES: Final = frozenset(
    "van von vom zu der den de del della di da dos du la le ter ten el al bin ibn af".split()  # noqa: SIM905
)
# only which papers there are is asked, or what they say at all
_BARE = re.compile(
    r"\W*(?:(?:which|what|list|show|find|found|finds|give|get|me|us|please|are|is|was|were|there|here|do|does|did|you|"
    r"we|have|has|all|any|the|this|of|and|by|in|from|on|about|authors|wrote|written|write|publish|published|say|said|"
    rf"report|reported|work|library|{_WORK})(?!\w)\W*)*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Mention:
    """The authors that a question names, and what it asks of their papers ("" where it asks only which they are).

    `year` is the one behind the name ("Okafor 2021"), else "". `unknown` says that no paper has such an author.
    """

    authors: tuple[str, ...]
    question: str
    year: str = ""
    unknown: str = ""


def authors_named(question: str, catalogue: Catalogue) -> Mention | None:
    """The authors whom the question names; None where it names none.

    Where only an author can stand ("papers by …", "… et al.") the name may be unknown. Elsewhere it is an author's if a
    paper has such an author and none has the name in its text, or if it is said to have found or written something.
    """
    rows: list[tuple[str]] | None = None
    known: list[tuple[int, int]] = []
    for start, end in _candidates(question):
        name = question[start:end]
        strict = bool(_BY.search(question[:start]) or _OTHERS.match(question, end))
        told = name[0].isupper() and _DID.search(question[:start]) and _WROTE.match(question, end)
        if not strict and not told and (len(name) < 3 or FullText(catalogue).holding(name, 1)):
            continue
        if rows is None:
            rows = catalogue.select("SELECT authors FROM papers WHERE authors != '[]'")
        if any(written_by(authors, name) for (authors,) in rows):
            known.append((start, end))
        elif strict and name[0].isupper():
            lacking = f"No paper here is by {name}." if rows else "The records of these papers name no authors."
            return Mention((name,), question, unknown=lacking)
    if not known:
        return None
    names, rest, year = [question[start:end] for start, end in known], question, ""
    for start, end in reversed(known):
        rest, found = _without(rest, start, end)
        year = found if len(known) == 1 else ""
    rest = re.sub(r"\b(the (?:authors|paper))(?: and \1)+", r"\1", rest)
    asked = _ABOUT.sub("What is said about", rest.strip(" ,;:"))
    return Mention(tuple(dict.fromkeys(names)), "" if is_bare(rest) else asked, year)


def written_by(authors: str, name: str) -> bool:
    """Whether one of the authors, a JSON list of names, bears this name.

    Each word of `name` has to be one of the author's, but for case and accents. First names may be initials on either
    side; one word of two or more letters has to agree.
    """
    wanted = _parts(name)
    folded = _folded(authors)
    if not any(word in folded for word in wanted if len(word) > 1):
        return False
    return any(_bears(_parts(author), wanted) for author in json.loads(authors))


def is_bare(question: str) -> bool:
    """Whether nothing else is asked than which papers there are, or what they say at all."""
    return _BARE.fullmatch(question) is not None


def _candidates(question: str) -> Iterator[tuple[int, int]]:
    """Spans that may be a person's name: runs of capitals with what stands between them, and words in small letters
    that are no function words."""
    words = tokens(question)

    def joined(at: int) -> bool:
        """Whether nothing but white space stands between the word and the next."""
        return at + 1 < len(words) and bool(_BETWEEN.fullmatch(question, words[at].end, words[at + 1].start))

    at = 0
    while at < len(words):
        last, first = at, words[at].text.lower()
        if first not in ENGLISH and first not in _TITLES and first[0].isalpha():
            while joined(last) and (words[last + 1].text[0].isupper() or words[last + 1].text in _PARTICLES):
                last += 1
            while words[last].text in _PARTICLES and last > at:
                last -= 1
            if _BY.search(question[: words[at].start]):  # in small letters it goes on up to a function word
                while joined(last) and last + 1 < at + _MOST_WORDS and _may_be_a_name(words[last + 1].text):
                    last += 1
            yield words[at].start, words[last].end
        at = last + 1


def _may_be_a_name(word: str) -> bool:
    return word.lower() not in ENGLISH and not word[0].isdigit()


def _without(question: str, start: int, end: int) -> tuple[str, str]:
    """The question without the author who stands there, and the year behind the name."""
    before, after, year = question[:start], question[end:], ""
    others = _OTHERS.match(after)
    after = after[others.end() :] if others else after
    own = _OWN.match(after)
    after = after[own.end() :] if own else after
    if found := _YEAR.match(after):
        year, after = found["year"], after[found.end() :]
    if by := _BY.search(before):
        before = before[: by.start("by")].rstrip()
    elif own:
        before = f"{before}the" if re.match(r"\s+\w", after) else f"{before}the others"
    elif led := _BEFORE.search(before):
        before = before[: led.start()].rstrip()
    else:
        before = f"{before}the {'paper' if year else 'authors'}"
    return f"{before}{after}", year


def _bears(author: Collection[str], wanted: Collection[str]) -> bool:
    return any(len(word) > 1 and word in author for word in wanted) and all(
        word in author or any(_is_initial(word, other) for other in author) for word in wanted
    )


def _is_initial(one: str, other: str) -> bool:
    return (len(one) == 1 or len(other) == 1) and one[0] == other[0]


def _parts(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", _folded(name))


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    split = unicodedata.normalize("NFKD", text.casefold().translate(_STROKED))
    return "".join(char for char in split if not unicodedata.combining(char))
