"""The odds of yes against no: their sum over spellings, what they are worth, and what happens when they do not come."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answer import Verdict
from rag.errors import NoLogprobs
from rag.grounding import Grounder
from rag.grounding.calibration import Calibration, Calibrations, calibrate, examples, key_of
from rag.grounding.odds import NoOpinion, Odds, log_odds
from rag.papers import Paper

PAPER = Paper(
    title="A trial",
    abstract="Aspirin reduced mortality by 20 % in adults. Fever was rare. The trial ran in two hospitals.",
    id="trial",
)
LOOSE = "Grown-ups taking the medicine died less frequently."
GOOD = Calibration(middle=0.0, spread=1.0, separation=3.0, auc=0.98, pairs=48)


def prompt(passage: str, claim: str) -> str:
    return f"{passage}\n\n{claim}"


def knowing(text: str) -> bool:
    """Whether an example's prompt holds a claim that is supported."""
    return any(one.supported and text.endswith(one.claim) for one in examples())


def answering(choose: Callable[[str], float]) -> Callable[[str, float, threading.Event | None], Mapping[str, float]]:
    """A model whose log-odds of yes are `choose(prompt)`."""

    def ask(text: str, seconds: float, stop: threading.Event | None) -> Mapping[str, float]:
        odds = choose(text)
        return {"Yes": -math.log1p(math.exp(-odds)), "No": -math.log1p(math.exp(odds))}

    return ask


def reader(odds_of_claim: float) -> Odds:
    """A measured model that reads well and gives these log-odds to what is no example of ours."""
    known = {one.claim for one in examples()}

    def choose(text: str) -> float:
        if not any(text.endswith(claim) for claim in known):
            return odds_of_claim
        return (2.0 if knowing(text) else -2.0) + len(text) % 7 / 10

    odds = Odds("small", answering(choose), prompt)
    odds.measure()
    return odds


# -- the odds of one reply --------------------------------------------------------------------------------------------


def test_spellings_are_summed() -> None:
    tokens = {"Yes": math.log(0.3), " yes": math.log(0.1), "YES": math.log(0.1), "no": math.log(0.2), "The": -9.0}
    assert log_odds(tokens) == pytest.approx(math.log(0.5 / 0.2))


def test_the_one_that_is_missing_is_at_most_as_likely_as_the_least() -> None:
    assert log_odds({"Yes": math.log(0.9), "Sure": math.log(0.01)}) == pytest.approx(math.log(90))
    assert log_odds({" No.": math.log(0.9), "Sure": math.log(0.01)}) == pytest.approx(-math.log(90))


@pytest.mark.parametrize("tokens", [{}, {"both eyes": -0.1}, {"Yesterday": -0.1, "Nothing": -2.0}, {"<think>": -0.01}])
def test_words_that_only_hold_yes_or_no_are_neither(tokens: dict[str, float]) -> None:
    with pytest.raises(NoOpinion):
        log_odds(tokens)


@given(
    st.dictionaries(
        st.sampled_from(["Yes", "yes", " YES", "No", "no", " NO", "Well", "1"]), st.floats(-40, 0), min_size=1
    )
)
def test_swapping_yes_and_no_turns_the_odds_round(tokens: dict[str, float]) -> None:
    swap = {"Yes": "No", "yes": "no", " YES": " NO", "No": "Yes", "no": "yes", " NO": " YES"}
    try:
        odds = log_odds(tokens)
    except NoOpinion:
        assert set(tokens) <= {"Well", "1"}
        return
    assert math.isfinite(odds)
    assert log_odds({swap.get(token, token): value for token, value in tokens.items()}) == pytest.approx(-odds)


# -- what a model's odds are worth -------------------------------------------------------------------------------------


def test_our_examples_are_in_pairs_on_passages_and_differ() -> None:
    pairs = examples()
    assert len(pairs) == 48
    assert sum(one.supported for one in pairs) == 24
    assert len({one.passage for one in pairs}) == 24
    assert len({one.claim for one in pairs}) == 48
    assert all(one.passage == two.passage for one, two in zip(pairs[::2], pairs[1::2], strict=True))


def test_words_alone_do_not_tell_our_examples_apart() -> None:
    """Else a model that compares words would pass for one that reads."""
    shares: dict[bool, list[float]] = {True: [], False: []}
    for one in examples():
        words = set(one.claim.lower().split())
        shares[one.supported].append(len(words & set(one.passage.lower().split())) / len(words))
    assert abs(sum(shares[True]) / 24 - sum(shares[False]) / 24) < 0.15


