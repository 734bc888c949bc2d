"""Numbers with units, signs, ranges and comparators: what is read, what is not, and what is the same."""

from __future__ import annotations

import csv
import gzip
import time
from decimal import Decimal
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.markup import plain_text
from rag.quantities import Quantity, quantities, rounds_to, same, same_value


def shown(quantity: Quantity) -> str:
    """ "<=5..7 %": comparator, value, unit."""
    low, high = (format(value.normalize(), "f") for value in (quantity.low, quantity.high))
    value = low if low == high else f"{low}..{high}"
    return f"{quantity.comparator}{value} {quantity.unit}".strip()


READ = [
    ("a gain of 20.39 % and 5%", "20.39 % | 5 %"),
    ("1,500 or 1\u2009500 of 10,000,000", "1500 | 1500 | 10000000"),
    ("133B, 1.5 M, 10k, 7b, 1.2T tokens", "133000000000 | 1500000 | 10000 | 7000000000 | 1200000000000"),
    ("2 million, 1.5 billion, 3 thousand", "2000000 | 1500000000 | 3000"),
    ("7×, 7x faster, 7 × faster, ×7, 2-fold, 3 times", "7 × | 7 × | 7 × | 7 × | 2 × | 3 ×"),
    ("-3.2, −3.2, +3.4, (–5)", "-3.2 | -3.2 | 3.4 | -5"),
    ("p < 0.05; p<.001; p ≤ 0.1; x >= 3; ≈0.77; < or =10", "<0.05 | <0.001 | <=0.1 | >=3 | ~0.77 | <=10"),
    ("10–25 %, 10-25%, 10 % to 25 %, between 10 and 25 %", "10..25 % | 10..25 % | 10..25 % | 10..25 %"),
    ("4.8∼14.2%, 100-200×, 5–10K, 1-3B", "4.8..14.2 % | 100..200 × | 5000..10000 | 1000000000..3000000000"),
    ("from 44.1% to 52.3%; from 10 to 25 %", "44.1 % | 52.3 % | 10 % | 25 %"),
    ("ranging from 2 to 5; in 2020-2024 and 2020–24", "2..5 | 2020..2024 | 2020..2024"),
    ("1.76 (95 % CI 1.11–2.78), CI: 1.11, 2.78", "1.76 | 95 % | 1.11..2.78 | 1.11..2.78"),
    ("0·15 (95% CI 0·07 to 0·34), RD −14·3%", "0.15 | 95 % | 0.07..0.34 | -14.3 %"),
    ("±0.3 and 76.3 ± 0.4", "±0.3 | 76.3 | ±0.4"),
    ("40+, over 40, at least 5, up to 7×, less than 3", ">=40 | >40 | >=5 | <=7 × | <3"),
    ("12 or more, 90%+, 50K+, about 20 %, ~5", ">=12 | >=90 % | >=50000 | ~20 % | ~5"),
    ("gains of 2 % over 3 baselines", "2 % | 3"),
    ("$5 million, US$5, €3, 5 dollars, $5-$10", "5000000 $ | 5 $ | 3 € | 5 $ | 5..10 $"),
    ("1e-3, 10^{-3}, 10^-3, 10⁻³, 3.7×10^5, 2^16", "0.001 | 0.001 | 0.001 | 0.001 | 370000 | 65536"),
    ("2020-05-12, 12 May 2020, May 12, 2020", "20200512 date | 20200512 date | 20200512 date"),
    ("in 2020 and the 1990s", "2020 | 1990"),
    ("5 ms, 3 µg, 3 μg, 80GB, 37 °C, 2 h, 5s, 3 mg/kg", "5 ms | 3 µg | 3 µg | 80 GB | 37 °C | 2 h | 5 s | 3 mg/kg"),
    ("3 percentage points, 5.95 points, +7.3 pp", "3 pp | 5.95 pp | 7.3 pp"),
    ("提升了20%，超过40个，20万张，3.5倍，约５％，3个百分点", "20 % | >40 | 200000 | 3.5 × | ~5 % | 3 pp"),
    ("256×256, 3 x 3, 2x40, 8×H100", "256 | 256 | 3 | 3 | 2 | 40 | 8"),
    ("2–4×lower latency, 5%of", "2..4 × | 5 %"),
    ("17/20 tasks, 3/4, 80/20", "0.85 | 0.75 | 80 | 20"),
    ("top-5, 16-layer, 4-bit, 30-day, 1st", "5 | 16 | 4 bit | 30 day | 1 th"),
    ("two, twelve, a dozen, twenty-five, two million", "2 | 12 | 12 | 25 | 2000000"),
    ("twice, half, twofold, three times, two percent", "2 × | 0.5 | 2 × | 3 × | 2 %"),
    ("an order of magnitude, 3 orders of magnitude", "1 order of magnitude | 3 order of magnitude"),
    ("GPT-J (6B) and Llama 3.1 8B on A100 80GB", "6000000000 | 3.1 | 8000000000 | 80 GB"),
    ("k=5, n = 100, .5, 100%.", "5 | 100 | 0.5 | 100 %"),
]

