"""What the commands share: a progress bar, bounds that fail, numbers in lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import typer


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int, int], None]]:
    """A progress bar on stderr where that is a terminal; it takes (done, all, failed)."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as shown:
        task = shown.add_task(what, total=None)

        def update(done: int, of: int, failed: int) -> None:
            lost = f" ({failed} failed)" if failed else ""
            shown.update(task, completed=done, total=of, description=what + lost)

        yield update


def gate(broken: Sequence[str]) -> None:
    """Ends the command with 1 where a bound is broken."""
    if broken:
        typer.echo("below the bounds: " + "; ".join(broken), err=True)
        raise typer.Exit(1)


def whole(text: str, option: str = "--top-k") -> int:
    """A whole number from 1 on, of a list like "3,5"."""
    if not text.strip().isdecimal() or int(text) < 1:
        raise typer.BadParameter(f"{text!r} is no whole number from 1 on", param_hint=option)
    return int(text)
