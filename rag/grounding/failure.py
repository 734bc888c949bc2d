"""What can fail between a claim and a passage, and what the passage's paper may say elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    FIGURE = "figure"
    NAME = "name"
    NEGATION = "negation"
    DIRECTION = "direction"
    ROLES = "roles"
    OVERREACH = "overreach"


@dataclass(frozen=True, slots=True)
class Failure:
    """What in the claim does not hold: `part` of the claim, the `note` for the reader, conflict or silence."""

    kind: Kind
    part: str
    note: str
    conflict: bool


@dataclass(frozen=True, slots=True)
class Context:
    """What a passage may leave unsaid because its paper says it elsewhere.

    `names` are the keys of all names in title and abstract, `own` those that the paper introduces as its own, `main`
    those of them that its title bears: its parts' doings are its own.
    """

    names: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    main: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
