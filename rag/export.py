"""The last answer, kept for export."""

from __future__ import annotations

import json

from rag.answer import Answer
from rag.settings import Settings


def remember(answer: Answer, settings: Settings) -> None:
    """Keep the answer as the last one."""
    settings.data.mkdir(parents=True, exist_ok=True)
    text = json.dumps(answer.to_dict(), ensure_ascii=False)
    (settings.data / "last_answer.json").write_text(text, encoding="utf-8")
