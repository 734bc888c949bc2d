"""Thumbs with reasons, one JSON line each in `feedback.jsonl`: the evaluation reads them as cases."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from rag.answer import Answer

LONGEST_REASON = 2000


class Feedback:
    """Appends to one file; several threads may."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()

    def add(self, answer: Answer, rating: Literal["up", "down"], reason: str = "") -> None:
        """Write one line: what was asked and answered, by what, from which papers, and what the reader said."""
        line: dict[str, Any] = {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "rating": rating,
            "reason": reason.strip()[:LONGEST_REASON],
            "question": answer.standalone or answer.question,
            "asked": answer.question,
            "answer": answer.text,
            "refusal": answer.refusal.reason.value if answer.refusal else None,
            "papers": [source.paper.id for source in answer.cited],
            "retrieved": [source.paper.id for source in answer.sources],
            "sentences": [{"text": s.text, "verdict": s.verdict.value} for s in answer.sentences],
            "model": answer.model,
        }
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
