"""Text → HTML: nothing that comes from outside becomes markup, and what is mathematics is shown as mathematics."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.markup import plain_text
from ui.render import Html, Mark, escape, join, link, rich, safe_url, tag

_TEXT_OF_TROUBLE = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.sampled_from(
            [
                "<script>alert(1)</script>",
                "<img src=x onerror=alert(1)>",
                "![x](http://evil.example/x.png)",
                "[x](javascript:alert(1))",
                "$x_1^2$",
                "$\\text{<b>}$",
                "\\(\\href{javascript:alert(1)}{x}\\)",
                "${alert(1)}",
                "{{value}}",
                "&lt;b&gt;",
                "&#60;i&#62;",
                '" onmouseover="alert(1)',
                "</mark></p>",
                "**bold**",
                "<!--",
                "]]>",
                "\x00\ud800",
            ]
        ),
    ),
    max_size=8,
).map("".join)


class Elements(HTMLParser):
    """The elements and attributes that a browser would see."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.names.add(name)
        self.attributes |= {key for key, _ in attributes}

    def handle_data(self, data: str) -> None:
        self.text += data


MATHML = {"math", "mrow", "mi", "mn", "mo", "mtext", "msub", "msup", "msubsup", "mstyle", "mspace", "mfrac", "mover"}


@given(_TEXT_OF_TROUBLE)
def test_escaped_text_holds_no_markup(text: str) -> None:
    shown = escape(text)
    assert not re.search(r"[<>\"']", shown)
    assert html.unescape(shown) == re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)


@settings(max_examples=300)
@given(_TEXT_OF_TROUBLE, st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80)), max_size=3))
def test_rich_text_holds_only_marks_and_formulas(text: str, bounds: list[tuple[int, int]]) -> None:
    marks = tuple(Mark(min(pair), max(pair), f"{place}") for place, pair in enumerate(bounds))
    seen = Elements(rich(text, marks))
    assert seen.names <= MATHML | {"mark"}
    assert seen.attributes <= {
        "data-marks",
        "display",
        "stretchy",
        "form",
        "fence",
        "mathvariant",
        "width",
        "separator",
    }


@given(_TEXT_OF_TROUBLE)
def test_an_attribute_stays_one_attribute(text: str) -> None:
    seen = Elements(tag("p", "x", title=text, data_copy=text))
    assert seen.names == {"p"}
    assert seen.attributes == {"title", "data-copy"}


@given(_TEXT_OF_TROUBLE)
def test_rich_text_can_be_sent_as_json(text: str) -> None:
    rich(text).encode("utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "We raised $5 million and spent $3 million.",
        "p < 0.05",
        "a<b and c>d",
        "2 * 3 * 4",
        "snake_case_name and other_name",
        "costs $5, or $10",
        "between $5M-$10M",
        "AT&T",
        "“quoted” – with dashes",
    ],
)
def test_what_is_no_markup_comes_out_as_it_is(text: str) -> None:
    shown = rich(text)
    assert html.unescape(shown) == text
    assert "<math" not in shown


@pytest.mark.parametrize(
    ("text", "around"),
    [
        ("top-$k$ sampling", ("top-", " sampling")),
        ("an $O(n \\log n)$ method", ("an ", " method")),
        ("H$_2$O", ("H", "O")),
        ("10$^{-3}$ mol", ("10", " mol")),
        ("\\(a < b\\) holds", ("", " holds")),
        ("$$E = mc^2$$", ("", "")),
    ],
)
def test_formulas_become_mathml(text: str, around: tuple[str, str]) -> None:
    before, rest = rich(text).split("<math", 1)
    assert (before, rest.split("</math>")[1]) == around


def test_a_formula_that_cannot_be_read_is_shown_as_text() -> None:
    assert "<math" not in rich("$\\frac{$ is broken")
    assert "broken" in rich("$\\frac{$ is broken")


def test_a_formula_cannot_carry_a_link_or_a_script() -> None:
    shown = rich("$\\href{javascript:alert(1)}{x} + \\text{<script>alert(1)</script>}$")
    assert "<math" in shown
    assert "href" not in Elements(shown).attributes
    assert "script" not in Elements(shown).names


def _marked(shown: Html, name: str) -> str:
    parts = re.findall(r'<mark data-marks="([^"]*)">(.*?)</mark>', shown, re.DOTALL)
    return "".join(html.unescape(re.sub(r"<[^>]+>", "", text)) for names, text in parts if name in names.split())


@given(st.text(alphabet="abc <&>\"'.\n", max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_a_mark_covers_exactly_its_span(text: str, one: int, other: int) -> None:
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    if plain_text(text) == text:
        assert _marked(rich(text, (Mark(start, end, "1"),)), "1") == text[start:end]


def test_marks_may_overlap() -> None:
    text = "One two three four."
    shown = rich(text, (Mark(0, 7, "a"), Mark(4, 13, "b")))
    assert _marked(shown, "a") == "One two"
    assert _marked(shown, "b") == "two three"


def test_a_mark_that_ends_within_a_formula_takes_all_of_it() -> None:
    text = "We show $x^2 + y$ grows."
    shown = rich(text, (Mark(3, 10, "1"),))
    assert re.findall(r'data-marks="1"><math', shown)
    assert shown.endswith("</mark> grows.")


def test_a_mark_within_markup_shows_the_readable_words() -> None:
    text = "It is \\textbf{very} good &amp; fast."
    start = text.index("\\textbf")
    assert _marked(rich(text, (Mark(start, text.index(" fast"), "1"),)), "1") == "very good &"


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://openreview.net/forum?id=a&b=c", True),
        ("http://example.org", True),
        ("javascript:alert(1)", False),
        ("JaVaScRiPt:alert(1)", False),
        ("data:text/html,<script>", False),
        ("//evil.example", False),
        ("file:///etc/passwd", False),
        ('https://x.org/"onclick="alert(1)', False),
        ("https://x.org/a b", False),
        ("https://[broken", False),
        ("", False),
    ],
)
def test_only_web_addresses_become_links(url: str, kept: bool) -> None:
    assert bool(safe_url(url)) is kept
    assert ("href" in Elements(link(url, "here")).attributes) is kept


def test_children_that_are_html_stay_and_others_are_escaped() -> None:
    assert join("<", tag("b", "&"), None, ["x", Html("<i></i>")]) == "&lt;<b>&amp;</b>x<i></i>"


def test_attributes_without_a_value_are_left_out() -> None:
    assert tag("p", hidden=True, title=None, open=False, data_turn=3) == '<p hidden data-turn="3"></p>'
