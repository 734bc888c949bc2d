"""What is exported of answers: the papers they cite, in order, each with a citation key of its own."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rag.answer import Answer, Source
from rag.markup import plain_text
from rag.names import split_name
from rag.papers import Paper

_LETTERS = str.maketrans({"ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "ß": "ss", "æ": "ae", "Æ": "ae", "œ": "oe", "đ": "d"})
_SMALL_WORDS = {
    "a",
    "an",
    "the",
    "on",
    "of",
    "in",
    "for",
    "to",
    "and",
    "with",
    "from",
    "towards",
    "toward",
    "is",
    "are",
}
_PROCEEDINGS = re.compile(
    r"\b(?:proceedings|conference|workshop|symposium|congress)\b|^[A-Z]\w*[A-Z]\w*\W{0,3}(?:19|20)\d\d\b"
    r"|^(?:ICLR|ICML|NeurIPS|NIPS|AAAI|IJCAI|ACL|EMNLP|NAACL|CVPR|ICCV|ECCV|KDD|SIGIR|WWW|CHI)\b",
    re.IGNORECASE,
)


def cited(answer: Answer) -> list[Source]:
    """The sources an answer cites, in the order of their numbers."""
    return sorted(answer.cited, key=lambda source: source.number or 0)


def papers_of(answers: Iterable[Answer]) -> list[Paper]:
    """Every paper that one of the answers cites, once, in order of first use."""
    return list({source.paper.id: source.paper for answer in answers for source in cited(answer)}.values())


def citation_keys(papers: Sequence[Paper]) -> dict[str, str]:
    """Paper id → "ortiz2024", "ortiz2024a" and "ortiz2024b" where several would be equal; ASCII, unique."""
    stems = {paper.id: _stem(paper) for paper in papers}
    counts = Counter(stems.values())
    keys: dict[str, str] = {}
    taken = {stem for stem, count in counts.items() if count == 1}
    for paper in papers:
        stem = stems[paper.id]
        if counts[stem] == 1:
            keys[paper.id] = stem
            continue
        keys[paper.id] = next(key for letters in _letters() if (key := stem + letters) not in taken)
        taken.add(keys[paper.id])
    return keys


def in_proceedings(paper: Paper) -> bool:
    """Whether the venue reads like a conference's name; else it is taken for a journal."""
    return bool(_PROCEEDINGS.search(paper.venue))


def untitled(paper: Paper) -> str:
    """What a reference manager shows in a note where there is no title, so that no title is made up."""
    return "" if paper.title else f"No title is known; the abstract begins: {paper.label}"


def one_line(text: str) -> str:
    return " ".join(text.split())


def _stem(paper: Paper) -> str:
    """The first author's family name, or the first word of the title that says something, and the year."""
    name = split_name(paper.authors[0]) if paper.authors else None
    words = [_ascii(name.family or name.literal)] if name else []
    if not any(words):
        folded = (_ascii(word) for word in re.findall(r"\w+", plain_text(paper.label)))
        words = [word for word in folded if len(word) > 1 and word not in _SMALL_WORDS] or ["anon"]
    return f"{words[0][:30]}{paper.year or 'nd'}"


def _ascii(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text.translate(_LETTERS)).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]", "", folded)


def _letters() -> Iterator[str]:
    """a … z, aa, ab …"""
    yield from "abcdefghijklmnopqrstuvwxyz"
    for first in _letters():
        yield from (first + last for last in "abcdefghijklmnopqrstuvwxyz")
