"""The first phase of an ingest: compare what a source says now with what it said before, and mark the differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import reduce

from rag.catalogue import COLLECTION, Catalogue, opening_key, title_key
from rag.identity import merge, near_identical, same_paper
from rag.papers import Paper, Skipped, normal_text

_REWORDED = 0.6  # share of common words, of the longer text, with a text that vanished from the same source
_MOST_REWORDED = 200  # beyond so many new and vanished texts a source was replaced rather than edited


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync of a source found: papers by what happened to them, rows without a paper, and rows said twice.

    `finished` counts papers that an interrupted ingest had left, `seconds` is the whole time.
    """

    source: str
    new: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    duplicates: int = 0
    finished: int = 0
    skipped: tuple[Skipped, ...] = ()
    seconds: float = 0.0

    @property
    def papers(self) -> int:
        return self.new + self.updated + self.unchanged


@dataclass
class Marking:
    """Takes the items of a source one after the other; `finish` drops what it no longer says. Within one transaction.

    A row is known by its key, the id it would have alone. It may stand for a paper with another id: one that another
    source or row brought before, or the same text before it was edited.
    """

    catalogue: Catalogue
    source: str
    _seen: dict[str, Paper | None] = field(default_factory=dict)  # key → paper when it is new to the source
    _outcomes: dict[str, str] = field(default_factory=dict)  # paper id → "new", "updated" or "unchanged"
    _fresh: dict[str, list[str]] = field(default_factory=dict)  # title or opening words → ids new in this run
    _skipped: list[Skipped] = field(default_factory=list)
    _duplicates: int = 0

    def __post_init__(self) -> None:
        self._number = self.catalogue.source_number(self.source)
        self._before = self.catalogue.origins(self._number)
        recovered = {source.name for source in self.catalogue.sources()} & {COLLECTION} - {self.source}
        self._recovered = self.catalogue.source_number(COLLECTION) if recovered else None

    def add(self, item: Paper | Skipped) -> None:
        if isinstance(item, Skipped):
            self._skipped.append(item)
            return
        if item.id in self._seen:
            self._duplicates += 1
            return
        known = self._before.get(item.id)
        self._seen[item.id] = None if known else item
        target = known[0] if known else self._target(item)
        self._duplicates += target in self._outcomes
        if known and known[1] == item.content_hash:
            self._outcomes.setdefault(target, "unchanged")
        else:
            self._place(item, target)

    def finish(self) -> SyncReport:
        gone = [key for key in self._before if key not in self._seen]
        reworded = self._reworded(gone)
        removed = drop_origins(self.catalogue, self._number, [key for key in gone if key not in reworded])
        self.catalogue.count_change()
        counts = Counter(self._outcomes.values())
        return SyncReport(
            source=self.source,
            new=counts["new"],
            updated=counts["updated"],
            removed=removed,
            unchanged=counts["unchanged"],
            duplicates=self._duplicates,
            skipped=tuple(self._skipped),
        )

    def _place(self, paper: Paper, target: str) -> None:
        """Let this row stand for the paper `target`, and mark that if it changes it."""
        if self._recovered:  # the real source takes the paper over
            self.catalogue.forget_origin(self._recovered, target)
        existing = self._current(target)
        self.catalogue.set_origin(self._number, paper.id, target, paper.content_hash)
        if existing is None:
            self._outcomes[target] = "new"
            self.catalogue.add_pending(replace(paper, id=target))
            for key in (title_key(paper), opening_key(paper)):
                self._fresh.setdefault(key, []).append(target)
            return
        if self.catalogue.origin_count(target) > 1:
            for source, key in self.catalogue.origins_of(target):
                if not self.catalogue.has_variant(source, key):  # it stood for the paper alone so far
                    self.catalogue.set_variant(source, key, target, existing)
            self.catalogue.set_variant(self._number, paper.id, target, paper)
            wanted = union(self.catalogue, target)
        else:
            wanted = replace(paper, id=target)
        changed = wanted.content_hash != existing.content_hash
        if changed:
            self.catalogue.add_pending(wanted)
        if self._outcomes.get(target, "unchanged") == "unchanged":
            self._outcomes[target] = "updated" if changed else "unchanged"

    def _current(self, paper_id: str) -> Paper | None:
        return self.catalogue.pending_paper(paper_id) or self.catalogue.paper(paper_id)

    def _target(self, paper: Paper) -> str:
        """The id of the paper that a row new to the source stands for: its own, or that of the same paper."""
        if existing := self._current(paper.id):
            if not _by_text(paper.id) or near_identical(existing.abstract, paper.abstract):
                return paper.id
            return f"{paper.id}~{paper.content_hash[:8]}"  # that one was edited until it said something else
        return next((other.id for other in self._candidates(paper) if _is_same(other, paper)), paper.id)

    def _candidates(self, paper: Paper) -> Iterator[Paper]:
        """Papers with the same title in any spelling, or whose abstracts open with the same words."""
        yield from self.catalogue.alike(paper)
        for key in (title_key(paper), opening_key(paper)):
            yield from filter(None, map(self._current, self._fresh.get(key, ()) if key else ()))

    def _reworded(self, gone: list[str]) -> set[str]:
        """Keys of vanished papers, known by their text alone, that came back with some words changed.

        They are one paper updated, not one removed and one new: it keeps its id.
        """
        vanished = {
            key: (old, Counter(normal_text(old.abstract).split()))
            for key in gone
            if _by_text(key)
            and self.catalogue.origin_count(self._before[key][0]) == 1
            and (old := self.catalogue.paper(self._before[key][0]))
        }
        fresh = [
            paper
            for key, paper in self._seen.items()
            if paper and _by_text(key) and self._outcomes.get(paper.id) == "new"
        ]
        if max(len(vanished), len(fresh)) > _MOST_REWORDED:
            return set()
        matched: set[str] = set()
        for paper in fresh:
            words = Counter(normal_text(paper.abstract).split())
            alike = {
                key: 1.0 if title_key(paper) and title_key(paper) == title_key(old) else _common(words, others)
                for key, (old, others) in vanished.items()
                if key not in matched
            }
            best = max(alike, key=lambda key: alike[key], default="")
            if best and alike[best] >= _REWORDED:
                matched.add(best)
                drop_origins(self.catalogue, self._number, [paper.id])
                self.catalogue.forget_origin(self._number, best)
                del self._outcomes[paper.id]
                self._place(paper, self._before[best][0])
        return matched


