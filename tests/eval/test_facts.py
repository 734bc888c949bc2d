"""Whether an answer states a key fact: near misses must not count."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from eval.facts import Fact, holds, is_figure

FACT: TypeAdapter[Fact] = TypeAdapter(Fact)


@pytest.mark.parametrize(
    ("fact", "answer", "expected"),
    [
        ("Flux", "It was tried on HunyuanVideo and FLUX.", True),
        ("Flux", "an influx of papers", False),
        ("IL-6", "levels of IL‑6 fell", True),
        ("IL-6", "levels of IL-60 fell", False),
        ("decoder model", "smaller than decoder models", True),
        ("fine grained", "Fine-grained distinctions", True),
        ("信息瓶颈", "本文使用信息瓶颈原理", True),
        ({"number": "20.39", "unit": "%"}, "up by 20.39% on average", True),
        ({"number": "20.39", "unit": "%"}, "up by 20.39 percent", True),
        ({"number": "20.39", "unit": "%"}, "up by 20.4 %", False),
        ({"number": "20.39", "unit": "%"}, "it took 20.39 hours", False),
        ({"number": "20", "unit": "%"}, "between 20–25 % of them", True),
        ({"number": "28", "unit": "%"}, "128 % more", False),
        ({"number": "28", "unit": "%"}, "2.8 % more", False),
        ({"number": "28", "unit": "%"}, "0.28 % or 28.5%", False),
        ({"number": "5.9", "unit": "points"}, "a 5.9-point gain", True),
        ({"number": "100000", "unit": "facts"}, "keeps 100,000 facts", True),
        ({"number": "133000000000"}, "a 133B model", True),
        ({"number": "1200000"}, "1.2 million pairs", True),
        ({"number": "7", "unit": "×"}, "is 7x faster", True),
        ({"number": "7", "unit": "×"}, "in 7 days", False),
        ({"number": "3"}, "three benchmarks", True),
        ({"number": "-3.2"}, "fell by 3.2", True),
        ({"number": "3.2"}, "changed by -3.2", False),
        ({"number": "25", "unit": "%"}, "between 20–25 % of them", True),
        ({"number": "6"}, "GPT-4 and IL-6", False),
        ({"any": ["WAN 2.1", "Wan2.1"]}, "with Wan2.1.", True),
        ({"any": [{"number": "0.2"}, {"number": "20", "unit": "%"}]}, "20% of it", True),
        ({"pattern": r"\bnot? (significant|different)"}, "It was NOT significant", True),
        ({"pattern": "^never$"}, "It never was", False),
    ],
)
def test_holds(fact: object, answer: str, expected: bool) -> None:
    assert holds(FACT.validate_python(fact), answer) is expected


@pytest.mark.parametrize(
    ("fact", "reason"),
    [
        ({"number": "twenty"}, "not a number"),
        ({"number": "NaN"}, "not a number"),
        ({"pattern": "("}, "not a regular expression"),
        ({"any": []}, "at least 1"),
        ({"number": "1", "units": "%"}, "units"),
        ("  ", "at least 1 character"),
    ],
)
def test_a_fact_that_could_never_hold_is_refused(fact: object, reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        FACT.validate_python(fact)


def test_figures_are_told_apart_from_words() -> None:
    facts = [FACT.validate_python(raw) for raw in ("20", {"number": "20"}, {"any": ["twenty", {"number": "20"}]})]
    assert [is_figure(fact) for fact in facts] == [False, True, True]
