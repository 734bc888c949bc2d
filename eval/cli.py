"""`rag eval …`. Importing this is cheap: what a command needs is imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eval.terminal import bar, gate, whole

if TYPE_CHECKING:
    from eval.runs import Run
    from rag.settings import Settings

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

Set = Annotated[
    str, typer.Option("--set", help="A shipped set (sample, iclr2026), a .jsonl of yours, or feedback.jsonl.")
]
Llm = Annotated[str | None, typer.Option(help="The model that writes, as in RAG_LLM.")]
Judge = Annotated[str, typer.Option(help="located, odds, nli:MODEL, llm or llamaindex.")]
Corpus = Annotated[Path | None, typer.Option(help="Papers to ask, in a store of their own; else your store.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only so many, drawn at random by --seed.")]
Jobs = Annotated[int, typer.Option(min=1, help="Questions at a time.")]
Seed = Annotated[int, typer.Option(help="Of the draw and of shuffled evidence.")]
Gates = Annotated[str, typer.Option(help="Exit with 1 below it, e.g. faithfulness=0.95,refusal=0.9.")]
SEED = 7


@app.callback()
def _eval() -> None:
    """Score a setup, compare two, and see what the scores are worth."""


@app.command()
def run(
    question_set: Set = "sample",
    llm: Llm = None,
    judge: Judge = "located",
    top_k: Annotated[int | None, typer.Option(min=1, help="Papers given to the writer.")] = None,
    corpus: Corpus = None,
    system: Annotated[
        str,
        typer.Option(
            help="askabstracts, llamaindex (its CitationQueryEngine), or replay:RUN (the words of a run, checked anew)."
        ),
    ] = "askabstracts",
    limit: Limit = None,
    half: Annotated[str, typer.Option(help="Only the questions of one half: tune or test.")] = "",
    jobs: Jobs = 1,
    shuffle_evidence: Annotated[int, typer.Option(min=1, help="Ask each with its evidence in so many orders.")] = 1,
    repeat: Annotated[int, typer.Option(min=1, help="Ask each so many times.")] = 1,
    seed: Seed = SEED,
    fresh: Annotated[bool, typer.Option("--fresh", help="Ask again what is cached.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder of the run; else one is named for it.")] = None,
    fail_under: Gates = "",
) -> None:
    """Ask every question of a set and score the answers. Run again, it goes on where it was."""
    from eval.report import kinds_markdown, markdown
    from eval.session import Request, broken_gates, evaluate, parse_gates

    gates = parse_gates(fail_under)
    settings = _settings(llm=llm, top_k=top_k)
    request = Request(
        question_set, judge, system, corpus, limit, half, jobs, shuffle_evidence, repeat, seed, fresh, out
    )
    with bar("asking") as progress:
        result = evaluate(settings, request, progress=progress)
    typer.echo(markdown(result))
    typer.echo(kinds_markdown(result))
    typer.echo(f"{result.folder / 'report.html'}")
    gate(broken_gates(result, gates))


@app.command()
def judges(
    data: Annotated[
        list[Path], typer.Option("--data", help="Labelled claims: claim, evidence, label a line (.jsonl[.gz]).")
    ],
    judge: Annotated[str, typer.Option(help="Judges, with commas between them.")] = "located",
    part: Annotated[str, typer.Option(help="Only this part of the file, e.g. test.")] = "",
    limit: Limit = None,
    seed: Seed = SEED,
    llm: Llm = None,
    json: Annotated[bool, typer.Option("--json", help="Figures as JSON.")] = False,
) -> None:
    """How far judges agree with people who labelled claims; a score is worth no more than its judge."""
    from dataclasses import asdict
    from json import dumps

    from eval.agreement import agreement, load_pairs, table
    from eval.cache import Cache
    from eval.judges import CachedJudge, make_judge
    from eval.systems import home

    settings = _settings(llm=llm)
    pairs = [(file, load_pairs(file, part=part, limit=limit, seed=seed)) for file in data]
    cache = Cache(home(settings) / "cache.sqlite")
    results = []
    for name in judge.split(","):
        chosen = CachedJudge(make_judge(name.strip(), settings), cache)
        for file, items in pairs:
            with bar(f"{chosen.name} on {file.name}") as progress:
                results.append(
                    agreement(
                        chosen, items, data=file.name.split(".")[0], progress=lambda done, of: progress(done, of, 0)
                    )
                )
    cache.close()
    typer.echo(dumps([asdict(item) for item in results], indent=1) if json else table(results))


@app.command()
def verdicts(
    labels: Annotated[Path, typer.Argument(help="Sentences that people labelled, a line each, as for judges.")],
    runs: Annotated[list[str], typer.Argument(help="Runs whose sentences they are: folders, or names.")],
) -> None:
    """How far the verdicts that a run's answers showed agree with people's."""
    from eval.agreement import load_pairs, verdict_table

    pairs = load_pairs(labels)
    typer.echo(verdict_table([_run(name) for name in runs], pairs))


@app.command()
def compare(
    old: Annotated[str, typer.Argument(help="A run: its folder, or its name.")],
    new: Annotated[str, typer.Argument(help="The run to hold against it.")],
    html: Annotated[Path | None, typer.Option(help="Write it as a page, too.")] = None,
) -> None:
    """Did it get better? Paired bootstrap over the same questions, and the questions that changed."""
    from eval.compare import compare as compared
    from eval.compare import markdown
    from eval.report import comparison_html

    comparison = compared(_run(old), _run(new))
    typer.echo(markdown(comparison))
    if html:
        html.write_text(comparison_html(comparison), encoding="utf-8")
        typer.echo(f"\n{html}")


@app.command()
def report(
    name: Annotated[str, typer.Argument(help="A run: its folder, or its name; the latest by default.")] = "",
    against: Annotated[str, typer.Option(help="A run to compare with.")] = "",
    out: Annotated[Path | None, typer.Option(help="The HTML file to write; else report.html in its folder.")] = None,
    fail_under: Gates = "",
) -> None:
    """Write a run's report again: one HTML file without any request, and Markdown on the terminal."""
    from eval.compare import compare as compared
    from eval.report import html, kinds_markdown, markdown
    from eval.session import broken_gates, parse_gates

    gates = parse_gates(fail_under)
    result = _run(name)
    file = out or result.folder / "report.html"
    file.write_text(html(result, compared(_run(against), result) if against else None), encoding="utf-8")
    typer.echo(markdown(result) + "\n" + kinds_markdown(result))
    typer.echo(f"{file}")
    gate(broken_gates(result, gates))