def drop_origins(catalogue: Catalogue, source: int, keys: Iterable[str]) -> int:
    """Forget that the source lists these rows. Papers that nobody lists any more are removed and counted; of the
    others only what the remaining rows say stays."""
    removed = 0
    for key in keys:
        target = catalogue.forget_origin(source, key)
        if not target:
            continue
        if catalogue.origin_count(target) == 0:
            catalogue.remove(target)
            removed += 1
        elif catalogue.variants(target):
            wanted = union(catalogue, target)
            now = catalogue.pending_paper(target) or catalogue.paper(target)
            if now is None or now.content_hash != wanted.content_hash:
                catalogue.add_pending(wanted)
    return removed


def union(catalogue: Catalogue, paper_id: str) -> Paper:
    """One paper of all that is said of it: what was said last comes first, and fills its gaps from the others."""
    return replace(reduce(merge, catalogue.variants(paper_id)), id=paper_id)


def _by_text(key: str) -> bool:
    return key.startswith("hash:")


def _is_same(known: Paper, paper: Paper) -> bool:
    """As `same_paper`, but of two untitled texts only an equal one is the same: a list knows its own items."""
    return bool(known.title or paper.title) and same_paper(known, paper)


def _common(a: Counter[str], b: Counter[str]) -> float:
    return (a & b).total() / max(1, a.total(), b.total())
