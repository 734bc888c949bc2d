"""Words of the papers that a question may have meant: "difusion" is in none, "diffusion" in three."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from difflib import SequenceMatcher, get_close_matches
from typing import Final

from rag.catalogue import Catalogue
from rag.fulltext import FullText
from rag.text import has_cjk, stems, tokens

_SHORTEST: Final = 6  # letters of a word; shorter ones are all alike
_SHORTEST_NAME: Final = 5
_SHORTEST_PART: Final = 4  # of a word with hyphens
_STEMS: Final = 20  # the nearest stems, whose words are compared
_STEM_RATIO: Final = 0.7
_READ: Final = 30  # papers that are read for how they write a stem
_PART = re.compile(r"[^\W\d_]+")


def suggestions(question: str, frequency: Mapping[str, int], catalogue: Catalogue) -> dict[str, str]:
    """Words of the question that are in no paper, each as a word of the papers that differs by one letter, or by two
    that changed places.

    `frequency` has the question's stems and in how many papers they are.
    """
    found: dict[str, str] = {}
    for word in (token.text for token in tokens(question)):
        if len(word) < (_SHORTEST if word[1:].islower() else _SHORTEST_NAME) or has_cjk(word):
            continue
        missing = [part for part in _PART.findall(word) if any(not frequency.get(stem, 1) for stem in stems(part))]
        meant = {part: _nearest(part, catalogue) for part in missing if len(part) >= _SHORTEST_PART}
        if missing and len(meant) == len(missing) and all(meant.values()):
            found[word] = _PART.sub(lambda part: meant.get(part[0], part[0]), word)  # noqa: B023 (used at once)
    return found


def _nearest(word: str, catalogue: Catalogue) -> str:
    """The word of the papers that begins alike and is most alike, of several the commonest; "" where none is near."""
    (stem,) = stems(word)
    full_text = FullText(catalogue)
    terms = [term for term in full_text.stems_beside(stem) if term.isalpha()]
    likeness: dict[str, tuple[float, int]] = {}
    for term in get_close_matches(stem, terms, _STEMS, _STEM_RATIO):
        for written, count in _written(term, full_text).items():
            ratio = SequenceMatcher(None, written.lower(), word.lower(), autojunk=False).ratio()
            if ratio >= 1 - 1 / max(len(written), len(word)):
                likeness[written] = (ratio, count)
    near = max(likeness, key=lambda written: likeness[written], default="")
    return near.lower() if word.islower() and near[1:].islower() else near  # it may have begun a sentence


def _written(stem: str, full_text: FullText) -> Counter[str]:
    """The words that have this stem, by how often they stand in the first papers that are found."""
    texts = full_text.texts_with(stem, _READ)
    return Counter(part for text in texts for part in _PART.findall(text) if stems(part) == [stem])
