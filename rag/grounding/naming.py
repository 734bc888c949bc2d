"""The guard on names: what the claim says of a system, the passage must say of that system."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.grounding import lexicon
from rag.grounding.alignment import ALIKE, Alignment
from rag.grounding.analysis import Analysis, Word
from rag.grounding.failure import Context, Failure, Kind
from rag.grounding.roles import baselines


def names(alignment: Alignment, context: Context) -> Iterator[Failure]:
    """Names of the claim that are not what the passage speaks of."""
    yield from _present(alignment, context)
    yield from _binding(alignment)


def _present(alignment: Alignment, context: Context) -> Iterator[Failure]:
    claim, passage = alignment.claim, alignment.passage
    places = dict(alignment.replaced)
    keys = {word.key for word in claim.words}
    for index, word in enumerate(claim.words):
        if not word.name:
            continue
        if index in alignment.pairs:
            if alignment.grade[index] < ALIKE and not set(word.parts) <= (passage.parts | context.keys):
                yield Failure(Kind.NAME, word.text, f"“{word.text}” is not in the source", False)  # a variant of a name
            continue
        rival = passage.words[places[index]] if index in places else _subject_name(alignment)
        if rival is not None and (not rival.name or rival.key in keys):
            rival = None
        if word.key in context.own and _is_subject(claim, word) and _stands_for_it(passage, rival):
            continue
        if rival is not None and index in places:
            yield Failure(Kind.NAME, word.text, f"“{word.text}”: the source speaks of “{rival.text}”", True)
        elif word.key in context.own:
            if rival is not None and word.key not in context.main and _is_subject(claim, word):
                yield Failure(Kind.NAME, word.text, f"“{word.text}”: the source says this of “{rival.text}”", True)
        elif word.key in context.names:
            yield Failure(Kind.NAME, word.text, f"the source does not say this of “{word.text}”", False)
        elif not (word.parts and set(word.parts) <= (passage.parts | context.keys)):
            yield Failure(Kind.NAME, word.text, f"“{word.text}” is not in the source", False)


_PRONOUN = re.compile(
    r"\b(?:it|its|they|we|our|this (?:method|model|work|paper|approach|framework)|"
    r"the (?:method|model|approach|framework|system|algorithm|benchmark|dataset|corpus|pipeline|authors?|paper))\b",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"\b(?:on|in|with|for|to|by|using|from|over|against|than|of|and|or|under|via)\W+(?:\w+\W+)?$", re.IGNORECASE
)


def stood_for(alignment: Alignment, context: Context) -> Iterator[int]:
    """The claim's words that name what the paper is about, where the passage has a pronoun ("it reaches …")."""
    if any(word.name and word.key in context.own for word in alignment.passage.words):
        return
    for index, word in enumerate(alignment.claim.words):
        if (
            word.name
            and word.key in context.own
            and index not in alignment.pairs
            and _is_subject(alignment.claim, word)
            and _stands_for_it(alignment.passage, None)
        ):
            yield index


def _stands_for_it(passage: Analysis, rival: Word | None) -> bool:
    """Does the passage speak of "it" or "our method", and of the rival only in passing ("Tested on Titans, it …")?"""
    if _PRONOUN.search(passage.text) is None:
        return False
    return rival is None or _PREPOSITION.search(passage.text[: rival.start]) is not None


def _is_subject(analysis: Analysis, word: Word) -> bool:
    """Does a name stand before what is said, and after no preposition?"""
    if _PREPOSITION.search(analysis.text[: word.start]):
        return False
    before = [other for other in analysis.words if other.end <= word.start and other.content]
    return len(before) <= 2


def _subject_name(alignment: Alignment) -> Word | None:
    """The name among the first content words of the clause that the claim agrees with most."""
    passage = alignment.passage
    clauses = passage.clause
    agreeing = [clauses[j] for j in alignment.pairs.values()]
    if not agreeing:
        return None
    main = max(set(agreeing), key=lambda clause: (agreeing.count(clause), -clause))
    first = [passage.words[j] for j in passage.content if clauses[j] == main][:3]
    return next((word for word in first if word.name), None)


def _binding(alignment: Alignment) -> Iterator[Failure]:
    """What the claim says of its first name, the passage says in a clause without it, of a name of its own."""
    claim, passage, pairs = alignment.claim, alignment.passage, alignment.pairs
    subject = _first_names(claim)
    clause = passage.clause
    if not subject or not clause or not clause[-1]:
        return
    where = [{clause[j] for j, word in enumerate(passage.words) if word.key == claim.words[i].key} for i in subject]
    homes = set.intersection(*where)
    weight: dict[int, float] = {}
    first: dict[int, int] = {}
    for i, j in pairs.items():
        word = claim.words[i]
        if i in subject or not word.content or word.key in lexicon.SELF:
            continue
        spots = {clause[k] for k, other in enumerate(passage.words) if other.key == passage.words[j].key}
        if len(spots) == 1:
            weight[clause[j]] = weight.get(clause[j], 0.0) + word.weight
            first[clause[j]] = min(first.get(clause[j], j), j)
    at_home = max((weight.get(home, 0.0) for home in homes), default=0.0)
    keys = {word.key for word in claim.words}
    measured = baselines(passage)
    for other, total in weight.items():
        if not homes or other in homes or total < 2 or total <= 2 * at_home:
            continue
        before = [w for j, w in enumerate(passage.words) if clause[j] == other and w.name and j < first[other]]
        rival = next((word for word in before if word.key not in keys and word.key not in measured), None)
        if rival is not None:
            part = claim.words[subject[0]].text
            yield Failure(Kind.NAME, part, f"“{part}”: the source says this of “{rival.text}”", True)
            return


def _first_names(claim: Analysis) -> list[int]:
    """The first run of names in a claim."""
    run: list[int] = []
    for i, word in enumerate(claim.words):
        if word.name and (not run or i == run[-1] + 1):
            run.append(i)
        elif run:
            break
    return run