def test_a_model_that_says_yes_to_all_but_to_some_more_is_listened_to() -> None:
    """What counts is the order of the odds, not the word."""
    found = calibrate([5.0 + i % 3 for i in range(20)] + [2.0 + i % 3 for i in range(20)], [True] * 20 + [False] * 20)
    assert found.reads
    assert found.auc > 0.95
    assert found.reading(6.0) > 0 > found.reading(3.0)


@given(st.floats(-30, 30), st.floats(0.05, 20), st.floats(-5, 5), st.floats(0, 1), st.floats(-50, 50))
def test_readings_are_bounded_and_rise_with_the_odds(
    middle: float, spread: float, separation: float, auc: float, odds: float
) -> None:
    found = Calibration(middle, spread, separation, auc, 48)
    assert abs(found.reading(odds)) <= 10
    assert found.reading(odds + 1) >= found.reading(odds)


def test_a_model_that_guesses_gets_no_weight() -> None:
    found = calibrate([math.sin(i * 7.3) for i in range(48)], [i % 2 == 0 for i in range(48)])
    assert not found.reads
    assert found.reading(10.0) == 0.0
    assert "not used" in found.worth


def test_too_few_pairs_are_no_measurement() -> None:
    with pytest.raises(ValueError, match="too few"):
        calibrate([1.0] * 20, [True] * 17 + [False] * 3)


def test_what_was_measured_is_kept_and_not_asked_again(tmp_path: Path) -> None:
    asked: list[str] = []

    def choose(text: str) -> float:
        asked.append(text)
        return 3.0 if knowing(text) else -3.0

    kept = tmp_path / "data" / "verifiers.json"
    first = Odds("small", answering(choose), prompt, kept=Calibrations(kept), key="sha256:1")
    assert first.calibration is None
    found = first.measure()
    assert found is not None
    assert found.auc == 1.0
    assert len(asked) == 48
    again = Odds("small", answering(choose), prompt, kept=Calibrations(kept), key="sha256:1")
    assert again.calibration == found
    assert again.measure() == found
    assert len(asked) == 48
    assert Odds("small", answering(choose), prompt, kept=Calibrations(kept), key="sha256:2").calibration is None
    other_words = Odds("small", answering(choose), lambda p, c: f"?{p}{c}", kept=Calibrations(kept), key="sha256:1")
    assert other_words.calibration is None, "another question is another measurement"


def test_a_measurement_that_was_broken_off_goes_on(tmp_path: Path) -> None:
    stop, asked = threading.Event(), []

    def choose(text: str) -> float:
        asked.append(text)
        if len(asked) == 10:
            stop.set()
        return 3.0 if knowing(text) else -3.0

    kept = Calibrations(tmp_path / "verifiers.json")
    assert Odds("small", answering(choose), prompt, kept=kept).measure(stop=stop) is None
    assert len(asked) == 10
    assert Odds("small", answering(choose), prompt, kept=kept).measure() is not None
    assert len(asked) == 48
    assert len(set(asked)) == 48


def test_no_time_measures_nothing() -> None:
    def choose(text: str) -> float:
        raise AssertionError("asked")

    odds = Odds("small", answering(choose), prompt)
    assert odds.measure(seconds=0) is None
    assert "measured" in odds.prepare(0, threading.Event())


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"small": 3}', '{"small": {"odds": 5}}'])
def test_a_broken_file_counts_as_empty(tmp_path: Path, text: str) -> None:
    kept = tmp_path / "verifiers.json"
    kept.write_text(text)
    odds = Odds("small", answering(lambda text: 1.0 if knowing(text) else -1.0), prompt, kept=Calibrations(kept))
    assert odds.calibration is None
    assert odds.measure() is not None


def test_a_model_that_never_says_yes_or_no_is_found_out_once(tmp_path: Path) -> None:
    asked = []

    def ask(text: str, seconds: float, stop: threading.Event | None) -> Mapping[str, float]:
        asked.append(text)
        return {"Well": -0.1, "The": -3.0}

    kept = tmp_path / "verifiers.json"
    reason = Odds("small", ask, prompt, kept=Calibrations(kept)).prepare(60, threading.Event())
    assert "neither yes nor no" in reason
    assert len(asked) < 20
    count = len(asked)
    assert Odds("small", ask, prompt, kept=Calibrations(kept)).prepare(60, threading.Event()) == reason
    assert len(asked) == count