NOT_READ = [
    "GPT-4, C2Seg, IL-6, ImageNet-1K, Qwen2.5-7B, CIFAR-10/100",
    "v1.5, 1.2.3, p53, COVID‑19, 3D, 3DGS, F1, x_1, Pass@1, ViT-B/16",
    "Figure 3, Table 2, Sec. 4.1, Theorem 1, [12]",
    "(1) first; (2) second and 3) third",
    "1. First\n2. Second",
    "https://a.org/b123 and a1@b2.org, doi 10.1234/abc.5",
    "one of a few",
    "",
]


@pytest.mark.parametrize(("text", "expected"), READ)
def test_what_is_read(text: str, expected: str) -> None:
    assert " | ".join(map(shown, quantities(text))) == expected


@pytest.mark.parametrize("text", NOT_READ)
def test_names_references_and_links_are_no_quantities(text: str) -> None:
    assert quantities(text) == []


SAME = [
    ("20 %", "20%", "20 percent", "0.20", "0.2", "20 per cent", "２０％"),
    ("1,500", "1500", "1.5K", "1.5 thousand", "1\u2009500"),
    ("1000 ms", "1 s", "one thousand milliseconds", "1 second"),
    ("7×", "7x", "7-fold", "seven times", "sevenfold", "×7"),
    ("1e-3", "10^{-3}", "10⁻³", "0.001", "1×10^-3"),
    ("$5 million", "5M dollars", "US$5,000,000", "five million USD"),
    ("40+", "over 40", "at least 40", "more than 40"),
    ("10–25 %", "10 to 25 %", "between 10% and 25%", "0.10–0.25"),
    ("~70 %", "about 70 %", "70 %"),
    ("3 pp", "3 percentage points", "3 points", "300 basis points"),
    ("12 May 2020", "2020-05-12", "May 12, 2020"),
    ("p < 0.05", "p<.05"),
    ("-3.2", "−3.2"),
    ("3", "three"),
    ("2 years", "24 months", "2-year"),
    ("1 mg", "1000 µg", "1000 mcg"),
]


@pytest.mark.parametrize(("first", "other"), [(row[0], other) for row in SAME for other in row])
def test_spellings_of_the_same_quantity(first: str, other: str) -> None:
    (a,), (b,) = quantities(first), quantities(other)
    assert same(a, b)
    assert same(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("20 %", "26 %"),
        ("20.39 %", "20.4 %"),
        ("20 %", "20"),
        ("20 %", "20 points"),
        ("120 %", "1.2"),
        ("100 %", "1"),
        ("p < 0.001", "p < 0.01"),
        ("p < 0.05", "p > 0.05"),
        ("p < 0.05", "p ≤ 0.05"),
        ("p < 0.05", "p = 0.05"),
        ("5 mg", "5 µg"),
        ("5 ms", "5 s"),
        ("-3.2", "3.2"),
        ("1,500", "15,00"),
        ("133B", "133M"),
        ("10–25 %", "10–20 %"),
        ("10–25 %", "25 %"),
        ("up to 7×", "7×"),
        ("at least 7", "at most 7"),
        ("7×", "7"),
        ("$5", "€5"),
        ("2020", "2021"),
        ("1e-3", "1e-4"),
        ("12 May 2020", "13 May 2020"),
        ("±0.3", "0.3"),
        ("three", "four"),
    ],
)
def test_a_change_is_seen(a: str, b: str) -> None:
    assert not same(quantities(a)[0], quantities(b)[0])


