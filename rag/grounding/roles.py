"""Who did what to whom: "A outperforms B" is not "B outperforms A", but it is "B is outperformed by A"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from rag.grounding import lexicon
from rag.grounding.alignment import OPPOSITE, Alignment, likeness
from rag.grounding.analysis import Analysis, Word

_AHEAD = (
    "outperform", "surpass", "exceed", "beat", "beaten", "outdo", "dominate", "better", "superior", "ahead", "above",
)  # fmt: skip
_BEHIND = ("underperform", "trail", "lag", "worse", "inferior", "behind", "below")
_ALONE = frozenset((*_AHEAD[:7], *_BEHIND[:3]))  # verbs; the rest need "than", "to", "of" or nothing after them
_COMPARATIVE = re.compile(r"^(?:better|worse|less|more|fewer|superior|inferior|\w{3,}er)$", re.IGNORECASE)
_NOT_COMPARATIVE = frozenset((
    "rather", "other", "whether", "either", "neither", "transformer", "number", "paper", "layer", "under", "over",
    "further", "however", "after", "never", "encoder", "decoder", "computer", "order", "user", "per",
))  # fmt: skip
_DIRECTED = (
    "replace", "inhibit", "activate", "cause", "induce", "affect", "suppress", "promote", "block", "regulate",
    "mediate", "predict", "drive", "influence", "precede", "follow", "stimulate", "trigger", "contain", "require",
    "enable", "prevent", "contradict", "transmit", "infect", "generate", "transform", "subsume", "imply", "extend",
)  # fmt: skip
_NO_VERB = re.compile(r"(?:ions?|ments?|ances?|al|tors?)$")  # "code generation", "in general", "the generator"
_BE = frozenset(("is", "are", "was", "were", "be", "been", "being", "gets", "got", "get"))
_BASELINE = re.compile(r"^(?:against|over|versus|vs|unlike|than)$", re.IGNORECASE)
_ASIDE = re.compile(r"^(?:on|in|with|for|at|by|under|when|using)$", re.IGNORECASE)
_BREAK = re.compile(r"[;:()]|\b(?:but|while|whereas|which|that|because|although|when|if)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Relation:
    """`agent` stands to `patient` in the relation `axis`, or the other way round where `sign` is -1.

    Both sides are content words, nearest first. A relation without an axis is "measured against".
    """

    axis: str
    sign: int
    text: str
    agent: tuple[Word, ...]
    patient: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Relations:
    """How a claim's relations compare with the passage's.

    `straight`: one is there with the same roles, by the stems `words`. `crossed`: the text of one whose roles are
    exchanged, or "".
    """

    straight: bool = False
    crossed: str = ""
    words: frozenset[str] = frozenset()


def compared(alignment: Alignment) -> Relations:
    """Look every relation of the claim up in the passage."""
    theirs = list(relations(alignment.passage))
    measured = baselines(alignment.passage) if theirs else frozenset()
    straight, crossed, misplaced = False, "", ""
    words: set[str] = set()
    for ours in relations(alignment.claim) if theirs else ():
        found = [(_compare(ours, other), other.axis) for other in theirs if not _only_baseline(ours, other, measured)]
        if same := [axis for outcome, axis in found if outcome == 1]:
            straight = True
            words.update((ours.axis, lexicon.stem(ours.text.split(" ")[0]), *same))  # "fewer … than" for "more … than"
            continue
        shown = " ".join((_show(ours.agent), ours.text, _show(ours.patient)))
        if any(outcome == -1 for outcome, _ in found):
            crossed = crossed or shown
        elif ours.axis and any(_only_baseline(ours, other, measured) and _same_axis(ours, other) for other in theirs):
            misplaced = misplaced or shown
    return Relations(straight, misplaced or ("" if straight else crossed), frozenset(words))


def relations(analysis: Analysis) -> Iterator[Relation]:
    """The asymmetric relations of a sentence, passives turned round."""
    words = analysis.words
    for index, word in enumerate(words):
        lower = word.text.lower()
        if word.key in _stems((*_DIRECTED, *_ALONE)) and not word.name and not _NO_VERB.search(lower):
            yield from _verb(analysis, index)
        elif lower == "than" and not word.figure:
            yield from _than(analysis, index)
        elif lower in ("superior", "inferior", "ahead", "behind", "above", "below"):
            agent, patient = _side(analysis, index, -1), _side(analysis, index, 1)
            if agent and patient and not any(k.text.lower() == "than" for k in words[index : index + 4]):
                yield Relation(word.key, _sign(word.key), word.text, agent, patient)
        if _BASELINE.match(word.text):
            before = tuple(other for other in words[:index] if other.name)
            after = tuple(other for other in _side(analysis, index, 1) if other.name)
            later = tuple(other for other in words[index:] if other.name and other not in after)
            if after and (before or later):
                yield Relation("", 1, word.text, (*before, *later), after)


def _verb(analysis: Analysis, index: int) -> Iterator[Relation]:
    words, word = analysis.words, analysis.words[index]
    agent, patient = _side(analysis, index, -1), _side(analysis, index, 1)
    if word.text.lower().endswith(("ed", "en", "t")) and any(
        other.text.lower() in _BE for other in words[max(0, index - 3) : index]
    ):
        by = next((k for k in range(index + 1, min(index + 4, len(words))) if words[k].text.lower() == "by"), None)
        if by is None:
            return
        agent, patient = _side(analysis, by, 1), agent
    if agent and patient:
        yield Relation(word.key, _sign(word.key), word.text, agent, patient)


def _than(analysis: Analysis, index: int) -> Iterator[Relation]:
    words = analysis.words
    patient = _side(analysis, index, 1)
    for k in range(index - 1, max(index - 9, -1), -1):
        lower = words[k].text.lower()
        if not _COMPARATIVE.match(lower) or lower in _NOT_COMPARATIVE:
            continue
        agent = (*(word for word in words[k + 1 : index][::-1] if word.content), *_side(analysis, k, -1))
        axis, sign = words[k].key, _sign(words[k].key)
        if lower in ("more", "less", "fewer") and k + 1 < index and words[k + 1].content:
            axis, sign = words[k + 1].key, 1 if lower == "more" else -1
        if agent and patient:
            yield Relation(axis, sign, f"{words[k].text} … than", agent, patient)


def baselines(analysis: Analysis) -> frozenset[str]:
    """Names that a sentence has only as what something else is measured against ("beats every set, A and B too")."""
    words, measured = analysis.words, set[int]()
    for index, word in enumerate(words):
        verb = word.key in _stems(_AHEAD[:7]) and not any(
            other.text.lower() in _BE for other in words[max(0, index - 3) : index]
        )
        if verb or _BASELINE.match(word.text):
            measured.update(k for k in _phrase(analysis, index) if words[k].name)
    spoken_of = {word.key for index, word in enumerate(words) if word.name and index not in measured}
    return frozenset(words[index].key for index in measured) - spoken_of


def baseline_words(analysis: Analysis) -> frozenset[int]:
    """The places of all words in phrases that name what something is measured against ("against uncompressed Muon")."""
    words = analysis.words
    return frozenset(
        k for index, word in enumerate(words) if _BASELINE.match(word.text) for k in _phrase(analysis, index)
    )


def _phrase(analysis: Analysis, index: int) -> Iterator[int]:
    """The words after a word up to the end of its clause; a comma and an "and" may stand between two names."""
    words = analysis.words
    for k in range(index + 1, len(words)):
        between = analysis.text[words[k - 1].end : words[k].start]
        if _BREAK.search(between) or _BREAK.fullmatch(words[k].text) or _ASIDE.fullmatch(words[k].text):
            return
        closing = "," in between and (words[k].text.lower() == "and" or not words[k].name)
        if closing and not (k + 1 < len(words) and words[k + 1].name):
            return
        yield k


def _only_baseline(ours: Relation, theirs: Relation, measured: frozenset[str]) -> bool:
    """Is the one that does it by the claim nothing but a baseline in the passage, and none that does this there?"""
    sign = _same_axis(ours, theirs)
    agent, patient = (ours.agent, ours.patient) if sign >= 0 else (ours.patient, ours.agent)
    named = {word.key for word in _apart(agent, patient)[0] if word.name}
    return bool(named) and named <= measured and not (theirs.axis and any(word.key in named for word in theirs.agent))


def _compare(ours: Relation, theirs: Relation) -> int:
    """1 for the same roles, -1 for exchanged ones, 0 for nothing to say."""
    sign = _same_axis(ours, theirs)
    if not sign:
        return 0
    agent, patient = _apart(ours.agent, ours.patient)
    if sign < 0:
        agent, patient = patient, agent
    other_agent, other_patient = _apart(theirs.agent, theirs.patient)
    straight = _overlap(agent, other_agent), _overlap(patient, other_patient)
    crossed = _overlap(agent, other_patient), _overlap(patient, other_agent)
    if (straight[0] >= 0.5 or straight[1] >= 0.67) and sum(straight) > sum(crossed):
        return 1
    if min(crossed) >= 0.5 and sum(crossed) >= sum(straight) + 0.5:
        return -1
    return -1 if max(crossed) >= 0.6 and sum(straight) == 0 else 0


def _same_axis(ours: Relation, theirs: Relation) -> int:
    if not ours.axis or not theirs.axis:
        return int(ours.axis == theirs.axis)
    sign = ours.sign * theirs.sign
    generic = _stems((*_AHEAD, *_BEHIND, "well"))
    if ours.axis == theirs.axis or (ours.axis in generic and theirs.axis in generic):
        return sign
    if lexicon.opposite(ours.axis, theirs.axis):
        return -sign
    return sign if lexicon.synonymous(ours.axis, theirs.axis) else 0


def ranks(key: str) -> bool:
    """Does this stem put one thing ahead of another?"""
    return key in _stems((*_AHEAD, *_BEHIND))


def _sign(key: str) -> int:
    return -1 if key in _stems(_BEHIND) else 1


@cache
def _stems(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(lexicon.stem(word) for word in words)


def _apart(one: tuple[Word, ...], other: tuple[Word, ...]) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """Both sides without what they share ("encoder models … decoder models")."""
    left = tuple(word for word in one if all(word.key != there.key for there in other))
    right = tuple(word for word in other if all(word.key != there.key for there in one))
    return left, right


def _show(words: tuple[Word, ...]) -> str:
    shown = [word for word in words if word.name] or words
    return " ".join(word.text for word in sorted(shown[:3], key=lambda word: word.start))


def _side(analysis: Analysis, index: int, direction: int) -> tuple[Word, ...]:
    """Up to four content words before (-1) or after (1) a word, within its clause, nearest first."""
    found: list[Word] = []
    position = index + direction
    words = analysis.words
    while 0 <= position < len(words) and len(found) < 4:
        left, right = sorted((position, position - direction))
        if found and _BREAK.search(analysis.text[words[left].end : words[right].start]):
            break
        if _BREAK.fullmatch(words[position].text) or (
            words[position].text.lower() == "and" and analysis.text[words[position].start - 2] == ","
        ):
            break
        if words[position].content:
            found.append(words[position])
        position += direction
    return tuple(found)


def _overlap(ours: tuple[Word, ...], theirs: tuple[Word, ...]) -> float:
    """How much of the shorter side the other side has; names decide where both have some."""
    one_names, other_names = [w for w in ours if w.name], [w for w in theirs if w.name]
    if one_names and other_names:
        ours, theirs = tuple(one_names), tuple(other_names)
        return len({w.key for w in ours} & {w.key for w in theirs}) / min(len(ours), len(theirs))
    hits = sum(any(likeness(word, other) > OPPOSITE for other in theirs) for word in ours)
    return hits / min(len(ours), len(theirs)) if ours and theirs else 0.0
