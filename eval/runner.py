"""Ask every question, score every answer; go on when something fails, and never ask twice what was asked before."""

from __future__ import annotations

import os
import platform
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import rag
from eval import metrics, runs
from eval.cache import Cache, code_hash, key_of
from eval.dataset import Question, QuestionSet
from eval.judges import CachedJudge, Judge
from eval.memory import peak_memory_mb
from eval.runs import Outcome, Row, Run
from eval.scoring import score
from eval.systems import System, home, relevant
from rag.answer import Answer, Reason, answer_from_dict
from rag.settings import Settings

Progress = Callable[[int, int, int], None]
"""Questions done, all of them, how many of the done ones failed."""

SEED = 7
_VERSIONED = ("askabstracts", "llama-index-core", "chromadb", "sentence-transformers", "torch", "transformers", "numpy")


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run. `shuffle` and `repeat` count askings: 1 is the plain one alone, N adds N − 1 of that kind."""

    questions: QuestionSet
    limit: int | None = None
    half: str = ""
    jobs: int = 1
    shuffle: int = 1
    repeat: int = 1
    seed: int = SEED
    fresh: bool = False  # ask again what is cached
    out: Path | None = None

    def chosen(self) -> tuple[Question, ...]:
        """The questions to ask; a limit draws from the whole file, so that all types have their chance."""
        of_half = [item for item in self.questions.questions if not self.half or item.half == self.half]
        if self.limit is None or self.limit >= len(of_half):
            return tuple(of_half)
        kept = set(random.Random(self.seed).sample(range(len(of_half)), self.limit))
        return tuple(item for place, item in enumerate(of_half) if place in kept)

    def variants(self, question: Question, top_k: int) -> Iterator[tuple[str, tuple[int, ...] | None]]:
        """Each asking's name and the order of its evidence; orders differ while there are enough of them."""
        yield "first", None
        generator = random.Random(f"{self.seed} {question.id}")
        seen = {tuple(range(top_k))}
        for number in range(1, self.shuffle):
            for _ in range(50):
                order = tuple(generator.sample(range(top_k), top_k))
                if order not in seen:
                    break
            seen.add(order)
            yield f"shuffle {number}", order
        for number in range(1, self.repeat):
            yield f"repeat {number}", None


