"""Every error a user can meet.

RagError                     what happened, where, and what to type next
├── SettingsError            a setting has a value that cannot be used             exit 2
├── InputError               a file cannot be read at all                          exit 2
├── StoreError               the store cannot be used as it is                     exit 2
│   ├── StoreLocked          another process is writing
│   ├── StoreMismatch        made by another version or another embedding model
│   └── StoreDamaged         the catalogue or the collection is broken
└── Unavailable              something we depend on does not answer                exit 3
    ├── ModelUnavailable     the language model
    │   └── NoLogprobs       it answers, and tells nothing of its odds
    ├── EmbeddingUnavailable the embedding model
    └── ServerUnavailable    the Chroma server
"""

from __future__ import annotations


class RagError(Exception):
    """Base of all errors shown to users; `str(error)` is one readable message.

    `hint` is the next thing to do, often a command, and is printed on a line of its own.
    """

    exit_code = 2

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class SettingsError(RagError):
    """A setting is unknown or its value cannot be used."""


class InputError(RagError):
    """A file cannot be read at all: missing, of an unknown format, or in no known encoding."""


class StoreError(RagError):
    """The store cannot be used as it is; nothing was overwritten."""


class StoreLocked(StoreError):
    """Another process is writing to the store and did not finish within the wait."""


class StoreMismatch(StoreError):
    """The store was made by another schema version or another embedding model."""


class StoreDamaged(StoreError):
    """The catalogue or the collection is broken or half of it is missing."""


class Unavailable(RagError):
    """Something the question needs does not answer."""

    exit_code = 3


class ModelUnavailable(Unavailable):
    """The language model's server does not answer, or does not have the model."""


class NoLogprobs(ModelUnavailable):
    """The model answers, but neither it nor its server gives log-probabilities that could be used."""


class EmbeddingUnavailable(Unavailable):
    """The embedding model is not on this machine and may not or cannot be fetched."""


class ServerUnavailable(Unavailable):
    """The Chroma server does not answer."""
