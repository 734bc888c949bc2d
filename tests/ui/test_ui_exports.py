"""Files to download: their names, and that they hold what was asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answer import Answer, Citation, Sentence, Source, Verdict
from rag.errors import InputError
from rag.papers import Paper
from ui.exports import FORMATS, export_file, file_stem

PAPER = Paper("We cut costs by 20 %.", "Costs", ("Ortiz, Ana",), 2021)
ANSWER = Answer(
    "Does  it grow?",
    "Does it grow?",
    (Sentence("Costs fell.", Verdict.SUPPORTED, (Citation(1, PAPER.id, 0, 21, PAPER.abstract, 0.9),)),),
    (Source(PAPER, 0.9, number=1),),
)


@pytest.mark.parametrize(("form", "name"), [("markdown", ".md"), ("bibtex", ".bib"), ("ris", ".ris")])
def test_a_file_is_named_after_the_question_and_lists_each_paper_once(form: str, name: str) -> None:
    file = export_file([ANSWER, ANSWER], form)
    assert file["name"] == f"does-it-grow{name}"
    assert "Costs" in file["text"]
    if form != "markdown":
        assert file["text"].count("Ortiz") == export_file([ANSWER], form)["text"].count("Ortiz")


def test_every_format_offered_is_there() -> None:
    assert all(export_file([ANSWER], form)["text"] for _, form in FORMATS)
    with pytest.raises(InputError):
        export_file([ANSWER], "docx")


@given(st.text(max_size=40))
def test_no_question_makes_a_dangerous_file_name(question: str) -> None:
    stem = file_stem(question)
    assert stem
    assert set(stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
