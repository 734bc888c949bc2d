"""The engine as a LlamaIndex query engine, for anything in that ecosystem that takes one."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE, Response, StreamingResponse
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from rag.answer import Answer, Source
from rag.events import Done, Retrieved, Words

if TYPE_CHECKING:
    from rag.engine import Engine


class AbstractsQueryEngine(BaseQueryEngine):
    """`query` and `aquery` give a Response whose text carries `[n]` markers, whose source nodes are the cited papers
    in the order of their numbers, and whose metadata holds the whole answer under "answer".

    With `streaming=True` they give a StreamingResponse of the words as they are written.
    """

    def __init__(self, engine: Engine, *, streaming: bool = False) -> None:
        super().__init__(callback_manager=None)
        self._engine = engine
        self._streaming = streaming

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        if self._streaming:
            return self._stream(query_bundle.query_str)
        return _response(self._engine.ask(query_bundle.query_str))

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return await asyncio.to_thread(self._query, query_bundle)

    def _stream(self, question: str) -> StreamingResponse:
        events = self._engine.stream(question)
        sources: list[NodeWithScore] = []
        metadata: dict[str, Any] = {}

        def words() -> Generator[str, None, None]:
            shown = False
            for event in events:
                if isinstance(event, Retrieved):
                    sources.extend(_node(source) for source in event.sources)
                elif isinstance(event, Words):
                    shown = True
                    yield event.text
                elif isinstance(event, Done):
                    metadata["answer"] = event.answer.to_dict()
                    sources[:] = [_node(source) for source in event.answer.cited]
                    if not shown:
                        yield event.answer.text

        return StreamingResponse(response_gen=words(), source_nodes=sources, metadata=metadata)

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}


def _response(answer: Answer) -> Response:
    return Response(
        response=answer.text,
        source_nodes=[_node(source) for source in answer.cited],
        metadata={"answer": answer.to_dict()},
    )


def _node(source: Source) -> NodeWithScore:
    paper = source.paper
    node = TextNode(
        id_=paper.id,
        text=paper.abstract,
        metadata={"title": paper.title, "year": paper.year, "venue": paper.venue, "url": paper.url},
    )
    return NodeWithScore(node=node, score=source.score)
