"""What is told while an answer comes into being."""

from __future__ import annotations

from dataclasses import dataclass

from rag.answer import Answer, Sentence, Source


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The question that is searched for, when it is not the one that was asked."""

    question: str


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The papers that were found, best first."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """More words, without markers, as the model writes them. A `Checked` sentence takes the place of its words."""

    text: str


@dataclass(frozen=True, slots=True)
class Checked:
    """A finished sentence with its verdict and citations."""

    sentence: Sentence


@dataclass(frozen=True, slots=True)
class Rechecked:
    """The final verdict on a sentence that was still being checked: it takes the place of the one that is shown at
    `place`, counted from 0; None takes that one away."""

    place: int
    sentence: Sentence | None


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """What was shown so far turned out to be the model's thoughts: nothing of it stays."""


@dataclass(frozen=True, slots=True)
class Done:
    """The whole answer; always the last event."""

    answer: Answer


Event = Rewritten | Retrieved | Words | Checked | Rechecked | Withdrawn | Done
