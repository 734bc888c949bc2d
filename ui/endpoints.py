"""The engine for programs: `ask`, `search` and `paper` over Gradio's HTTP API, and the same as MCP tools.

Gradio takes names, types and descriptions from the functions: their docstrings are what a caller reads.
"""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from typing import Any

import gradio as gr
from gradio.events import api

from rag.conversation import Turn
from rag.errors import RagError
from rag.retrieval import Filters
from ui.calls import Ask, GetPaper, Search, checked
from ui.engines import Engines

log = logging.getLogger(__name__)

AT_ONCE = 24


def add_endpoints(engines: Engines) -> None:
    """Declare the endpoints. To be called within the `gr.Blocks`."""

    def ask(
        question: str,
        top_k: int = 0,
        year: str = "",
        venue: str = "",
        keyword: str = "",
        source: str = "",
        model: str = "",
        history: list[list[str]] | None = None,
        author: str = "",
    ) -> dict[str, Any]:
        """Answer a question from the abstracts of the library, and from nothing else.

        Returns an object: `text` is the answer with [n] markers; `sentences` are its sentences, each with `verdict`
        (supported, partly, not found, contradicted or meta), `note` and `citations` (`number`, `paper_id`, the
        verbatim `quote` and its `start` and `end` in the abstract, `score` from 0 to 1); `sources` are the retrieved
        papers, the cited ones first in the order of their numbers, each with `paper`, `score` from 0 to 1 and
        `number` (null when not cited); `refusal` is null, or says in `reason`, `message` and `hint` why there is no
        answer; `standalone` is the question that was searched for; `timings` are seconds.

        Args:
            question: What to ask, in a full sentence.
            top_k: How many papers are read for the answer, at most 50; 0 takes the configured number.
            year: Only papers of these years, "2024" or "2020-2024"; empty for any.
            venue: Only papers whose venue contains this; empty for any.
            keyword: Only papers with a keyword that contains this; empty for any.
            source: Only papers from sources whose name contains this; empty for any.
            model: The model that writes, such as "extractive" or "ollama/llama3.2"; empty for the configured one.
            history: Earlier [question, answer] pairs, oldest first, for a follow-up question.
            author: Only papers by this author, or by one of several with ";" between; empty for any.
        """
        filters = {"year": year, "venue": venue, "keyword": keyword, "source": source, "author": author}
        with _Told():
            call = checked(Ask, filters | {"question": question, "top_k": top_k, "model": model, "history": history})
            answer = engines.get().ask(
                call.question,
                history=[Turn(pair[0], pair[1]) for pair in call.history or ()],
                filters=_filters(call),
                top_k=call.top_k or None,
                llm=call.model.strip() or None,
            )
            return answer.to_dict()

    def search(
        question: str,
        top_k: int = 10,
        year: str = "",
        venue: str = "",
        keyword: str = "",
        source: str = "",
        author: str = "",
    ) -> list[dict[str, Any]]:
        """Find the papers of the library that fit a question or some words best. No answer is written.

        Returns a list, best first: `paper` (`id`, `title`, `abstract`, `authors`, `year`, `venue`, `url`, `doi`,
        `keywords`), `score` from 0 to 1, and `passage`, the part of the abstract that matched best, which is
        `abstract[start:end]`.

        Args:
            question: A question, a topic, a title or some words.
            top_k: How many papers to return, at most 50.
            year: Only papers of these years, "2024" or "2020-2024"; empty for any.
            venue: Only papers whose venue contains this; empty for any.
            keyword: Only papers with a keyword that contains this; empty for any.
            source: Only papers from sources whose name contains this; empty for any.
            author: Only papers by this author, or by one of several with ";" between; empty for any.
        """
        filters = {"year": year, "venue": venue, "keyword": keyword, "source": source, "author": author}
        with _Told():
            call = checked(Search, filters | {"question": question, "top_k": top_k})
            found = engines.get().search(call.question, top_k=call.top_k, filters=_filters(call))
            return [{**asdict(one), "passage": one.passage} for one in found]

    def get_paper(paper_id: str) -> dict[str, Any]:
        """Read one paper of the library by its id, as `ask` and `search` return it.

        Returns `id`, `title`, `abstract` (as its source has it, markup included), `authors`, `year` (or null),
        `venue`, `url`, `doi` and `keywords`. An id that is not in the library is an error.

        Args:
            paper_id: The id, for instance "doi:10.1000/182", "arxiv:2401.00001" or "openreview:abc123".
        """
        with _Told():
            call = checked(GetPaper, {"paper_id": paper_id})
            paper = engines.get().paper(call.paper_id.strip())
            if paper is None:
                raise RagError(f"there is no paper {call.paper_id[:200]!r} in the library")
            return asdict(paper)

    options: dict[str, Any] = {"concurrency_limit": AT_ONCE, "concurrency_id": "programs"}
    api(ask, api_name="ask", **options)
    api(search, api_name="search", **options)
    api(get_paper, api_name="paper", **options)


def tools_speak_json(blocks: gr.Blocks) -> None:
    """Make a launched app's MCP tools answer in JSON; by itself Gradio gives Python's `str` of it."""
    server: Any = blocks.mcp_server_obj
    if server is None:
        raise RagError(
            f"the MCP server could not be started: {blocks.mcp_error or 'its package is missing'}",
            hint="pip install 'gradio[mcp]'",
        )

    def as_json(data: list[Any], root_url: str) -> list[Any]:
        return [server.types.TextContent(type="text", text=json.dumps(item, ensure_ascii=False)) for item in data]

    server.postprocess_output_data = as_json


def _filters(call: Ask | Search) -> Filters:
    return Filters(**{name: getattr(call, name).strip() for name in ("year", "venue", "keyword", "source", "author")})


class _Told:
    """Turns our errors into Gradio's, whose message reaches the caller; of others only the kind does, and the log has
    the rest. Gradio would print them itself, with whatever they quote."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, RagError):
            raise gr.Error(str(error), print_exception=False) from error
        if isinstance(error, Exception):
            log.error("a call failed", exc_info=error)
            raise gr.Error(f"This failed ({type(error).__name__}); see the log", print_exception=False) from error
