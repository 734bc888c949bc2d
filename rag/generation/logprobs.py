"""The log-probabilities of a reply's first token, where a model's server gives them.

LlamaIndex's classes do not hand them on for every server, so the SDK client under them is called.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from rag.errors import ModelUnavailable, NoLogprobs
from rag.generation import faults
from rag.generation.lines import once
from rag.generation.models import Message, Model
from rag.generation.ollama import OllamaServer

ALTERNATIVES: Final = 20  # the most that Ollama and OpenAI give
_DIGEST_SECONDS = 2.0
_REFUSED = {400, 404, 405, 422, 501}  # how servers say that they do not know what was asked for


def first_token(
    model: Model, messages: Sequence[Message], *, seconds: float, stop: threading.Event | None = None
) -> dict[str, float] | None:
    """The likeliest first tokens of the reply with their natural log-probabilities; None where `stop` was set first.

    Asked at temperature 0 for one token, thinking switched off. Raises NoLogprobs where the server or the model cannot
    give them, and ModelUnavailable where nothing answers within `seconds`.
    """
    ask = _ASKING.get(model.provider)
    if model.llm is None or ask is None:
        raise NoLogprobs(f"{model.provider} gives no log-probabilities")
    chat = [{"role": message.role, "content": message.text} for message in messages]
    try:
        found = once(model, lambda: ask(model, model.llm, chat), seconds=seconds, stop=stop)
    except NoLogprobs:
        raise
    except ModelUnavailable as error:
        if faults.status(error) in _REFUSED and "logprobs" in str(error.__cause__).lower():
            raise NoLogprobs(f"{model.name} gives no log-probabilities ({faults.status(error)})") from error
        raise
    if found is None:
        return None
    if not found:
        raise NoLogprobs(f"{model.name} gives no log-probabilities")
    likeliest = max(found, key=lambda token: found[token])
    if "think" in likeliest.lower():
        raise NoLogprobs(f"{model.name} thinks before it answers, so its first token tells nothing")
    return found


def identity(model: Model) -> str:
    """What tells this model from others: its name with Ollama's digest of the weights, else with its address."""
    digest = ""
    if model.provider == "ollama":
        digest = OllamaServer(model.url).digest(model.bare_name, _DIGEST_SECONDS)
    return f"{model.name} {digest or model.url}"


def _ollama(model: Model, llm: Any, chat: list[dict[str, str]]) -> dict[str, float]:
    reply = llm.client.chat(
        model=model.bare_name,
        messages=chat,
        options={"temperature": 0, "num_predict": 1, "num_ctx": model.context},
        think=llm.thinking,
        logprobs=True,
        top_logprobs=ALTERNATIVES,
    )
    first = next(iter(reply.logprobs or ()), None)
    return _tokens(first) if first else {}


def _openai(model: Model, llm: Any, chat: list[dict[str, str]]) -> dict[str, float]:
    own = model.provider == "openai"
    limit = {"max_completion_tokens": 1} if own else {"max_tokens": 1}
    # llama.cpp and vLLM pass this to the chat template of models that can think; others ignore it
    body = {} if own else {"extra_body": {"chat_template_kwargs": {"enable_thinking": False}}}
    reply = llm._get_client().chat.completions.create(
        model=model.bare_name,
        messages=chat,
        temperature=0,
        logprobs=True,
        top_logprobs=ALTERNATIVES,
        **limit,
        **body,
    )
    if not reply.choices:
        raise faults.not_a_model(model)
    told = reply.choices[0].logprobs
    first = next(iter((told.content if told else None) or ()), None)
    return _tokens(first) if first else {}


def _tokens(first: Any) -> dict[str, float]:
    """The token and its alternatives; a token that comes twice, as two byte sequences may, keeps its likelier place."""
    found: dict[str, float] = {}
    for item in (first, *(first.top_logprobs or ())):
        found[item.token] = max(item.logprob, found.get(item.token, item.logprob))
    return found if len(found) > 1 else {}  # the token alone tells nothing of its odds


_ASKING: Final[Mapping[str, Callable[[Model, Any, list[dict[str, str]]], dict[str, float]]]] = {
    "ollama": _ollama,
    "openai": _openai,
    "openai-compatible": _openai,
}
