"""An answer as it is printed: for good where its verdict is final, redrawn on a terminal where it is not."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from rag.answer import Answer, Sentence, Verdict
from rag.events import Checked, Done, Rechecked, Withdrawn
from rag.terminal import show_stream

FIRST = Sentence("Bees dance.", Verdict.SUPPORTED)
OPEN = Sentence("Wasps sing.", Verdict.NOT_FOUND, lead=" ", checking=True)
FOUND = replace(OPEN, verdict=Verdict.SUPPORTED, checking=False)
LAST = Sentence("Ants walk.", Verdict.SUPPORTED, lead=" ")


def printed(*events: object, terminal: bool = False) -> str:
    sink = io.StringIO()
    show_stream(events, Console(file=sink, force_terminal=terminal, width=80, color_system=None))  # type: ignore[arg-type]
    return sink.getvalue()


def test_a_pipe_gets_the_final_verdicts_once() -> None:
    answer = Answer("q", "q", (FIRST, FOUND, LAST))
    text = printed(Checked(FIRST), Checked(OPEN), Checked(LAST), Rechecked(1, FOUND), Done(answer))
    assert text.startswith("Bees dance. Wasps sing. Ants walk.\n")
    assert "…" not in text.splitlines()[0]
    assert text.count("Wasps sing.") == text.count("Bees dance.") == 1


def test_a_sentence_that_does_not_stand_is_marked_when_it_is_known() -> None:
    failed = replace(OPEN, checking=False)
    text = printed(Checked(OPEN), Rechecked(0, failed), Checked(LAST), Done(Answer("q", "q", (failed, LAST))))
    assert text.startswith("Wasps sing. [?] Ants walk.\n")


def test_what_was_taken_away_is_not_printed() -> None:
    text = printed(Checked(FIRST), Checked(OPEN), Rechecked(1, None), Done(Answer("q", "q", (FIRST,))))
    assert "Wasps" not in text


def test_a_terminal_shows_a_sentence_before_its_verdict() -> None:
    answer = Answer("q", "q", (FIRST, FOUND))
    text = printed(Checked(FIRST), Checked(OPEN), Rechecked(1, FOUND), Done(answer), terminal=True)
    assert "Wasps sing. …" in text
    assert "reading the sources again for 1 sentence" in text
    assert text.index("Wasps sing. …") < text.rindex("Wasps sing.")


def test_thoughts_are_withdrawn_with_what_waits() -> None:
    text = printed(Checked(OPEN), Withdrawn(), Checked(LAST), Done(Answer("q", "q", (LAST,))))
    assert "Wasps" not in text
    assert "Ants walk." in text


def test_the_line_below_says_who_read() -> None:
    read = Answer("q", "q", (FIRST,), model="ollama/small", verifier="odds")
    assert "read by odds" in printed(Checked(FIRST), Done(read))
    assert "read by" not in printed(Checked(FIRST), Done(replace(read, verifier="located")))
