"""What a sentence of an answer is about where only the question says so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rag.grounding.analysis import Analysis
from rag.grounding.failure import Failure, Kind
from rag.grounding.figures import agrees, labels

_PRONOUN = re.compile(r"\b(?:its?|they|their|these|those|this|he|she|his|her)\b", re.IGNORECASE)


def attributed(claim: Analysis, passage: Analysis, asked: Iterable[str], failed: Sequence[Failure]) -> list[Failure]:
    """What fails of a claim without a name ("its success rate …") whose figures are of what was `asked` about, names in
    lower case: a figure that the passage gives to another name beside one of those fails, and one that it gives to
    them is in its place."""
    failures = list(failed)
    if claim.names or not _PRONOUN.search(claim.text):
        return failures
    owners = _owners(passage)
    names = {name for name in asked if any(name in owner for _, _, owner in owners)}
    for quantity in claim.quantities if names else ():
        beside = [_nearest(owners, other.start) for other in passage.quantities if agrees(quantity, other)]
        shown = quantity.text.strip()
        if any(owner is not None and any(name in owner for name in names) for owner in beside):
            failures = [one for one in failures if (one.kind, one.part) != (Kind.FIGURE, shown)]
        elif beside and None not in beside:
            failures.append(Failure(Kind.FIGURE, shown, f"“{shown}”: the source says this of “{beside[0]}”", True))
    return failures


def _owners(passage: Analysis) -> list[tuple[int, int, str]]:
    """The names of a passage, neighbours as one ("Claude 4 Sonnet"), in lower case."""
    found: list[tuple[int, int, str]] = []
    for start, end, _ in labels(passage):
        if found and not passage.text[found[-1][1] : start].strip():
            start = found.pop()[0]
        found.append((start, end, passage.text[start:end].lower()))
    return found


def _nearest(owners: list[tuple[int, int, str]], at: int) -> str | None:
    """The last name before a place; None where there is none."""
    return next((owner for _, end, owner in reversed(owners) if end <= at), None)
