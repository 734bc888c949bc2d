"""Models of the Hugging Face hub: from a folder or the cache, and fetched only where the hub is there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

_T = TypeVar("_T")
_SECONDS = 10.0  # for one answer of the hub


def load(make: Callable[..., _T], name: str, **options: Any) -> _T:
    """`make(name, …)`, a sentence-transformers class, with what is here, else with what the hub has.

    Raises OSError or ValueError where neither has it. The hub is asked once before anything is fetched: its client
    tries every file of a model several times, which takes minutes where there is no network.
    """
    try:
        return make(name, local_files_only=True, **options)
    except (OSError, ValueError):
        if Path(name).is_dir():
            raise
    _ask_for(name)
    try:
        return make(name, **options)
    except RuntimeError as error:  # what was fetched is no such model
        raise OSError(str(error)) from error


def _ask_for(name: str) -> None:
    from huggingface_hub import HfApi

    try:
        HfApi().model_info(name, timeout=_SECONDS)
    except Exception as error:  # of whatever HTTP library the hub's client has in this version
        raise OSError(f"the hub does not give {name}: {error}") from error