def test_value_without_comparator() -> None:
    (a,), (b,) = quantities("up to 7×"), quantities("7-fold")
    assert same_value(a, b)


@pytest.mark.parametrize(
    ("rough", "exact", "expected"),
    [
        ("about 20 %", "20.39 %", True),
        ("about 20 %", "24.9 %", False),
        ("20 %", "20.39 %", False),
        ("about 1,500", "1,483", True),
        ("about 4,000", "4,302", False),
        ("roughly 4,300", "4,302", True),
        ("about 20 %", "20.39 points", False),
        ("about 5", "0", False),
    ],
)
def test_a_rough_number_is_a_rounded_one(rough: str, exact: str, expected: bool) -> None:
    assert rounds_to(quantities(rough)[0], quantities(exact)[0]) is expected


def test_weights() -> None:
    weights = {quantity.text: quantity.weight for quantity in quantities("three of 5 models, 1st of two million, half")}
    assert weights == {"three": 0.3, "5": 1.0, "1st": 0.3, "two million": 1.0, "half": 0.3}


_PIECES = st.one_of(
    st.sampled_from(
        [
            *(
                "12",
                "3.5",
                "1,500",
                "0",
                ".5",
                "1e-3",
                "10^{-3}",
                "10⁻³",
                "999999999",
                "%",
                "x",
                "×",
                "-",
                "–",
                "+",
                "±",
                "<",
            ),
            *(
                "≤",
                "~",
                " ",
                "to",
                " to ",
                "from ",
                "between ",
                " and ",
                "million",
                "K",
                "B",
                "$",
                "ms",
                "µg",
                "°C",
                "fold",
            ),
            *(
                "GPT-",
                "[",
                "]",
                "(",
                ")",
                "/",
                ".",
                ",",
                "two",
                "twenty-",
                "half",
                "over ",
                "up to ",
                "CI ",
                "2020-05-12",
            ),
            *("万", "倍", "约", "May ", "\n", "https://a.b/1 ", "th", "Figure ", "^", "e", "E", "_"),
        ]
    ),
    st.text(max_size=3),
)


@given(st.lists(_PIECES, max_size=14).map("".join))
def test_any_text_is_read(text: str) -> None:
    found = quantities(text)
    end = 0
    for quantity in found:
        assert end <= quantity.start < quantity.end <= len(text)
        assert text[quantity.start : quantity.end] == quantity.text
        assert quantity.low <= quantity.high or quantity.high < 0
        assert same(quantity, quantity)
        end = quantity.end


@given(
    st.decimals(min_value=0, max_value=10**7, allow_nan=False, places=2),
    st.sampled_from(["", " %", "×", " ms", " GB", "K"]),
)
def test_every_figure_comes_back(value: Decimal, unit: str) -> None:
    (plain,) = quantities(f"We saw {value}{unit} here.")
    (grouped,) = quantities(f"We saw {value:,}{unit} here.")
    assert same(plain, grouped)
    assert plain.low == (value * 1000 if unit == "K" else value)


@pytest.mark.parametrize(
    "piece", ["1", "1,", "1-", "1.", "1 to ", "over ", "two ", "twenty ", "10^", "(1)", "$", "-1", "1/", "a1", "x"]
)
def test_hostile_text_takes_no_time(piece: str) -> None:
    started = time.process_time()
    quantities(piece * (20_000 // len(piece)))
    assert time.process_time() - started < 5


def test_real_abstracts(shared: Path) -> None:
    with gzip.open(shared / "corpora" / "iclr2026_papers.csv.gz", "rt", encoding="utf-8") as file:
        texts = [plain_text(row["abstract"]) for row in islice(csv.DictReader(file), 1000)]
    found = [quantity for text in texts for quantity in quantities(text)]
    assert len(found) > 1800
    assert sum(quantity.unit == "%" for quantity in found) > 400
    assert sum(quantity.unit == "×" for quantity in found) > 100
