"""Verdicts out of a language model's reply: tolerant of wrapping, strict in what counts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answer import Verdict
from rag.grounding.judgement import JudgeFailed, parse_json, parse_judgement

GOOD = [
    pytest.param('{"verdict": "supported"}', Verdict.SUPPORTED, id="plain"),
    pytest.param('```json\n{"verdict": "partly", "reason": "x"}\n```', Verdict.PARTLY, id="fenced"),
    pytest.param(json.dumps('{"verdict": "contradicted"}'), Verdict.CONTRADICTED, id="JSON in a string"),
    pytest.param('{"verdict": "not_found"}\nI hope this helps!', Verdict.NOT_FOUND, id="prose after"),
    pytest.param('Sure! Here: {"verdict": "Supported"}', Verdict.SUPPORTED, id="prose before, capital"),
    pytest.param('<think>{"verdict": "partly"}?</think>{"verdict": "supported"}', Verdict.SUPPORTED, id="thinking"),
    pytest.param('[{"verdict": "not supported"}]', Verdict.NOT_FOUND, id="in a list"),
    pytest.param('{"verdict": "supported"} {"verdict": "supported"}', Verdict.SUPPORTED, id="twice the same"),
]
BAD = [
    "", "yes", "Yes and no.", "No … both eyes", '{"verdict": "supp', '{"verdict": "maybe"}', '{"answer": "supported"}',
    '{"verdict": "supported"} {"verdict": "contradicted"}', '{"verdict": null}', "[1, 2]", "null",
]  # fmt: skip


@pytest.mark.parametrize(("reply", "verdict"), GOOD)
def test_reads_the_verdict(reply: str, verdict: Verdict) -> None:
    assert parse_judgement(reply).verdict is verdict


@pytest.mark.parametrize("reply", BAD)
def test_what_is_no_verdict_is_a_failed_judge(reply: str) -> None:
    with pytest.raises(JudgeFailed):
        parse_judgement(reply)


def test_the_reason_is_kept() -> None:
    assert parse_judgement('{"verdict": "partly", "reason": "no figure"}').reason == "no figure"


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    assert isinstance(parse_json(text), list)


@given(
    st.dictionaries(st.text(max_size=5), st.integers(), min_size=1),
    st.sampled_from(["{}", "```json\n{}\n```", "So: {} !"]),
)
def test_finds_the_object_in_its_wrapping(value: dict[str, int], wrapping: str) -> None:
    assert value in parse_json(wrapping.replace("{}", json.dumps(value), 1))
