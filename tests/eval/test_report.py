"""The report: self-contained, escaped, and saying what was measured."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from planted import invent, plant, truthful

from eval.compare import compare
from eval.judges import LocatedJudge
from eval.report import OUTCOMES, comparison_html, html, kinds_markdown, markdown, outcome
from eval.runner import Plan, run
from eval.runs import Outcome, Row, Run
from rag.answer import Answer, Citation, Sentence, Source, Verdict
from rag.papers import Paper
from rag.settings import load_settings

NASTY = "</title><script>alert(1)</script><img src=x onerror=alert(1)> & \"'"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    settings = load_settings(data=tmp_path_factory.mktemp("report"))
    questions, honest = truthful()
    plan = Plan(questions)
    return {
        "good": run(plan, honest, LocatedJudge(), settings),
        "bad": run(plan, plant(honest, "inventive", invent), LocatedJudge(), settings),
    }


class Elements(HTMLParser):
    """All start tags with their attributes, and the tags left open."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, Mapping[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "line", "circle", "rect") or (
            tag == "rect" and not self.get_starttag_text().endswith("/>")
        ):  # type: ignore[union-attr]
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, (self.open[-3:], tag)
        self.open.pop()


def test_it_is_one_well_formed_file_that_asks_for_nothing(made: dict[str, Run]) -> None:
    page = html(made["good"], compare(made["good"], made["bad"]))
    elements = Elements(page)
    assert elements.open == []
    names = {tag for tag, _ in elements.tags}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "form", "base"}
    attributes = [(name, value) for _, attrs in elements.tags for name, value in attrs.items()]
    assert not [
        pair for pair in attributes if pair[0] in ("src", "href", "srcset", "style") or pair[0].startswith("on")
    ]
    assert not re.findall(r"url\(|@import", page)
    assert "default-src 'none'" in page
    assert "svg" in names


def test_what_others_wrote_is_text(made: dict[str, Run]) -> None:
    paper = Paper(f"{NASTY} It is 7 times faster.", title=NASTY, id=NASTY)
    citation = Citation(1, paper.id, 0, len(NASTY), NASTY, 1.0)
    said = Answer(
        NASTY,
        f"{NASTY} again",
        (Sentence(NASTY, Verdict.PARTLY, (citation,), note=NASTY),),
        (Source(paper, 1.0, number=1),),
    )
    question = (
        made["good"]
        .rows[0]
        .question.model_copy(
            update={"id": NASTY, "question": NASTY, "note": NASTY, "gold": (NASTY,), "facts": (NASTY,)}
        )
    )
    row = Row(question, (Outcome("first", said, NASTY),), values={"right": 0.0}, judge_failures=(NASTY,))
    one = Run(Path("nasty"), {"set": NASTY, "model": NASTY, "judge": NASTY, "settings": {NASTY: NASTY}}, (row,))
    other = replace(one, rows=(replace(row, values={"right": 1.0}),))
    for page in (html(one), html(one, compare(one, other)), comparison_html(compare(one, other))):
        elements = Elements(page)
        assert elements.open == []
        assert not {tag for tag, _ in elements.tags} & {"script", "img"}
        assert "onerror=alert(1)&gt;" in page


def test_it_shows_figures_with_intervals_and_every_question(made: dict[str, Run]) -> None:
    page = html(made["bad"])
    assert page.count("<details class='question'>") == len(made["bad"].rows)
    assert "answered, though unanswerable" in page
    assert re.search(r"quotes verbatim</text>.*1\.00 \[0\.9\d, 1\.00\]  n \d+", page)
    assert "settings.top_k" in page


def test_markdown_has_each_metric_with_its_n(made: dict[str, Run]) -> None:
    text = markdown(made["good"])
    assert re.search(r"\| factual sentences supported \| 1\.00 \[0\.\d\d, 1\.00\] \| \d+ \|", text)
    assert "failed" not in text
    by_kind = kinds_markdown(made["good"], ["right", "refusal"])
    assert re.search(r"\| number \| \d+ \| 1\.00 \[.*\] \| – \|", by_kind)
    assert re.search(r"\| unanswerable \| 12 \| 1\.00 \[.*\] \| 1\.00 \[", by_kind)


def test_the_title_names_a_system_that_is_not_ours(made: dict[str, Run]) -> None:
    good = made["good"]
    titles = [
        re.search(r"<h1>(.*)</h1>", html(replace(good, about={**good.about, "set": "sample", "system": system})))[1]  # type: ignore[index]
        for system in ("askabstracts", "llamaindex")
    ]
    assert titles == [
        f"sample · {good.about['model']} · judge located",
        f"sample · llamaindex · {good.about['model']} · judge located",
    ]


def test_what_failed_is_in_it(made: dict[str, Run]) -> None:
    row = made["good"].rows[0]
    lost = Row(row.question, (Outcome("first", None, "TimeoutError: 120 s"),))
    shown = Run(Path("x"), made["good"].about, (lost, *made["good"].rows[1:]))
    assert f"- `{row.question.id}`: first: TimeoutError: 120 s" in markdown(shown)
    assert "TimeoutError: 120 s" in html(shown)
    assert outcome(lost) == "failed"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"right": 1.0, "refused_answerable": 0.0}, "right"),
        ({"right": 0.0, "refused_answerable": 0.0}, "wrong"),
        ({"right": 0.0, "refused_answerable": 1.0}, "silent"),
        ({"right": 1.0, "refusal": 1.0, "answered_unanswerable": 0.0}, "declined"),
        ({"right": 0.0, "refusal": 0.0, "answered_unanswerable": 1.0}, "invented"),
        ({"faithfulness": 1.0}, "unknown"),
    ],
)
def test_outcomes(made: dict[str, Run], values: dict[str, float | None], expected: str) -> None:
    assert outcome(replace(made["good"].rows[0], values=values)) == expected
    assert expected in dict(OUTCOMES)
