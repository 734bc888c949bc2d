"""A language model as the rest of the system sees it, and the messages it gets."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

if TYPE_CHECKING:  # llama_index takes a second to import
    from llama_index.core.llms import LLM

EXTRACTIVE = "extractive"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True)
class Model:
    """The model that was chosen.

    `name` is spelt as in RAG_LLM ("ollama/llama3.2", "extractive"); `reason` says in a sentence why it was taken.
    `llm` is None for the extractive writer, which needs no model. `context` and `answer_tokens` are in tokens,
    the two time-outs in seconds.
    """

    name: str
    reason: str = ""
    llm: LLM | None = field(default=None, repr=False, compare=False)
    context: int = 8192
    url: str = ""
    answer_tokens: int = 400
    first_token_seconds: float = 600
    between_tokens_seconds: float = 120

    @property
    def provider(self) -> str:
        """What stands before the slash: "ollama", "openai", …; "extractive" without a model."""
        return self.name.partition("/")[0]

    @property
    def bare_name(self) -> str:
        """The name its server knows it by."""
        return self.name.partition("/")[2]


def is_loopback(url: str) -> bool:
    """Whether the URL points to this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
