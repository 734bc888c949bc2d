"""What can be chosen from: models that are there, sources of the store, example questions from its papers."""

from __future__ import annotations

from rag.settings import Settings
from ui.engines import Engines


def model_choices(settings: Settings) -> list[tuple[str, str]]:
    """(label, value) of the models a question can be answered with; "" is what the settings say."""
    return [(f"As configured ({settings.llm})", ""), ("Extractive: quotes, no model", "extractive")]


def source_choices(engines: Engines) -> list[tuple[str, str]]:
    return [("Any", "")]


def example_questions(engines: Engines) -> list[str]:
    return []