def test_a_server_without_odds_is_found_out_with_one_question(tmp_path: Path) -> None:
    asked = []

    def ask(text: str, seconds: float, stop: threading.Event | None) -> Mapping[str, float]:
        asked.append(text)
        raise NoLogprobs("small gives no log-probabilities")

    for _ in range(3):
        odds = Odds("small", ask, prompt, kept=Calibrations(tmp_path / "verifiers.json"))
        assert odds.prepare(60, threading.Event()) == "small gives no log-probabilities"
    assert len(asked) == 1


def test_keys_are_of_the_whole_prompt() -> None:
    one, two = examples()[:2]
    assert key_of(one, prompt) != key_of(two, prompt) != key_of(two, lambda p, c: p)


# -- verdicts ----------------------------------------------------------------------------------------------------------


def test_a_reader_finds_what_words_do_not() -> None:
    grounding = Grounder(None, reader(12.0)).open([PAPER])
    assert Grounder(None).open([PAPER]).check(LOOSE).verdict is Verdict.NOT_FOUND
    assert Grounder(None, reader(0.3)).open([PAPER]).check(LOOSE).verdict is Verdict.NOT_FOUND, (
        "a faint yes is not enough"
    )
    checked = grounding.check(LOOSE)
    assert checked.verdict is Verdict.SUPPORTED
    assert checked.spans
    assert 0.5 < checked.score <= 1


def test_low_overlap_alone_is_no_contradiction() -> None:
    assert Grounder(None, reader(-4.0)).open([PAPER]).check(LOOSE).verdict is Verdict.NOT_FOUND


def test_the_same_words_read_as_saying_otherwise_are_a_contradiction() -> None:
    paper = Paper(abstract="Adults who took aspirin early lived longer than adults who took it late.", id="p")
    claim = "Adults who took aspirin late lived longer than adults who took it early."
    checked = Grounder(None, reader(-5.0)).open([paper]).check(claim)
    assert checked.verdict is Verdict.CONTRADICTED


@pytest.mark.parametrize(
    "claim", ["Aspirin reduced mortality by 26 % in adults.", "Aspirin reduced mortality by 20 °C."]
)
def test_the_exact_guards_keep_their_veto(claim: str) -> None:
    assert Grounder(None, reader(6.0)).open([PAPER]).check(claim).verdict is not Verdict.SUPPORTED


def test_a_quotation_is_not_asked_about() -> None:
    def ask(text: str, seconds: float, stop: threading.Event | None) -> Mapping[str, float]:
        raise AssertionError("asked")

    grounding = Grounder(None, Odds("small", ask, prompt)).open([PAPER])
    for sentence in ("Fever was rare.", "The trial ran in two hospitals."):
        checked, reading = grounding.begin(sentence)
        assert checked.verdict is Verdict.SUPPORTED
        assert reading is None


def test_the_passage_is_the_located_sentence_with_its_neighbours() -> None:
    papers = [
        PAPER,
        Paper(
            abstract="First of all, rain fell. Rivers rose in the north quickly. Then they fell. It was warm.", id="b"
        ),
    ]
    _, reading = Grounder(None, reader(0.0)).open(papers).begin("In the north, the rivers rose fast and quickly.")
    assert reading is not None
    assert reading.passage == "First of all, rain fell. Rivers rose in the north quickly. Then they fell."


def test_for_what_was_not_located_four_sentences_are_read_in_order() -> None:
    text = " ".join(
        f"Sentence {word} speaks of {word} alone." for word in ("one", "two", "three", "four", "five", "six")
    )
    _, reading = Grounder(None, reader(0.0)).open([Paper(abstract=text, id="p")]).begin(LOOSE)
    assert reading is not None
    places = [text.index(sentence) for sentence in reading.passage.split(". ")]
    assert len(places) == 4
    assert places == sorted(places)


def test_a_failed_reading_leaves_the_located_verdict_and_says_so() -> None:
    good = reader(0.0)
    calls = []

    def ask(text: str, seconds: float, stop: threading.Event | None) -> Mapping[str, float]:
        calls.append(text)
        return {"Well": -0.1, "Hm": -2.0}

    good._ask = ask
    checked = Grounder(None, good).open([PAPER]).check(LOOSE)
    assert checked.verdict is Verdict.NOT_FOUND
    assert "odds judge failed" in checked.note
    assert len(calls) == 1
