"""What a turn looks like for each outcome: numbers, marks, status line, refusal, evidence."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from rag.answer import Answer, Citation, Reason, Refusal, Sentence, Source, Timings, Verdict
from rag.errors import StoreLocked
from rag.papers import Paper
from ui.evidence import byline, evidence
from ui.refusals import error_html, welcome
from ui.turns import Turn, copy_text, live_html, status_line, turn_html

NEEDLE = Paper(
    "Acupuncture eased pain by 20 %. It was cheap.", "Needles", ("Ana Ortiz", "B. Bo"), 2021, "Pain", id="p1"
)
TEA = Paper("Green tea did nothing for pain.", "Tea", id="p2", url="https://example.org/tea")


def cite(number: int, paper: Paper, start: int, end: int) -> Citation:
    return Citation(number, paper.id, start, end, paper.abstract[start:end], 0.9)


ANSWER = Answer(
    "What eases pain?",
    "What eases pain?",
    (
        Sentence("Acupuncture eased pain by 20 %.", Verdict.SUPPORTED, (cite(1, NEEDLE, 0, 31),)),
        Sentence(
            "Tea did nothing, and it was cheap.", Verdict.PARTLY, (cite(2, TEA, 0, 31),), " ", "“cheap” is not there"
        ),
        Sentence("It works on the Moon.", Verdict.NOT_FOUND, (), " "),
        Sentence("It eased pain by 26 %.", Verdict.CONTRADICTED, (), " ", "the source says 20 %"),
        Sentence("In short:", Verdict.META, (), " "),
    ),
    (Source(NEEDLE, 0.9, number=1), Source(TEA, 0.5, number=2), Source(Paper("Other words here.", id="p3"), 0.25)),
    model="ollama/llama3.2",
    timings=Timings(total=2.14),
)
REFUSED = Answer(
    "Who won?",
    "Who won?",
    sources=(Source(TEA, 0.2),),
    refusal=Refusal(Reason.NOT_IN_ABSTRACTS, "No abstract says who won.", ""),
)


def words(shown: str) -> str:
    """What a reader sees of it, hidden parts left out."""
    visible = re.sub(r'<div class="evidence-data".*</div>', "", shown, flags=re.DOTALL)
    return re.sub(r"<[^>]+>", "", re.sub(r'<span class="card" hidden>.*?</span></span>', "", visible))


def test_each_sentence_ends_in_its_numbers() -> None:
    shown = turn_html(Turn(1, ANSWER))
    assert re.findall(r'class="cite"[^>]*data-number="(\d)"[^>]*data-marks="([^"]*)"', shown) == [
        ("1", "1-0-31"),
        ("2", "2-0-31"),
    ]


def test_a_number_carries_paper_and_quote_for_its_hover_card() -> None:
    card = re.search(r'<span class="card" hidden>(.*?)</q>', turn_html(Turn(1, ANSWER)))
    assert card
    assert "Needles" in card[1]
    assert "Acupuncture eased pain by 20 %." in card[1]


@pytest.mark.parametrize(
    ("kind", "label"), [("not-found", "not found"), ("partly", "partly"), ("contradicted", "contradicted")]
)
def test_what_is_not_borne_out_is_marked_and_the_legend_says_so(kind: str, label: str) -> None:
    shown = turn_html(Turn(1, ANSWER))
    assert len(re.findall(rf'class="sentence {kind}"', shown)) == 1
    assert re.search(rf'class="legend".*class="swatch {kind}">{label}<', shown)


def test_the_note_names_the_part_that_is_not_there() -> None:
    assert "“cheap” is not there" in turn_html(Turn(1, ANSWER))


def test_an_answer_that_is_borne_out_has_no_legend() -> None:
    assert "legend" not in turn_html(Turn(1, replace(ANSWER, sentences=ANSWER.sentences[:1])))


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (ANSWER, "2 of 4 sentences located in 2 papers · ollama/llama3.2 · 2.1 s"),
        (
            replace(ANSWER, sentences=ANSWER.sentences[:1], sources=ANSWER.sources[:1]),
            "1 of 1 sentence located in 1 paper",
        ),
        (replace(ANSWER, stopped=True), "2 of 4 sentences located in 2 papers · stopped"),
        (replace(ANSWER, timings=Timings(total=0.02)), "under 0.1 s"),
        (REFUSED, "No answer: not in these abstracts · extractive"),
        (replace(ANSWER, sentences=()), "ollama/llama3.2 · 2.1 s"),
    ],
)
def test_status_line(answer: Answer, line: str) -> None:
    assert line in status_line(answer).replace("\N{NO-BREAK SPACE}", " ")


def test_a_refusal_says_why_and_what_to_try_and_names_the_nearest_papers() -> None:
    shown = turn_html(Turn(1, REFUSED))
    assert 'data-reason="not in these abstracts"' in shown
    assert "No abstract says who won." in words(shown)
    assert re.search(r'class="near"[^>]*>Tea<', shown)
    assert "What to try" in words(shown)
    assert 'class="cite"' not in shown


def test_a_missing_model_offers_to_answer_without_one() -> None:
    refusal = Refusal(Reason.MODEL_UNAVAILABLE, "Ollama does not answer at http://127.0.0.1:11434", "ollama serve")
    shown = turn_html(Turn(1, replace(REFUSED, refusal=refusal)))
    assert 'data-action="extractive"' in shown
    assert "ollama serve" in words(shown)


def test_the_standalone_question_is_shown_only_when_it_differs() -> None:
    assert "Searched for" not in turn_html(Turn(1, ANSWER))
    follow_up = replace(ANSWER, standalone="What eases pain in children?")
    assert "Searched for What eases pain in children?" in words(turn_html(Turn(2, follow_up)))


def test_evidence_has_the_cited_papers_in_their_order_and_the_others_folded() -> None:
    shown = evidence(ANSWER)
    cited, folded = shown.split("<details")
    assert re.findall(r'data-number="(\d)"', cited) == ["1", "2"]
    assert "Also retrieved, not cited (1)" in folded
    assert "Other words here." in folded


def test_evidence_marks_the_quoted_span_and_nothing_else() -> None:
    marks = re.findall(r'<mark data-marks="([^"]*)">(.*?)</mark>', evidence(ANSWER))
    assert marks == [("1-0-31", "Acupuncture eased pain by 20 %."), ("2-0-31", "Green tea did nothing for pain.")]


def test_relevance_is_one_scale() -> None:
    assert re.findall(r"width:(\d+)%", evidence(ANSWER)) == ["90", "50", "25"]


@pytest.mark.parametrize(
    ("paper", "line"),
    [
        (NEEDLE, "Ana Ortiz, B. Bo · Pain · 2021"),
        (Paper("x", venue="ICLR 2026", year=2026), "ICLR 2026"),
        (Paper("x", authors=tuple(f"A{n}" for n in range(300))), "A0, A1, A2, A3, A4, A5 and 294 more"),
        (Paper("x"), "no authors or venue given"),
    ],
)
def test_byline(paper: Paper, line: str) -> None:
    assert re.sub(r"<[^>]+>", "", byline(paper)) == line


def test_lists_and_paragraphs_follow_the_leads() -> None:
    sentences = (
        Sentence("There are two.", Verdict.META),
        Sentence("First.", Verdict.SUPPORTED, (cite(1, NEEDLE, 0, 5),), "\n- "),
        Sentence("Second.", Verdict.SUPPORTED, (cite(1, NEEDLE, 0, 5),), "\n- "),
        Sentence("More of it.", Verdict.META, (), " "),
        Sentence("The end.", Verdict.META, (), "\n\n"),
    )
    shown = turn_html(Turn(1, replace(ANSWER, sentences=sentences)))
    body = re.sub(r"<(?!/?(?:p|ul|li)>)[^>]+>", "", shown[shown.index('class="answer"') :])
    assert re.search(
        r"<p>There are two\.</p><ul><li>First\..*</li><li>Second\..* More of it\.</li></ul><p>The end\.</p>", body
    )


def test_the_live_turn_shows_checked_sentences_then_words_and_what_it_waits_for() -> None:
    shown = live_html(2, replace(ANSWER, sentences=ANSWER.sentences[:1]), "Tea did <b>", "Reading 3 papers …")
    assert shown.index("Acupuncture") < shown.index('class="pending">Tea did')
    assert "<b>" not in shown
    assert "Reading 3 papers …" in shown


def test_copying_gives_the_answer_with_its_sources() -> None:
    copied = copy_text(ANSWER)
    assert copied.startswith("Acupuncture eased pain by 20 % [1].")
    assert copied.endswith("[1] Ana Ortiz et al. Needles. Pain, 2021.\n[2] Tea. https://example.org/tea")


def test_only_the_last_turn_can_be_tried_again() -> None:
    assert 'data-action="retry"' not in turn_html(Turn(1, ANSWER))
    assert 'data-action="retry"' in turn_html(Turn(1, ANSWER, last=True))


def test_a_rating_is_shown() -> None:
    shown = turn_html(Turn(1, ANSWER, rating="down"))
    assert re.findall(r'data-rating="(\w+)" aria-pressed="(\w+)"', shown) == [("up", "false"), ("down", "true")]


def test_an_error_says_what_to_do() -> None:
    shown = error_html("Why?", StoreLocked("another process is writing <x>", hint="wait, then try again"))
    assert "another process is writing &lt;x&gt;" in shown
    assert "wait, then try again" in shown


def test_the_welcome_offers_examples() -> None:
    assert re.findall(r'data-question="([^"]*)"', welcome(["What is &?"])) == ["What is &amp;?"]
    assert "Try one" not in welcome([])
