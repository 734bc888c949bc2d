"""The guard on names: what the claim says of a system, the passage must say of that system."""

from __future__ import annotations

from collections.abc import Iterator

from rag.grounding import lexicon
from rag.grounding.alignment import Alignment
from rag.grounding.analysis import Analysis, Word
from rag.grounding.failure import Context, Failure, Kind


def names(alignment: Alignment, context: Context) -> Iterator[Failure]:
    """Names of the claim that are not what the passage speaks of."""
    yield from _present(alignment, context)
    yield from _binding(alignment)


def _present(alignment: Alignment, context: Context) -> Iterator[Failure]:
    claim, passage = alignment.claim, alignment.passage
    places = dict(alignment.replaced)
    there = {word.key for word in passage.names}
    for index, word in enumerate(claim.words):
        if not word.name or index in alignment.pairs:
            continue
        rival = passage.words[places[index]] if index in places else None
        if rival is not None and rival.name and rival.key not in {other.key for other in claim.names}:
            yield Failure(Kind.NAME, word.text, f"“{word.text}”: the source speaks of “{rival.text}”", True)
        elif word.key in context.own:
            rivals = [other for other in passage.names if other.key not in {name.key for name in claim.names}]
            subject = _subject_name(alignment)
            if (
                subject is not None
                and subject.key not in context.own
                and subject in rivals
                and _is_subject(claim, word)
            ):
                yield Failure(Kind.NAME, word.text, f"“{word.text}”: the source says this of “{subject.text}”", True)
        elif word.key in context.names:
            yield Failure(Kind.NAME, word.text, f"the source does not say this of “{word.text}”", False)
        elif not (word.parts and set(word.parts) <= (passage.parts | context.keys)) and word.key not in there:
            yield Failure(Kind.NAME, word.text, f"“{word.text}” is not in the source", False)


def _is_subject(analysis: Analysis, word: Word) -> bool:
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
    for other, total in weight.items():
        if not homes or other in homes or total < 2 or total <= 2 * at_home:
            continue
        before = [w for j, w in enumerate(passage.words) if clause[j] == other and w.name and j < first[other]]
        rival = next((word for word in before if word.key not in keys), None)
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
