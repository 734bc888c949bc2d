"""`rag eval …`. Importing this is cheap: what a command needs is imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True,
    help="Score a setup, compare two, and see what the scores are worth.",
    pretty_exceptions_show_locals=False,
)


@app.command()
def retrieval(
    folders: Annotated[list[Path], typer.Argument(help="Folders in BEIR layout: corpus, queries, qrels.tsv.")],
    floor: Annotated[list[str], typer.Option(help="Exit with 1 below it, e.g. nDCG@10=0.72.")] = [],  # noqa: B006
    json: Annotated[bool, typer.Option("--json", help="Figures as JSON.")] = False,
) -> None:
    """Score our retrieval on judged collections, in a temporary store."""
    from eval.retrieval import parse_floors, run_all, table, to_json

    results = run_all(folders, floors=parse_floors(floor))
    typer.echo(to_json(results) if json else table(results))
    low = [
        f"{item.name}: {name} {item.scores[name]:.3f} < {value}"
        for item in results
        for name, value in item.below.items()
    ]
    if low:
        typer.echo("below the floor: " + "; ".join(low), err=True)
        raise typer.Exit(1)
