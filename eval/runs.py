"""A run on disk: one folder with the questions, the answers, the judge's words, the values, and how to repeat it.

run.json          how it was made: settings, versions, model, corpus, seeds, counts
questions.jsonl   the questions that were asked
rows.jsonl        a line a question: its answers, its ranking, its values, the judge's words, what failed
summary.json      mean and interval of each metric, overall and by type
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from eval.dataset import Question
from eval.intervals import Estimate
from eval.scoring import Values, summary
from rag.answer import Answer, answer_from_dict
from rag.errors import InputError

OVERALL = "overall"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One asking of a question. `variant` is "first", "shuffle 1", "repeat 1", …; `failure` says why it gave none."""

    variant: str
    answer: Answer | None = None
    failure: str = ""
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One question with all that came of it. `ranked` are the 20 best papers for it, `verdicts` the judge's."""

    question: Question
    outcomes: tuple[Outcome, ...]
    ranked: tuple[str, ...] = ()
    values: Values = field(default_factory=dict)
    verdicts: tuple[str, ...] = ()
    judge_failures: tuple[str, ...] = ()

    @property
    def answer(self) -> Answer | None:
        return self.outcomes[0].answer if self.outcomes else None

    @property
    def failures(self) -> tuple[str, ...]:
        return tuple(f"{item.variant}: {item.failure}" for item in self.outcomes if item.failure)


@dataclass(frozen=True, slots=True)
class Run:
    """`about` is what run.json holds."""

    folder: Path
    about: Mapping[str, Any]
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def failed(self) -> int:
        """Questions of which at least one asking gave no answer."""
        return sum(bool(row.failures) for row in self.rows)

    @property
    def judge_failed(self) -> int:
        return sum(len(row.judge_failures) for row in self.rows)

    def summaries(self) -> dict[str, dict[str, Estimate]]:
        """ "overall", then each type of question → metric → estimate."""
        kinds = dict.fromkeys(row.question.type for row in self.rows)
        halves = [half for half in ("tune", "test") if any(row.question.half == half for row in self.rows)]
        return {
            OVERALL: summary([row.values for row in self.rows]),
            **{
                f"half {half}": summary([row.values for row in self.rows if row.question.half == half])
                for half in halves
            },
            **{kind: summary([row.values for row in self.rows if row.question.type == kind]) for kind in kinds},
        }


def save(run: Run) -> None:
    """Writes the folder anew; each file appears whole or not at all."""
    run.folder.mkdir(parents=True, exist_ok=True)
    _write(run.folder / "questions.jsonl", [row.question.model_dump(exclude_defaults=True) for row in run.rows])
    _write(run.folder / "rows.jsonl", [_row_to_dict(row) for row in run.rows])
    _replace(run.folder / "run.json", json.dumps(run.about, indent=1, ensure_ascii=False))
    estimates = {
        group: {key: asdict(value) for key, value in values.items()} for group, values in run.summaries().items()
    }
    _replace(run.folder / "summary.json", json.dumps(estimates, indent=1, ensure_ascii=False))


def load(folder: Path) -> Run:
    """A finished (or stopped) run. Raises InputError where the folder is none."""
    try:
        about = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        lines = (folder / "rows.jsonl").read_text(encoding="utf-8").split("\n")
        rows = tuple(_row_from_dict(json.loads(line)) for line in lines if line.strip())
    except FileNotFoundError as error:
        raise InputError(f"{folder} is not an evaluation: {Path(error.filename).name} is missing") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder} cannot be read as an evaluation: {error}") from error
    return Run(folder, about, rows)


def list_runs(root: Path) -> list[Path]:
    """Folders of runs under `root`, the newest first."""
    found = [file.parent for file in root.glob("*/run.json")]
    return sorted(found, key=lambda folder: (folder / "run.json").stat().st_mtime, reverse=True)


def find(root: Path, name: str) -> Path:
    """The folder that `name` means: a path, or a run under `root`. Raises InputError naming the runs there are."""
    for folder in (Path(name), root / name):
        if (folder / "run.json").is_file():
            return folder
    names = ", ".join(folder.name for folder in list_runs(root)[:10]) or "none yet"
    raise InputError(f"there is no evaluation {name}", hint=f"a folder, or one of those in {root}: {names}")


def _row_to_dict(row: Row) -> dict[str, Any]:
    return {
        "question": row.question.model_dump(exclude_defaults=True),
        "outcomes": [
            {
                "variant": item.variant,
                "answer": item.answer and item.answer.to_dict(),
                "failure": item.failure,
                "cached": item.cached,
            }
            for item in row.outcomes
        ],
        "ranked": list(row.ranked),
        "values": row.values,
        "verdicts": list(row.verdicts),
        "judge_failures": list(row.judge_failures),
    }


def _row_from_dict(raw: Mapping[str, Any]) -> Row:
    outcomes = tuple(
        Outcome(**{**item, "answer": answer_from_dict(item["answer"]) if item["answer"] else None})
        for item in raw["outcomes"]
    )
    return Row(
        Question.model_validate(raw["question"]),
        outcomes,
        tuple(raw["ranked"]),
        dict(raw["values"]),
        tuple(raw["verdicts"]),
        tuple(raw["judge_failures"]),
    )


def _write(path: Path, items: Iterable[Mapping[str, Any]]) -> None:
    _replace(path, "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items))


def _replace(path: Path, text: str) -> None:
    new = path.with_suffix(path.suffix + ".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)
