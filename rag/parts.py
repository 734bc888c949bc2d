"""The questions within a question: "How much does it gain, and what does it cost?"."""

from __future__ import annotations

import re

from rag.followup import is_clause, is_follow_up
from rag.topic import carried

_JOINT = re.compile(
    r"[,;]?\s+(?:and|but|or)\s+(?:also\s+)?(?=(?:what|which|how|who|whose|where|when|why|is|are|was|were|do|does|did|has|have|"
    r"can)\b)|[?？]\s+(?=\w)|[，；？]\s*(?=\S)",
    re.IGNORECASE,
)


def parts_of(question: str) -> list[str]:
    """The questions that a question is made of, each to be understood alone; itself where it is one."""
    pieces = [piece.strip() for piece in _JOINT.split(question) if piece.strip(" ?？,;")]
    if len(pieces) < 2 or not is_clause(pieces[0]):
        return [question]
    asked: list[str] = []
    for piece in (f"{one.rstrip('?？')}?" for one in pieces):
        asked.append(carried(piece, asked, "") if asked and is_follow_up(piece) else piece)
    return asked