@app.command("list")
def list_all() -> None:
    """The runs there are, newest first."""
    from eval.runs import list_runs, load
    from eval.systems import home

    root = home(_settings())
    for folder in list_runs(root):
        about = load(folder).about
        typer.echo(f"{folder.name}  {about['finished']}/{about['questions']} questions  {about['finished_at']}")


@app.command()
def sweep(
    llm: Annotated[str, typer.Option(help="Models, with commas between them.")] = "extractive",
    top_k: Annotated[str, typer.Option(help="Numbers of papers, with commas between them.")] = "5",
    question_set: Set = "sample",
    judge: Judge = "located",
    corpus: Corpus = None,
    limit: Limit = None,
    jobs: Jobs = 1,
    seed: Seed = SEED,
    out: Annotated[Path | None, typer.Option(help="Write the table to this Markdown file, too.")] = None,
) -> None:
    """Run every combination and put them in one table."""
    from eval.session import Request, evaluate, sweep_table

    rows = []
    for model in (item.strip() for item in llm.split(",")):
        for papers in (whole(item) for item in top_k.split(",")):
            with bar(f"{model}, {papers} papers") as progress:
                request = Request(question_set, judge, corpus=corpus, limit=limit, jobs=jobs, seed=seed)
                result = evaluate(_settings(llm=model, top_k=papers), request, progress=progress)
            rows.append(({"model": result.about["model"], "papers": str(papers)}, result))
    table = sweep_table(rows)
    typer.echo(table)
    if out:
        out.write_text(table + "\n", encoding="utf-8")


@app.command()
def generate(
    out: Annotated[Path, typer.Option(help="The .jsonl file to write; never overwritten.")],
    count: Annotated[int, typer.Option(min=1, help="How many drafts.")] = 20,
    llm: Llm = None,
    seed: Seed = SEED,
) -> None:
    """Draft questions over your store's papers with the configured model, for a person to edit."""
    from eval.dataset import save
    from eval.generate import Dropped, drafts
    from rag.errors import InputError, ModelUnavailable
    from rag.generation.providers import choose_model
    from rag.store import Store

    if out.exists():
        raise InputError(f"{out} is there already", hint="choose another name with --out")
    settings = _settings(llm=llm)
    model = choose_model(settings)
    if model.llm is None:
        raise ModelUnavailable(f"drafting questions needs a language model: {model.reason}", hint="set RAG_LLM")
    store = Store(settings)
    papers = list(store.catalogue.papers())
    store.close()
    dropped: list[Dropped] = []
    made = []
    with bar("drafting") as progress:
        for question in drafts(papers, model, count, seed=seed, say=dropped.append):
            made.append(question)
            progress(len(made), count, len(dropped))
    save(made, out)
    typer.echo(f"{len(made)} drafts in {out}, {len(dropped)} dropped; read each before you trust a score from them")


