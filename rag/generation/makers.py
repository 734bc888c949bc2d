"""LlamaIndex's model classes, set up: one SDK client each, explicit limits, sockets that can be hung up on.

The classes and the SDKs under them are imported when one of them is made and not before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import httpx

from rag.generation.lines import watch_request, watch_response
from rag.generation.models import is_loopback
from rag.settings import Settings

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

_CONNECT_SECONDS = 10.0
_REASONING_TOKENS = 2000  # room for thoughts, which reasoning models count as answer


def ollama(settings: Settings, name: str, context: int, *, thinks: bool) -> LLM:
    """`context` is Ollama's num_ctx in tokens: LlamaIndex's own default takes the model's whole window."""
    from llama_index.llms.ollama import Ollama
    from ollama import Client

    always = "gpt-oss" in name  # it can think less, but not stop
    timeout = httpx.Timeout(_longest(settings), connect=_CONNECT_SECONDS)
    return Ollama(
        model=name,
        base_url=settings.ollama_url,
        temperature=settings.temperature,
        context_window=context,
        additional_kwargs={"num_predict": settings.answer_tokens + (_REASONING_TOKENS if always else 0)},
        thinking=("low" if always else False) if thinks else None,
        client=Client(host=settings.ollama_url, timeout=timeout, **_http(settings.ollama_url)),
    )


def _openai(settings: Settings, name: str, key: str, url: str) -> LLM:
    from llama_index.llms.openai import OpenAI
    from llama_index.llms.openai.utils import ALL_AVAILABLE_MODELS, O1_MODELS

    if name not in ALL_AVAILABLE_MODELS:  # newer than LlamaIndex's list, which its class insists on
        return _openai_like(settings, name, key, url)
    reasons = name in O1_MODELS and "chat" not in name
    return OpenAI(
        model=name,
        api_key=key,
        api_base=url,
        temperature=settings.temperature,
        max_tokens=settings.answer_tokens + (_REASONING_TOKENS if reasons else 0),
        max_retries=0,
        additional_kwargs={"stream_options": {"include_usage": True}},
        openai_client=_openai_client(settings, key, url),
    )


def _openai_like(settings: Settings, name: str, key: str, url: str) -> LLM:
    from llama_index.llms.openai_like import OpenAILike

    client: dict[str, Any] = {"openai_client": _openai_client(settings, key, url)}
    return OpenAILike(
        model=name,
        api_key=key,
        api_base=url,
        is_chat_model=True,
        context_window=settings.context,
        temperature=settings.temperature,
        max_tokens=settings.answer_tokens,
        max_retries=0,
        additional_kwargs={"stream_options": {"include_usage": True}},
        **client,
    )


def _openai_client(settings: Settings, key: str, url: str) -> Any:
    from openai import DefaultHttpxClient, OpenAI, Timeout

    timeout = Timeout(_longest(settings), connect=_CONNECT_SECONDS)
    return OpenAI(
        api_key=key, base_url=url, max_retries=0, timeout=timeout, http_client=DefaultHttpxClient(**_http(url))
    )


def _anthropic(settings: Settings, name: str, key: str, url: str) -> LLM:
    from anthropic import DefaultHttpxClient, Timeout
    from llama_index.llms.anthropic import Anthropic

    llm = Anthropic(
        model=name,
        api_key=key,
        base_url=url,
        temperature=min(settings.temperature, 1.0),
        max_tokens=settings.answer_tokens,
        max_retries=0,
    )
    plain = llm._client  # the class takes no HTTP client, and its own cannot be hung up on
    timeout = Timeout(_longest(settings), connect=_CONNECT_SECONDS)
    llm._client = plain.with_options(timeout=timeout, http_client=DefaultHttpxClient(**_http(url)))
    plain.close()
    return llm


def _google(settings: Settings, name: str, key: str, url: str) -> LLM:
    from llama_index.llms.google_genai import GoogleGenAI

    timeout = httpx.Timeout(_longest(settings), connect=_CONNECT_SECONDS)
    options: Any = {"base_url": url, "client_args": {"timeout": timeout, **_http(url)}}
    return GoogleGenAI(
        model=name,
        api_key=key,
        temperature=settings.temperature,
        max_tokens=settings.answer_tokens + _REASONING_TOKENS,
        context_window=settings.context,
        max_retries=0,
        http_options=options,
        file_mode="inline",
    )


def _http(url: str) -> dict[str, Any]:
    """Arguments for the SDK's HTTP client, be it of httpx or httpx2."""
    return {
        "trust_env": not is_loopback(url),  # what is on this machine is not reached through a proxy
        "event_hooks": {"request": [watch_request], "response": [watch_response]},
    }


def _longest(settings: Settings) -> float:
    """The read time-out: only a net under those of `streaming`, which tell the first token from the later ones."""
    return max(settings.first_token_seconds, settings.between_tokens_seconds) + 5


HOSTED: Final[dict[str, Callable[[Settings, str, str, str], LLM]]] = {  # settings, model's name, key, base URL
    "openai": _openai,
    "openai-compatible": _openai_like,
    "anthropic": _anthropic,
    "google": _google,
}
