"""A conversation in the terminal."""

from __future__ import annotations

import signal
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rag.answer import Reason
from rag.conversation import Turn
from rag.errors import RagError
from rag.export import remember
from rag.terminal import show_stream

if TYPE_CHECKING:
    from rich.console import Console

    from rag.engine import Engine

_HELP = (
    "Ask in plain words; follow-ups are understood. "
    "/new forgets what was said, /quit or Ctrl-D ends, Ctrl-C stops an answer."
)


def converse(engine: Engine, console: Console, options: Mapping[str, Any]) -> None:
    """Read questions until the end of input; each is answered with what was said before in mind."""
    try:
        import readline  # noqa: F401  (input() edits and remembers lines when this is loaded)
    except ImportError:  # not on Windows
        console.print("[dim]line editing is not available here[/dim]")
    papers = engine.store.count()
    console.print(f"[dim]{papers:,} papers. {_HELP}[/dim]")
    history: list[Turn] = []
    while True:
        try:
            question = input("\n> ").strip()
        except (EOFError, KeyboardInterrupt):
            console.print()
            return
        if question.casefold() in ("/quit", "/exit", "/q", "quit", "exit"):
            return
        if question == "/new":
            history.clear()
            console.print("[dim]forgotten[/dim]")
        elif question.startswith("/"):
            console.print(f"[dim]{_HELP}[/dim]")
        elif question:
            _answer(engine, question, history, console, options)


def _answer(engine: Engine, question: str, history: list[Turn], console: Console, options: Mapping[str, Any]) -> None:
    stop = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: stop.set())  # Ctrl-C stops the answer, not the conversation
    try:
        answer = show_stream(engine.stream(question, history=tuple(history), stop=stop, **options), console)
    except RagError as error:
        console.print(str(error), style="red", markup=False)
        return
    finally:
        signal.signal(signal.SIGINT, before)
    remember(answer, engine.settings)
    if answer.refusal is None or answer.refusal.reason is Reason.NOT_IN_ABSTRACTS:
        history.append(Turn.of(answer))
