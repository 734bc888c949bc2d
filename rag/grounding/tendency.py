"""Which way things go: does the evidence say "more" or "less" of what the claim says "more" or "less" of?

For claims in other words than the evidence's, where no word stands in another's place. Around words that both share,
the signs of direction words are compared, a negation turning the sign round.
"""

from __future__ import annotations

from collections.abc import Sequence

from rag.grounding import lexicon
from rag.grounding.analysis import Analysis

_REACH_CLAIM, _REACH_PASSAGE = 5, 6  # words around a direction word within which the shared words are looked for
_CAUTION = 0.3  # keeps one weak sign from deciding


def tendency(claim: Analysis, passages: Sequence[tuple[Analysis, float]]) -> float:
    """-1 (all signs differ) to 1 (all agree), 0 where there is nothing to compare.

    `passages` are the nearest sentences with their cosines; a sentence counts by its cosine squared.
    """
    signs = [(i, sign) for i, word in enumerate(claim.words) if (sign := lexicon.sign(word.key))]
    if not signs:
        return 0.0
    denied = [_denied(claim, i) for i, _ in signs]
    around = [_around(claim, i) for i, _ in signs]
    same = different = 0.0
    for passage, cosine in passages:
        places: dict[str, list[int]] = {}
        for j in passage.content:
            places.setdefault(passage.words[j].key, []).append(j)
        for j, word in enumerate(passage.words):
            other = lexicon.sign(word.key)
            if not other:
                continue
            turned = _denied(passage, j)
            for (_, sign), near, refused in zip(signs, around, denied, strict=True):
                if not near:
                    continue
                shared = sum(any(abs(at - j) <= _REACH_PASSAGE for at in places.get(key, ())) for key in near)
                weight = max(0.0, cosine) ** 2 * shared / len(near)
                if (sign == other) == (turned == refused):
                    same += weight
                else:
                    different += weight
    return (same - different) / (same + different + _CAUTION)


def _denied(text: Analysis, index: int) -> bool:
    return sum(scope.strict for scope in text.scopes if index in scope.words) % 2 == 1


def _around(claim: Analysis, index: int) -> list[str]:
    first, last = max(0, index - _REACH_CLAIM), index + _REACH_CLAIM + 1
    return [
        claim.words[i].key
        for i in range(first, min(last, len(claim.words)))
        if claim.words[i].content and i != index and not lexicon.sign(claim.words[i].key)
    ]
