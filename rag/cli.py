"""The command line. Importing this is cheap: what a command needs is imported when it runs."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from rag.answer import Answer
    from rag.engine import Engine
    from rag.settings import Settings

ANSWERED, UNUSABLE_ROWS, USAGE, UNAVAILABLE, REFUSED = range(5)

app = typer.Typer(
    name="rag",
    help="Ask a list of paper abstracts. Every sentence of an answer points to the sentence that says it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Year = Annotated[str, typer.Option(help="2024, 2020-2024, 2020- or -2024.")]
Venue = Annotated[str, typer.Option(help="Part of the venue's name.")]
SourceName = Annotated[str, typer.Option("--source", help="Part of the source's name, see `rag sources`.")]
Keyword = Annotated[str, typer.Option(help="Part of a keyword.")]
Author = Annotated[str, typer.Option(help="An author's name, or several with ; between.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        from rag import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def _rag(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and end.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """What stands before a command."""


@app.command()
def ingest(
    inputs: Annotated[list[str], typer.Argument(help="Files, folders, globs, .gz, .zip, or - for standard input.")],
    mapping: Annotated[
        list[str] | None, typer.Option("--map", help="Column of a field, e.g. title='Paper name'; may be repeated.")
    ] = None,
    strict: Annotated[bool, typer.Option(help="End with 1 when a row could not be used.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make the store hold what these sources say: new, changed and removed papers are counted.

    Text lists, CSV, JSON, BibTeX, RIS, PubMed and arXiv are told by their content.
    """
    from dataclasses import asdict

    from rag.errors import InputError
    from rag.readers import sources
    from rag.store import Store
    from rag.terminal import counted, progress_bar, show_report

    columns = dict(_split_mapping(item) for item in mapping or [])
    store = Store(_settings())
    reports, unreadable = [], 0
    for source in sources(inputs, mapping=columns, stdin=sys.stdin.buffer):
        try:
            with progress_bar(_console(stderr=True)) as progress:
                report = store.sync(source.name, source.papers(), progress)
        except InputError as error:  # the other files of a folder or an archive are still wanted
            _tell(error.message, error.hint)
            unreadable += 1
            continue
        reports.append(report)
        if not as_json:
            show_report(report, _console())
    if as_json:
        _print_json([asdict(report) for report in reports])
    elif reports:
        print(f"{counted(store.count(), 'paper')} in {store.settings.data}")
    store.close()
    if unreadable:
        raise typer.Exit(USAGE)
    if strict and any(report.skipped for report in reports):
        raise typer.Exit(UNUSABLE_ROWS)


@app.command()
def ask(
    question: Annotated[
        str, typer.Argument(help="Left out: a conversation; or what is piped in, as one question.")
    ] = "",
    llm: Annotated[str, typer.Option(help="The model that writes, as in RAG_LLM.")] = "",
    top_k: Annotated[int, typer.Option(help="Papers given to the writer; 0: as set.", min=0)] = 0,
    year: Year = "",
    venue: Venue = "",
    source: SourceName = "",
    keyword: Keyword = "",
    author: Author = "",
    unsupported: Annotated[str, typer.Option(help="mark or drop sentences found in no abstract.")] = "",
    as_json: AsJson = False,
) -> None:
    """Answer a question from the abstracts, each sentence with its source. Without one: a conversation."""
    from rag.retrieval import Filters

    if unsupported not in ("", "mark", "drop"):
        _fail(f"--unsupported takes mark or drop, not {unsupported!r}")
    engine = _engine()
    filters = Filters(year=year, venue=venue, source=source, keyword=keyword, author=author)
    options = {"filters": filters, "llm": llm or None, "top_k": top_k or None, "unsupported": unsupported or None}
    if not question and sys.stdin.isatty():
        from rag.chat import converse

        converse(engine, _console(), options)
        raise typer.Exit(ANSWERED)
    question = question or sys.stdin.read()
    if not question.strip():
        _fail("there is no question")
    answer = _answer(engine, question, options, as_json=as_json)
    engine.close()
    raise typer.Exit(_exit_code(answer))


