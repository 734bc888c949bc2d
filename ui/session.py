"""Who asks: one browser tab, its conversation, and what it has chosen."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any

from ui.live import Options

LONGEST_QUESTION = 20_000  # characters
FIELDS = tuple(field.name for field in fields(Options))


@dataclass(frozen=True, slots=True)
class Session:
    """One browser tab: whose it is, which conversation is open, and what it is about to ask."""

    browser: str = ""
    conversation: str = ""
    editing: int = 0  # the turn that the next question replaces, 0 for none
    queued: str = ""
    llm: str = ""  # model for the next question only


def options_from(values: tuple[Any, ...]) -> Options:
    """What the settings drawer holds, in the order of its components."""
    llm, top_k, year, venue, keyword, source, author, unsupported = values
    return Options(
        llm or "",
        int(top_k or 0),
        (year or "").strip(),
        (venue or "").strip(),
        (keyword or "").strip(),
        source or "",
        (author or "").strip(),
        unsupported or "",
    )


def tab_state(text: str) -> dict[str, str]:
    """What the page told about itself; whatever else it is, it is three short strings."""
    try:
        data = json.loads(text or "{}")
    except ValueError:
        data = {}
    data = data if isinstance(data, dict) else {}
    lengths = {"browser": 64, "conversation": 64, "question": LONGEST_QUESTION}
    return {key: str(data.get(key) or "")[:length] for key, length in lengths.items()}


def remembered(session: Session, tab: str) -> Session:
    """The session, or what the page says of itself where the server has forgotten it."""
    if session.browser:
        return session
    state = tab_state(tab)
    return Session(browser=state["browser"], conversation=state["conversation"])
