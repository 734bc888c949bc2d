"""Who wrote a paper narrows the papers; the rest of the question is asked of their abstracts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from rag.answer import Reason
from rag.authors import Mention, authors_named, written_by
from rag.conversation import Turn
from rag.embedding import Embedder
from rag.engine import Engine
from rag.papers import Paper
from rag.record import listed
from rag.retrieval import Filters

CORALS = Paper(
    "We followed 212 colonies of reef corals over four summers. Colonies that had met heat pulses bleached 34% less "
    "often than naive ones. Fish abundance was not affected by bleaching.",
    title="Heat pulses and bleaching of reef corals",
    authors=("Okafor, Chidi", "Müller, Jürgen"),
    year=2021,
)
CARBON = Paper(
    "We measured burial of carbon in 17 seagrass meadows with the green method. Burial reached 83 g of carbon per "
    "square metre and year. Grazing by turtles halved it.",
    title="Seagrass meadows bury carbon",
    authors=("J. Müller", "Anna van der Berg"),
    year=2019,
)
SPACE = Paper(
    "Satellites were used to map coral bleaching on 1,400 reefs. Maps agreed with divers in 91% of cases.",
    title="Bleaching seen from space",
    authors=("Jane R. Smith", "Kofi Green"),
    year=2022,
)


@pytest.fixture(scope="module")
def sea(over: Callable[[list[Paper], Any], Engine], embedder: Embedder) -> Engine:
    return over([CORALS, CARBON, SPACE], embedder)


@pytest.mark.parametrize(
    ("question", "author", "asked"),
    [
        ("papers by Müller", "Müller", ""),
        ("which papers did muller write?", "muller", ""),
        ("list all papers by J. Smith", "J. Smith", ""),
        ("Is there anything by Dr. Okafor?", "Okafor", ""),
        ("what did okafor find?", "okafor", ""),
        ("papers by chidi okafor on bleaching", "chidi okafor", "papers on bleaching"),
        ("What did Okafor find about corals?", "Okafor", "What is said about corals?"),
        ("What did Smith map?", "Smith", "What did the authors map?"),
        ("How often did corals bleach in Okafor et al.?", "Okafor", "How often did corals bleach?"),
        ("According to Anna van der Berg, what does grazing do?", "Anna van der Berg", "what does grazing do?"),
        ("Müller's paper on carbon", "Müller", "the paper on carbon"),
        ("What did Green publish on bleaching?", "Green", "What is said about bleaching?"),  # "green" is in a text
        ("did Müller and colleagues study turtles?", "Müller", "did the authors study turtles?"),
    ],
)
def test_an_author_is_told_from_what_is_asked(sea: Engine, question: str, author: str, asked: str) -> None:
    assert authors_named(question, sea.store.catalogue) == Mention((author,), asked)


def test_a_year_behind_the_name_and_two_authors(sea: Engine) -> None:
    catalogue = sea.store.catalogue
    assert authors_named("Okafor et al. (2021) followed how many colonies?", catalogue) == Mention(
        ("Okafor",), "the paper followed how many colonies?", "2021"
    )
    assert authors_named("Did Okafor and Smith map bleaching?", catalogue) == Mention(
        ("Okafor", "Smith"), "Did the authors map bleaching?"
    )
    assert authors_named("How do Okafor's results differ from Smith's?", catalogue) == Mention(
        ("Okafor", "Smith"), "How do the results differ from the others?"
    )


@pytest.mark.parametrize(
    "question",
    [
        "papers by women",
        "Does the green method work?",
        "How does Green compare?",  # in a text, and nothing says that it is a person
        "What does bleaching do to corals?",
        "What did Turing find?",
        "How many colonies were followed in 2021?",
        "它用了多少数据？",
        "",
        "?",
    ],
)
def test_what_is_no_author_is_left_alone(sea: Engine, question: str) -> None:
    assert authors_named(question, sea.store.catalogue) is None


@pytest.mark.parametrize(
    ("name", "borne"),
    [
        ("Müller", True),
        ("MULLER", True),
        ("J. Müller", True),
        ("Jürgen Müller", True),
        ("Müller, Jürgen", True),
        ("Karl Müller", False),
        ("J.", False),
        ("Mull", False),
        ("Chidi Müller", False),
        ("", False),
    ],
)
def test_names_agree_but_for_case_accents_and_initials(name: str, borne: bool) -> None:
    assert written_by(json.dumps(["Okafor, Chidi", "Müller, J."], ensure_ascii=False), name) is borne


@pytest.mark.parametrize(("name", "author"), [("Odegard", "Ødegård, Nils"), ("Lukasz Wozny", "Łukasz Woźny")])
def test_letters_with_a_stroke_are_found_without_it(name: str, author: str) -> None:
    assert written_by(json.dumps([author], ensure_ascii=False), name)
    assert written_by(json.dumps([author], ensure_ascii=False), author.partition(",")[0])


def test_the_papers_of_an_author_are_listed_from_their_records(sea: Engine) -> None:
    answer = sea.ask("papers by Müller")
    assert answer.refusal is not None
    assert answer.refusal.reason is Reason.NOT_IN_ABSTRACTS
    assert answer.refusal.message.startswith("Only their records say that. By Müller are “")
    assert {source.paper.title for source in answer.sources} == {CORALS.title, CARBON.title}
    assert listed("By A or B", [CORALS] * 8, 12).endswith("and 7 others.")


def test_only_papers_of_the_author_answer(sea: Engine) -> None:
    answer = sea.ask("What did Smith find about bleaching?")
    assert {source.paper.title for source in answer.sources} == {SPACE.title}
    assert [sentence.text for sentence in answer.sentences if "91%" in sentence.text or "1,400" in sentence.text]
    assert answer.standalone == "What did Smith find about bleaching?"
    assert sea.ask("What did Smith find about carbon?").refusal is not None
    dated = sea.ask("Okafor et al. (1999) on corals")
    assert dated.refusal is not None
    assert dated.refusal.reason is Reason.FILTER_TOO_NARROW


def test_the_only_paper_of_an_author_is_the_one_whose_record_is_asked_for(sea: Engine) -> None:
    answer = sea.ask("How many reefs did Smith map and when was it published?")
    assert any("1,400" in sentence.text for sentence in answer.sentences)
    assert answer.notices == (f"The record of “{SPACE.title}” says that it is from 2022.",)
    when = sea.ask("When did Okafor publish on corals?")
    assert when.refusal is not None
    assert when.refusal.message.endswith("it is from 2021.")


def test_an_unknown_author_is_told(sea: Engine) -> None:
    answer = sea.ask("Which papers were written by Alan Turing?")
    assert answer.refusal is not None
    assert answer.refusal.message == "No paper here is by Alan Turing."


def test_records_without_authors_are_told(sample: Engine) -> None:
    answer = sample.ask("papers by Alan Turing")
    assert answer.refusal is not None
    assert answer.refusal.message == "The records of these papers name no authors."


def test_an_author_stays_through_a_conversation(sea: Engine) -> None:
    first = sea.ask("What did Müller find on corals?")
    then = sea.ask("and on fish?", history=[Turn.of(first)])
    assert [sentence.text for sentence in then.sentences if "Fish" in sentence.text]
    assert SPACE.title not in {source.paper.title for source in then.sources}
    who = sea.ask("who wrote that?", history=[Turn.of(first), Turn.of(then)])
    assert who.refusal is not None
    assert "written by Okafor, Chidi and Müller, Jürgen" in who.refusal.message
    when = sea.ask("when?", history=[Turn.of(first), Turn.of(then), Turn.of(who)])
    assert when.refusal is not None
    assert when.refusal.message.endswith(f"The record of “{CORALS.title}” says that it is from 2021.")


@pytest.mark.parametrize(
    ("author", "titles"),
    [("Müller", {CORALS.title, CARBON.title}), ("smith; okafor", {SPACE.title, CORALS.title}), ("Turing", set())],
)
def test_the_author_filter(sea: Engine, author: str, titles: set[str]) -> None:
    found = sea.search("sea", top_k=5, filters=Filters(author=author))
    assert {source.paper.title for source in found} == titles
