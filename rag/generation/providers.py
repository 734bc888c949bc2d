"""Which model writes: Ollama, a hosted one, any OpenAI-compatible server, or none.

What is not there is said with the command that brings it; `makers` builds what is.
"""

from __future__ import annotations

import importlib.util
import os
from dataclasses import replace
from typing import Any

from rag.errors import ModelUnavailable, SettingsError
from rag.generation import faults, makers
from rag.generation.models import EXTRACTIVE, Message, Model
from rag.generation.ollama import OllamaServer
from rag.generation.streaming import Deltas, complete, stream
from rag.settings import Settings

PROBE_SECONDS = 1.0
_SHOW_SECONDS = 5.0
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
    url = settings.ollama_url
    asked = Model(f"ollama/{name}", reason, url=url, **_limits(settings))
    facts = OllamaServer(url).facts(asked, seconds=_SHOW_SECONDS)
    context = min(settings.context, facts.context or settings.context)
    return replace(asked, llm=makers.ollama(settings, name, context, thinks=facts.thinks), context=context)


def _hosted(settings: Settings, provider: str, name: str, reason: str) -> Model:
    url = _base_url(settings, provider)
    key = _key(settings, provider)
    if not _installed(provider):
        raise ModelUnavailable(f"{provider}/{name} needs a package that is not installed", hint=faults.INSTALL)
    if not key and provider != "openai-compatible":
        raise faults.no_key(provider)
    llm = makers.HOSTED[provider](settings, name, key or "none", url)
    return Model(f"{provider}/{name}", reason, llm, settings.context, url, **_limits(settings))


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
