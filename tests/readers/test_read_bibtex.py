"""BibTeX: decoded fields, every entry accounted for, and names as the file has them."""

from __future__ import annotations

import pytest

from rag.papers import Paper


def entry(fields: str, key: str = "a") -> str:
    return f"@article{{{key},\n{fields}\n}}\n"


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("{Bees}", "Bees"),
        ("{{Bees of the {DNA} kind}}", "Bees of the DNA kind"),
        ('"Bees"', "Bees"),
        ('"The {"}Bee{"} way"', 'The "Bee" way'),
        (r"{M{\"u}ller's \'etude and {\o}re}", "Müller's étude and øre"),
        (r"{Na{\"\i}ve {\v{S}}koda, Stra{\ss}e, \c{c}a, {\aa}}", "Naïve Škoda, Straße, ça, å"),
        (r"{$\alpha$-bees in $O(n^2)$}", "α-bees in O(n^2)"),
        (r"{Bees \& flies: 100\% of them}", "Bees & flies: 100% of them"),
        (r"{\emph{In vitro} bees}", "In vitro bees"),
        ("{Bees\n   of    the\n hills}", "Bees of the hills"),
        ("{Bees &amp; <i>Apis</i>}", "Bees & Apis"),
        ("{{{Bees}}}", "Bees"),
    ],
)
def test_title(read, written: str, title: str) -> None:
    assert read(entry(f"title = {written}, abstract = {{They fly.}}"), "a.bib").titles == [title]


@pytest.mark.parametrize(
    ("written", "abstract"),
    [
        (r"{Levels of $\alpha$ rose by 20\% in {DNA}.}", r"Levels of $\alpha$ rose by 20% in DNA."),
        (r"{A rise of 20% (p < 0.05), about \$5 \& more.}", "A rise of 20% (p < 0.05), about $5 & more."),
        (r"{Caf{\'e} and \textbf{bold {A}} words.}", r"Café and \textbf{bold A} words."),
        ("{First.\n\nSecond &amp; <b>third</b>.}", "First.\n\nSecond &amp; <b>third</b>."),
        (r"{The set $\{x_{1}\}$ and $x_{2}$.}", r"The set $\{x_{1}\}$ and $x_{2}$."),
    ],
)
def test_abstract(read, written: str, abstract: str) -> None:
    assert read(entry(f"title = {{Bees}},\nabstract = {written}"), "a.bib").abstracts == [abstract]


def test_all_fields(read) -> None:
    content = r"""
% made by hand
@string{days = "Bee Days"}
@string( press = {B{\'e}e Press} )
@preamble{"\newcommand{\x}{y}"}
@comment{jabref-meta: databaseType:bibtex;}

@inproceedings{lee24,
  author    = {Lee, Ann and {The Bee and Fly Group} and L{\'o}pez, B. and others},
  title     = {Bees},
  booktitle = days # " of " # 2024,
  year      = 2024,
  month     = may,
  doi       = {https://doi.org/10.1000/A\_b},
  url       = {https://example.org/a_b},
  keywords  = {bee, light},
  abstract  = {They fly.},
}
"""
    result = read(content, "a.bib")
    assert result.papers == [
        Paper(
            title="Bees",
            abstract="They fly.",
            authors=("Lee, Ann", "The Bee and Fly Group", "López, B."),
            venue="Bee Days of 2024",
            year=2024,
            doi="10.1000/a_b",
            url="https://example.org/a_b",
            keywords=("bee", "light"),
        )
    ]
    assert result.skips == []


def test_arxiv_eprint_gives_identity(read) -> None:
    content = entry("eprint = {2401.01234}, archiveprefix = {arXiv}, date = {2024-01-03}, abstract = {They fly.}")
    assert [(paper.id, paper.year) for paper in read(content, "a.bib").papers] == [("arxiv:2401.01234", 2024)]


def test_double_keys_are_both_kept(read) -> None:
    content = entry("abstract = {They fly.}") + entry("abstract = {It burns.}") + entry("abstract = {It rains.}")
    assert read(content, "a.bib").abstracts == ["They fly.", "It burns.", "It rains."]


def test_a_field_given_twice(read) -> None:
    assert read(entry("abstract = {They fly.},\nyear = 1999,\nyear = 2000"), "a.bib").papers[0].year == 1999


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        pytest.param(
            "@article{b,\n title = {Never {closed},\n abstract = {x y z}\n", "broken BibTeX entry", id="brace"
        ),
        pytest.param("@article{b,\n title {No equals sign}\n}\n", "broken BibTeX entry", id="no equals sign"),
        pytest.param(
            "@article{b,\n title = {No abstract here}\n}\n", "no abstract (No abstract here)", id="no abstract"
        ),
        pytest.param("article{b,\n title = {No at sign}\n}\n", "text outside any entry", id="no at sign"),
        pytest.param("@article{b}\n", "no abstract", id="only a key"),
    ],
)
def test_no_entry_is_lost_silently(read, broken: str, reason: str) -> None:
    result = read(
        entry("abstract = {They fly.}") + "\n" + broken + "\n" + entry("abstract = {It burns.}", "c"), "a.bib"
    )
    assert result.abstracts == ["They fly.", "It burns."]
    assert [line for line, _ in result.skips] == [5]
    assert result.skips[0][1].startswith(reason)


def test_text_before_the_first_entry(read) -> None:
    assert read("Exported on 2024-01-01\r\n\r\n" + entry("abstract = {They fly.}"), "a.txt").abstracts == ["They fly."]


@pytest.mark.parametrize("depth", [100, 5000])
def test_deep_braces(read, depth: int) -> None:
    content = entry(f"title = {{{'{' * depth}Bees{'}' * depth}}}, abstract = {{They fly.}}")
    assert read(content, "a.bib").titles == ["Bees"]


@pytest.mark.parametrize(
    ("people", "authors"),
    [
        (r"Lee, Ann and \'Emile Zola", ("Lee, Ann", "Émile Zola")),
        (r"Bo Li and \O ystein Lie", ("Bo Li", "Øystein Lie")),
        ("{Bee and Fly} AND\n  Bo Li and others", ("Bee and Fly", "Bo Li")),
        ("and Bo Li and and Anders And", ("and Bo Li", "Anders And")),
    ],
)
def test_names_are_divided_at_and(read, people: str, authors: tuple[str, ...]) -> None:
    result = read(entry(f"author = {{{people}}}, abstract = {{They fly.}}"), "a.bib")
    assert result.papers[0].authors == authors


def test_an_escaped_sign_is_that_sign(read) -> None:
    written = r"\{a\} \textbraceleft{} \textbackslash{}alpha a\textasciitilde{}b a~b 5\textasciicircum{}2 \$5 {@}x(1)"
    assert read(entry(f"abstract = {{{written}}}"), "a.bib").abstracts == [r"{a} { \alpha a~b a b 5^2 $5 @x(1)"]
