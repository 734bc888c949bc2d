"""Misspelt words are told, and never read as something else unsaid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from encoders import HashEmbedder

from rag.engine import Engine
from rag.fulltext import FullText
from rag.papers import Paper
from rag.store import Store
from rag.suggestion import suggestions
from rag.text import informative

PAPERS = [
    Paper(
        "Diffusion of molecules. Masked diffusion generates a molecule in two stages; generation is slow.", title="MELD"
    ),
    Paper("State-clashing is what HiPO avoids. Causal inference is hard.", title="HiPO: Hints"),
    Paper("Transformers learn from data; a transformer is a network.", title="On Transformers"),
]


@pytest.fixture(scope="module")
def store(over: Callable[[list[Paper], Any], Engine]) -> Store:
    return over(PAPERS, HashEmbedder()).store


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("difusion models", {"difusion": "diffusion"}),
        ("What is sate-clashing?", {"sate-clashing": "state-clashing"}),
        ("What is mollecule genration?", {"mollecule": "molecule", "genration": "generation"}),
        ("casual inference", {"casual": "causal"}),
        ("What is HiPOO?", {"HiPOO": "HiPO"}),
        ("Which papers use transformrs?", {"transformrs": "transformers"}),
        ("What is diffusion?", {}),
        ("What is the capital of Australia?", {}),
        ("What is a dat?", {}),
        ("什么是扩散模型？", {}),
        ("1234567 and GPT-44444", {}),
        ("", {}),
    ],
)
def test_words_that_no_paper_has(store: Store, question: str, told: dict[str, str]) -> None:
    frequency = FullText(store.catalogue).frequency(informative(question))
    assert suggestions(question, frequency, store.catalogue) == told


def test_a_refusal_tells_them(sample: Engine) -> None:
    answer = sample.ask("What is sate-clashing?")
    assert answer.refusal is not None
    assert answer.refusal.hint == "no paper has “sate-clashing”, but “state-clashing” is there"
