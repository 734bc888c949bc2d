"""Single values: years, names, keywords, links, abstracts, and LaTeX in titles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.readers.latex import decode, readable
from rag.readers.values import abstract_of, keywords_of, names_of, text_of, url_of, year_of


@pytest.mark.parametrize(
    ("value", "year"),
    [
        (2024, 2024),
        (2024.0, 2024),
        ("2024", 2024),
        ("2024.0", 2024),
        ("2024-05-01", 2024),
        ("2024-05-01T12:00:00Z", 2024),
        ("01.05.2024", 2024),
        ("5/1/2024", 2024),
        ("May 2024", 2024),
        ("2024 May-Jun", 2024),
        ("Mon, 2 Apr 2007 19:18:42 GMT", 2007),
        ("20240501", 2024),
        (20240501, 2024),
        ("ICLR 2026 Poster", 2026),
        ("ICLR.cc/2026/Conference", 2026),
        (1726000000000, 2024),
        (1726000000, 2024),
        ("1726000000000", 2024),
        ({"date-parts": [[2024, 5]]}, 2024),
        ({"value": 2024}, 2024),
        ([None, "2024"], 2024),
        ("in press", None),
        ("", None),
        (None, None),
        (True, None),
        (12, None),
        (float("nan"), None),
        (float("inf"), None),
        (10**400, None),
        (-(10**400), None),
        ("10.1000/12024567", None),
        ([[[[[]]]]], None),
    ],
)
def test_year(value: object, year: int | None) -> None:
    assert year_of(value) == year


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("Ann Lee; Bo Li", ("Ann Lee", "Bo Li")),
        ("Ann Lee;Bo Li;", ("Ann Lee", "Bo Li")),
        ("Lee, Ann; Li, Bo", ("Lee, Ann", "Li, Bo")),
        ("Lee, Ann and Li, Bo", ("Lee, Ann", "Li, Bo")),
        ("Ann Lee and Bo Li", ("Ann Lee", "Bo Li")),
        ("Ann Lee, Bo Li and Cy Wu", ("Ann Lee", "Bo Li", "Cy Wu")),
        ("Ann Lee, Bo Li, and Cy Wu", ("Ann Lee", "Bo Li", "Cy Wu")),
        ("Ann Lee, Bo Li", ("Ann Lee", "Bo Li")),
        ("Ann Lee & Bo Li", ("Ann Lee", "Bo Li")),
        ("Lee, Ann", ("Lee, Ann",)),
        ("Lee, A. B.", ("Lee, A. B.",)),
        ("Lee, A., Li, B. C.", ("Lee, A.", "Li, B. C.")),
        ("Lee A, Li BC", ("Lee A", "Li BC")),
        ("Lee A, Li BC, Wu D", ("Lee A", "Li BC", "Wu D")),
        ("Ann Lee|Bo Li", ("Ann Lee", "Bo Li")),
        ("Ann Lee\nBo Li", ("Ann Lee", "Bo Li")),
        ("Anderson Sandy", ("Anderson Sandy",)),
        ("['Ann Lee', \"Bo O'Hara\"]", ("Ann Lee", "Bo O'Hara")),
        ('["Ann Lee", "Bo Li"]', ("Ann Lee", "Bo Li")),
        (["Ann Lee", " Bo\n Li "], ("Ann Lee", "Bo Li")),
        ([{"name": "Ann Lee"}, {"given": "Bo", "family": "Li"}], ("Ann Lee", "Bo Li")),
        ([{"firstName": "Ann", "lastName": "Lee"}, {"literal": "Bee Group"}], ("Ann Lee", "Bee Group")),
        ([{"author": {"display_name": "Ann Lee"}}], ("Ann Lee",)),
        ([["Lee", "Ann", ""], ["Li", "Bo", "Jr"]], ("Ann Lee", "Bo Li Jr")),
        ({"name": "Ann Lee"}, ("Ann Lee",)),
        ([None, 3, {}, [], ""], ()),
        ("", ()),
        (None, ()),
        (7, ()),
    ],
)
def test_names(value: object, names: tuple[str, ...]) -> None:
    assert names_of(value) == names


@pytest.mark.parametrize(
    ("value", "keywords"),
    [
        ("bee, light", ("bee", "light")),
        ("bee; light, red; sky", ("bee", "light, red", "sky")),
        ("['bee', 'light']", ("bee", "light")),
        (["bee", "bee", "light"], ("bee", "light")),
        ([{"display_name": "bee"}, {"tag": "light"}], ("bee", "light")),
        ("", ()),
        (None, ()),
    ],
)
def test_keywords(value: object, keywords: tuple[str, ...]) -> None:
    assert keywords_of(value) == keywords


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("https://example.org/a", "https://example.org/a"),
        (" HTTP://example.org/a ", "HTTP://example.org/a"),
        ("https://a.org/1; https://b.org/2", "https://a.org/1"),
        ("openreview.net/forum?id=x", "https://openreview.net/forum?id=x"),
        (["", "https://a.org/1"], "https://a.org/1"),
        ("javascript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("see the site", ""),
        ("file:///etc/passwd", ""),
        (None, ""),
    ],
)
def test_url(value: object, url: str) -> None:
    assert url_of(value) == url


@pytest.mark.parametrize(
    "value", ["", " ", "N/A", "nan", "None", "null", "-", "...", "[No abstract available]", "<p></p>", None, {}]
)
def test_no_abstract(value: object) -> None:
    assert abstract_of(value) == ""


@pytest.mark.parametrize(
    "value", [17, 3.5, 1e20, float("inf"), "17", "-3.5e-7", "2024-05-01", "5 %", "<p>17</p>", {"value": 17}, [1, 2]]
)
def test_a_number_is_no_abstract(value: object) -> None:
    assert abstract_of(value) == ""


@pytest.mark.parametrize(
    "value",
    [
        "None of the bees flew.",
        "Nan proteins fold.",
        "5 % of 3",
        "17 bees",
        "Infinity pools.",
        "x",
        "蜜蜂飞。",
        "<p>Bees</p>",
    ],
)
def test_short_abstracts_stay(value: str) -> None:
    assert abstract_of(value) == value


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("Bees", "Bees"),
        (" Bees\n  fly ", "Bees fly"),
        ("R&D &amp;amp; more &lt;b&gt;", "R&D & more"),
        ("a<b and c>d", "a<b and c>d"),
        ("CO<sub>2</sub> and <i>Apis</i>", "CO2 and Apis"),
        ("10<sup>5</sup> bees", "10^5 bees"),
        (r"M\"uller and {\'e}t\'{e}", "Müller and été"),
        (r"$\alpha$-bees", "α-bees"),
        (r"$5 million or $6 million", "$5 million or $6 million"),
        (r"\textbf{Bold} bees at 5% & more", "Bold bees at 5% & more"),
        (r"Sets {0, 1} and {a}", "Sets {0, 1} and {a}"),
        (r"C:\new\folder", r"C:\new\folder"),
        ("A* search_x *b*", "A* search_x *b*"),
        ("β-amyloid ≥ 5 µg", "β-amyloid ≥ 5 µg"),
        ("$", "$"),
        ("\\", "\\"),
        (r"\frac{", r"\frac{"),
    ],
)
def test_title(written: str, title: str) -> None:
    assert readable(written) == title


@given(st.text(alphabet=st.sampled_from("ab\\{}$&;<>%'\"~_^ #\nαé"), max_size=60))
def test_latex_never_fails(text: str) -> None:
    assert isinstance(decode(text), str)
    assert "\n" not in readable(text)


JSON_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


@given(JSON_VALUE)
def test_no_value_is_too_strange(value: object) -> None:
    assert isinstance(text_of(value), str)
    assert isinstance(abstract_of(value), str)
    assert isinstance(url_of(value), str)
    assert all(isinstance(name, str) and name for name in (*names_of(value), *keywords_of(value)))
    year = year_of(value)
    assert year is None or 1000 < year < 3000


def test_an_abstract_in_parts_has_no_white_space_around_it() -> None:
    assert abstract_of({"\u2028aim": "To fly.", "result": "They flew. "}) == "aim: To fly. result: They flew."
