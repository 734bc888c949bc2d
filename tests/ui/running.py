"""What the fixtures hand out."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from rag.settings import Settings


@dataclass
class App:
    """A running app; `url` ends in a slash."""

    url: str
    engine: Any
    settings: Settings
    blocks: gr.Blocks


@dataclass
class Seen:
    """What a page did besides showing itself."""

    hosts: set[str]
    errors: list[str]


Start = Callable[..., App]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
