"""One answer of a language model as text deltas: with time-outs, and with a hang-up that works at any moment.

The SDKs block in a socket until the server sends something, which may take minutes on a CPU. So the call runs in a
thread of its own that fills a queue, and hanging up shuts the call's sockets, which ends the thread at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final

from rag.generation import faults
from rag.generation.lines import Line
from rag.generation.models import Message, Model
from rag.settings import Settings

if TYPE_CHECKING:
    from llama_index.core.llms import LLM, ChatResponse

RETRY_DELAYS: Final = (0.3, 1.0)  # seconds; only before the first token
_LONGEST_WAIT = 5.0  # a server that asks for a longer pause is reported instead
_LONGEST = 200_000  # characters; no answer is, and some servers heed no limit
_POLL = 0.05  # seconds between two looks at `stop`


def stream(
    model: Model,
    messages: Sequence[Message],
    *,
    stop: threading.Event | None = None,
    max_tokens: int | None = None,
    settings: Settings | None = None,
) -> Deltas:
    """The answer's text deltas as they come; after it `tokens_in` and `tokens_out` hold the server's counts.

    Setting `stop` ends it within a fraction of a second, as does `close()`. Raises ModelUnavailable from the iteration.
    `settings`, where given, overrides the model's time-outs.
    """
    first = settings.first_token_seconds if settings else model.first_token_seconds
    between = settings.between_tokens_seconds if settings else model.between_tokens_seconds
    return Deltas(model, messages, stop, max_tokens, first, between)


def complete(
    model: Model,
    messages: Sequence[Message],
    *,
    max_tokens: int,
    stop: threading.Event | None = None,
    seconds: float | None = None,
) -> str:
    """The whole answer, stripped; `seconds`, where given, bound the wait for its first token and for each later one.

    Raises ModelUnavailable.
    """
    first = min(seconds or model.first_token_seconds, model.first_token_seconds)
    between = min(seconds or model.between_tokens_seconds, model.between_tokens_seconds)
    with Deltas(model, messages, stop, max_tokens, first, between) as deltas:
        return "".join(deltas).strip()


class Deltas(Iterator[str]):
    """Iterator over the text deltas of one call. Leaving it, in whatever way, hangs up."""

    def __init__(
        self,
        model: Model,
        messages: Sequence[Message],
        stop: threading.Event | None,
        max_tokens: int | None,
        first_token_seconds: float,
        between_tokens_seconds: float,
    ) -> None:
        if model.llm is None:
            raise ValueError(f"{model.name} is no language model")
        self.stopped = False
        self._model = model
        self._stop = stop or threading.Event()
        self._first, self._between = first_token_seconds, between_tokens_seconds
        self._begun = False
        self._spoken = False
        self._length = 0
        self._over = False
        self._deadline = time.monotonic() + first_token_seconds
        self._call = Call(model)
        # The thread knows the call and not this object, which would else never be found unused.
        threading.Thread(
            target=self._call.run, args=(model.llm, messages, max_tokens), name=f"stream {model.name}", daemon=True
        ).start()

    @property
    def tokens_in(self) -> int:
        """Tokens of the prompt by the server's count, 0 while or where it does not tell."""
        return self._call.tokens_in

    @property
    def tokens_out(self) -> int:
        """Tokens of the answer by the server's count, 0 while or where it does not tell."""
        return self._call.tokens_out

    def __next__(self) -> str:
        while not self._over:
            if self._stop.is_set():
                self.stopped = True
                break
            try:
                item = self._call.queue.get(timeout=min(_POLL, max(self._deadline - time.monotonic(), 0.001)))
            except Empty:
                if time.monotonic() >= self._deadline:
                    self.close()
                    seconds = self._between if self._spoken else self._first
                    raise faults.too_slow(self._model, seconds, begun=self._spoken) from None
                continue
            if item is None:
                break
            if item == "" and time.monotonic() >= self._deadline:
                self.close()
                seconds = self._between if self._spoken else self._first
                raise faults.too_slow(self._model, seconds, begun=self._spoken)
            if isinstance(item, BaseException):
                self.close()
                raise faults.explain(item, self._model, begun=self._begun, html=self._call.html) from item
            self._begun = True
            if not item:
                continue  # blanks are no progress: they come while a model thinks, and for ever from a broken server
            self._spoken = True
            self._deadline = time.monotonic() + self._between
            self._length += len(item)
            if self._length > _LONGEST:
                self.close()
                raise faults.endless(self._model, self._length)
            return item
        self.close()
        raise StopIteration

    def close(self) -> None:
        """Hang up. Safe to call twice."""
        self._over = True
        self._call.hang_up()

    def __enter__(self) -> Deltas:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_call"):
            self.close()


