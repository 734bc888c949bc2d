"""What an Ollama server has: its models, and what each can do."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

import httpx

from rag.errors import ModelUnavailable
from rag.generation import faults
from rag.generation.models import Model, is_loopback

_BODY_LIMIT = 8_000_000  # bytes; a list of models is some kilobytes
_EMBEDDING_FAMILIES = {"bert", "nomic-bert", "nomic-bert-moe", "xlm-roberta", "jina-bert-v2"}


@dataclass(frozen=True, slots=True)
class Facts:
    """What `/api/show` tells of a model; `context` in tokens is 0 where it does not say."""

    chats: bool
    thinks: bool
    context: int


class OllamaServer:
    """Short questions to an Ollama server. After a call that found nothing, `problem` says why in a clause."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.problem = ""

    def chat_models(self, seconds: float) -> list[str]:
        """Names of the models that can chat, newest first; empty where no server answers within `seconds`."""
        deadline = time.monotonic() + seconds
        try:
            listed = self._listed(deadline)
        except (httpx.HTTPError, ValueError) as error:
            self.problem = f"Ollama does not answer at {self.url}"
            if not isinstance(error, httpx.TransportError):
                self.problem = f"what answers at {self.url} is not Ollama"
            return []
        names = [entry["name"] for entry in listed if self._chats(entry, deadline)]
        if not names:
            self.problem = f"Ollama at {self.url} has no chat model (`ollama pull llama3.2` fetches one)"
        return names

    def facts(self, model: Model, *, seconds: float) -> Facts:
        """Raises ModelUnavailable where the server does not answer or does not have the model."""
        deadline = time.monotonic() + seconds
        try:
            return _facts(self._ask("POST", "/api/show", deadline, {"model": model.bare_name}))
        except httpx.HTTPStatusError as error:
            if error.response.status_code == 404:
                raise faults.not_pulled(model, self._names(deadline)) from error
            raise faults.explain(error, model) from error
        except httpx.TimeoutException as error:
            raise faults.not_running(model, f"no answer within {seconds:g} s") from error
        except httpx.HTTPError as error:
            raise faults.explain(error, model) from error
        except ValueError as error:
            raise ModelUnavailable(
                f"What answers at {self.url} is not Ollama", hint="set RAG_OLLAMA_URL to where Ollama listens"
            ) from error

    def digest(self, name: str, seconds: float) -> str:
        """The digest of a model's weights, "" where the server does not tell within `seconds`."""
        try:
            listed = self._listed(time.monotonic() + seconds)
        except (httpx.HTTPError, ValueError):
            return ""
        found = (entry.get("digest") for entry in listed if entry["name"] in (name, f"{name}:latest"))
        return str(next(found, "") or "")

    def _names(self, deadline: float) -> list[str]:
        try:
            return [entry["name"] for entry in self._listed(deadline)]
        except (httpx.HTTPError, ValueError):
            return []

    def _listed(self, deadline: float) -> list[dict[str, Any]]:
        models = self._ask("GET", "/api/tags", deadline).get("models") or []
        if not all(isinstance(entry, dict) and isinstance(entry.get("name"), str) for entry in models):
            raise ValueError("no list of models")
        return list(models)

    def _chats(self, entry: dict[str, Any], deadline: float) -> bool:
        try:
            return _facts(self._ask("POST", "/api/show", deadline, {"model": entry["name"]})).chats
        except (httpx.HTTPError, ValueError):  # too slow to ask each: go by what the list says
            family = (entry.get("details") or {}).get("family", "")
            return family not in _EMBEDDING_FAMILIES and "embed" not in entry["name"]

    def _ask(self, method: str, path: str, deadline: float, body: dict[str, Any] | None = None) -> dict[str, Any]:
        left = max(deadline - time.monotonic(), 0.02)
        with (
            httpx.Client(timeout=left, trust_env=not is_loopback(self.url), follow_redirects=True) as client,
            client.stream(method, self.url + path, json=body) as response,
        ):
            content = bytearray()
            for part in response.iter_bytes():
                content += part
                if time.monotonic() > deadline or len(content) > _BODY_LIMIT:
                    raise httpx.ReadTimeout(f"{path} takes too long")
            response.raise_for_status()
        answer = json.loads(content)
        if not isinstance(answer, dict):
            raise ValueError("no JSON object")
        return answer


def _facts(shown: dict[str, Any]) -> Facts:
    details = shown.get("details") or {}
    able = shown.get("capabilities")  # Ollama 0.6.4 and later
    chats = "completion" in able if able else details.get("family") not in _EMBEDDING_FAMILIES
    lengths = [value for key, value in (shown.get("model_info") or {}).items() if key.endswith(".context_length")]
    context = lengths[0] if lengths and isinstance(lengths[0], int) else 0
    return Facts(chats=chats, thinks="thinking" in (able or ()), context=context)
