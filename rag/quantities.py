"""Numbers in plain text, with unit, sign, range and comparator, so that they can be compared exactly."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

_NUMBER = re.compile(
    r"(?P<comparator>[<>≤≥~≈±])?\s?(?<![\w.-])(?P<number>[-−+]?\d+(?:,\d{3})*(?:\.\d+)?)\s?(?P<unit>%|×|x\b|K\b|M\b|B\b)?(?!\w)"
)
_SCALE = {"K": 3, "M": 6, "B": 9}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number or range; `low == high` for a single number."""

    low: Decimal
    high: Decimal
    unit: str
    comparator: str
    start: int
    end: int
    text: str
    weight: float = 1.0


def quantities(text: str) -> list[Quantity]:
    """The quantities in `text`, in order."""
    found = []
    for match in _NUMBER.finditer(text):
        value = Decimal(match["number"].replace(",", "").replace("−", "-"))
        unit = match["unit"] or ""
        value = value.scaleb(_SCALE.get(unit, 0))
        unit = "" if unit in _SCALE else "×" if unit == "x" else unit
        found.append(Quantity(value, value, unit, match["comparator"] or "", match.start(), match.end(), match.group()))
    return found


def same(a: Quantity, b: Quantity) -> bool:
    """Whether both state the same."""
    return (a.low, a.high, a.unit, a.comparator) == (b.low, b.high, b.unit, b.comparator)
