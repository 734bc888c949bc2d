"""Plain-text lists: headings, titles, numbers, labels, and paragraphs that belong together."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.papers import Paper
from rag.readers import sources

A = "Bees find their way home by the polarised light of the sky. We trained forty of them in a tunnel. " * 3
B = "Rivers carry more sediment after a fire has burnt the slopes. We measured eleven rivers for six years. " * 3
C = "Old bridges fail where water reaches the steel inside. We opened three of them and looked. " * 3
A, B, C = A.strip(), B.strip(), C.strip()


@pytest.mark.parametrize(
    ("content", "titles", "abstracts"),
    [
        pytest.param(f"{A}\n\n{B}", ["", ""], [A, B], id="two abstracts"),
        pytest.param(f"Accepted papers 2026\n\n{A}\n\n{B}\n", ["", ""], [A, B], id="heading"),
        pytest.param(f"ICLR 2026 论文列表\n\n{A}\n\n{B}\n", ["", ""], [A, B], id="Chinese heading"),
        pytest.param(f"Список принятых статей\n\n{A}\n\n{B}\n", ["", ""], [A, B], id="Russian heading"),
        pytest.param(f"# Papers of 2026\n\n{A}\n\n{B}\n", ["", ""], [A, B], id="Markdown heading over all"),
        pytest.param(f"My reading list\n{A}\n\n{B}\n", ["", ""], [A, B], id="heading with no blank line after it"),
        pytest.param(f"Papers:\n\n{A}", [""], [A], id="heading over one abstract"),
        pytest.param(f"\ufeff\n\n  \n{A}\n \t \n\n\n{B}\n\n\n", ["", ""], [A, B], id="white space around"),
        pytest.param(f"{A}\r\n\r\n{B}\r\n", ["", ""], [A, B], id="Windows line ends"),
        pytest.param(f"{A}\r\r{B}", ["", ""], [A, B], id="old Mac line ends"),
        pytest.param(f"{A}\n---\n{B}\n\n***\n\n{C}", ["", "", ""], [A, B, C], id="drawn rules"),
        pytest.param(f"{A}\n{B}\n{C}", ["", "", ""], [A, B, C], id="a line each"),
        pytest.param(f"Papers\n\n{A}\n{B}\n{C}", ["", "", ""], [A, B, C], id="heading, then a line each"),
        pytest.param(f"{A}\n{B}\n\n{C}", ["", ""], [f"{A} {B}", C], id="two lines of one abstract"),
        pytest.param("We intro-\nduce bees.\nThey fly.", [""], ["We intro- duce bees. They fly."], id="joined lines"),
        pytest.param("Bees fly far home.", [""], ["Bees fly far home."], id="one short abstract"),
        pytest.param("Bees fly.\n\nRivers run.", ["", ""], ["Bees fly.", "Rivers run."], id="short sentences"),
        pytest.param(
            f"{A}\n\nwhere x is a bee.\n\n{B}", ["", ""], [f"{A}\n\nwhere x is a bee.", B], id="goes on in lower case"
        ),
        pytest.param(
            f"{A}\n\n- first\n- second\n\n{B}", ["", ""], [f"{A}\n\n- first\n- second", B], id="goes on with a list"
        ),
        pytest.param(
            f"{A}\n\n(1) one\n\n(2) two\n\n{B}", ["", ""], [f"{A}\n\n(1) one\n\n(2) two", B], id="goes on, numbered"
        ),
        pytest.param(f"{A}\n\np53 mutates. {B}", ["", ""], [A, f"p53 mutates. {B}"], id="p53 starts an abstract"),
        pytest.param(f"{A}\n\nβ-amyloid grows. {B}", ["", ""], [A, f"β-amyloid grows. {B}"], id="β-amyloid starts one"),
        pytest.param(f"Bee light\n{A}\n\nFire and mud?\n{B}", ["Bee light", "Fire and mud?"], [A, B], id="title lines"),
        pytest.param(
            f"Bee light\n\n{A}\n\nFire and mud?\n\n{B}",
            ["Bee light", "Fire and mud?"],
            [A, B],
            id="titles as paragraphs",
        ),
        pytest.param(
            f"List\n\nBee light\n\n{A}\n\nFire\n\n{B}", ["Bee light", "Fire"], [A, B], id="heading, then titles"
        ),
        pytest.param(f"1. {A}\n\n2. {B}", ["", ""], [A, B], id="numbered"),
        pytest.param(f"1. {A}\n2. {B}\n3. {C}", ["", "", ""], [A, B, C], id="numbered, no blank lines"),
        pytest.param(f"[1] {A}\n\n[2] {B}", ["", ""], [A, B], id="numbered in brackets"),
        pytest.param(f"1) Bee light\n{A}\n\n2) Fire\n{B}", ["Bee light", "Fire"], [A, B], id="numbered titles"),
        pytest.param(
            f"List\n\n1. Bees\n\n{A}\n\n2. Fire\n\n{B}", ["Bees", "Fire"], [A, B], id="numbered title paragraphs"
        ),
        pytest.param(
            f"1. {A}\n\n1. not a paper\n\n2. {B}", ["", ""], [f"{A}\n\n1. not a paper", B], id="list in numbered list"
        ),
        pytest.param(f"- {A}\n\n- {B}\n\n- {C}", ["", "", ""], [A, B, C], id="bullets"),
        pytest.param(f"# List\n\n## Bees\n\n{A}\n\n## Fire\n{B}\n", ["Bees", "Fire"], [A, B], id="Markdown titles"),
        pytest.param(
            f"## 1. Bees\n\n{A}\n\n## 2. Fire\n\n{B}", ["Bees", "Fire"], [A, B], id="numbered Markdown titles"
        ),
        pytest.param(
            f"## Bees\n\n{A}\n\n{C}\n\n## Fire\n\n{B}", ["Bees", "Fire"], [f"{A}\n\n{C}", B], id="two paragraphs"
        ),
        pytest.param(
            f"## Bees\n\n### Abstract\n{A}\n\n## Fire\n\n### Abstract\n{B}",
            ["Bees", "Fire"],
            [A, B],
            id="abstract headings",
        ),
        pytest.param(
            f"Title: Bees\nAbstract: {A}\n\nTitle: Fire\nAbstract: {B}", ["Bees", "Fire"], [A, B], id="labels"
        ),
        pytest.param(
            f"Title: Bees\n\nAbstract:\n{A}\nTitle: Fire\nAbstract:\n{B}", ["Bees", "Fire"], [A, B], id="labels apart"
        ),
        pytest.param(
            f"**Title:** Bees\n**Abstract:** {A}\n\n**Title:** Fire\n\n{B}", ["Bees", "Fire"], [A, B], id="bold labels"
        ),
        pytest.param(
            f"1. Title: Bees\nAbstract: {A}\n2. Title: Fire\nAbstract: {B}",
            ["Bees", "Fire"],
            [A, B],
            id="numbered labels",
        ),
        pytest.param(f"标题：蜜蜂\n摘要：{A}\n\n标题：火\n摘要：{B}", ["蜜蜂", "火"], [A, B], id="Chinese labels"),
        pytest.param(f"Abstract: {A}\n\nAbstract: {B}", ["", ""], [A, B], id="abstract labels only"),
        pytest.param(
            f"Title: Bees\nAbstract: {A}\n\n{C}\n\nTitle: Fire\nAbstract: {B}",
            ["Bees", "Fire"],
            [f"{A}\n\n{C}", B],
            id="label, two paragraphs",
        ),
    ],
)
def test_list(read, content: str, titles: list[str], abstracts: list[str]) -> None:
    result = read(content)
    assert (result.titles, result.abstracts) == (titles, abstracts)
    assert result.skips == []


def test_labels_fill_the_other_fields(read) -> None:
    content = (
        "Title: Bees\nAuthors: Ann Lee; Bo Li\nYear: 2024\nVenue: Bee Days\nDOI: 10.1000/ABC\nKeywords: bee, light\n"
        f"Link: https://example.org/1\nAbstract: {A}\nwhich is long.\n\nTitle: Fire\nAuthor: Cy\nAbstract: {B}"
    )
    first, second = read(content).papers
    assert first == Paper(
        title="Bees",
        authors=("Ann Lee", "Bo Li"),
        year=2024,
        venue="Bee Days",
        doi="10.1000/abc",
        keywords=("bee", "light"),
        url="https://example.org/1",
        abstract=f"{A} which is long.",
    )
    assert (second.title, second.authors) == ("Fire", ("Cy",))


def test_hard_wrapped_lines_are_no_titles(read) -> None:
    wrapped = "We measured how the bees that live in the\nTaunus hills fly home when clouds hide\nthe sky and the sun."
    assert read(f"{wrapped}\n\n{wrapped}x.").titles == ["", ""]


@pytest.mark.parametrize(
    ("content", "skips"),
    [
        pytest.param(f"{A}\n\nPosters\n\n{B}", [(3, "taken for a heading: Posters")], id="section"),
        pytest.param(f"{A}\n\n{B}\n\nThe end", [(5, "taken for a heading: The end")], id="last words"),
        pytest.param(
            f"Papers we liked this year.\n\n{A}\n\n{B}\n\n{C}",
            [(1, "taken for the list's heading: Papers we liked this year.")],
            id="a heading that is a sentence",
        ),
        pytest.param(
            f"Title: Bees\nAbstract:\n\nTitle: Fire\nAbstract: {B}", [(1, "no abstract (Bees)")], id="empty label"
        ),
        pytest.param(f"## Bees\n\n## Fire\n\n{B}", [(1, "no abstract (Bees)")], id="title without abstract"),
        pytest.param(f"!!!\n\n{A}\n\n{B}", [], id="no words in the heading"),
    ],
)
def test_what_is_no_paper_is_reported(read, content: str, skips: list[tuple[int, str]]) -> None:
    assert read(content).skips == skips


def test_real_list(shared: Path) -> None:
    (source,) = sources([str(shared / "corpora" / "iclr2026_list.txt")])
    found = list(source.papers())
    assert len(found) == 19
    assert all(isinstance(item, Paper) and len(item.abstract) > 1000 for item in found)
