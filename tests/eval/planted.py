"""A truthful set of answers over the sample corpus, and the same with faults planted in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import rag
from eval.dataset import Exchange, Question, QuestionSet
from rag.answer import Answer, Citation, Reason, Refusal, Sentence, Source, Verdict
from rag.papers import Paper
from rag.text import sentences

UNANSWERABLE = 12
RETRIEVED = 3
INVENTIONS = (
    "The method was tried on 4,500 patients in Norway and halved the dose.",
    "Prices of aluminium rose by 12 % after the new tariffs.",
    "The capital of Australia is Canberra.",
)


def sample_papers() -> list[Paper]:
    lines = (Path(rag.__file__).parent / "data" / "iclr2026_sample.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [Paper(row["abstract"], title=row["title"], url=row.get("url", "")) for row in rows]


@dataclass
class Scripted:
    """A system that answers from a table."""

    answers: Mapping[str, Answer]
    papers: Sequence[Paper]
    name: str = "scripted"
    model: str = "truthful"
    model_reason: str = "written for this test"
    fingerprint: str = "sample"

    def has(self, paper_id: str) -> bool:
        return any(paper.id == paper_id for paper in self.papers)

    def ask(self, question: str, history: Sequence[Exchange], order: Sequence[int] | None) -> Answer:
        return self.answers[question]

    def ranked(self, question: str) -> list[str]:
        return [source.paper.id for source in self.answers[question].sources]

    def close(self) -> None:
        pass


def truthful() -> tuple[QuestionSet, Scripted]:
    """One question a sentence with a figure in it, answered by that sentence; and some that are rightly refused."""
    papers = sample_papers()
    questions: list[Question] = []
    answers: dict[str, Answer] = {}
    for place, paper in enumerate(papers):
        sources = tuple(
            Source(papers[(place + step) % len(papers)], 1 - step / 10, number=1 if step == 0 else None)
            for step in range(RETRIEVED)
        )
        for span in sentences(paper.abstract):
            text = paper.abstract[span.start : span.end]
            figure = re.search(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w.,-])", text)
            if not figure:
                continue
            asked = f"Question {len(questions)} on {paper.label}?"
            questions.append(
                Question.model_validate(
                    {
                        "id": f"q{len(questions)}",
                        "question": asked,
                        "type": "number",
                        "gold": [paper.id],
                        "facts": [{"number": figure.group()}],
                    }
                )
            )
            citation = Citation(1, paper.id, span.start, span.end, text, 1.0)
            answers[asked] = Answer(asked, asked, (Sentence(text, Verdict.SUPPORTED, (citation,)),), sources)
    for number in range(UNANSWERABLE):
        asked = f"Unanswerable question {number}?"
        questions.append(Question(id=f"u{number}", question=asked, type="unanswerable"))
        nearest = (Source(papers[number], 0.3),)
        answers[asked] = Answer(asked, asked, (), nearest, Refusal(Reason.NOT_IN_ABSTRACTS, "Not in these abstracts."))
    lines = {question.id: number for number, question in enumerate(questions, start=1)}
    return QuestionSet("planted", Path("planted.jsonl"), tuple(questions), lines), Scripted(answers, papers)


def plant(system: Scripted, name: str, fault: Callable[[int, Answer], Answer]) -> Scripted:
    answers = {asked: fault(place, answer) for place, (asked, answer) in enumerate(system.answers.items())}
    return replace(system, answers=answers, model=name)


def change_a_number(place: int, answer: Answer) -> Answer:
    """Every third answer: its first figure one higher, the citation as it was."""
    if place % 3 or answer.refusal:
        return answer
    first = answer.sentences[0]
    changed = re.sub(
        r"(?<![\w.-])\d+(?:\.\d+)?(?![\w.,-])",
        lambda figure: str(round(float(figure.group()) + 1, 2)).removesuffix(".0"),
        first.text,
        count=1,
    )
    return replace(answer, sentences=(replace(first, text=changed), *answer.sentences[1:]))


def rotate_citations(place: int, answer: Answer) -> Answer:
    """Each sentence cites the next retrieved paper's first sentence, verbatim, in place of its own."""
    if answer.refusal:
        return answer
    other = answer.sources[1].paper
    span = sentences(other.abstract)[0]
    wrong = Citation(1, other.id, span.start, span.end, other.abstract[span.start : span.end], 1.0)
    return replace(answer, sentences=tuple(replace(item, citations=(wrong,)) for item in answer.sentences))


def invent(place: int, answer: Answer) -> Answer:
    """An answer in place of a refusal, with a citation that looks well."""
    if not answer.refusal:
        return answer
    paper = answer.sources[0].paper
    span = sentences(paper.abstract)[0]
    citation = Citation(1, paper.id, span.start, span.end, paper.abstract[span.start : span.end], 1.0)
    made_up = Sentence(INVENTIONS[place % len(INVENTIONS)], Verdict.SUPPORTED, (citation,))
    return replace(answer, sentences=(made_up,), refusal=None, sources=(replace(answer.sources[0], number=1),))


def miss_the_point(place: int, answer: Answer) -> Answer:
    """A true, well cited sentence of the right paper that does not answer the question."""
    if answer.refusal:
        return answer
    paper = answer.sources[0].paper
    span = sentences(paper.abstract)[0]
    text = paper.abstract[span.start : span.end]
    citation = Citation(1, paper.id, span.start, span.end, text, 1.0)
    return replace(answer, sentences=(Sentence(text, Verdict.SUPPORTED, (citation,)),))
