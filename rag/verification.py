"""The second look at an answer's sentences, after its last word: a verifier reads what words alone could not settle."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rag.errors import SettingsError
from rag.generation import prompts
from rag.generation.logprobs import first_token, identity
from rag.generation.models import Message, Model
from rag.generation.providers import complete
from rag.grounding.calibration import Calibrations
from rag.grounding.odds import Odds
from rag.grounding.reading import Reading, settle, unread
from rag.grounding.verdicts import Checked
from rag.grounding.verifiers import Judge, Located, Verifier, verifier
from rag.settings import Settings

if TYPE_CHECKING:
    from rag.answerability import Read

_VERDICT_TOKENS = 120


class Verification:
    """The sentences of one answer that wait for their final verdict.

    After `run`, `problem` says why the verifier could not be used at all, and `unreached` how many sentences it had no
    time for; those keep their located verdict.
    """

    def __init__(self, verifier: Verifier) -> None:
        self.verifier = verifier
        self.problem = ""
        self.unreached = 0
        self._waiting: list[tuple[int, Reading]] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, place: int, reading: Reading) -> None:
        """Let the sentence at this place of the answer be read."""
        self._waiting.append((place, reading))

    def clear(self) -> None:
        self._waiting.clear()

    def run(self, seconds: float, stop: threading.Event) -> Iterator[tuple[int, Checked]]:
        """Places and final verdicts, one for each sentence that waited; ends soon after `seconds` or a stop.

        Sentences on one passage are read one after the other: a server keeps what it has made of the passage.
        """
        deadline = time.monotonic() + seconds
        if self._waiting:
            self.problem = self.verifier.prepare(seconds, stop)
        passages = list(dict.fromkeys(reading.passage for _, reading in self._waiting))
        for place, reading in sorted(self._waiting, key=lambda item: passages.index(item[1].passage)):
            left = deadline - time.monotonic()
            if self.problem or stop.is_set():
                yield place, reading.located
                continue
            opinion = self.verifier.read(reading.claim, reading.passage, seconds=left, stop=stop) if left > 0 else None
            late = left <= 0 or (opinion is not None and bool(opinion.failed) and time.monotonic() >= deadline)
            if late and not stop.is_set():
                self.unreached += 1
                note = f"not read by {self.verifier.name} within {seconds:g} s; this is what words alone show"
                yield place, unread(reading.located, note)
            elif opinion is None or stop.is_set():
                yield place, reading.located
            else:
                yield place, settle(reading, opinion, self.verifier.name)


def make_verifier(settings: Settings, model: Model) -> Verifier:
    """What RAG_VERIFIER names; `model` is the one that reads. `auto` reads where there is a model that gives its odds.

    Raises SettingsError for an unknown name, and for `llm` or `odds` without a model.
    """
    name = settings.verifier
    if name == "auto":
        return make_odds(settings, model) if model.llm is not None else Located()
    if name not in ("odds", "llm"):
        return verifier(name)
    if model.llm is None:
        raise SettingsError(f"RAG_VERIFIER={name} needs a language model", hint="set RAG_LLM, or RAG_VERIFIER=auto")
    return make_odds(settings, model) if name == "odds" else make_judge(model)


def question_reader(verifier: Verifier, seconds: float, stop: threading.Event | None = None) -> Read | None:
    """How to ask whether a passage answers a question, each time within `seconds`; None for a verifier without odds."""
    if not isinstance(verifier, Odds):
        return None
    return lambda passage, question: verifier.reading(prompts.answering(passage, question), seconds=seconds, stop=stop)


def make_odds(settings: Settings, model: Model) -> Odds:
    """The odds of this model, and what is known of their worth in the data folder."""

    def ask(prompt: str, seconds: float, stop: threading.Event | None) -> Mapping[str, float] | None:
        return first_token(model, [Message("user", prompt)], seconds=seconds, stop=stop)

    kept = Calibrations(settings.calibrations_path)
    return Odds(model.name, ask, prompts.asking, kept=kept, key=identity(model))


def make_judge(model: Model) -> Judge:
    """This model, asked for verdicts in JSON."""

    def reply(prompt: str, seconds: float, stop: threading.Event | None) -> str:
        return complete(model, [Message("user", prompt)], max_tokens=_VERDICT_TOKENS, stop=stop, seconds=seconds)

    return Judge(reply, prompts.judging)