@app.command()
def speed(
    corpus: Annotated[Path | None, typer.Option(help="Papers to measure with; else the sample, over and over.")] = None,
    papers: Annotated[int, typer.Option(min=50, help="So many of them.")] = 1000,
    questions: Annotated[int, typer.Option(min=5, help="Searches to time.")] = 100,
    peer: Annotated[bool, typer.Option("--peer/--no-peer", help="LlamaIndex's own pipeline beside ours.")] = True,
    json: Annotated[bool, typer.Option("--json", help="Figures as JSON.")] = False,
) -> None:
    """Ingest, sync, retrieval, cold start, memory and size, beside LlamaIndex's pipeline and bare encoding."""
    from eval.speed import measure, table, to_json

    with bar("measuring") as progress:
        result = measure(_settings(), corpus=corpus, papers=papers, questions=questions, peer=peer, progress=progress)
    typer.echo(to_json(result) if json else table(result))


@app.command()
def scale(
    corpus: Annotated[Path | None, typer.Option(help="Real papers to vary; else the sample.")] = None,
    papers: Annotated[int, typer.Option(min=50, help="Grow to so many.")] = 100_000,
    questions: Annotated[int, typer.Option(min=5, help="Searches to time.")] = 200,
    peer: Annotated[bool, typer.Option("--peer/--no-peer", help="LlamaIndex's own pipeline beside ours.")] = True,
    json: Annotated[bool, typer.Option("--json", help="Figures as JSON.")] = False,
) -> None:
    """Searching, memory and size as a library grows: real papers varied to any number, their vectors blended."""
    from eval.scale import measure, table, to_json

    with bar("measuring") as progress:
        sizes = measure(_settings(), corpus=corpus, papers=papers, questions=questions, peer=peer, progress=progress)
    typer.echo(to_json(sizes) if json else table(sizes))


@app.command()
def load(
    url: Annotated[str, typer.Argument(help="A running app; without it one is started over the sample.")] = "",
    askers: Annotated[str, typer.Option(help="How many ask at once, e.g. 20,100.")] = "20,100",
    each: Annotated[int, typer.Option(min=1, help="Questions that each asks, one after the other.")] = 3,
) -> None:
    """Throughput, waiting times, fairness and failures with many askers at once."""
    from contextlib import nullcontext

    from eval.load import measure, served, table

    counts = [whole(item, "--askers") for item in askers.split(",")]
    with nullcontext(url) if url else served(_settings().llm) as address:
        measure(address, 1, 3)  # what is loaded at the first question is not what is measured
        loads = [measure(address, count, each) for count in counts]
    typer.echo(table(loads))
    gate([f"{one.askers} askers: {len(one.failures)} failed" for one in loads if one.failures])


@app.command()
def retrieval(
    folders: Annotated[list[Path], typer.Argument(help="Folders in BEIR layout: corpus, queries, qrels.tsv.")],
    floor: Annotated[list[str] | None, typer.Option(help="Exit with 1 below it, e.g. nDCG@10=0.72.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Figures as JSON.")] = False,
) -> None:
    """Score our retrieval on judged collections, in a temporary store."""
    from eval.retrieval import parse_floors, run_all, table, to_json

    results = run_all(folders, floors=parse_floors(floor or []))
    typer.echo(to_json(results) if json else table(results))
    gate(
        [
            f"{item.name}: {name} {item.scores[name]:.3f} < {bound}"
            for item in results
            for name, bound in item.below.items()
        ]
    )


def _settings(**overrides: object) -> Settings:
    from rag.logs import logged_settings

    return logged_settings(**overrides)


def _run(name: str) -> Run:
    """A run by folder or name; the latest for ""."""
    from eval.runs import find, list_runs, load
    from eval.systems import home
    from rag.errors import InputError

    root = home(_settings())
    if name:
        return load(find(root, name))
    if not (folders := list_runs(root)):
        raise InputError(f"there is no evaluation in {root} yet", hint="rag eval run --set sample")
    return load(folders[0])


def main(arguments: list[str] | None = None) -> None:
    """For `python -m eval.retrieval`: errors as one line, with the exit code that belongs to them."""
    from rag.errors import RagError

    try:
        app(arguments)
    except RagError as error:
        typer.echo(f"error: {error}", err=True)
        raise SystemExit(error.exit_code) from None