@app.command()
def search(
    question: Annotated[str, typer.Argument(help="What the papers should be about.")],
    top_k: Annotated[int, typer.Option(help="How many papers.", min=1)] = 10,
    year: Year = "",
    venue: Venue = "",
    source: SourceName = "",
    keyword: Keyword = "",
    author: Author = "",
    as_json: AsJson = False,
) -> None:
    """Show the papers that match best, with their scores and the matching passage."""
    from dataclasses import asdict

    from rag.retrieval import Filters
    from rag.terminal import show_sources

    engine = _engine()
    found = engine.search(
        question, top_k=top_k, filters=Filters(year=year, venue=venue, source=source, keyword=keyword, author=author)
    )
    if as_json:
        _print_json([{**asdict(one), "passage": one.passage} for one in found])
    elif found:
        show_sources(found, _console())
    else:
        print("No papers match." if engine.store.count() else "There are no papers yet: rag ingest FILE")
    engine.close()
    raise typer.Exit(ANSWERED if found else REFUSED)


@app.command()
def export(
    answer: Annotated[str, typer.Option(help="last, or a file that `rag ask --json` wrote; - for standard input.")] = (
        "last"
    ),
    form: Annotated[str, typer.Option("--format", help="markdown, bibtex, ris, json or csl-json.")] = "markdown",
    output: Annotated[str, typer.Option("--output", "-o", help="Write to this file.")] = "",
) -> None:
    """Write the papers that an answer cites, for Markdown and JSON with the answer and its quotes."""
    from rag.export import export as exported
    from rag.export import format_named, load_answer, write_file

    papers_only = format_named(form).papers_only
    chosen = load_answer(answer, _settings())
    if papers_only and not chosen.cited:
        _tell("there is nothing to export: the answer cites no paper", "--format markdown has the answer itself")
        raise typer.Exit(REFUSED)
    text = exported(chosen, form)
    if output:
        write_file(output, text)
    else:
        sys.stdout.buffer.write(text.encode("utf-8", errors="replace"))


@app.command()
def sources(as_json: AsJson = False) -> None:
    """List what was ingested, with the number of papers of each source."""
    from dataclasses import asdict

    from rag.store import Store

    store = Store(_settings())
    found = store.sources()
    if as_json:
        _print_json([asdict(source) for source in found])
    else:
        for source in found:
            print(f"{source.papers:>8,}  {source.synced:20}  {source.name}")
        print(f"{store.count():>8,}  papers in all")
    store.close()


@app.command()
def remove(source: Annotated[str, typer.Argument(help="Its name, see `rag sources`.")]) -> None:
    """Forget a source; papers that no other source lists are removed."""
    from pathlib import Path

    from rag.store import Store
    from rag.terminal import counted

    store = Store(_settings())
    names = {known.name for known in store.sources()}
    path = str(Path(source).expanduser().resolve())  # a source is named by its whole path; `ingest` took a short one
    name = path if path in names and source not in names else source
    print(f"{counted(store.remove_source(name), 'paper')} removed, {store.count():,} left")
    store.close()


@app.command()
def rebuild(
    catalogue: Annotated[bool, typer.Option("--catalogue", help="The catalogue, from the collection.")] = False,
) -> None:
    """Make one side of the store anew from the other: the collection from the catalogue, or the reverse."""
    from rag.recovery import rebuild_catalogue
    from rag.store import Store
    from rag.terminal import counted, progress_bar

    settings = _settings()
    if catalogue:
        print(f"{counted(rebuild_catalogue(settings), 'paper')} read back from the collection")
        return
    store = Store(settings, check=False)
    with progress_bar(_console(stderr=True)) as progress:
        print(f"{counted(store.rebuild(progress), 'paper')} embedded anew with {store.embedder.name}")
    store.close()