class Call(Line):
    """One call in a thread of its own."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.queue: SimpleQueue[str | BaseException | None] = SimpleQueue()  # None: the answer is complete
        self.tokens_in = 0
        self.tokens_out = 0
        self._model = model
        self._begun = False

    def run(self, llm: LLM, messages: Sequence[Message], max_tokens: int | None) -> None:
        """Fill the queue; try again a few times where that may help."""
        self.take()
        for delay in (*RETRY_DELAYS, None):
            try:
                self._fill(_start(llm, messages, max_tokens))
                return
            except Exception as error:  # whatever it is, it is raised again where the deltas are read
                pause = 0.0 if delay is None else max(delay, faults.retry_after(error))
                if not pause or pause > _LONGEST_WAIT or self._begun or not faults.may_pass(error):
                    self.queue.put(error)
                    return
                if self.hung_up.wait(pause):
                    return

    def _fill(self, chunks: Iterator[ChatResponse]) -> None:
        ended = None
        came = False
        try:
            for chunk in chunks:
                came = True
                self._count(chunk)
                ended = _has_ended(chunk, ended)
                if chunk.delta or chunk.additional_kwargs.get("thinking_delta"):
                    self._begun = True
                    self.queue.put(chunk.delta or "")
                if self.hung_up.is_set():
                    return
        finally:
            close = getattr(chunks, "close", None)
            if close is not None:
                close()
        if not came:
            raise faults.not_a_model(self._model, html=self.html)
        if ended is False:
            raise ConnectionResetError("the answer has no end")
        self.queue.put(None)

    def _count(self, chunk: ChatResponse) -> None:
        """Keep the token counts that a chunk tells, wherever this SDK puts them."""
        raw = chunk.raw if isinstance(chunk.raw, dict) else {}
        usage = chunk.message.additional_kwargs.get("usage") or raw.get("usage_metadata") or {}
        told = {**raw, **(usage if isinstance(usage, dict) else {}), **chunk.additional_kwargs}
        for name in ("prompt_tokens", "prompt_eval_count", "input_tokens", "prompt_token_count"):
            self.tokens_in = told.get(name) or self.tokens_in
        for name in ("completion_tokens", "eval_count", "output_tokens", "candidates_token_count"):
            self.tokens_out = told.get(name) or self.tokens_out


def _start(llm: LLM, messages: Sequence[Message], max_tokens: int | None) -> Iterator[ChatResponse]:
    from llama_index.core.base.llms.types import ChatMessage, MessageRole

    chat = [ChatMessage(role=MessageRole(message.role), content=message.text) for message in messages]
    if max_tokens is None:
        return llm.stream_chat(chat)
    kind = llm.class_name()
    if kind == "GenAI":  # Google's name in LlamaIndex
        return llm.stream_chat(chat, generation_config={"max_output_tokens": max_tokens})
    # A copy shares the SDK client; these classes take the limit from a field, not from the call.
    if kind == "Ollama_llm":
        options = {**getattr(llm, "additional_kwargs", {}), "num_predict": max_tokens}
        return llm.model_copy(update={"additional_kwargs": options}).stream_chat(chat)
    if "max_tokens" in type(llm).model_fields:
        return llm.model_copy(update={"max_tokens": max_tokens}).stream_chat(chat)
    return llm.stream_chat(chat)


def _has_ended(chunk: ChatResponse, before: bool | None) -> bool | None:
    """Whether the server said that its answer is complete; None for servers that never say."""
    if isinstance(chunk.raw, dict) and "done" in chunk.raw:
        return bool(chunk.raw["done"])
    return before


__all__ = ["Deltas", "complete", "stream"]
