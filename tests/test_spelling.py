"""Questions in small letters."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.embedding import Embedder
from rag.engine import Engine
from rag.papers import Paper
from rag.readers import sources
from rag.settings import Settings
from rag.spelling import respelled
from rag.store import Store

PAPERS = [
    Paper(
        "Hint-guided Policy Optimization (HiPO) gains 4.6 pp on AIME 2024 over GRPO. The training is short.",
        title="HiPO: Training with Hints",
    ),
    Paper("Nemotron-CC-Math-4+ has 52B tokens. An LLM cleans it; an llm is cheap.", title="Nemotron"),
]


@pytest.mark.parametrize(
    ("typed", "spelled"),
    [
        ("what is hipo?", "what is HiPO?"),
        ("how does hipo fare on aime 2024", "how does HiPO fare on AIME 2024"),
        ("how large is nemotron-cc-math-4+?", "how large is Nemotron-CC-Math-4+?"),
        ("is training with hints short?", "is training with hints short?"),  # a capital in a title makes no name
        ("which llm?", "which llm?"),  # the papers have it both ways
        ("What is HIPO?", "What is HIPO?"),
        ("who is it?", "who is it?"),
        ("它用了 hipo 吗？", "它用了 HiPO 吗？"),
        ("", ""),
    ],
)
def test_names_are_spelled_as_the_papers_do(typed: str, spelled: str) -> None:
    assert respelled(typed, PAPERS) == spelled


def test_a_name_in_small_letters_is_answered_as_well(tmp_path: Path, embedder: Embedder) -> None:
    settings = Settings(data=tmp_path, llm="extractive")
    store = Store(settings, embedder)
    (sample,) = sources([str(Path(__file__).parents[1] / "rag" / "data" / "iclr2026_sample.jsonl")])
    store.sync(sample.name, sample.papers())
    engine = Engine(store, settings)
    for name in ("HiPO", "EXGRPO"):
        proper, small = engine.ask(f"What is {name}?"), engine.ask(f"what is {name.lower()}")
        assert proper.refusal is small.refusal is None
        assert proper.text == small.text
    engine.close()
