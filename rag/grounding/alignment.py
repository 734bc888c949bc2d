"""A claim laid word by word beside a passage: what agrees, what is missing, what stands in another word's place.

A global alignment (Needleman and Wunsch 1970, gaps at the passage's ends free) over content words, figures and
negations finds the chain of words in the same order; words that stand elsewhere in the passage are matched after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from rag.grounding import lexicon
from rag.grounding.analysis import Analysis, Word

EXACT, ALIKE, RELATED, PARTIAL, OPPOSITE = 1.0, 0.9, 0.75, 0.6, 0.5
_SUBSTITUTE, _CLAIM_GAP, _PASSAGE_GAP = -0.3, -0.35, -0.12
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Alignment:
    """Indices are positions in the two analyses' `words`.

    `pairs` maps a claim word to the passage word it agrees with, `grade` to how well (0 to 1). `chain` are the pairs in
    the same order in both. `replaced` pairs stand in the same place and say something else. `opposites` exclude
    one another. `missing` are the content words that the passage lacks.
    """

    claim: Analysis
    passage: Analysis
    pairs: dict[int, int]
    grade: dict[int, float]
    chain: tuple[tuple[int, int], ...]
    replaced: tuple[tuple[int, int], ...]
    opposites: tuple[tuple[int, int], ...]
    missing: tuple[int, ...]

    @property
    def coverage(self) -> float:
        """Share of the claim's content, by weight and without figures, that the passage has; 1 for no content."""
        total = self.claim.weight
        if not total:
            return 1.0
        return sum(self.claim.words[i].weight * self.grade.get(i, 0.0) for i in self.claim.content) / total

    @property
    def order(self) -> float:
        """Share of the claim's content words that agree in the same order."""
        kept = sum(self.claim.words[i].content for i, _ in self.chain)
        return kept / len(self.claim.content) if self.claim.content else 1.0

    @property
    def tight(self) -> frozenset[tuple[int, int]]:
        """The replaced and opposite pairs whose neighbours on both sides agree in the same order."""
        return frozenset(_tight(self.claim, dict(self.chain), (*self.replaced, *self.opposites)))

    @property
    def near_copy(self) -> bool:
        return self.order >= 0.6 and len(self.chain) >= 3


def likeness(one: Word, other: Word) -> float:
    """How far two words say the same, 0 to 1; OPPOSITE when they exclude one another."""
    if one.figure != other.figure:
        return 0.0
    if one.key == other.key:
        return EXACT
    if one.figure:
        return 0.0
    return _likeness(one.key, other.key, one.name, other.name)


@lru_cache(maxsize=65536)
def _likeness(one: str, other: str, one_is_name: bool, other_is_name: bool) -> float:
    if lexicon.synonymous(one, other):
        return ALIKE
    if lexicon.opposite(one, other):
        return OPPOSITE
    ours, theirs = one.split(" "), other.split(" ")
    if len(ours) == len(theirs) > 1 and _opposed(ours, theirs):
        return OPPOSITE
    if one_is_name and other_is_name and len(ours) == len(theirs):
        return 0.0
    if (shared := _shared_parts(ours, theirs)) > 0:
        return shared
    if one_is_name or other_is_name or _DIGIT.search(one) or _DIGIT.search(other):
        return 0.0
    return RELATED if _same_root(one, other) else 0.0


def _opposed(ours: list[str], theirs: list[str]) -> bool:
    """Compounds that differ in one part, which is the opposite of the other's ("high-quality", "low-quality")."""
    differ = [(one, other) for one, other in zip(ours, theirs, strict=True) if one != other]
    return len(differ) == 1 and lexicon.opposite(*differ[0])


def _shared_parts(ours: list[str], theirs: list[str]) -> float:
    if len(ours) == len(theirs) == 1:
        return 0.0
    shared = {part for part in ours if part in theirs and not lexicon.stop(part)}
    if not shared:
        return 0.0
    return RELATED if len(shared) * 2 >= max(len(ours), len(theirs)) else PARTIAL


def _same_root(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) < 5:
        return False
    common = 0
    for left, right in zip(shorter, longer, strict=False):
        if left != right:
            break
        common += 1
    return common >= 5 and common >= len(shorter) - 2 and common * 1.7 >= len(longer)