@app.command()
def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="Mend what the catalogue and the collection lack.")] = False,
) -> None:
    """Check store, embedding model, Ollama, keys and disk."""
    from rich.markup import escape

    from rag.doctor import describe, examine
    from rag.store import Store

    settings, console = _settings(), _console()
    if repair:
        store = Store(settings)
        found = describe(store.repair())
        console.print("nothing to repair" if found.good else f"repaired: {escape(found.text)}", soft_wrap=True)
        store.close()
    good = True
    for finding in examine(settings):
        good = good and finding.good
        sign = "[green]ok  [/green]" if finding.good else "[red]bad [/red]"
        console.print(f"{sign} {finding.name:12} {escape(finding.text)}", soft_wrap=True)
        if finding.hint:
            console.print(f"                  → {escape(finding.hint)}", soft_wrap=True)
    raise typer.Exit(ANSWERED if good else UNAVAILABLE)


@app.command()
def config(as_json: AsJson = False) -> None:
    """Show every setting, its value and where that came from. Secrets are masked."""
    from dataclasses import asdict

    from rag.settings import origins

    found = origins(_settings())
    if as_json:
        _print_json([asdict(origin) for origin in found])
        return
    for origin in found:
        print(f"{origin.variable:28} {origin.value or '–':40} {origin.where}\n    {origin.description}")


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; others than this machine's open it to them.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 7860,
    auth: Annotated[str, typer.Option(help="user:password, or RAG_AUTH.", envvar="RAG_AUTH")] = "",
    mcp: Annotated[bool, typer.Option("--mcp", help="Be an MCP server too.")] = False,
) -> None:
    """Open the browser app."""
    user, colon, password = auth.partition(":")
    if auth and not (user and colon and password):
        _fail("--auth takes user:password")
    settings = _settings()
    from rag.logs import start_log
    from ui.app import serve as serve_app

    start_log(settings, secrets=[password])
    # What stops a container or a service ends it as Ctrl-C does; as process 1 it would else not even be heard.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    serve_app(settings, host=host, port=port, auth=(user, password) if auth else None, mcp=mcp)


def main() -> None:
    """Entry point of the `rag` command: errors of ours are one readable message and an exit code."""
    from rag.errors import RagError

    if sys.argv[1:2] == ["eval"]:
        from eval.cli import app as eval_app

        app.add_typer(eval_app, name="eval", help="Score a setup, and compare two.")
    else:
        app.command("eval", help="Score a setup, and compare two.", context_settings={"ignore_unknown_options": True})(
            lambda: None
        )
    try:
        app()
    except RagError as error:
        _tell(error.message, error.hint)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)


def _answer(engine: Engine, question: str, options: Mapping[str, Any], *, as_json: bool) -> Answer:
    from rag.export import remember
    from rag.terminal import show_stream

    if as_json:
        answer = engine.ask(question, **options)
        _print_json(answer.to_dict())
    else:
        answer = show_stream(engine.stream(question, **options), _console())
    remember(answer, engine.settings)
    return answer


def _exit_code(answer: Answer) -> int:
    from rag.answer import Reason

    if not answer.refusal or answer.refusal.reason is Reason.NO_QUESTION:
        return ANSWERED
    return UNAVAILABLE if answer.refusal.reason is Reason.MODEL_UNAVAILABLE else REFUSED


def _settings() -> Settings:
    from rag.logs import logged_settings
    from rag.settings import unknown

    for line in unknown():
        _tell(line)
    return logged_settings()


def _engine() -> Engine:
    from rag.engine import Engine

    return Engine.open(_settings())


def _console(*, stderr: bool = False) -> Console:
    from rich.console import Console

    return Console(stderr=stderr, highlight=False)


def _split_mapping(item: str) -> tuple[str, str]:
    field, sign, column = item.partition("=")
    if not sign or not field or not column:
        _fail(f"--map takes field=Column, not {item!r}")
    return field.strip(), column.strip()


def _print_json(data: object) -> None:
    import json

    print(json.dumps(data, ensure_ascii=False, indent=2, default=str))


def _fail(message: str) -> NoReturn:
    _tell(message)
    raise typer.Exit(USAGE)


def _tell(message: str, hint: str = "") -> None:
    """Say on stderr what went wrong, as one line of the log where that is JSON."""
    from rag.logs import fields, is_json

    if is_json():
        import logging

        logging.getLogger(__name__).error("%s", message, extra=fields(hint=hint) if hint else None)
    else:
        print(f"rag: {message}\n  {hint}" if hint else f"rag: {message}", file=sys.stderr)
