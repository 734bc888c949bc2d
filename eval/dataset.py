"""Questions with what a right answer is: loaded, checked, and imported from the app's feedback."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from eval.facts import Fact
from rag.answer import answer_from_dict
from rag.errors import InputError

FOLDER = Path(__file__).parent / "data"
SHOWN_ERRORS = 10

Kind = Literal[
    "fact",
    "number",
    "method",
    "comparison",
    "multi-paper",
    "follow-up",
    "other-language",
    "unanswerable",
    "feedback",  # imported and rated down: what would be right is not known yet
]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Exchange(BaseModel):
    """A question and its answer earlier in the conversation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: Words
    answer: str = ""


class Question(BaseModel):
    """One question, its gold papers' ids, and the key facts of a right answer (all of them have to be there)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Words
    question: Words
    type: Kind
    gold: tuple[Words, ...] = ()
    facts: tuple[Fact, ...] = ()
    history: tuple[Exchange, ...] = ()
    language: str = Field(default="en", pattern=r"^[a-z]{2}$")
    half: Literal["", "tune", "test"] = ""
    note: str = ""

    @model_validator(mode="after")
    def _fits_its_type(self) -> Self:
        if self.type == "unanswerable" and (self.gold or self.facts):
            raise ValueError("an unanswerable question has no gold papers and no facts")
        if self.type not in ("unanswerable", "feedback") and not self.gold:
            raise ValueError(f"a question of type {self.type} needs at least one gold paper")
        if self.type == "follow-up" and not self.history:
            raise ValueError("a follow-up needs a history")
        return self

    @property
    def answerable(self) -> bool | None:
        """None where it is not known (imported and rated down)."""
        return {"unanswerable": False, "feedback": None}.get(self.type, True)


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions in the order of their file; `lines` gives each id's line."""

    name: str
    path: Path
    questions: tuple[Question, ...]
    lines: Mapping[str, int]

    def check_gold(self, known: Callable[[str], bool]) -> None:
        """Raises InputError naming the line of every gold paper that the corpus does not have."""
        missing = [
            f"{self.path}:{self.lines[question.id]}: gold paper {paper_id} of {question.id} is not in the corpus"
            for question in self.questions
            for paper_id in question.gold
            if not known(paper_id)
        ]
        _raise_if(missing, hint="ingest the corpus these questions were written for, or name it with --corpus")


def load(name_or_path: str | Path) -> QuestionSet:
    """A shipped set by its name, or a `.jsonl` file (questions, or the app's feedback).

    Raises InputError with `file:line: reason` for every line that cannot be used.
    """
    path = Path(name_or_path)
    if not path.is_file():
        shipped = FOLDER / f"{name_or_path}.jsonl"
        if not shipped.exists():
            names = ", ".join(sorted(file.stem for file in FOLDER.glob("*.jsonl")))
            raise InputError(f"there is no question set {name_or_path}", hint=f"a file, or one of: {names}")
        path = shipped
    errors: list[str] = []
    questions: list[Question] = []
    lines: dict[str, int] = {}
    for number, raw in _rows(path, errors):
        try:
            question = _from_feedback(raw, number) if "rating" in raw else Question.model_validate(raw)
        except ValidationError as error:
            errors += [f"{path}:{number}: {reason}" for reason in _reasons(error)]
            continue
        except (KeyError, TypeError, ValueError) as error:
            errors.append(f"{path}:{number}: not a row of feedback: {type(error).__name__} {error}")
            continue
        if question.id in lines:
            errors.append(f"{path}:{number}: the id {question.id} stands in line {lines[question.id]} already")
            continue
        lines[question.id] = number
        questions.append(question)
    _raise_if(errors, hint="docs/evaluation.md describes the fields")
    if not questions:
        raise InputError(f"{path}: no questions in it")
    return QuestionSet(path.stem, path, tuple(questions), lines)


def save(questions: Iterable[Question], path: Path) -> None:
    """One question a line, fields without a value left out; overwrites nothing (InputError)."""
    if path.exists():
        raise InputError(f"{path} is there already", hint="choose another name with --out")
    lines = [json.dumps(question.model_dump(exclude_defaults=True), ensure_ascii=False) for question in questions]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def _from_feedback(raw: Mapping[str, Any], line: int) -> Question:
    """A thumb up makes the answer's cited papers gold (or its refusal right); a thumb down leaves that open."""
    answer = answer_from_dict(raw["answer"])
    if raw["rating"] not in ("up", "down"):
        raise ValueError(f"rating is {raw['rating']!r}, not up or down")
    kind: Kind = "feedback"
    gold: tuple[str, ...] = ()
    if raw["rating"] == "up":
        gold = tuple(source.paper.id for source in answer.cited)
        kind = "fact" if gold else "unanswerable" if answer.refusal else "feedback"
    reason = str(raw.get("reason") or "").strip()
    note = f"rated {raw['rating']}" + (f": {reason}" if reason else "")
    return Question(
        id=f"feedback-{line}", question=answer.standalone or raw["question"], type=kind, gold=gold, note=note
    )


def _rows(path: Path, errors: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            raw = json.loads(line)
        except json.JSONDecodeError as error:
            errors.append(f"{path}:{number}: not JSON: {error.msg} at column {error.colno}")
            continue
        if isinstance(raw, dict):
            yield number, raw
        else:
            errors.append(f"{path}:{number}: an object is expected, not {type(raw).__name__}")


def _reasons(error: ValidationError) -> list[str]:
    """One line a fault; of a fact's four forms only the ones that were tried in earnest are named."""
    reasons = []
    for item in error.errors():
        field = ".".join(str(part) for part in item["loc"] if not isinstance(part, str) or part.isidentifier())
        if item["loc"][:1] == ("facts",) and item["type"] in (
            "missing",
            "string_type",
            "model_type",
            "extra_forbidden",
        ):
            continue
        reasons.append(f"{field}: {item['msg']}" if field else item["msg"])
    return reasons or ["facts: each is a text, {any: […]}, {number: …, unit: …} or {pattern: …}"]


def _raise_if(errors: list[str], *, hint: str) -> None:
    if errors:
        more = len(errors) - SHOWN_ERRORS
        shown = errors[:SHOWN_ERRORS] + ([f"… and {more} more"] if more > 0 else [])
        raise InputError("\n".join(shown), hint=hint)
