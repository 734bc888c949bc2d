"""The page: header, tabs, look, endpoints for programs; and the server that shows it."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gradio as gr
from starlette.middleware import Middleware

from rag.errors import SettingsError
from rag.logs import adopt, fields
from rag.settings import Settings
from ui.calls import Calls
from ui.chat import Chat
from ui.conversations import Conversations
from ui.endpoints import add_endpoints, tools_speak_json
from ui.engines import Engines
from ui.evaluations import Evaluations
from ui.feedback import Feedback
from ui.health import Healthz, heart_of
from ui.library import Library
from ui.render import Html, tag
from ui.requests import RequestLog
from ui.safety import Guard, Names, fetch_nothing

if TYPE_CHECKING:
    from rag.engine import Engine

log = logging.getLogger(__name__)

ASSETS = Path(__file__).parent / "assets"
TITLE = "Ask Abstracts"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
UPLOAD_LIMIT = "200mb"
WAITING = 200  # questions and clicks in the queue; beyond it the page says that it is busy, programs get a 503
SESSIONS = 300  # remembered by the server, 0.2 MB each; a tab that was forgotten says itself who it is


def build(engines: Engines, settings: Settings) -> gr.Blocks:
    """The page, its tabs and the endpoints for programs."""
    chat = Chat(
        engines,
        Conversations(settings.data / "conversations.sqlite"),
        Feedback(settings.data / "feedback.jsonl"),
        settings,
    )
    library = Library(engines, settings)
    evaluations = Evaluations(settings)
    blocks: gr.Blocks
    with gr.Blocks(title=TITLE, analytics_enabled=False, fill_width=True, fill_height=True) as blocks:
        gr.HTML(_header(), elem_id="head", apply_default_css=False)
        with gr.Tabs(elem_id="tabs"):
            with gr.Tab("Ask", id="ask"):
                chat.build()
            with gr.Tab("Library", id="library") as library_tab:
                library.build()
            with gr.Tab("Evaluations", id="evaluations") as evaluations_tab:
                evaluations.build()
        add_endpoints(engines)  # before the page's own events, so that the names are free
        chat.connect(blocks)
        library.connect(blocks, library_tab, chat.question)
        evaluations.connect(evaluations_tab)
    blocks.queue(max_size=WAITING)
    engines.warm()
    return blocks


def launch_options(engines: Engines, names: frozenset[str] | None = None) -> dict[str, Any]:
    """What `Blocks.launch` is to be told so that the page looks right, asks no other host and shows no file.

    `names`: those the app may be asked by, beside "localhost" and addresses; None for any.
    """
    script, style = ((ASSETS / name).read_text(encoding="utf-8") for name in ("app.js", "app.css"))
    requests = Middleware(RequestLog)
    health = Middleware(Healthz, heart=heart_of(engines))  # before the login, which its askers do not have
    guard = Middleware(Guard, script=script, style=style)
    calls = Middleware(Calls)
    known = [] if names is None else [Middleware(Names, names=names)]
    return {
        "theme": _theme(),
        "footer_links": [],
        "run_history": False,
        "share": False,
        "ssr_mode": False,
        "pwa": False,
        "enable_monitoring": False,
        "allowed_paths": [],
        "max_file_size": UPLOAD_LIMIT,
        "show_error": True,
        "state_session_capacity": SESSIONS,
        "app_kwargs": {"middleware": [requests, *known, guard, health, calls], "docs_url": None, "redoc_url": None},
    }


def serve(
    settings: Settings,
    host: str = "127.0.0.1",
    port: int = 7860,
    auth: tuple[str, str] | None = None,
    mcp: bool = False,
    engine: Engine | None = None,
    block: bool = True,
) -> gr.Blocks:
    """Show the app at `host:port` until interrupted (`block`), with the engine that `settings` describe."""
    from rag.engine import Engine

    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    fetch_nothing()
    engines = Engines(engine if engine is not None else lambda: Engine.open(settings))
    blocks = build(engines, settings)
    try:
        blocks.launch(
            server_name=host,
            server_port=port or None,
            auth=auth,
            mcp_server=mcp,
            prevent_thread_lock=True,
            quiet=True,
            **launch_options(engines, _names(settings, host, guarded=auth is not None)),
        )
    except OSError as error:  # the port is taken
        raise SettingsError(
            f"{host}:{port} cannot be listened on", hint="rag serve --port 0 takes a free port"
        ) from error
    adopt("uvicorn", "uvicorn.error", "uvicorn.access")
    if mcp:
        tools_speak_json(blocks)
    log.info("listening", extra=fields(url=blocks.local_url, login=auth is not None, mcp=mcp))
    if block:
        _announce(blocks, host, auth is not None, mcp)
        blocks.block_thread()
    return blocks


def _names(settings: Settings, host: str, *, guarded: bool) -> frozenset[str] | None:
    """The names the app may be asked by: those that are set; None, which is any, where a password asks who it is or
    other machines are let in by whatever name they have for this one."""
    if settings.hosts:
        return frozenset(name.strip().lower() for name in settings.hosts.split(",")) | {host.lower()}
    return frozenset() if host in LOOPBACK and not guarded else None


def _announce(blocks: gr.Blocks, host: str, guarded: bool, mcp: bool) -> None:
    """Say where the app is, and who can reach it."""
    print(f"{TITLE} is at {blocks.local_url}  (Ctrl-C ends it)", flush=True)
    if mcp:
        print(f"MCP over HTTP at {blocks.local_url}gradio_api/mcp/", flush=True)
    if host not in LOOPBACK and not guarded:
        print(f"Anyone who reaches {host} can read the library and change it; --auth user:password asks who they are.")


def _theme() -> gr.themes.Base:
    sans = [
        "ui-sans-serif",
        "system-ui",
        "-apple-system",
        "Segoe UI",
        "Roboto",
        "Helvetica Neue",
        "Arial",
        "sans-serif",
    ]
    return gr.themes.Base(
        primary_hue="teal",
        neutral_hue="stone",
        radius_size="sm",
        font=sans,
        font_mono=["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace"],
    )


def _header() -> Html:
    def opens(label: str, drawer: str) -> Html:
        return tag("button", label, type="button", class_="tool", data_drawer=drawer, aria_expanded="false")

    return tag(
        "header",
        tag("span", TITLE, class_="brand"),
        tag(
            "nav",
            tag("button", "New", type="button", class_="tool", id="new"),
            opens("History", "history"),
            opens("Settings", "settings"),
            tag(
                "button",
                "Dark",
                type="button",
                class_="tool",
                id="theme",
                title="Light or dark",
            ),
            aria_label="Tools",
        ),
        class_="masthead",
    )
