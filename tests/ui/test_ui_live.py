"""The answer while it comes into being: order, stop, errors, signs of life."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from standin import Standin

from rag.answer import Answer, Citation, Reason, Sentence, Source, Verdict
from rag.errors import ModelUnavailable, StoreLocked
from rag.events import Checked, Done, Event, Rechecked, Retrieved, Rewritten, Withdrawn, Words
from rag.papers import Paper
from ui.live import Options, Snapshot, answer_live
from ui.sentences import sentence_blocks

PAPER = Paper("Bees dance. Wasps do not.", "Bees", id="p1")
OTHER = Paper("Ants walk.", "Ants", id="p2")
FOUND = Retrieved((Source(OTHER, 0.9), Source(PAPER, 0.8)))
FIRST = Sentence("Bees dance.", Verdict.SUPPORTED, (Citation(1, "p1", 0, 11, "Bees dance.", 0.9),))


class Played:
    """An engine that plays a list of events; a number is a pause, an exception is raised."""

    def __init__(self, *events: Event | float | BaseException) -> None:
        self.events = events
        self.asked: dict[str, Any] = {}

    def stream(self, question: str, **options: Any) -> Iterator[Event]:
        self.asked = {"question": question, **options}
        for event in self.events:
            if isinstance(event, BaseException):
                raise event
            if isinstance(event, float):
                time.sleep(event)
            else:
                yield event


def shots(engine: Any, stop: threading.Event | None = None, options: Options = Options()) -> list[Snapshot]:  # noqa: B008
    return list(answer_live(engine, "Do bees dance?", (), options, stop or threading.Event()))


def test_words_become_checked_sentences() -> None:
    done = Answer("Do bees dance?", "x", (FIRST,))
    heard = (Rewritten("Do honey bees dance?"), FOUND, Words("Bees dance."), Checked(FIRST), Words(" And"), Done(done))
    engine = Played(*(step for event in heard for step in (event, 0.1)))
    seen = shots(engine)
    assert [shot.pending for shot in seen if shot.pending] == ["Bees dance.", "And"]
    assert any(shot.note.startswith("Reading 2 papers") for shot in seen)
    checked = next(shot for shot in seen if shot.answer.sentences)
    assert [source.paper.id for source in checked.answer.sources] == ["p1", "p2"]
    assert [source.number for source in checked.answer.sources] == [1, None]
    assert seen[-1] == Snapshot(done, done=True)
    assert [shot.done for shot in seen] == [False] * (len(seen) - 1) + [True]


def test_words_after_a_sentence_stay() -> None:
    seen = shots(
        Played(FOUND, Words("Bees dance. Wasps"), Checked(FIRST), 0.2, Words(" do"), 0.2, Done(Answer("q", "q")))
    )
    assert "Wasps do" in [shot.pending for shot in seen]


def test_withdrawn_words_go() -> None:
    seen = shots(Played(FOUND, Words("Bees dance."), Checked(FIRST), 0.2, Withdrawn(), 0.2, Done(Answer("q", "q"))))
    assert any(shot.answer.sentences for shot in seen)
    assert seen[-2].answer.sentences == ()
    assert seen[-2].pending == ""


def test_stop_keeps_what_was_checked_and_nothing_half() -> None:
    stop = threading.Event()
    engine = Played(FOUND, Words("Bees dance."), Checked(FIRST), Words(" And wasps [1"), 5.0, Done(Answer("q", "q")))
    threading.Timer(0.4, stop.set).start()
    started = time.monotonic()
    last = shots(engine, stop)[-1]
    assert time.monotonic() - started < 3
    assert last.done
    assert last.answer.stopped
    assert last.answer.sentences == (FIRST,)
    assert last.pending == ""


def test_the_engine_is_told_to_stop_when_nobody_listens_any_more() -> None:
    stop = threading.Event()
    stream = answer_live(Played(FOUND, 0.3, Done(Answer("q", "q"))), "q", (), Options(), stop)
    next(stream)
    stream.close()
    assert stop.is_set()


def test_a_long_wait_shows_signs_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.live.SIGN_OF_LIFE", 0.2)
    seen = shots(Played(FOUND, 3.5, Done(Answer("q", "q"))))
    assert any("· 3 s" in shot.note for shot in seen)
    assert len(seen) > 5


def test_a_missing_model_is_a_refusal_with_the_papers_found() -> None:
    last = shots(Played(FOUND, ModelUnavailable("Ollama does not answer", hint="ollama serve")))[-1]
    assert last.error is None
    assert last.answer.refusal is not None
    assert last.answer.refusal.reason is Reason.MODEL_UNAVAILABLE
    assert len(last.answer.sources) == 2


@pytest.mark.parametrize(
    ("raised", "message"), [(StoreLocked("busy"), "busy"), (ZeroDivisionError("x"), "could not be answered")]
)
def test_other_errors_are_told_and_are_no_answer(raised: Exception, message: str) -> None:
    last = shots(Played(FOUND, raised))[-1]
    assert last.error is not None
    assert message in str(last.error)


def test_what_was_chosen_reaches_the_engine() -> None:
    engine = Played(Done(Answer("q", "q")))
    shots(engine, options=Options("ollama/x", 3, "2024", "ICLR", "graphs", "a.csv", "Ng", "drop"))
    assert (engine.asked["llm"], engine.asked["top_k"], engine.asked["unsupported"]) == ("ollama/x", 3, "drop")
    assert engine.asked["filters"].year == "2024"
    shots(engine)
    assert (engine.asked["llm"], engine.asked["top_k"], engine.asked["unsupported"]) == (None, None, None)


def test_many_words_give_few_snapshots() -> None:
    words = [Words(f" w{number}") for number in range(3000)]
    assert len(shots(Played(FOUND, *words, Done(Answer("q", "q"))))) < 100


def test_the_standin_keeps_the_engines_promises() -> None:
    seen = list(Standin().stream("How do language models trade compression for meaning?"))
    assert isinstance(seen[-1], Done)
    for citation in seen[-1].answer.citations:
        paper = next(source.paper for source in seen[-1].answer.sources if source.paper.id == citation.paper_id)
        assert paper.abstract[citation.start : citation.end] == citation.quote


def test_a_final_verdict_takes_the_place_of_the_one_by_words() -> None:
    open_one = replace(FIRST, verdict=Verdict.NOT_FOUND, citations=(), checking=True)
    other = Sentence("Ants fly.", Verdict.NOT_FOUND, checking=True)
    heard = (FOUND, Checked(open_one), Checked(other), 0.2, Rechecked(0, FIRST), 0.2, Rechecked(1, None), 0.2)
    seen = shots(Played(*heard, Done(Answer("q", "q", (FIRST,)))))
    notes = [shot.note for shot in seen]
    assert any("again for 2 sentences" in note for note in notes)
    assert any("again for 1 sentence " in f"{note} " for note in notes)
    states = [shot.answer.sentences for shot in seen]
    assert states.index((open_one, other)) < states.index((FIRST, other)) < states.index((FIRST,))


def test_a_sentence_that_is_being_checked_bears_a_sign() -> None:
    sentence = Sentence("Ants fly.", Verdict.NOT_FOUND, checking=True)
    html = sentence_blocks((sentence,))
    assert "checking" in html
    assert "not found" not in html
    assert "not found" in sentence_blocks((replace(sentence, checking=False),))
