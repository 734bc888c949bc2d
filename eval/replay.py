"""A finished run's words, checked anew: what its model wrote comes from the run, all else is done again.

So a change of the checks, or another verifier, is measured on the same words without asking the model for them. Times
are those of the search and the checks alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from eval.dataset import Exchange
from eval.runs import Run
from eval.systems import OurSystem
from rag.answer import Answer
from rag.engine import Engine
from rag.errors import InputError, SettingsError
from rag.generation import prompts
from rag.generation.models import EXTRACTIVE, Model
from rag.settings import Settings
from rag.store import Store

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage, ChatResponse


_REPLAYED = "replayed"  # in place of a model's name


@dataclass
class Recorded:
    """A language model that says once more what it said in a run, as far as `rag.generation` sees it."""

    answers: dict[str, Answer]
    question: str = ""
    model_fields: ClassVar[dict[str, Any]] = {}
    metadata: dict[str, Any] = field(default_factory=dict)

    def class_name(self) -> str:
        return "Recorded"

    def stream_chat(self, chat: Sequence[ChatMessage]) -> Iterator[ChatResponse]:
        """The draft for the answering prompt, the stand-alone question for all others."""
        from llama_index.core.base.llms.types import ChatMessage, ChatResponse

        answer = self.answers[self.question]
        text = answer.draft if chat[0].content == prompts.ANSWER else answer.standalone
        counts = {"prompt_tokens": answer.tokens_in, "completion_tokens": answer.tokens_out}
        yield ChatResponse(message=ChatMessage(role="assistant", content=text), delta=text, additional_kwargs=counts)


class _Engine(Engine):
    """The engine with a recorded model in place of the one that the settings name."""

    def __init__(self, store: Store, settings: Settings, recorded: Model) -> None:
        super().__init__(store, settings)
        self._recorded = recorded

    def choose(self, llm: str) -> Model:
        return self._recorded if llm == _REPLAYED else super().choose(llm)


class Replay(OurSystem):
    """`rag.engine` with the words of a run. Raises InputError for a run without a model's words.

    The verifier is the one that the settings name; one that reads needs RAG_VERIFIER_LLM, as a recorded model cannot.
    """

    def __init__(self, run: Run, settings: Settings) -> None:
        answers = {row.answer.question: row.answer for row in run.rows if row.answer is not None}
        name = str(run.about["model"])
        if name == EXTRACTIVE or not any(answer.draft for answer in answers.values()):
            raise InputError(f"{run.folder} holds no words of a language model to be checked anew")
        if not settings.verifier_llm:
            if settings.verifier in ("odds", "llm"):
                raise SettingsError(f"a replay with RAG_VERIFIER={settings.verifier} needs RAG_VERIFIER_LLM")
            settings = settings.model_copy(update={"verifier": settings.verifier.replace("auto", "located")})
        settings = settings.model_copy(update={"llm": _REPLAYED})
        self._llm = Recorded(answers)
        model = Model(name, f"replayed from {run.name}", self._llm)  # type: ignore[arg-type]  # all that is used of one
        super().__init__(settings, _Engine(Store(settings), settings, model))
        self.name = f"replay of {run.name}"

    def ask(self, question: str, history: Sequence[Exchange], order: Sequence[int] | None) -> Answer:
        """Raises InputError for a question that the run does not have. One at a time."""
        if question not in self._llm.answers:
            raise InputError("this question is not in the run that is replayed")
        self._llm.question = question
        return super().ask(question, history, order)
