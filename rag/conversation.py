"""What was said before a question."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """One question with its answer; `papers` are the ids of the papers the answer cited."""

    question: str
    answer: str
    papers: tuple[str, ...] = ()
