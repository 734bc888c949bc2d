"""Who did what to whom: "A outperforms B" is not "B outperforms A", but it is "B is outperformed by A"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from rag.grounding import lexicon
from rag.grounding.alignment import OPPOSITE, Alignment, likeness
from rag.grounding.analysis import Analysis, Word

_COMPARATIVE = re.compile(
    r"^(?:better|worse|higher|lower|faster|slower|larger|smaller|greater|fewer|less|more|stronger|weaker|easier|harder|"
    r"longer|shorter|cheaper|safer|earlier|later|superior|inferior|rather|\w{3,}er)$",
    re.IGNORECASE,
)
_TRANSITIVE = """outperform surpass exceed beat outdo dominate underperform trail replace inhibit activate cause induce
    affect increase decrease reduce improve enhance suppress promote block regulate upregulate downregulate mediate
    predict determine drive influence precede follow bind target stimulate produce trigger lead contain include
    require enable prevent support contradict transmit infect generate convert transform extend generalize subsume
    imply use combine"""
_BE = frozenset(("is", "are", "was", "were", "be", "been", "being", "gets", "got", "get"))
_BREAK = re.compile(r"[;:()]|\b(?:but|while|whereas|which|that|because|although|when|if)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Relation:
    """`agent` stands to `patient` in the relation `key`; both are the content words on that side."""

    key: str
    text: str
    agent: tuple[Word, ...]
    patient: tuple[Word, ...]


def relations(analysis: Analysis) -> Iterator[Relation]:
    """The asymmetric relations of a sentence, passives turned round."""
    words = analysis.words
    verbs = _verbs()
    for index, word in enumerate(words):
        lower = word.text.lower()
        if word.key in verbs and not word.name:
            agent, patient = _side(analysis, index, -1), _side(analysis, index, 1)
            if _passive(words, index):
                by = next(
                    (k for k in range(index + 1, min(index + 4, len(words))) if words[k].text.lower() == "by"), None
                )
                if by is None:
                    continue
                agent, patient = _side(analysis, by, 1), agent
            if agent and patient:
                yield Relation(word.key, word.text, agent, patient)
        elif lower == "than":
            than = next(
                (k for k in range(index - 1, max(index - 7, -1), -1) if _COMPARATIVE.match(words[k].text)), None
            )
            if than is None:
                continue
            between = tuple(word for word in words[than + 1 : index] if word.content)
            agent, patient = (*between[::-1], *_side(analysis, than, -1)), _side(analysis, index, 1)
            if agent and patient:
                yield Relation("than " + words[than].key, words[than].text + " than", agent, patient)


def swapped(alignment: Alignment) -> str | None:
    """The claim's relation whose two sides are exchanged in the passage, as text; None when there is none."""
    for ours in relations(alignment.claim):
        for theirs in relations(alignment.passage):
            if _same_relation(ours.key, theirs.key) and _crossed(ours, theirs):
                return f"{_show(ours.agent)} {ours.text} {_show(ours.patient)}"
    return None


def _crossed(ours: Relation, theirs: Relation) -> bool:
    agent, patient = _apart(ours.agent, ours.patient)
    other_agent, other_patient = _apart(theirs.agent, theirs.patient)
    straight = _overlap(agent, other_agent), _overlap(patient, other_patient)
    crossed = _overlap(agent, other_patient), _overlap(patient, other_agent)
    if min(crossed) >= 0.5 and max(straight) < 0.5:
        return True
    names = {word.key for word in ours.agent if word.name}
    return (
        bool(names & {word.key for word in other_patient if word.name})
        and not names & {word.key for word in theirs.agent if word.name}
        and not straight[1]
    )


def _apart(one: tuple[Word, ...], other: tuple[Word, ...]) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """Both sides without what they share ("encoder models … decoder models")."""
    left = tuple(word for word in one if all(word.key != there.key for there in other))
    right = tuple(word for word in other if all(word.key != there.key for there in one))
    return left, right


def _same_relation(one: str, other: str) -> bool:
    if one == other:
        return True
    if one.startswith("than ") != other.startswith("than "):
        return False
    return lexicon.synonymous(one.removeprefix("than "), other.removeprefix("than "))


def _show(words: tuple[Word, ...]) -> str:
    return " ".join(word.text for word in words[:3])


@cache
def _verbs() -> frozenset[str]:
    return frozenset(lexicon.stem(word) for word in _TRANSITIVE.split())


def _passive(words: tuple[Word, ...], index: int) -> bool:
    return words[index].text.lower().endswith(("ed", "en", "t")) and any(
        words[k].text.lower() in _BE for k in range(max(0, index - 3), index)
    )


def _side(analysis: Analysis, index: int, direction: int) -> tuple[Word, ...]:
    """Up to four content words before (-1) or after (1) a word, within its clause, nearest first."""
    found: list[Word] = []
    position = index + direction
    words = analysis.words
    while 0 <= position < len(words) and len(found) < 4:
        left, right = sorted((position, position - direction))
        if found and _BREAK.search(analysis.text[words[left].end : words[right].start]):
            break
        if _BREAK.fullmatch(words[position].text):
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
    hits = sum(any(likeness(word, other) > OPPOSITE for other in theirs) for word in ours)
    return hits / min(len(ours), len(theirs)) if ours and theirs else 0.0
