"""The Evaluations tab."""

from __future__ import annotations

import gradio as gr

from rag.settings import Settings
from ui.engines import Engines
from ui.render import tag


class Evaluations:
    """Builds the tab inside a `gr.Blocks`."""

    def __init__(self, engines: Engines, settings: Settings) -> None:
        self._engines = engines
        self._settings = settings

    def build(self) -> None:
        """The tab's components. To be called within its `gr.Tab`."""
        with gr.Column(elem_classes="page", elem_id="evaluations"):
            gr.HTML(
                tag("p", "There are no evaluations yet. Run rag eval run.", class_="empty"), apply_default_css=False
            )
