"""CSV and TSV: columns, delimiters, quoting, line numbers, and rows that are broken."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag.errors import InputError
from rag.papers import Paper
from rag.readers import sources


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param("title,abstract\nBees,They fly.\n", ("Bees", "They fly."), id="plain"),
        pytest.param("Title;Abstract\nBees;They fly, far.\n", ("Bees", "They fly, far."), id="semicolons"),
        pytest.param("Title\tAbstract\nBees\tThey fly.\n", ("Bees", "They fly."), id="tabs"),
        pytest.param("Title|Abstract\nBees|They fly.\n", ("Bees", "They fly."), id="bars"),
        pytest.param("sep=;\nTitle;Abstract\nBees;They fly.\n", ("Bees", "They fly."), id="Excel's sep line"),
        pytest.param('"title","abstract"\n"Bees","They ""fly""."\n', ("Bees", 'They "fly".'), id="quotes"),
        pytest.param(
            'id,title,abstract\n1,Bees,"They \\"fly\\", far."\n2,B,C.\n', ("Bees", 'They "fly", far.'), id="backslashes"
        ),
        pytest.param("title,abstract\nBees,They fly.", ("Bees", "They fly."), id="no line end"),
        pytest.param("title,abstract\r\nBees,They fly.\r\n", ("Bees", "They fly."), id="Windows"),
        pytest.param("title,abstract\rBees,They fly.\r", ("Bees", "They fly."), id="old Mac"),
        pytest.param('title,abstract\nBees,"They\r\n\r\nfly."\n', ("Bees", "They\n\nfly."), id="quoted line ends"),
        pytest.param("\n\ntitle,abstract\n\nBees,They fly.\n", ("Bees", "They fly."), id="blank lines"),
        pytest.param("title,abstract,\nBees,They fly.,\n", ("Bees", "They fly."), id="empty last column"),
        pytest.param("title,abstract\nBees,They fly.,,\n", ("Bees", "They fly."), id="more empty cells than columns"),
        pytest.param("title,abstract,year,doi\nBees,They fly.\n", ("Bees", "They fly."), id="cells left out"),
        pytest.param("Paper Title,Summary\nBees,They fly.\n", ("Bees", "They fly."), id="other names"),
        pytest.param("Document Title,Abstract Note\nBees,They fly.\n", ("Bees", "They fly."), id="IEEE, Zotero"),
        pytest.param("标题,摘要\n蜜蜂,它们飞。\n", ("蜜蜂", "它们飞。"), id="Chinese names"),
        pytest.param("TI\tAB\tPY\nBees\tThey fly.\t2020\n", ("Bees", "They fly."), id="Web of Science tags"),
        pytest.param("title,abstract,title\nBees,They fly.,X\n", ("Bees", "They fly."), id="columns named alike"),
        pytest.param("abstract\nThey fly.\n", ("", "They fly."), id="one column"),
        pytest.param(
            "title,abstract\nBees &amp; {\\'e}t\\'e,They &amp; fly.\n", ("Bees & été", "They &amp; fly."), id="markup"
        ),
    ],
)
def test_first_row(read, content: str, expected: tuple[str, str]) -> None:
    result = read(content, "papers.csv")
    assert (result.papers[0].title, result.papers[0].abstract) == expected
    assert result.skips == []


def test_all_fields(read) -> None:
    content = (
        "openreview_url,title,abstract,authors,keywords,date,venue,doi\n"
        'https://openreview.net/forum?id=aB3_-9xYz1,Bees,They fly.,"Lee, Ann; Li, Bo","bee, light",'
        "2024-05-01,Days,doi:10.1000/X\n"
    )
    assert read(content, "a.csv").papers == [
        Paper(
            url="https://openreview.net/forum?id=aB3_-9xYz1",
            title="Bees",
            abstract="They fly.",
            authors=("Lee, Ann", "Li, Bo"),
            keywords=("bee", "light"),
            year=2024,
            venue="Days",
            doi="10.1000/x",
        )
    ]


@pytest.mark.parametrize(
    ("header", "cell", "paper_id"),
    [
        ("openreview_url", "https://openreview.net/forum?id=02NbD16OnA", "openreview:02NbD16OnA"),
        ("forum", "02NbD16OnA", "openreview:02NbD16OnA"),
        ("arxiv_id", "arXiv:2401.01234", "arxiv:2401.01234"),
        ("PMID", "123456", "pmid:123456"),
        ("DOI", "https://doi.org/10.1000/AbC", "doi:10.1000/abc"),
        ("url", "https://doi.org/10.1000/AbC", "doi:10.1000/abc"),
    ],
)
def test_identity(read, header: str, cell: str, paper_id: str) -> None:
    assert [paper.id for paper in read(f"{header},abstract\n{cell},They fly.\n", "a.csv").papers] == [paper_id]


def test_scripts_are_no_links(read) -> None:
    assert read("url,abstract\njavascript:alert(1),They fly.\n", "a.csv").papers[0].url == ""


def test_year_of_the_venue(read) -> None:
    assert read("abstract,venue\nThey fly.,ICLR 2026 Poster\n", "a.csv").papers[0].year == 2026


def test_mapping_overrides(read) -> None:
    content = "Name,Text,abstract\nBees,They fly.,wrong\n"
    (paper,) = read(content, "a.csv", mapping={"title": "Name", "abstract": "Text"}).papers
    assert (paper.title, paper.abstract) == ("Bees", "They fly.")


@pytest.mark.parametrize(
    ("mapping", "message"),
    [({"abstract": "Gone"}, "no column named 'Gone'"), ({"colour": "title"}, "'colour' is no field")],
)
def test_mapping_to_nothing(read, mapping: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read("title,abstract\nBees,They fly.\n", "a.csv", mapping=mapping)


def test_no_abstract_column_is_said_with_the_columns(read) -> None:
    with pytest.raises(InputError, match="columns found: title, year") as error:
        read("title,year\nBees,2020\n", "a.csv")
    assert "--map abstract=" in error.value.hint


ROWS = [
    pytest.param("title,abstract\nBees,\n", [(2, "no abstract (Bees)")], 0, id="empty abstract"),
    pytest.param("title,abstract\nBees,N/A\nFire,nan\nMud,[No abstract available]\n", [2, 3, 4], 0, id="placeholders"),
    pytest.param(
        'title,abstract\nA,"x\ny"\nB,\nC,z.\n', [(4, "no abstract (B)")], 2, id="line after a quoted line end"
    ),
    pytest.param("title,abstract\nA,b,c,d\nE,f.\n", [2], 1, id="too many cells"),
    pytest.param('title,abstract\nA,"b\nC,d.\nE,f.\n', [2], 2, id="quote never closed"),
    pytest.param('title,abstract\nA,x.\nB,"y\nC,z.\n', [3], 2, id="quote never closed in the middle"),
    pytest.param('title,abstract,year\nA,"b,1\nC,"d",2\nE,f,3\n', [2], 2, id="stray quote"),
]


@pytest.mark.parametrize(("content", "skips", "papers"), ROWS)
def test_unusable_rows(read, content: str, skips: list[tuple[int, str] | int], papers: int) -> None:
    result = read(content, "a.csv")
    assert [
        skip if isinstance(wanted, tuple) else skip[0] for skip, wanted in zip(result.skips, skips, strict=True)
    ] == skips
    assert len(result.papers) == papers


NEVER_CLOSED, OUT_OF_PLACE = "a quotation mark is opened here and never closed", "a quotation mark is out of place"


@pytest.mark.parametrize(
    ("content", "skips", "abstracts"),
    [
        pytest.param('title,abstract\nA,b.\nC,"d.', [(3, NEVER_CLOSED)], ["b."], id="to the end of the file"),
        pytest.param(
            'title,abstract,year\nA,"b.,2000\nC,"d.\nE, f.",2001\nG,h.,2002\n',
            [(2, f"2 of 3 cells: {OUT_OF_PLACE}")],
            ["d.\nE, f.", "h."],
            id="into a cell of several lines",
        ),
        pytest.param(
            'title,abstract\nA,"b.\nC,"d.\nE f."\nG,h.\n',
            [(2, OUT_OF_PLACE)],
            ["d.\nE f.", "h."],
            id="into it, with as many cells as there should be",
        ),
        pytest.param(
            'title,abstract,year\nA,"b.,"2000"\nC,d.,2001\n',
            [(2, f"2 of 3 cells: {OUT_OF_PLACE}")],
            ["d."],
            id="in a line",
        ),
        pytest.param(
            'title,abstract\n"A,"b, c."\nD,e.\n', [(2, OUT_OF_PLACE)], ["e."], id="and a comma that makes up for it"
        ),
        pytest.param(
            'title,abstract,year,venue\nA,b, c.",2000,\nD,e.,2001,\n',
            [(2, "5 cells where the heading has 4: a delimiter or quotation mark is out of place")],
            ["e."],
            id="never opened, and the last cell is empty",
        ),
        pytest.param(
            'title,abstract,year\nA,"he "said" this\nand that.",2000\nC,d.,2001\n',
            [(2, f"2 of 3 cells: {OUT_OF_PLACE}")],
            ["d."],
            id="the rest of the cell is no row",
        ),
        pytest.param(
            'title,abstract,year\nA,he "said" 15"\nC,"d "e" f.",2001\n', [], ['he "said" 15"', 'd e" f."'], id="loose"
        ),
    ],
)
def test_no_quote_moves_cells_or_takes_rows_unsaid(
    read, content: str, skips: list[tuple[int, str]], abstracts: list[str]
) -> None:
    result = read(content, "a.csv")
    assert (result.skips, result.abstracts) == (skips, abstracts)


QUOTED = [
    ("T0, a", "Bees, when they fly.", "2000"),
    ("T1", 'They "fly", far.', "2001"),
    ("T2, b", "Mud, it dries.", ""),
]


@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
def test_a_quote_left_out_costs_no_other_row_and_is_said(read, quoting: Any) -> None:
    out = io.StringIO()
    csv.writer(out, quoting=quoting, lineterminator="\n").writerows([("title", "abstract", "year"), *QUOTED])
    whole = out.getvalue()
    start = whole.index("\n") + 1
    for place in [at for at, char in enumerate(whole) if char == '"' and at >= start]:
        line = whole.count("\n", 0, place) + 1
        result = read(whole[:place] + whole[place + 1 :], "a.csv")
        found = {(paper.title, paper.abstract) for paper in result.papers}
        others = {(title, abstract) for number, (title, abstract, _) in enumerate(QUOTED, 2) if number != line}
        assert others <= found, place
        said = [skipped for skipped, _ in result.skips]
        bare = {text.replace('"', "") for _, text in found - others}
        assert said == [line] or bare == {QUOTED[line - 2][1].replace('"', "")}, place


@pytest.mark.parametrize(
    ("heading", "problem"),
    [
        ('title,"abstract', NEVER_CLOSED),
        ('"title,abstract', NEVER_CLOSED),
        ('title,abstract,"year\nX,"y",2000', OUT_OF_PLACE),
    ],
)
def test_a_quote_never_closed_in_the_heading_is_the_files_error(read, heading: str, problem: str) -> None:
    with pytest.raises(InputError) as error:
        read(f"{heading}\nA,b.\nC,d.\n", "a.csv")
    assert error.value.message.endswith(f"a.csv:1: in the heading {problem}")


def test_one_broken_quote_costs_one_row_of_many(read) -> None:
    rows = [f"T{n},Abstract number {n}." for n in range(3000)]
    rows[10] = 'T10,"Abstract number 10.'
    result = read("title,abstract\n" + "\n".join(rows), "a.csv")
    assert (len(result.papers), [line for line, _ in result.skips]) == (2999, [12])


def test_a_row_too_long_is_skipped(read) -> None:
    result = read(f"title,abstract\nA,{'x ' * 1_100_000}\nB,They fly.\n", "a.csv")
    assert result.abstracts == ["They fly."]
    assert [line for line, _ in result.skips] == [2]


@pytest.mark.parametrize("size", [0, 5, 8000, 200_000])
def test_abstract_sizes(read, size: int) -> None:
    abstract = "word " * size
    result = read(f'title,abstract\nBees,"{abstract}"\n', "a.csv")
    assert [len(paper.abstract) for paper in result.papers] == ([len(abstract.strip())] if size else [])


def test_three_hundred_authors(read) -> None:
    authors = tuple(f"Name{n} Family{n}" for n in range(300))
    (paper,) = read(f'abstract,authors\nThey fly.,"{"; ".join(authors)}"\n', "a.csv").papers
    assert paper.authors == authors


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r\ufeff"), min_size=0, max_size=60)


@given(rows=st.lists(st.tuples(CELL, CELL), min_size=1, max_size=8), delimiter=st.sampled_from(",;\t|"))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read(read, rows: list[tuple[str, str]], delimiter: str) -> None:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(("title", "abstract"))
    for n, (venue, abstract) in enumerate(rows):
        writer.writerow((f"{venue}", f"Abstract {n}: {abstract}"))
    result = read(out.getvalue(), "a.csv")
    assert result.abstracts == [f"Abstract {n}: {abstract}".strip() for n, (_, abstract) in enumerate(rows)]
    assert result.skips == []


def test_real_table(shared: Path) -> None:
    (source,) = sources([str(shared / "corpora" / "iclr2026_papers.csv.gz")])
    found = list(source.papers())
    assert len(found) == 4302
    assert all(isinstance(item, Paper) for item in found)
    assert len({item.id for item in found if isinstance(item, Paper)}) == 4302
    assert {item.year for item in found if isinstance(item, Paper)} == {2026}
