"""LlamaIndex's CitationQueryEngine through the same face: what it writes becomes an Answer that can be scored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from servers import FaultyServer

from eval.metrics import quotes_verbatim
from eval.peers import CitationEngine
from rag.answer import Verdict
from rag.papers import Paper
from rag.settings import load_settings
from rag.store import Store

PAPERS = (
    Paper("Sparse attention makes decoding 7 times faster on long inputs.", title="Sparse attention", id="a:1"),
    Paper("The drug did not reduce mortality among 120 patients.", title="A trial", id="a:2"),
)


@pytest.fixture
def engine(faulty: FaultyServer, tmp_path: Path) -> Iterator[CitationEngine]:
    settings = load_settings(llm="ollama/small", ollama_url=faulty.url, data=tmp_path / "store", top_k=2)
    store = Store(settings)
    store.sync("two", PAPERS)
    store.close()
    made = CitationEngine(settings)
    yield made
    made.close()


def test_its_marks_become_citations_and_its_excuses_refusals(engine: CitationEngine, faulty: FaultyServer) -> None:
    question = "How much faster is decoding with sparse attention?"
    assert engine.ranked(question) == ["a:1", "a:2"]
    assert engine.has("a:1") and not engine.has("a:3")

    faulty.words = ["Decoding is 7 times faster [1]. ", "It also cures patients.[1, 2] ", "And more [9]."]
    answer = engine.ask(question, (), None)
    first, second, third = answer.sentences
    assert (first.text, first.verdict) == ("Decoding is 7 times faster.", Verdict.SUPPORTED)
    assert [citation.paper_id for citation in first.citations] == ["a:1"]
    assert [citation.paper_id for citation in second.citations] == ["a:1", "a:2"]
    assert (third.citations, third.verdict) == ((), Verdict.NOT_FOUND)
    assert [source.number for source in answer.sources] == [1, 2]
    assert quotes_verbatim(answer) == 1
    assert answer.timings.total > 0

    faulty.words = ["The provided sources do not mention this."]
    declined = engine.ask("Who won the cup?", (), None)
    assert declined.refusal is not None and declined.sentences == ()


@pytest.mark.parametrize("step", ["reset", "break", 500, "empty"])
def test_a_server_that_fails_is_a_failure_and_no_answer(
    engine: CitationEngine,
    faulty: FaultyServer,
    step: str | int,
) -> None:
    faulty.script = [step]
    with pytest.raises(Exception, match=r"."):
        engine.ask("How much faster is decoding?", (), None)
