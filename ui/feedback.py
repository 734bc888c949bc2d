"""Thumbs with reasons, one JSON line each in `feedback.jsonl`: the evaluation reads them as cases."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from rag.answer import Answer

LONGEST_REASON = 2000
Rating = Literal["up", "down"]


class Feedback:
    """Appends to one file; several threads may."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()

    def add(self, answer: Answer, rating: Rating, reason: str = "") -> None:
        """Write one line: `time`, `question`, `rating`, `reason`, and the whole `answer` as `Answer.to_dict` has it."""
        line = {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "question": answer.question,
            "rating": rating,
            "reason": reason.strip()[:LONGEST_REASON],
            "answer": answer.to_dict(),
        }
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
