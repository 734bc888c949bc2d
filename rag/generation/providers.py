"""Which model writes: Ollama, a hosted one, any OpenAI-compatible server, or none.

LlamaIndex's classes and the SDKs under them are imported when a model of theirs is chosen and not before.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import httpx

from rag.errors import ModelUnavailable, SettingsError
from rag.generation import faults
from rag.generation.models import EXTRACTIVE, Message, Model, is_loopback
from rag.generation.ollama import OllamaServer
from rag.generation.streaming import Deltas, complete, stream, watch_request, watch_response
from rag.settings import Settings

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

PROBE_SECONDS = 1.0
_CONNECT_SECONDS = 10.0
_REASONING_TOKENS = 2000  # room for thoughts, which hosted reasoning models count as answer
_HOSTED = {  # taken by auto, in this order, when their key is set
    "openai": "gpt-5.4-mini",
    "anthropic": "claude-haiku-4-5",
    "google": "gemini-flash-latest",
}
_MODULES = {
    "openai": "llama_index.llms.openai",
    "anthropic": "llama_index.llms.anthropic",
    "google": "llama_index.llms.google_genai",
    "openai-compatible": "llama_index.llms.openai_like",
}
_KEY_PREFIXES = (("sk-ant-", "anthropic"), ("AIza", "google"), ("", "openai"))
_ACCEPTED = "auto, extractive, ollama/NAME, openai/NAME, anthropic/NAME, google/NAME, openai-compatible/NAME"


def choose_model(settings: Settings) -> Model:
    """The model that RAG_LLM names, or the best that is there for `auto`.

    Raises SettingsError for a value that cannot be used and ModelUnavailable where a server, model, key or package
    that was asked for by name is missing; `auto` never raises, it falls back to the extractive writer.
    """
    wanted = settings.llm.strip()
    if wanted == EXTRACTIVE:
        return Model(EXTRACTIVE, "RAG_LLM=extractive: sentences are picked from the abstracts, without a model")
    if wanted == "auto":
        return _automatic(settings)
    provider, _, name = wanted.partition("/")
    if not name or provider not in ("ollama", *_MODULES):
        raise SettingsError(f"RAG_LLM={wanted!r} is no model", hint=f"accepted are {_ACCEPTED}")
    reason = f"RAG_LLM={wanted}"
    if provider == "ollama":
        return _ollama(settings, name, reason)
    return _hosted(settings, provider, name, reason)


def list_models(settings: Settings) -> list[str]:
    """What RAG_LLM could be set to now: Ollama's chat models, hosted ones whose key is set, and "extractive"."""
    names = [f"ollama/{name}" for name in OllamaServer(settings.ollama_url).chat_models(PROBE_SECONDS)]
    names += [
        f"{provider}/{name}" for provider, name in _HOSTED.items() if _key(settings, provider) and _installed(provider)
    ]
    if settings.llm.partition("/")[2]:
        names.append(settings.llm)
    return [*dict.fromkeys(names), EXTRACTIVE]


def _automatic(settings: Settings) -> Model:
    server = OllamaServer(settings.ollama_url)
    names = server.chat_models(PROBE_SECONDS)
    if names:
        others = f", the most recent of its {len(names)} chat models" if len(names) > 1 else ""
        try:
            return _ollama(settings, names[0], f"Ollama answers at {settings.ollama_url} and has {names[0]}{others}")
        except ModelUnavailable as error:  # it went away between two calls
            server.problem = error.message
    problem = server.problem
    for provider, name in _HOSTED.items():
        if not _key(settings, provider):
            continue
        if not _installed(provider):
            problem += f"; a key for {provider} is set but its package is missing: {faults.INSTALL}"
            continue
        return _hosted(settings, provider, name, f"{problem}, and a key for {provider} is set")
    if not any(_key(settings, provider) for provider in _HOSTED):
        problem += " and no API key is set"
    return Model(EXTRACTIVE, f"{problem}, so sentences are picked from the abstracts without a model")


def _ollama(settings: Settings, name: str, reason: str) -> Model:
    from llama_index.llms.ollama import Ollama
    from ollama import Client

    url = settings.ollama_url
    model = Model(f"ollama/{name}", reason, url=url, **_limits(settings))
    facts = OllamaServer(url).facts(model, seconds=5.0)
    context = min(settings.context, facts.context or settings.context)
    thinks = facts.thinks
    always = "gpt-oss" in name  # it can think less, but not stop
    answer = settings.answer_tokens + (_REASONING_TOKENS if always else 0)
    llm = Ollama(
        model=name,
        base_url=url,
        temperature=settings.temperature,
        context_window=context,
        additional_kwargs={"num_predict": answer},
        thinking=("low" if always else False) if thinks else None,
        client=Client(host=url, timeout=httpx.Timeout(_longest(settings), connect=_CONNECT_SECONDS), **_http(url)),
    )
    return Model(model.name, reason, llm, context, url, **_limits(settings))


def _hosted(settings: Settings, provider: str, name: str, reason: str) -> Model:
    url = _base_url(settings, provider)
    key = _key(settings, provider)
    if not _installed(provider):
        raise ModelUnavailable(f"{provider}/{name} needs a package that is not installed", hint=faults.INSTALL)
    if not key and provider != "openai-compatible":
        raise faults.no_key(provider)
    makers: dict[str, Callable[[Settings, str, str, str], LLM]] = {
        "openai": _openai,
        "openai-compatible": _openai_like,
        "anthropic": _anthropic,
        "google": _google,
    }
    llm = makers[provider](settings, name, key or "none", url)
    return Model(f"{provider}/{name}", reason, llm, settings.context, url, **_limits(settings))


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


def _base_url(settings: Settings, provider: str) -> str:
    if provider == "openai-compatible":
        if not settings.llm_url:
            raise SettingsError(
                f"RAG_LLM={settings.llm} needs the server's address",
                hint="set RAG_LLM_URL, e.g. http://127.0.0.1:8080/v1",
            )
        return settings.llm_url.rstrip("/")
    variable, default = {
        "openai": ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
        "anthropic": ("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
        "google": ("GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com"),
    }[provider]
    return (os.environ.get(variable) or default).rstrip("/")


def _key(settings: Settings, provider: str) -> str:
    """The key for this provider: its own variable, else RAG_LLM_KEY where that is meant for it."""
    own = settings.llm_key.get_secret_value()
    named = settings.llm.partition("/")[0]
    if own and named == provider:
        return own
    for variable in faults.KEY_VARIABLES[provider]:
        if os.environ.get(variable):
            return os.environ[variable]
    if own and named not in _MODULES:  # auto: the key's own look tells whose it is
        meant = next(who for prefix, who in _KEY_PREFIXES if own.startswith(prefix))
        return own if meant == provider else ""
    return ""


def _installed(provider: str) -> bool:
    try:
        return importlib.util.find_spec(_MODULES[provider]) is not None
    except ModuleNotFoundError:  # not even a parent of it
        return False


def _limits(settings: Settings) -> dict[str, Any]:
    return {
        "answer_tokens": settings.answer_tokens,
        "first_token_seconds": settings.first_token_seconds,
        "between_tokens_seconds": settings.between_tokens_seconds,
    }


__all__ = ["EXTRACTIVE", "Deltas", "Message", "Model", "choose_model", "complete", "list_models", "stream"]