def run(
    plan: Plan,
    system: System,
    judge: Judge,
    settings: Settings,
    *,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Run:
    """Runs the plan and writes its folder; a stopped or killed run goes on where it was when it is run again.

    Raises InputError, before anything is asked, where a gold paper is not in the corpus.
    """
    plan.questions.check_gold(system.has)
    questions = plan.chosen()
    root = home(settings)
    cache = Cache(root / "cache.sqlite")
    folder = plan.out or root / _folder_name(plan, system, judge, settings)
    started = time.time()
    stop = stop or threading.Event()
    asking = _Asking(plan, system, CachedJudge(judge, cache), settings, cache)
    rows: dict[str, Row] = {}
    try:
        for row in _in_order_of_finish(questions, asking, max(1, plan.jobs), stop):
            rows[row.question.id] = row
            if progress:
                progress(len(rows), len(questions), sum(bool(item.failures) for item in rows.values()))
    finally:
        kept = tuple(rows[question.id] for question in questions if question.id in rows)
        about = _about(plan, system, judge, settings, kept, len(questions), time.time() - started)
        result = Run(folder, about, kept)
        if kept:
            runs.save(result)
        cache.close()
    return result


class _Asking:
    """Asks one question in all its variants and scores it. Safe for threads if the system and the judge are."""

    def __init__(self, plan: Plan, system: System, judge: Judge, settings: Settings, cache: Cache) -> None:
        self.plan, self.system, self.judge, self.cache = plan, system, judge, cache
        self.top_k = settings.top_k
        self.conditions = [system.name, code_hash(), system.fingerprint, system.model, relevant(settings)]

    def row(self, question: Question) -> Row:
        outcomes = tuple(
            self._outcome(question, variant, order) for variant, order in self.plan.variants(question, self.top_k)
        )
        answer = outcomes[0].answer
        if answer is None:
            return Row(question, outcomes)
        try:
            ranked = self._ranked(answer.standalone or question.question)
            scored = score(question, answer, ranked, self.judge.judge)
        except Exception as error:  # whatever it is: it costs this question and not the run
            failed = Outcome("first", answer, f"not scored: {_one_line(error)}", outcomes[0].cached)
            return Row(question, (failed, *outcomes[1:]))
        values = {**scored.values, **_robustness(outcomes)}
        return Row(question, outcomes, tuple(ranked), values, scored.verdicts, scored.judge_failures)

    def _outcome(self, question: Question, variant: str, order: tuple[int, ...] | None) -> Outcome:
        history = [[item.question, item.answer] for item in question.history]
        repeat = variant if variant.startswith("repeat") else ""
        key = key_of("answer", *self.conditions, question.question, history, order, repeat)
        if not self.plan.fresh and (found := self.cache.get(key)):
            return Outcome(variant, answer_from_dict(found), cached=True)
        try:
            answer = self.system.ask(question.question, question.history, order)
        except Exception as error:  # a time-out, a server that is gone, a fault of ours: recorded, and the run goes on
            return Outcome(variant, failure=_one_line(error))
        if answer.refusal and answer.refusal.reason is Reason.MODEL_UNAVAILABLE:
            return Outcome(variant, failure=answer.refusal.message)
        self.cache.put(key, answer.to_dict())
        return Outcome(variant, answer)

    def _ranked(self, question: str) -> list[str]:
        key = key_of("ranked", *self.conditions, question)
        found: list[str] = self.cache.once(key, lambda: self.system.ranked(question))
        return found


def _in_order_of_finish(
    questions: Sequence[Question], asking: _Asking, jobs: int, stop: threading.Event
) -> Iterator[Row]:
    """Rows as they are done; after `stop` (or Ctrl-C) no new question is begun."""
    if jobs == 1:
        for question in questions:
            if stop.is_set():
                return
            yield asking.row(question)
        return
    waiting = iter(questions)
    with ThreadPoolExecutor(jobs, thread_name_prefix="ask") as pool:
        running: set[Future[Row]] = set()
        while True:
            while len(running) < jobs and not stop.is_set() and (following := next(waiting, None)):
                running.add(pool.submit(asking.row, following))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()


def _robustness(outcomes: Sequence[Outcome]) -> Mapping[str, float]:
    """How often the later askings differ from the first: over shuffles where there are any, else over repeats."""
    answers = {item.variant: item.answer for item in outcomes if item.answer}
    kinds = {kind: [answers[name] for name in answers if name.startswith(kind)] for kind in ("shuffle", "repeat")}
    later = kinds["shuffle"] or kinds["repeat"]
    first: Answer | None = answers.get("first")
    return metrics.changed([first, *later]) or {} if first else {}


def _folder_name(plan: Plan, system: System, judge: Judge, settings: Settings) -> str:
    """The same plan over the same corpus, code and settings has the same folder."""
    shape = [plan.limit, plan.half, plan.shuffle, plan.repeat, plan.seed]
    asked = [question.model_dump(mode="json") for question in plan.questions.questions]
    key = key_of(
        system.name, code_hash(), system.fingerprint, system.model, relevant(settings), judge.name, shape, asked
    )
    writer = "".join(
        letter if letter.isalnum() or letter in ".-" else "-" for letter in f"{system.name}-{system.model}"
    )
    writer = writer.removeprefix("askabstracts-")
    return f"{plan.questions.name}-{writer}-{key[:8]}"


def _about(
    plan: Plan, system: System, judge: Judge, settings: Settings, rows: Sequence[Row], asked: int, seconds: float
) -> dict[str, Any]:
    """All that is needed to make the run again."""
    return {
        "set": plan.questions.name,
        "system": system.name,
        "model": system.model,
        "model_reason": system.model_reason,
        "judge": judge.name,
        "questions": asked,
        "finished": len(rows),
        "failed": sum(bool(row.failures) for row in rows),
        "judge_failed": sum(len(row.judge_failures) for row in rows),
        "cached": sum(outcome.cached for row in rows for outcome in row.outcomes),
        "limit": plan.limit,
        "half": plan.half,
        "shuffle": plan.shuffle,
        "repeat": plan.repeat,
        "jobs": plan.jobs,
        "seed": plan.seed,
        "corpus": system.fingerprint,
        "code": code_hash(),
        "settings": relevant(settings),
        "versions": {"python": platform.python_version(), **_versions()},
        "machine": {"system": platform.platform(), "processors": os.cpu_count()},
        "command": " ".join(["rag", *sys.argv[1:]]) if Path(sys.argv[0]).name == "rag" else "",
        "finished_at": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "seconds": round(seconds, 3),
        "peak_memory_mb": peak_memory_mb(),
    }


def _versions() -> dict[str, str]:
    found = {"askabstracts": rag.__version__}
    for name in _VERSIONED[1:]:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:400]
