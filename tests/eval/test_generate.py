"""Drafts from a model: kept only where the quote stands in the abstract."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from servers import FaultyServer

from eval.dataset import load, save
from eval.facts import holds
from eval.generate import Dropped, drafts
from rag.errors import ModelUnavailable
from rag.generation.models import Model
from rag.generation.providers import choose_model
from rag.papers import Paper
from rag.settings import load_settings

PAPER = Paper("We trained on 1,500 pairs. The model $\\alpha$-Net is 20.39% better.", title="Nets", id="p1")


def model_that_says(server: FaultyServer, *replies: object) -> Model:
    server.words = [reply if isinstance(reply, str) else json.dumps(reply) for reply in replies]
    return choose_model(load_settings(llm="ollama/small", ollama_url=server.url))


def test_a_draft_has_its_paper_its_fact_and_its_quote(faulty: FaultyServer, tmp_path: Path) -> None:
    model = model_that_says(faulty, {"question": "How much better is it?", "quote": "is 20.39% better."})
    (draft,) = drafts([PAPER], model, 5)
    assert (draft.type, draft.gold, draft.question) == ("number", ("p1",), "How much better is it?")
    assert holds(draft.facts[0], "by 20.39 %") and not holds(draft.facts[0], "by 20.4 %")
    assert "quote: is 20.39% better" in draft.note
    save([draft], tmp_path / "drafts.jsonl")
    assert load(tmp_path / "drafts.jsonl").questions == (draft,)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"question": "How much better?", "quote": "is 26.39% better"}, "does not stand in the abstract"),
        ({"question": "How much better?", "quote": ""}, "does not stand in the abstract"),
        ({"question": "Tell me more.", "quote": "is 20.39% better"}, "no question and quote"),
        ({"question": ["How?"], "quote": "is 20.39% better"}, "no question and quote"),
        ("How much better is it? By 20.39 %.", "no question and quote"),
        ('{"question": "How', "no question and quote"),
    ],
)
def test_what_is_no_draft_is_dropped_with_its_reason(
    faulty: FaultyServer,
    reply: object,
    reason: str,
) -> None:
    dropped: list[Dropped] = []
    assert list(drafts([PAPER], model_that_says(faulty, reply), 5, say=dropped.append)) == []
    assert dropped[0].paper_id == "p1" and reason in dropped[0].reason


def test_no_more_drafts_than_asked_for(faulty: FaultyServer) -> None:
    papers = [Paper(PAPER.abstract, title=str(number), id=f"p{number}") for number in range(6)]
    model = model_that_says(faulty, {"question": "How much better?", "quote": "20.39% better"})
    made = list(drafts(papers, model, 3))
    assert len(made) == len({draft.gold for draft in made}) == 3
    assert [draft.gold for draft in made] == [draft.gold for draft in drafts(papers, model, 3)]


def test_a_server_that_is_gone_is_said(faulty: FaultyServer) -> None:
    model = model_that_says(faulty, "x")
    faulty.script = ["reset"]
    with pytest.raises(ModelUnavailable):
        list(drafts([PAPER], model, 1))
