"""The guards on negation and direction: a statement that was turned round."""

from __future__ import annotations

from collections.abc import Iterator

from rag.grounding import lexicon
from rag.grounding.alignment import Alignment
from rag.grounding.analysis import Analysis
from rag.grounding.failure import Failure, Kind
from rag.grounding.roles import Relations, baseline_words


def negation(alignment: Alignment) -> Iterator[Failure]:
    """What one of claim and passage denies and the other does not."""
    claim, passage, pairs = alignment.claim, alignment.passage, alignment.pairs
    crossed = {i for i, _ in alignment.opposites}
    crossed_back = {j for _, j in alignment.opposites}
    back = {j: i for i, j in pairs.items()}
    for scope in claim.scopes:
        ours = [i for i in scope.words if i in pairs]
        if not scope.strict or not ours or crossed.intersection(scope.words):
            continue
        if scope.words[0] not in pairs and lexicon.harm(claim.words[scope.words[0]].key):
            continue  # "formulas are not lost" says something good of formulas
        if all(_turned(claim, i, passage, pairs[i]) for i in ours[:3]):
            part = f"{scope.negator} {claim.words[ours[0]].text}"
            yield Failure(Kind.NEGATION, part, f"“{part}”: the source does not deny this", True)
    for scope in passage.scopes:
        theirs = [j for j in scope.words if j in back]
        if not scope.strict or not theirs or crossed_back.intersection(scope.words):
            continue
        adverb = passage.words[scope.words[0]].text.endswith("ly")
        if theirs[0] in scope.words[: 1 + adverb] and all(_turned(passage, j, claim, back[j]) for j in theirs[:3]):
            part = claim.words[back[theirs[0]]].text
            denied = f"{scope.negator} … {passage.words[theirs[0]].text}"
            yield Failure(Kind.NEGATION, part, f"“{part}”: the source denies this (“{denied}”)", True)


def _turned(one: Analysis, i: int, other: Analysis, j: int) -> bool:
    """Is word `i` of one text denied an odd number of times more than word `j` of the other?

    A negation that is none everywhere ("avoids", "instead of") makes up for one.
    """
    strict = [sum(scope.strict for scope in text.scopes if at in scope.words) for text, at in ((one, i), (other, j))]
    loose = [sum(not scope.strict for scope in text.scopes if at in scope.words) for text, at in ((one, i), (other, j))]
    return strict[0] % 2 != strict[1] % 2 and not (loose[1] > loose[0] and strict[0] > strict[1])


def direction(alignment: Alignment, related: Relations) -> Iterator[Failure]:
    """Words of the claim whose opposites stand in their place."""
    claim, passage = alignment.claim, alignment.passage
    ours, theirs = baseline_words(claim), baseline_words(passage)
    for i, j in alignment.opposites:
        one, other = claim.words[i], passage.words[j]
        if (i in ours) != (j in theirs):
            continue  # "the compressed version" for "against the uncompressed one"
        if (i in claim.negated) != (j in passage.negated):
            continue  # "not higher" for "lower"
        if related.straight and (one.key in related.words or other.key in related.words):
            continue  # "A is faster than B" for "B is slower than A"
        if (
            one.key in passage.parts
            and other.key in claim.parts
            and (related.straight or (i, j) not in alignment.tight)
        ):
            continue  # both words are in both, in another order
        yield Failure(Kind.DIRECTION, one.text, f"“{one.text}”: the source says “{other.text}”", True)
