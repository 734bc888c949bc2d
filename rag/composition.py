"""The sentences of one answer while it comes into being, and the numbers of their citations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rag.answer import Citation, Sentence, Verdict
from rag.evidence import Sentence as Source
from rag.grounding import Piece
from rag.grounding.verdicts import Checked
from rag.papers import Paper


@dataclass
class Composition:
    """Sentences by their place in what was written; None where a final verdict took one away.

    `policy` is "mark" or "drop"; `dropped` counts what was left out by it. `numbers` gives each cited paper's id its
    citation number.
    """

    policy: str
    sentences: list[Sentence | None] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    dropped: int = 0
    _borne: set[int] = field(default_factory=set)

    def __len__(self) -> int:
        """How many places there are, taken away or not."""
        return len(self.sentences)

    @property
    def shown(self) -> list[Sentence]:
        return [one for one in self.sentences if one is not None]

    @property
    def is_borne_out(self) -> bool:
        """Whether the answer may rest on one of its sentences: one that is borne out, or in part with nothing made up
        in it."""
        return any(one is not None and place in self._borne for place, one in enumerate(self.sentences))

    def quote(self, paper: Paper, found: Source) -> Sentence:
        """Add a sentence of an abstract as it stands."""
        citation = self._citation(paper, found.start, found.end, 1.0)
        sentence = Sentence(found.text, Verdict.SUPPORTED, (citation,), " " if self.shown else "")
        self._borne.add(len(self.sentences))
        self.sentences.append(sentence)
        return sentence

    def add(self, piece: Piece, found: Checked, papers: Sequence[Paper], *, checking: bool) -> Sentence | None:
        """Add a sentence that was written; None where it is left out. `checking`: its verdict may change."""
        if not checking and self._drops(found):
            self.dropped += 1
            return None
        sentence = self._sentence(len(self.sentences), piece.text, piece.lead, found, papers, checking=checking)
        self.sentences.append(sentence)
        return sentence

    def recheck(self, place: int, found: Checked, papers: Sequence[Paper]) -> Sentence | None:
        """Give the sentence at a place its final verdict; None where it is taken away."""
        before = self.sentences[place]
        if before is None:
            return None
        if self._drops(found):
            self.dropped += 1
            self.sentences[place] = None
        else:
            self.sentences[place] = self._sentence(place, before.text, before.lead, found, papers)
        return self.sentences[place]

    def clear(self) -> None:
        self.sentences.clear()
        self.numbers.clear()
        self._borne.clear()
        self.dropped = 0

    def renumbered(self) -> tuple[Sentence, ...]:
        """What is shown, its numbers from 1 by first use, also where a final verdict took a citation or brought one."""
        used = dict.fromkeys(citation.paper_id for one in self.shown for citation in one.citations)
        self.numbers = {paper_id: number for number, paper_id in enumerate(used, 1)}
        return tuple(
            replace(one, citations=tuple(replace(c, number=self.numbers[c.paper_id]) for c in one.citations))
            for one in self.shown
        )

    def _drops(self, found: Checked) -> bool:
        return self.policy == "drop" and found.verdict in (Verdict.NOT_FOUND, Verdict.CONTRADICTED)

    def _sentence(
        self, place: int, text: str, lead: str, found: Checked, papers: Sequence[Paper], *, checking: bool = False
    ) -> Sentence:
        if found.bears:
            self._borne.add(place)
        else:
            self._borne.discard(place)
        spans = () if found.verdict is Verdict.NOT_FOUND else found.spans
        citations = tuple(self._citation(papers[one.paper], one.start, one.end, one.score) for one in spans)
        return Sentence(text, found.verdict, citations, lead, found.note, checking)

    def _citation(self, paper: Paper, start: int, end: int, score: float) -> Citation:
        number = self.numbers.setdefault(paper.id, len(self.numbers) + 1)
        return Citation(number, paper.id, start, end, paper.abstract[start:end], round(score, 4))