def align(claim: Analysis, passage: Analysis) -> Alignment:
    """Lay `claim` beside `passage`; time grows with the product of their lengths (about 1 ms for two sentences)."""
    ours = [i for i, word in enumerate(claim.words) if word.content or word.figure or word.marked]
    theirs = [j for j, word in enumerate(passage.words) if word.content or word.figure or word.marked]
    chain, replaced, opposites = _chain(claim, passage, ours, theirs)
    pairs = dict(chain)
    grade = {i: likeness(claim.words[i], passage.words[j]) for i, j in chain}
    taken = set(pairs.values())
    keys = {word.key for word in claim.words}
    instead = {i: passage.words[j].name for i, j in replaced}
    instead_here = {
        i for i, j in _tight(claim, pairs, replaced) if instead[i] and passage.words[j].key not in keys
    }  # another name stands in this very place: where else the name is proves nothing
    for i in claim.content:
        if i in pairs:
            continue
        best = max(
            ((likeness(claim.words[i], passage.words[j]), j not in taken, -j) for j in theirs), default=(0.0, False, 0)
        )
        if claim.words[i].name and (i in instead_here or (instead.get(i) and (best[0] < ALIKE or not best[1]))):
            continue
        if best[0] > OPPOSITE:
            pairs[i], grade[i] = -best[2], best[0]
        elif best[0] == OPPOSITE and best[1]:
            j = -best[2]
            if not any(pair[0] == i for pair in opposites) and _neighbours(claim, passage, pairs, i, j):
                opposites.append((i, j))
            grade.setdefault(i, OPPOSITE)
    for i, _ in opposites:
        grade.setdefault(i, OPPOSITE)
    swapped = {i for i, _ in opposites}
    return Alignment(
        claim,
        passage,
        pairs,
        grade,
        tuple(chain),
        tuple((i, j) for i, j in replaced if i not in pairs and i not in swapped and j not in set(pairs.values())),
        tuple(opposites),
        tuple(i for i in claim.content if i not in pairs and i not in swapped),
    )


def _tight(claim: Analysis, chain: dict[int, int], pairs: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    positions = [i for i, word in enumerate(claim.words) if word.content or word.figure or word.marked]
    rank = {i: place for place, i in enumerate(positions)}
    for i, j in pairs:
        around = positions[max(0, rank[i] - 1) : rank[i]] + positions[rank[i] + 1 : rank[i] + 2]
        if around and all(side in chain and abs(chain[side] - j) <= 4 for side in around):
            yield i, j


def _neighbours(claim: Analysis, passage: Analysis, pairs: dict[int, int], i: int, j: int) -> bool:
    """Does another word near `i` agree with a word near `j`?"""
    return any(abs(other - i) <= 4 and abs(where - j) <= 8 for other, where in pairs.items() if other != i)


def _chain(
    claim: Analysis, passage: Analysis, ours: list[int], theirs: list[int]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]], list[tuple[int, int]]]:
    rows, columns = len(ours), len(theirs)
    like = [[likeness(claim.words[i], passage.words[j]) for j in theirs] for i in ours]
    score = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    step = [bytearray(columns + 1) for _ in range(rows + 1)]  # 1 both, 2 claim word alone, 3 passage word alone
    for r in range(1, rows + 1):
        score[r][0] = r * _CLAIM_GAP
        step[r][0] = 2
    for r in range(1, rows + 1):
        above, here, moves, likes = score[r - 1], score[r], step[r], like[r - 1]
        free = r == rows
        for c in range(1, columns + 1):
            best = above[c - 1] + (likes[c - 1] * 2 if likes[c - 1] else _SUBSTITUTE)
            move = 1
            if (other := above[c] + _CLAIM_GAP) > best:
                best, move = other, 2
            if (other := here[c - 1] + (0.0 if free else _PASSAGE_GAP)) > best:
                best, move = other, 3
            here[c] = best
            moves[c] = move
    chain: list[tuple[int, int]] = []
    replaced: list[tuple[int, int]] = []
    opposites: list[tuple[int, int]] = []
    r, c = rows, columns
    while r and c:
        move = step[r][c]
        if move == 1:
            pair = (ours[r - 1], theirs[c - 1])
            found = like[r - 1][c - 1]
            (chain if found > OPPOSITE else opposites if found else replaced).append(pair)
            r, c = r - 1, c - 1
        elif move == 2:
            r -= 1
        else:
            c -= 1
    return chain[::-1], replaced[::-1], opposites[::-1]
