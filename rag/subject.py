"""Questions that ask no more than what a thing is, or which papers are about it.

Nothing is said of the thing that a paper could fail to say: the paper that has it answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.evidence import ReadPaper, read_paper
from rag.followup import is_clause
from rag.language.stopwords import ASKS_FOR_A_THING
from rag.retrieval import Ranking
from rag.text import informative, named_terms, stems, tokens

_PAPERS = r"(?:papers?|abstracts?|articles?|studies|works?|publications?)"
_ABOUT = (
    r"(?:(?:are|is|deal|deals|talk|talks|speak) )?(?:about|on|with|of)"
    r"|(?:discuss|stud(?:y|ie)|cover|mention|treat|address|consider|examine|investigate|concern|use|apply|applie|employ)"
    r"(?:e?s|e?d)?"
)
_SEVERAL = re.compile(
    rf"\W*(?:(?:and |but |so )?(?:which|what) (?:of the )?{_PAPERS} (?:{_ABOUT})"
    rf"|(?:(?:list|show|find|give)(?: me)? |are there |is there |do you have )?(?:all |any |the |some )*{_PAPERS} "
    rf"(?:that |which )?(?:{_ABOUT})"
    r"|(?:is there |are there |do you have )?(?:anything|something) (?:about|on))\s+(?P<thing>.+)",
    re.IGNORECASE | re.DOTALL,
)
_DOES = (  # what every abstract says of its method, in other words
    r"(?:do|mean|stand for|work|help|fix|solve|address|tackle|improve|achieve|propose|offer|bring|change|add|introduce|"
    r"contribute|try to (?:do|solve))"
)
_ONE = re.compile(
    r"\W*(?:(?:what|who)(?: is|'s|’s| are)\s+(?P<what>.+?)(?: (?:about|for|good for|used for|meant to do))?"
    rf"|(?:what|how)(?: \w+)? (?:does|do|did|can) (?P<does>.+?) {_DOES}"
    r"|(?:tell me|what do you know|what (?:is|was) (?:said|known|written)) about (?P<told>.+)"
    r"|(?:define|describe|explain) (?P<defined>.+)"
    r"|(?:and |but |so )?(?:(?:what|how) )?about (?P<next>.+))\W*",
    re.IGNORECASE | re.DOTALL,
)
_OPENING = re.compile(r"\W*(?:and|but|so|or)\s+", re.IGNORECASE)
_LINKS = re.compile(
    r"\b(?:of|for|in|on|with|at|by|to|from|between|than|that|which|who|as|used|called)\b", re.IGNORECASE
)
_LONGEST = 5  # words of a thing; more of them say something of it
_RARE_SHARE = 0.01  # a name or word that at most so many papers bear, or three, says which paper is meant
_RARE_PAPERS = 3


@dataclass(frozen=True, slots=True)
class Subject:
    """What a question is about: `thing` as it was asked; `several`: the papers about it are wanted."""

    thing: str
    several: bool = False

    def is_in(self, paper: ReadPaper) -> bool:
        """Whether the paper has it: its words beside each other in any order, on each side of a word such as "for"."""
        runs = [run for part in _LINKS.split(self.thing) if (run := informative(part))]
        texts = (paper.paper.title, *paper.paper.keywords, *(sentence.text for sentence in paper.sentences))
        listed = [stems(text) for text in texts]
        if not runs or not all(any(_stand_together(words, run) for words in listed) for run in runs):
            return False
        words = tokens(self.thing)
        return len(words) > 1 or _is_written(words[0].text, "\n".join(texts))


def subject_of(question: str) -> Subject | None:
    """The subject of a question that asks no more than what it is; None where it asks more."""
    if found := _SEVERAL.fullmatch(question):
        return Subject(found["thing"].strip(" \t\n?？.!"), several=True)
    if found := _ONE.fullmatch(question):
        thing = next(filter(None, found.groups()), "").strip(" \t\n?？.!")
        if informative(thing) and len(tokens(thing)) <= _LONGEST and not _LINKS.search(thing):
            return Subject(thing)
    bare = _OPENING.sub("", question, count=1).strip(" \t\n?？.!")  # typed as for a search: "masked diffusion"
    if (
        informative(bare)
        and len(tokens(bare)) <= _LONGEST
        and not is_clause(bare)
        and not ASKS_FOR_A_THING.search(bare)
    ):
        return Subject(bare, several=True)
    return None


def most_of_rare(total: int) -> float:
    """In how many of `total` papers a word may be and still tell which paper is meant."""
    return max(_RARE_PAPERS, _RARE_SHARE * total)


def bearing(ranking: Ranking) -> list[int]:
    """Ranks of the papers that have the subject of the question; empty where it asks more, or for a common word."""
    subject = subject_of(ranking.question)
    if subject is None:
        return []
    words = informative(subject.thing)
    common = len(words) == 1 and ranking.frequency.get(words[0], 0) > most_of_rare(ranking.total)
    if common and not subject.several and not named_terms(ranking.question):
        return []
    return [rank for rank, hit in enumerate(ranking.hits) if subject.is_in(read_paper(hit.paper))]


def _stand_together(words: Sequence[str], wanted: Sequence[str]) -> bool:
    size = len(wanted) + (len(wanted) > 1)  # "forecasting of time series"
    return any(set(words[at : at + size]).issuperset(wanted) for at in range(len(words)))


def _is_written(word: str, text: str) -> bool:
    """Whether a word stands there in its own form: "segmentation" is no matter of "segments", nor AIME of aims."""
    name = not word[1:].islower()
    bare = re.escape(word if name else word.removesuffix("s"))
    return re.search(rf"(?<!\w){bare}s?(?!\w)", text, 0 if name else re.IGNORECASE) is not None
