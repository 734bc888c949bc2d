"""What is exported is what the answer cites, and our own readers read it back."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from typer.testing import CliRunner

from rag.answer import Answer, Citation, Reason, Refusal, Sentence, Source, Timings, Verdict
from rag.cli import app
from rag.errors import InputError, StoreError
from rag.export import FORMATS, export, export_all, load_answer, remember
from rag.markup import plain_text
from rag.names import Name, joined_name, split_name
from rag.papers import Paper, Skipped
from rag.readers import sources
from rag.readers.fields import paper_of
from rag.settings import load_settings
from rag.writers.bibtex import escaped as bibtex_escaped
from rag.writers.listing import citation_keys
from rag.writers.notes import escaped as markdown_escaped

GROWTH = Paper(
    "We cut costs by 20 % & more.\n\nNothing else changed.",
    "Costs of {Growth}: A_B",
    ("Ortiz, Ana", "Vincent van Gogh", "The Cost and Growth Group"),
    2021,
    "Journal of Costs & Co",
    "https://example.org/a_b?c=1&d=2",
    "10.1000/xyz_1",
    ("cost, fixed", "growth"),
)
BARE = Paper("Nothing grew [at all] in $x_1^*$.")
UNCITED = Paper("Never cited.", "Uncited")


def cite(number: int, paper: Paper, end: int) -> Citation:
    return Citation(number, paper.id, 0, end, paper.abstract[:end], 0.9)


ANSWER = Answer(
    "Do  costs *fall*?",
    "Do costs fall?",
    (
        Sentence("Nothing grew.", Verdict.SUPPORTED, (cite(1, BARE, 12),)),
        Sentence("Costs fell.", Verdict.SUPPORTED, (cite(2, GROWTH, 12), cite(1, BARE, 12)), " "),
        Sentence("It glows.", Verdict.NOT_FOUND, (), " ", "no abstract says so"),
    ),
    (Source(GROWTH, 0.9, number=2), Source(UNCITED, 0.5), Source(BARE, 0.2, number=1)),
    model="ollama/some_model",
    timings=Timings(0.1, 0.2, 3.4),
)
REFUSAL = Answer("Who?", "Who?", refusal=Refusal(Reason.NOT_IN_ABSTRACTS, "Not in these abstracts.", "Ask more."))


def citing(*papers: Paper) -> Answer:
    listed = tuple(Source(paper, 0.5, number=number) for number, paper in enumerate(papers, 1))
    return Answer("Q?", "Q?", (), listed)


def read(text: str, form: str) -> list[Paper]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"export{FORMATS[form].suffix}"
        path.write_bytes(text.encode())
        found = [item for source in sources([str(path)]) for item in source.papers()]
    assert not [item for item in found if isinstance(item, Skipped)]
    return [item for item in found if isinstance(item, Paper)]


def one_line(text: str) -> str:
    return " ".join(text.split())


def named(authors: tuple[str, ...]) -> list[Name]:
    return [split_name(author) for author in authors]


# -- round trips ----------------------------------------------------------------------------------------------------

_SIGNS = "aZé中 {}\\$%&#_^~@\"'=,;:<>[]()*`.-|0\n"
_TEXT = st.text(st.one_of(st.sampled_from(_SIGNS), st.characters(exclude_categories=["C"])), max_size=40)
_WORDS = st.text(st.one_of(st.sampled_from("abé中 {}$%&#_^~@\"'=:()."), st.characters(categories=["L"])), max_size=15)


@st.composite
def papers(draw: st.DrawFn) -> Paper:
    """Whatever the readers can make of a record whose title and DOI read as what they are."""
    values = {
        "abstract": draw(_TEXT)
        + draw(st.sampled_from(["", " Costs fell by 20 %.", " of $x_1^{*}$ is {y}."]))
        + "words",
        "title": draw(_TEXT),
        "authors": draw(st.lists(st.one_of(_WORDS, st.sampled_from(["Ortiz, Ana", "X and Co", "García López, Ana"])))),
        "year": draw(st.one_of(st.none(), st.integers(1900, 2100))),
        "venue": draw(st.one_of(st.just(""), st.just("ICLR 2024"), _TEXT)),
        "url": draw(st.sampled_from(["", "https://example.org/a_b?c=%20&d=2#e", "https://arxiv.org/abs/2401.00001"])),
        "doi": draw(st.sampled_from(["", "10.1000/a_b(c)<d>", "10.1000/X#1"])),
        "keywords": draw(st.lists(_WORDS, max_size=3)),
    }
    made = paper_of(values, source="test", line=1)
    assert isinstance(made, Paper)
    again = paper_of({"abstract": "a", "title": made.title, "venue": made.venue}, source="test", line=1)
    assume(isinstance(again, Paper) and again.title == made.title)
    assume("others" not in made.authors and not made.venue.startswith(("http:", "https:")))
    assume(not made.url or not made.venue.startswith("www."))
    return made


@pytest.mark.parametrize("form", ["json", "csl-json", "ris", "bibtex"])
@given(listed=st.lists(papers(), max_size=3, unique_by=lambda paper: paper.id))
@example(listed=[GROWTH, BARE])
@settings(max_examples=150, deadline=None)
def test_our_readers_read_what_was_exported(form: str, listed: list[Paper]) -> None:
    text = export(citing(*listed), form)
    if not listed:
        assert text.strip() in ("", "[]") or json.loads(text)["papers"] == []
        return
    back = read(text, form)
    assert len(back) == len(listed)
    for paper, found in zip(listed, back, strict=True):
        same = replace(found, authors=paper.authors, abstract=paper.abstract)
        assert same == paper
        assert found.abstract == (one_line(paper.abstract) if form == "ris" else paper.abstract)
        if form == "csl-json":
            assert named(found.authors) == list(dict.fromkeys(named(paper.authors)))
        else:
            assert found.authors == paper.authors
    assert export(citing(*back), form) == text or form == "json"


_LATEX = st.lists(
    st.sampled_from(
        [
            *(
                "$x_1^{*}$",
                r"$\{a, b\}$",
                r"$\left\{ a \right.$",
                r"\(n \log n\)",
                "costs $5",
                " and $6 ",
                r"50\%",
                "50%",
            ),
            *(
                r"\textbf{bold 5%}",
                r"\emph{one {A} two}",
                r"\frac{a}{b}",
                r"Schr\"odinger",
                r"caf\'{e}",
                r"C:\foo",
                "{A}",
            ),
            *(
                "a~b",
                " ~10 GB",
                "{",
                "}",
                "\\",
                " & ",
                "a_b",
                "x^2",
                "\n@article{a, b = {c}}\n",
                '"',
                " words ",
                "@string(",
            ),
        ]
    ),
    max_size=8,
)


@given(_LATEX)
@settings(max_examples=300, deadline=None)
def test_latex_in_an_abstract_keeps_its_braces_balanced_and_one_entry(pieces: list[str]) -> None:
    paper = Paper("Start " + "".join(pieces) + " end", "Title", ("Ana Ortiz",))
    text = export(citing(paper), "bibtex")
    assert text.count("{") == text.count("}")
    (back,) = read(text, "bibtex")
    assert (back.title, back.authors) == ("Title", ("Ana Ortiz",))
    assert back.abstract.startswith("Start") and back.abstract.endswith("end")


@pytest.mark.parametrize(
    ("abstract", "written"),
    [
        ("20 % & #1 a_b", r"20 \% \& \#1 a\_b"),
        ("costs $5", r"costs \$5"),
        ("$x_1^{*}$ & y_1", r"$x_1^{*}$ \& y\_1"),
        (r"already 50\%", r"already 50\%"),
        (r"\textbf{50%} {x}", r"\textbf{50\%} \{x\}"),
        (r"C:\nowhere", r"C:\textbackslash{}nowhere"),
        (r"{\em so} be it", r"{\em so} be it"),
        ("one { brace", r"one \textbraceleft{} brace"),
        (r"$\left\{ a \right.$", r"$\left\lbrace{} a \right.$"),
        ("Müller, 中文", "Müller, 中文"),
        ("@article{a,", r"{@}article\textbraceleft{}a,"),
        ("~10 and 5^2", r"\textasciitilde{}10 and 5\textasciicircum{}2"),
        ("US$$x$ dollars", r"US\$\$x\$ dollars"),
    ],
)
def test_bibtex_escapes_what_is_no_latex(abstract: str, written: str) -> None:
    assert bibtex_escaped(abstract) == written
    (back,) = read(export(citing(Paper(abstract, "T")), "bibtex"), "bibtex")
    assert plain_text(back.abstract).replace(" ", "") == plain_text(abstract).replace(" ", "")


# -- keys, order, names ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
def test_only_cited_papers_in_the_order_of_their_numbers(form: str) -> None:
    text = export(ANSWER, form)
    assert "Uncited" not in text and "Never cited" not in text
    assert text.index("Nothing grew") < text.index("We cut costs")


def test_numbers_are_those_of_the_answer() -> None:
    assert [(paper["number"], paper["id"]) for paper in json.loads(export(ANSWER, "json"))["papers"]] == [
        (1, BARE.id),
        (2, GROWTH.id),
    ]
    assert re.findall(r"^\[\^(\d)\]: (\w+)", export(ANSWER, "markdown"), re.MULTILINE) == [
        ("1", "Nothing"),
        ("2", "Ortiz"),
    ]


@pytest.mark.parametrize(
    ("listed", "keys"),
    [
        ([("Ortiz, Ana", 2021), ("Bo Li", 2021)], ["ortiz2021", "li2021"]),
        ([("Ortiz, Ana", 2021), ("Ana Ortiz", 2021), ("Ana Ortiz", 2022)], ["ortiz2021a", "ortiz2021b", "ortiz2022"]),
        ([("Jörg Müller", 2020), ("Łukasz Ørsted", None)], ["muller2020", "orstednd"]),
        ([("", 2021), ("", 2021)], ["growth2021a", "growth2021b"]),
        ([("王伟", 2021)], ["growth2021"]),
        ([("Vincent van Gogh", 1888)], ["gogh1888"]),
    ],
)
def test_keys(listed: list[tuple[str, int | None]], keys: list[str]) -> None:
    made = [
        Paper(f"Abstract {at}", "The growth", (author,) if author else (), year)
        for at, (author, year) in enumerate(listed)
    ]
    assert list(citation_keys(made).values()) == keys


@given(st.lists(st.builds(Paper, _TEXT, _WORDS, st.tuples(_WORDS)), max_size=40, unique_by=lambda paper: paper.id))
@settings(max_examples=50, deadline=None)
def test_keys_are_unique_and_plain(listed: list[Paper]) -> None:
    keys = list(citation_keys(listed).values())
    assert len(set(keys)) == len(listed)
    assert all(re.fullmatch(r"[a-z0-9]+", key) for key in keys)


def test_more_papers_of_an_author_than_letters() -> None:
    keys = list(citation_keys([Paper(f"Abstract {at}", "T", ("Ana Ortiz",), 2021) for at in range(60)]).values())
    assert len(set(keys)) == 60
    assert keys[25:28] == ["ortiz2021z", "ortiz2021aa", "ortiz2021ab"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ana Ortiz", Name("Ortiz", "Ana")),
        ("Ortiz, Ana", Name("Ortiz", "Ana")),
        ("García López, Ana", Name("García López", "Ana")),
        ("Vincent van Gogh", Name("Gogh", "Vincent", particle="van")),
        ("van der Berg, Jan", Name("Berg", "Jan", particle="van der")),
        ("Johann W. von Goethe", Name("Goethe", "Johann W.", dropping="von")),
        ("Martin L. King Jr.", Name("King", "Martin L.", suffix="Jr.")),
        ("King, Jr., Martin", Name("King", "Martin", suffix="Jr.")),
        ("OpenAI", Name(literal="OpenAI")),
        ("IceCube Collaboration", Name(literal="IceCube Collaboration")),
        ("王伟", Name(literal="王伟")),
        ("Smith JA", Name(literal="Smith JA")),
        ("a, b, c, d", Name(literal="a, b, c, d")),
    ],
)
def test_names_are_taken_apart_or_left_whole(text: str, name: Name) -> None:
    assert split_name(text) == name
    assert split_name(joined_name(name)) == name


def test_a_conversation_lists_each_paper_once_and_keeps_footnotes_apart() -> None:
    assert export_all([ANSWER, ANSWER], "bibtex").count("@article{") == 1
    assert len(json.loads(export_all([ANSWER, ANSWER], "json"))["papers"]) == 2
    labels = re.findall(r"^\[\^([\d-]+)\]:", export_all([ANSWER, ANSWER], "markdown"), re.MULTILINE)
    assert labels == ["1-1", "1-2", "2-1", "2-2"]


# -- Markdown -------------------------------------------------------------------------------------------------------


def test_markdown_holds_question_answer_marks_legend_model_and_quotes() -> None:
    assert export(ANSWER, "markdown").split("\n\n") == [
        r"## Do costs \*fall\*?",
        r"Searched for: Do costs fall?",
        r"Nothing grew[^1]. Costs fell[^2][^1]. It glows. \[?\]",
        r"\[?\] not found in the sources",
        r"- \[?\] It glows. (no abstract says so)",
        r"*2 of 3 sentences located in 2 papers · written by ollama/some\_model · checked by located*",
        r"[^1]: Nothing grew \[at all\] in $x_1^*$.",
        "    > Nothing grew",
        r"[^2]: Ortiz, Ana et al. Costs of {Growth}: A\_B. Journal of Costs & Co, 2021. <https://example.org/a_b?c=1&d=2>",
        "    > We cut costs\n",
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_equal_answers_give_equal_text(form: str) -> None:
    assert export(ANSWER, form) == export(replace(ANSWER, timings=Timings(9, 9, 9), tokens_in=7), form)


def test_a_refusal_says_why() -> None:
    text = export(REFUSAL, "markdown")
    assert "Not in these abstracts." in text and "Ask more." in text and "not in these abstracts ·" in text
    assert json.loads(export(REFUSAL, "json"))["refusal"]["reason"] == "not in these abstracts"
    assert json.loads(export(REFUSAL, "csl-json")) == []


def shown(markdown: str) -> Iterator[str]:
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown):
        assert token.type in ("paragraph_open", "inline", "paragraph_close"), token.type
        for child in token.children or ():
            assert child.type in ("text", "softbreak", "text_special"), child.type
            yield "\n" if child.type == "softbreak" else child.content


@given(st.text(st.sampled_from("ab1 .)#*_`[](){}<>!&;~+-=|\\:/\"'\n"), max_size=30).map(str.strip))
@example("1. a")
@example("a\n===")
@example("[^1]: x")
@example("&amp; <b>")
@settings(max_examples=400, deadline=None)
def test_markdown_shows_the_text_as_it_stands(text: str) -> None:
    text = "\n".join(line for line in map(one_line, text.split("\n")) if line)
    assert "".join(shown(markdown_escaped(text))) == text


def test_what_a_model_set_bold_stays_bold() -> None:
    assert markdown_escaped("**a_b** and `c_d` and e_f", models_own=True) == r"**a_b** and `c_d` and e\_f"


# -- the last answer, and the command -------------------------------------------------------------------------------


def test_the_last_answer_comes_back() -> None:
    remember(REFUSAL, load_settings())
    remember(ANSWER, load_settings())
    assert load_answer("last", load_settings()) == ANSWER
    assert [path.name for path in load_settings().data.iterdir()] == ["last_answer.json"]


def test_a_failed_write_leaves_the_last_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    remember(ANSWER, load_settings())

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(StoreError, match="No space left"):
        remember(REFUSAL, load_settings())
    assert load_answer("last", load_settings()) == ANSWER
    assert len(list(load_settings().data.iterdir())) == 1


def test_no_last_answer() -> None:
    with pytest.raises(StoreError, match="no last answer") as error:
        load_answer("last", load_settings())
    assert "rag ask" in error.value.hint


def test_a_broken_last_answer() -> None:
    load_settings().data.mkdir(parents=True)
    (load_settings().data / "last_answer.json").write_text('{"question"')
    with pytest.raises(StoreError, match="cannot be read"):
        load_answer("last", load_settings())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        ("not JSON", "holds no answer"),
        ("[]", "not an answer"),
        ('{"sentences": [{}], "sources": []}', "missing"),
        ('{"sentences": [], "sources": []}', "missing"),
        (b"\xff\xfe\xff", "holds no answer"),
    ],
)
def test_a_file_that_holds_no_answer(tmp_path: Path, content: str | bytes | None, message: str) -> None:
    path = tmp_path / "answer.json"
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError, match=message) as error:
        load_answer(str(path), load_settings())
    assert error.value.hint


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_that_a_shell_wrote(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "answer.json").write_text(json.dumps(ANSWER.to_dict(), ensure_ascii=False), encoding=encoding)
    assert load_answer("answer.json", load_settings()) == ANSWER


def test_an_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="'docx'") as error:
        export(ANSWER, "docx")
    assert "csl-json" in error.value.hint


@pytest.mark.parametrize("form", FORMATS)
def test_the_command_prints_or_writes_the_same(tmp_path: Path, form: str) -> None:
    remember(ANSWER, load_settings())
    printed = CliRunner().invoke(app, ["export", "--format", form])
    written = CliRunner().invoke(app, ["export", "--answer", "last", "--format", form, "--output", "out"])
    assert (printed.exit_code, written.exit_code, written.stdout) == (0, 0, "")
    assert printed.stdout_bytes == (tmp_path / "out").read_bytes() == export(ANSWER, form).encode()


def test_the_command_reads_an_answer_from_standard_input() -> None:
    result = CliRunner().invoke(app, ["export", "--answer", "-", "--format", "ris"], input=json.dumps(ANSWER.to_dict()))
    assert result.stdout.startswith("TY  - GEN")


@pytest.mark.parametrize("form", [name for name, form in FORMATS.items() if form.papers_only])
def test_an_answer_without_a_paper_is_nothing_to_export(tmp_path: Path, form: str) -> None:
    remember(REFUSAL, load_settings())
    result = CliRunner().invoke(app, ["export", "--format", form, "--output", "out"])
    assert (result.exit_code, result.stdout) == (4, "")
    assert "nothing to export: the answer cites no paper" in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("form", ["markdown", "json"])
def test_a_refusal_is_exported_where_the_answer_itself_is(form: str) -> None:
    remember(REFUSAL, load_settings())
    result = CliRunner().invoke(app, ["export", "--format", form])
    assert result.exit_code == 0
    assert "Not in these abstracts." in result.stdout
