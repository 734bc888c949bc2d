"""Sentences are read again after an answer's last word: at once with a sign, finally with a verdict, never at the
answer's cost.

The model is played by a real server that tells the odds a test gives it; the last tests ask the real small model.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from servers import OLLAMA_MODEL, FaultyServer

from rag.answer import Answer, Reason, Verdict
from rag.doctor import examine
from rag.embedding import Embedder
from rag.engine import Engine
from rag.errors import NoLogprobs
from rag.events import Checked, Done, Event, Rechecked
from rag.generation.logprobs import first_token, identity
from rag.generation.models import Message
from rag.generation.providers import choose_model
from rag.grounding.calibration import examples
from rag.grounding.odds import log_odds
from rag.papers import Paper
from rag.settings import Settings, load_settings
from rag.store import Store

PAPERS = [
    Paper(
        "Coral reefs bleach when the sea warms by 1.5 degrees. Bleached reefs recover within 12 years. "
        "We surveyed 40 reefs in the Red Sea. Divers counted the fish at each of them.",
        title="Reefs in warm seas",
    ),
    Paper(
        "Kelp forests shrink where urchins graze. Removing urchins restored 60 % of the kelp in 3 years.",
        title="Urchins and kelp",
    ),
]
ASK = "How long do bleached coral reefs need to recover, and how was it found out?"
LOOSE = "It takes corals about a decade to come back."  # words alone do not find it
OTHER = "Sharks were tagged by satellite for the purpose."
QUOTE = "Bleached reefs recover within 12 years."
Odds = dict[str, float] | int | str


def yes(odds: float) -> dict[str, float]:
    return {"Yes": -math.log1p(math.exp(-odds)), "No": -math.log1p(math.exp(odds)), "Well": -12.0}


def reads(prompt: str) -> Odds:
    """A model that reads: it knows our examples, believes LOOSE and no other claim, and finds questions answered."""
    if "Claim: " not in prompt:
        return yes(4.0)
    example = next((one for one in examples() if f"Claim: {one.claim}\n" in prompt), None)
    if example is not None:
        return yes((3.0 if example.supported else -3.0) + len(example.claim) % 5 / 5)
    return yes(4.0 if LOOSE in prompt else -4.0)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Path:
    folder = tmp_path_factory.mktemp("sea") / "data"
    store = Store(load_settings(data=folder), embedder)
    store.sync("sea", PAPERS)
    store.close()
    return folder


@pytest.fixture
def configured(data: Path, tmp_path: Path, faulty: FaultyServer) -> Callable[..., Settings]:
    """Settings with a copy of the store, so that no measurement is left over; the model is "ollama/small"."""
    import shutil

    own = shutil.copytree(data, tmp_path / "own")

    def settings(**overrides: object) -> Settings:
        first = {
            "data": own,
            "ollama_url": faulty.url,
            "llm": "ollama/small",
            "first_token_seconds": 5,
            "verifier": "auto",
        }
        return load_settings(**{**first, **overrides})

    return settings


@pytest.fixture
def opened(configured: Callable[..., Settings], embedder: Embedder) -> Iterator[Callable[..., Engine]]:
    engines: list[Engine] = []

    def engine(**overrides: object) -> Engine:
        settings = configured(**overrides)
        engines.append(Engine(Store(settings, embedder), settings))
        return engines[-1]

    yield engine
    for one in engines:
        one.close()


def events(engine: Engine, stop: threading.Event | None = None, **options: object) -> list[Event]:
    return list(engine.stream(ASK, stop=stop, **options))  # type: ignore[arg-type]


def answer_of(found: list[Event]) -> Answer:
    assert isinstance(found[-1], Done)
    return found[-1].answer


def verdicts(answer: Answer) -> list[Verdict]:
    return [sentence.verdict for sentence in answer.sentences]


def test_a_sentence_appears_at_once_and_gets_its_verdict_later(
    faulty: FaultyServer, opened: Callable[..., Engine]
) -> None:
    faulty.words, faulty.odds = [f"{QUOTE} [1] ", f"{LOOSE} [1] ", f"{OTHER} [1]"], reads
    found = events(opened())
    shown = [event.sentence for event in found if isinstance(event, Checked)]
    assert [sentence.text for sentence in shown] == [QUOTE, LOOSE, OTHER]
    assert [sentence.checking for sentence in shown] == [False, True, True]
    assert shown[1].verdict is Verdict.NOT_FOUND
    final = [event for event in found if isinstance(event, Rechecked)]
    assert [event.place for event in final] == [1, 2]
    answer = answer_of(found)
    assert verdicts(answer) == [Verdict.SUPPORTED, Verdict.SUPPORTED, Verdict.NOT_FOUND]
    assert not any(sentence.checking for sentence in answer.sentences)
    assert answer.verifier == "odds"
    assert answer.sentences[1].citations
    assert len(faulty.asked) == len(examples()) + 2, "the quotation is not asked about"


@pytest.fixture
def measured(faulty: FaultyServer, opened: Callable[..., Engine]) -> Engine:
    """An engine whose model is known to read."""
    faulty.words, faulty.odds = [f"{LOOSE} [1]"], reads
    engine = opened()
    assert answer_of(events(engine)).verifier == "odds"
    faulty.asked.clear()
    return engine


def test_a_model_that_reads_also_reads_whether_the_question_is_answered(faulty: FaultyServer, measured: Engine) -> None:
    answer_of(events(measured))
    prompt = next(asked for asked in map(str, faulty.asked) if "Claim: " not in asked)
    assert f"Question: {ASK}" in prompt
    assert "Bleached reefs recover within 12 years." in prompt


def test_a_question_that_the_model_finds_unanswered_is_refused(faulty: FaultyServer, measured: Engine) -> None:
    faulty.odds = lambda prompt: reads(prompt) if "Claim: " in prompt else yes(-8.0)
    answer = answer_of(events(measured))
    assert answer.refusal is not None
    assert answer.refusal.reason is Reason.NOT_IN_ABSTRACTS
    assert answer.draft == "", "nothing was written"


def test_without_a_model_that_writes_nobody_is_asked(faulty: FaultyServer, opened: Callable[..., Engine]) -> None:
    faulty.odds = reads
    engine = opened(llm="extractive", verifier="odds", verifier_llm="ollama/small", ollama_url="http://127.0.0.1:9")
    assert answer_of(events(engine)).sentences
    assert faulty.asked == []


def test_where_the_model_fails_words_decide_whether_to_answer(faulty: FaultyServer, measured: Engine) -> None:
    faulty.odds = lambda prompt: reads(prompt) if "Claim: " in prompt else 500
    assert answer_of(events(measured)).refusal is None


def test_the_passage_stands_before_the_claim(faulty: FaultyServer, opened: Callable[..., Engine]) -> None:
    faulty.words, faulty.odds = [f"{LOOSE} [1]"], reads
    events(opened())
    prompt = faulty.asked[-1]
    assert prompt.index(QUOTE) < prompt.index(LOOSE)


def test_a_second_question_needs_no_measurement(faulty: FaultyServer, opened: Callable[..., Engine]) -> None:
    faulty.words, faulty.odds = [f"{LOOSE} [1]"], reads
    events(opened())
    before = len(faulty.asked)
    events(opened())  # another process would find it in the same file
    assert len(faulty.asked) == before + 2, "the question and one claim"


def test_located_asks_nobody(faulty: FaultyServer, opened: Callable[..., Engine]) -> None:
    faulty.words, faulty.odds = [f"{QUOTE} [1] ", LOOSE], reads
    answer = answer_of(events(opened(verifier="located")))
    assert (answer.verifier, faulty.asked) == ("located", [])
    assert verdicts(answer) == [Verdict.SUPPORTED, Verdict.NOT_FOUND]


@pytest.mark.parametrize("llm", ["ollama/small", "openai-compatible/small"])
def test_a_server_that_drops_the_fields_is_found_out_once(
    faulty: FaultyServer, opened: Callable[..., Engine], llm: str
) -> None:
    faulty.words, faulty.odds = [f"{QUOTE} [1] ", LOOSE], None
    for _ in range(2):
        answer = answer_of(events(opened(llm=llm, llm_url=f"{faulty.url}/v1")))
        assert answer.verifier == "located"
        assert "gives no log-probabilities" in answer.verifier_reason
        assert verdicts(answer) == [Verdict.SUPPORTED, Verdict.NOT_FOUND]
        assert answer.notices == ()
    assert len(faulty.asked) == 1


def test_a_server_that_refuses_the_fields_is_found_out_too(faulty: FaultyServer, opened: Callable[..., Engine]) -> None:
    faulty.words, faulty.odds, faulty.detail = [f"{QUOTE} [1] ", LOOSE], lambda _: 400, "unknown field logprobs"
    answer = answer_of(events(opened(llm="openai-compatible/small", llm_url=f"{faulty.url}/v1")))
    assert "gives no log-probabilities" in answer.verifier_reason


def test_a_model_that_thinks_anyway_is_unable(faulty: FaultyServer, opened: Callable[..., Engine]) -> None:
    faulty.words, faulty.odds = [f"{QUOTE} [1] ", LOOSE], lambda _: {"<think>": -0.01, "Yes": -5.0, "No": -6.0}
    assert "thinks" in answer_of(events(opened())).verifier_reason


def test_who_asks_for_odds_is_told_that_there_are_none(faulty: FaultyServer, opened: Callable[..., Engine]) -> None:
    faulty.words, faulty.odds = [f"{QUOTE} [1] ", LOOSE], None
    answer = answer_of(events(opened(verifier="odds")))
    assert any("words alone" in notice and "log-probabilities" in notice for notice in answer.notices)


def test_a_verifier_that_fails_after_the_second_claim_costs_no_answer(
    faulty: FaultyServer, opened: Callable[..., Engine]
) -> None:
    third, fourth = "Whales were seen from planes in winter.", "Squid were caught by hand at night."
    claims: list[str] = []

    def fails(prompt: str) -> Odds:
        if any(f"Claim: {one.claim}\n" in prompt for one in examples()):
            return reads(prompt)
        claims.append(prompt)
        return reads(prompt) if len(claims) <= 2 else 500

    faulty.words, faulty.odds = [f"{LOOSE} [1] ", f"{OTHER} ", f"{third} ", fourth], fails
    answer = answer_of(events(opened()))
    assert len(answer.sentences) == 4
    failed = [sentence for sentence in answer.sentences if "judge failed" in sentence.note]
    assert len(failed) == 2
    assert all("500" in sentence.note for sentence in failed)
    assert answer.verifier == "odds"


def test_the_time_after_the_last_word_is_bounded(faulty: FaultyServer, opened: Callable[..., Engine]) -> None:
    def slow(prompt: str) -> Odds:
        return reads(prompt) if any(f"Claim: {one.claim}\n" in prompt for one in examples()) else "hang"

    faulty.words, faulty.odds = [f"{QUOTE} [1] ", f"{LOOSE} [1] ", OTHER], slow
    engine = opened(verify_seconds=3)
    started = time.monotonic()
    answer = answer_of(events(engine))
    assert time.monotonic() - started < 10
    assert verdicts(answer) == [Verdict.SUPPORTED, Verdict.NOT_FOUND, Verdict.NOT_FOUND]
    assert all("within 3 s" in sentence.note for sentence in answer.sentences[1:])
    assert any("2 of 2 sentences were not read in time" in notice for notice in answer.notices)
    assert faulty.hung_up.wait(5), "the call that hangs is hung up on"


def test_no_time_to_measure_the_model_says_so(faulty: FaultyServer, opened: Callable[..., Engine]) -> None:
    faulty.words, faulty.odds = [f"{QUOTE} [1] ", LOOSE], reads
    answer = answer_of(events(opened(verify_seconds=0)))
    assert answer.verifier == "located"
    assert "rag doctor" in answer.verifier_reason


def test_a_stop_stops_the_checks(faulty: FaultyServer, opened: Callable[..., Engine]) -> None:
    stop = threading.Event()

    def hangs(prompt: str) -> Odds:
        threading.Timer(0.3, stop.set).start()
        return "hang"

    faulty.words, faulty.odds = [f"{QUOTE} [1] ", f"{LOOSE} [1]"], hangs
    started = time.monotonic()
    answer = answer_of(events(opened(), stop=stop))
    assert time.monotonic() - started < 10
    assert answer.stopped
    assert [sentence.text for sentence in answer.sentences] == [QUOTE, LOOSE]
    assert not any(sentence.checking for sentence in answer.sentences)
    assert faulty.hung_up.wait(5)


def test_what_is_dropped_goes_when_its_verdict_is_final(faulty: FaultyServer, opened: Callable[..., Engine]) -> None:
    faulty.words, faulty.odds = [f"{OTHER} [2] ", f"{LOOSE} [1] ", f"{QUOTE} [1]"], reads
    found = events(opened(), unsupported="drop")
    shown: list[str] = []
    for event in found:
        if isinstance(event, Checked):
            shown.append(event.sentence.text)
        elif isinstance(event, Rechecked):
            shown[event.place : event.place + 1] = [event.sentence.text] if event.sentence else []
    answer = answer_of(found)
    assert shown == [sentence.text for sentence in answer.sentences] == [LOOSE, QUOTE]
    assert any("1 sentence not in the sources left out" in notice for notice in answer.notices)


def test_numbers_count_by_first_use_after_the_checks(faulty: FaultyServer, opened: Callable[..., Engine]) -> None:
    faulty.words, faulty.odds = [f"{LOOSE} [1] ", "Kelp forests shrink where urchins graze. [2]"], reads
    answer = answer_of(events(opened()))
    assert [citation.number for citation in answer.citations] == [1, 2]
    assert [source.number for source in answer.cited] == [1, 2]
    assert answer.sentences[0].text == LOOSE
    assert answer.citations[0].paper_id != answer.citations[1].paper_id


def test_another_model_can_check(faulty: FaultyServer, opened: Callable[..., Engine]) -> None:
    faulty.models["large:latest"] = {"capabilities": ["completion"]}
    faulty.words, faulty.odds = [f"{LOOSE} [1]"], reads
    engine = opened(verifier_llm="ollama/large")
    answer = answer_of(events(engine))
    assert answer.verifier == "odds"
    kept = json.loads(engine.settings.calibrations_path.read_text())
    assert [key.split()[0] for key in kept] == ["ollama/large"]


def test_doctor_measures_and_says_what_the_model_is_worth(
    faulty: FaultyServer, configured: Callable[..., Settings]
) -> None:
    faulty.odds = reads
    (found,) = [finding for finding in examine(configured()) if finding.name == "checks with"]
    assert found.good
    assert "reads well" in found.text
    assert len(faulty.asked) == len(examples())
    faulty.odds = lambda prompt: yes(len(prompt) % 7 - 3)
    (guess,) = [one for one in examine(configured(llm="ollama/small:latest")) if one.name == "checks with"]
    assert "not used" in guess.text or "somewhat" in guess.text


def test_providers_without_log_probabilities_are_not_asked(configured: Callable[..., Settings]) -> None:
    model = choose_model(configured(llm="extractive"))
    with pytest.raises(NoLogprobs):
        first_token(model, [Message("user", "?")], seconds=1)


# -- the real small model ----------------------------------------------------------------------------------------------

FACT = (
    "Document:\nTwelve goats live on the island. They are white.\n\nClaim: {}\n\nDoes the document say so? Yes or no."
)


def test_the_real_model_gives_its_odds_over_openai(local_model: str) -> None:
    model = choose_model(load_settings(llm="openai-compatible/qwen", llm_url=local_model))
    check_real(model)
    assert identity(model) == f"openai-compatible/qwen {local_model}"


def test_the_real_model_gives_its_odds_over_ollama(ollama: str) -> None:
    model = choose_model(load_settings(llm=f"ollama/{OLLAMA_MODEL}", ollama_url=ollama))
    check_real(model)
    assert identity(model).startswith(f"ollama/{OLLAMA_MODEL} 0000")


def check_real(model: object) -> None:
    odds = []
    for claim in ("Twelve goats live on the island.", "The moon is made of cheese."):
        tokens = first_token(model, [Message("user", FACT.format(claim))], seconds=120)  # type: ignore[arg-type]
        assert tokens is not None
        assert len(tokens) > 5
        assert all(-100 < logprob <= 0 for logprob in tokens.values())
        odds.append(log_odds(tokens))
    assert odds[0] > odds[1]
