"""Exports can be read by the programs they are for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answer import Answer, Citation, Sentence, Source, Verdict
from rag.markup import plain_text
from rag.papers import Paper
from rag.readers import sources
from ui.exports import bibtex, export_turns, file_stem, markdown, ris

FIRST = Paper(
    "We cut costs by 20 % & more.",
    "Costs of {Growth}: A_B",
    ("Ortiz, Ana", "Bo Li"),
    2021,
    "Econ & Co",
    url="https://example.org/a_b?c=1&d=2",
    doi="10.1000/xyz_1",
    keywords=("cost", "growth"),
)
SECOND = Paper("Nothing grew.\n\nAt all.", "Nothing")
ANSWER = Answer(
    "Does  it grow?",
    "Does it grow?",
    (
        Sentence("Costs fell.", Verdict.SUPPORTED, (Citation(1, FIRST.id, 0, 12, FIRST.abstract[:12], 0.9),)),
        Sentence("It glows.", Verdict.NOT_FOUND, (), " ", "no abstract says so"),
    ),
    (Source(FIRST, 0.9, number=1), Source(SECOND, 0.2)),
)


def read(path: Path, text: str) -> list[Paper]:
    path.write_bytes(text.encode("utf-8"))
    return [item for source in sources([str(path)]) for item in source.papers() if isinstance(item, Paper)]


def test_markdown_holds_answer_numbers_quotes_and_what_was_not_found() -> None:
    text = markdown(ANSWER)
    assert text.startswith("## Does it grow?\n\nCosts fell [1]. It glows.")
    assert "[1] Ortiz, Ana et al. Costs of {Growth}: A_B. Econ & Co, 2021. https://example.org" in text
    assert "> We cut costs" in text
    assert "- It glows. (no abstract says so)" in text
    assert "Nothing" not in text


def test_bibtex_comes_back_as_it_was(tmp_path: Path) -> None:
    (back,) = read(tmp_path / "x.bib", bibtex([FIRST]))
    assert plain_text(back.title) == FIRST.title
    assert (back.year, back.doi, back.url) == (2021, FIRST.doi, FIRST.url)
    assert len(back.authors) == 2
    assert back.abstract == FIRST.abstract


def test_ris_comes_back_as_it_was(tmp_path: Path) -> None:
    back = read(tmp_path / "x.ris", ris([FIRST, SECOND]))
    assert [(one.title, one.year, one.doi) for one in back] == [
        (FIRST.title, 2021, FIRST.doi),
        ("Nothing", None, ""),
    ]
    assert back[0].authors == FIRST.authors
    assert back[0].keywords == FIRST.keywords
    assert back[1].abstract == "Nothing grew. At all."


def test_equal_keys_are_told_apart() -> None:
    text = bibtex([FIRST, replace(FIRST, id="other"), replace(FIRST, id="third")])
    keys = [line.split("{")[1].rstrip(",") for line in text.splitlines() if line.startswith("@")]
    assert keys == ["ortiz2021costs", "ortiz2021costsa", "ortiz2021costsb"]


@pytest.mark.parametrize(("form", "suffix"), [("markdown", ".md"), ("bibtex", ".bib"), ("ris", ".ris"), ("?", ".md")])
def test_files_are_named_after_the_question(form: str, suffix: str) -> None:
    assert export_turns([ANSWER, ANSWER], form)["name"] == f"does-it-grow{suffix}"


def test_a_conversation_lists_each_paper_once() -> None:
    assert export_turns([ANSWER, ANSWER], "bibtex")["text"].count("@inproceedings") == 1


@given(st.text(max_size=40))
def test_no_question_makes_a_dangerous_file_name(question: str) -> None:
    stem = file_stem(question)
    assert stem
    assert set(stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
