"""What a question comes back as: sentences with verdicts, citations that can be checked, sources, or a refusal."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from rag.papers import Paper


class Verdict(StrEnum):
    """How an answer's sentence stands to the abstracts that were retrieved."""

    SUPPORTED = "supported"
    PARTLY = "partly"
    NOT_FOUND = "not found"
    CONTRADICTED = "contradicted"
    META = "meta"  # states nothing that could be checked

    @property
    def sign(self) -> str:
        """The mark behind such a sentence in plain text; "" where it needs none."""
        return _SIGNS.get(self.value, ("", ""))[0]

    @property
    def meaning(self) -> str:
        """What the mark tells a reader."""
        return _SIGNS.get(self.value, ("", ""))[1]


_SIGNS = {
    "partly": ("[~]", "only a part of it is in the source"),
    "not found": ("[?]", "not found in the sources"),
    "contradicted": ("[!]", "the source says otherwise"),
}


class Reason(StrEnum):
    """Why a question was not answered."""

    NO_PAPERS = "no papers"
    FILTER_TOO_NARROW = "filter too narrow"
    NOT_IN_ABSTRACTS = "not in these abstracts"
    MODEL_UNAVAILABLE = "model unavailable"
    NO_QUESTION = "no question"  # empty, a greeting, or nothing that can be looked up


@dataclass(frozen=True, slots=True)
class Citation:
    """A span of an abstract that bears a sentence out.

    `number` is what the reader sees, counted from 1 by first use, one number a paper. `start` and `end` are
    character offsets in `Paper.abstract`, so that `quote == abstract[start:end]` always holds.
    `score` is 0 to 1, higher is better.
    """

    number: int
    paper_id: str
    start: int
    end: int
    quote: str
    score: float


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of an answer, without citation markers; `lead` is the white space or list mark before it."""

    text: str
    verdict: Verdict
    citations: tuple[Citation, ...] = ()
    lead: str = ""
    note: str = ""  # why it is not (wholly) supported, in words, naming the part
    checking: bool = False  # the verdict is by words alone so far; never so in a finished answer

    @property
    def marked(self) -> str:
        """The text with its citation numbers, "… by 26 % [1][3]."; one number a paper."""
        numbers = dict.fromkeys(citation.number for citation in self.citations)
        if not numbers:
            return self.text
        marks = "".join(f"[{number}]" for number in numbers)
        stem = self.text.rstrip(".!?。！？…")
        return f"{stem} {marks}{self.text[len(stem) :]}" if stem else f"{self.text} {marks}"


@dataclass(frozen=True, slots=True)
class Source:
    """A retrieved paper; `number` is its citation number, None when the answer does not cite it.

    `score` is the fused relevance, 0 to 1. `start` and `end` bound the passage of `paper.abstract` that matched best.
    """

    paper: Paper
    score: float
    start: int = 0
    end: int = 0
    number: int | None = None

    @property
    def passage(self) -> str:
        return self.paper.abstract[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A question that was not answered: why, in one readable message, and what to try."""

    reason: Reason
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds from the question: until the papers were found, until the first words, until the end."""

    retrieval: float = 0.0
    first_words: float = 0.0
    total: float = 0.0


@dataclass(frozen=True, slots=True)
class Answer:
    """The whole outcome of one question.

    `sources` holds the cited papers in the order of their numbers, then those retrieved and not cited.
    `standalone` is the question that was searched for; it differs from `question` in a follow-up.
    `draft` is what the writer wrote before it was checked.
    """

    question: str
    standalone: str
    sentences: tuple[Sentence, ...] = ()
    sources: tuple[Source, ...] = ()
    refusal: Refusal | None = None
    model: str = "extractive"
    model_reason: str = ""
    verifier: str = "located"  # the one that had the last word
    verifier_reason: str = ""  # why it was not the one that was asked for
    policy: str = "mark"
    notices: tuple[str, ...] = ()  # what the user should know, e.g. that retrieval is weak in this language
    timings: Timings = field(default_factory=Timings)
    tokens_in: int = 0
    tokens_out: int = 0
    draft: str = ""
    stopped: bool = False

    @property
    def text(self) -> str:
        """The answer to read, with `[n]` markers; the refusal's message where there is one."""
        if self.refusal:
            return self.refusal.message
        return "".join(sentence.lead + sentence.marked for sentence in self.sentences).strip()

    @property
    def cited(self) -> tuple[Source, ...]:
        return tuple(source for source in self.sources if source.number is not None)

    @property
    def citations(self) -> tuple[Citation, ...]:
        return tuple(citation for sentence in self.sentences for citation in sentence.citations)

    def count(self, *verdicts: Verdict) -> int:
        """How many sentences have one of these verdicts."""
        return sum(sentence.verdict in verdicts for sentence in self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; what `rag ask --json` prints."""
        return {**asdict(self), "text": self.text}


def answer_from_dict(data: dict[str, Any]) -> Answer:
    """The inverse of `Answer.to_dict` (also after a trip through JSON)."""
    fields = {key: value for key, value in data.items() if key != "text"}

    def paper(raw: dict[str, Any]) -> Paper:
        return Paper(**{**raw, "authors": tuple(raw["authors"]), "keywords": tuple(raw["keywords"])})

    def sentence(raw: dict[str, Any]) -> Sentence:
        citations = tuple(Citation(**citation) for citation in raw["citations"])
        return Sentence(**{**raw, "verdict": Verdict(raw["verdict"]), "citations": citations})

    refusal = fields["refusal"]
    return Answer(
        **{
            **fields,
            "sentences": tuple(sentence(raw) for raw in fields["sentences"]),
            "sources": tuple(Source(**{**raw, "paper": paper(raw["paper"])}) for raw in fields["sources"]),
            "refusal": refusal and Refusal(**{**refusal, "reason": Reason(refusal["reason"])}),
            "timings": Timings(**fields["timings"]),
            "notices": tuple(fields["notices"]),
        }
    )
