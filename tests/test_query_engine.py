"""The engine as LlamaIndex sees it."""

from __future__ import annotations

import asyncio

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import Response, StreamingResponse
from llama_index.core.tools import QueryEngineTool

from rag.answer import answer_from_dict
from rag.engine import Engine

ANSWERABLE = "Which papers study reinforcement learning?"


def test_query_gives_the_answer_with_its_sources(sample: Engine) -> None:
    engine = sample.query_engine()
    assert isinstance(engine, BaseQueryEngine)
    response = engine.query(ANSWERABLE)
    assert isinstance(response, Response)
    assert response.metadata is not None
    answer = answer_from_dict(response.metadata["answer"])
    assert str(response) == answer.text
    assert [node.node.node_id for node in response.source_nodes] == [source.paper.id for source in answer.cited]
    assert all(
        node.get_content() == source.paper.abstract
        for node, source in zip(response.source_nodes, answer.cited, strict=True)
    )


def test_aquery_is_the_same(sample: Engine) -> None:
    response = asyncio.run(sample.query_engine().aquery(ANSWERABLE))
    assert str(response) == str(sample.query_engine().query(ANSWERABLE))


def test_streaming_gives_the_words(sample: Engine) -> None:
    response = sample.query_engine(streaming=True).query(ANSWERABLE)
    assert isinstance(response, StreamingResponse)
    text = "".join(response.response_gen)
    assert text == str(sample.query_engine().query(ANSWERABLE))
    assert response.metadata is not None
    assert [node.node.node_id for node in response.source_nodes] == [
        source.paper.id for source in answer_from_dict(response.metadata["answer"]).cited
    ]


def test_a_refusal_has_no_sources(sample: Engine) -> None:
    response = sample.query_engine().query("Who won the football world cup in 1998?")
    assert response.source_nodes == []
    assert "do not answer" in str(response)


def test_it_can_be_a_tool(sample: Engine) -> None:
    tool = QueryEngineTool.from_defaults(sample.query_engine(), name="abstracts", description="papers")
    assert "do not answer" in tool.call("Who won the football world cup in 1998?").content
