"""Questions that only ask what a thing is or which papers are about it: the paper that has it answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answer import Reason
from rag.answerability import weigh
from rag.engine import Engine
from rag.evidence import read_paper
from rag.papers import Paper
from rag.subject import Subject, subject_of


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("What is state-clashing?", Subject("state-clashing")),
        ("what are expert heads", Subject("expert heads")),
        ("What is the near-miss problem?", Subject("the near-miss problem")),
        ("What does Explanatory Inversion do?", Subject("Explanatory Inversion")),
        ("How does TNT work?", Subject("TNT")),
        ("What is MELD for?", Subject("MELD")),
        ("What problem does EF21-Muon solve?", Subject("EF21-Muon")),
        ("Tell me about near misses", Subject("near misses")),
        ("What about molecules?", Subject("molecules")),
        ("Which papers are about molecules?", Subject("molecules", several=True)),
        ("Which studies used mice?", Subject("mice", several=True)),
        ("papers on sign language", Subject("sign language", several=True)),
        ("Is there anything about Muon?", Subject("Muon", several=True)),
        ("masked diffusion", Subject("masked diffusion", several=True)),
        ("And segmentation?", Subject("segmentation", several=True)),
        ("Which papers study RL for planning?", Subject("RL for planning", several=True)),
    ],
)
def test_a_subject(question: str, subject: Subject) -> None:
    assert subject_of(question) == subject


@pytest.mark.parametrize(
    "question",
    [
        "What is the accuracy of TNT?",
        "What does TNT cost?",
        "What is it?",
        "Which papers beat GRPO by 5 points?",
        "Why does masked diffusion fail on molecules?",
        "How much does HiPO gain?",
        "And why?",
        "And on QM9, how much?",
        "",
    ],
)
def test_none(question: str) -> None:
    assert subject_of(question) is None


def test_a_paper_has_a_subject_where_its_words_stand_side_by_side() -> None:
    paper = read_paper(Paper("Sign-SGD trains language models. Planning by reinforcement learning works.", title="A"))
    assert Subject("language model", several=True).is_in(paper)
    assert Subject("reinforcement learning for planning", several=True).is_in(paper)
    assert not Subject("sign language", several=True).is_in(paper)
    assert not Subject("model planning").is_in(paper)
    assert Subject("models", several=True).is_in(paper)
    assert not Subject("planner", several=True).is_in(paper)


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("What is state-clashing?", "state-clashing"),
        ("What does Explanatory Inversion do?", "Explanatory Inversion"),
        ("What is the near-miss problem?", "near-miss"),
        ("what are expert heads", "Expert Heads"),
        ("What does MELD fix?", "MELD"),
        ("What about molecules?", "molecules"),
    ],
)
def test_what_a_paper_has_is_answered_from_it(sample: Engine, question: str, word: str) -> None:
    answer = sample.ask(question, llm="extractive")
    assert answer.refusal is None
    assert any(word in sentence.text for sentence in answer.sentences)


@pytest.mark.parametrize(
    "question", ["What is photosynthesis?", "What is learning?", "papers on the French Revolution"]
)
def test_what_no_paper_has_or_nearly_all_have_is_refused(sample: Engine, question: str) -> None:
    refusal = sample.ask(question, llm="extractive").refusal
    assert refusal is not None
    assert refusal.reason is Reason.NOT_IN_ABSTRACTS


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("which papers mention AIME?", "HiPO"),  # not those that aim at something
        ("which papers are about optimizers?", "Error Feedback"),  # not those that are optimal
        ("which papers are about time series forecasting?", "PMDformer"),
        ("Which papers are about knowledge distillation?", "Probing to Refine"),
        ("which papers are about molecule generation?", "Learning Flexible"),
    ],
)
def test_the_one_paper_about_something(sample: Engine, question: str, title: str) -> None:
    cited = sample.ask(question, llm="extractive").cited
    assert [source.paper.title.startswith(title) for source in cited] == [True]


def test_a_name_without_more_is_followed_by_what_comes_next(sample: Engine) -> None:
    answer = sample.ask("What is state-clashing?", llm="extractive")
    assert [sentence.text.split()[0] for sentence in answer.sentences] == ["They", "Forward"]


def test_the_papers_about_something_get_a_sentence_each(sample: Engine) -> None:
    answer = sample.ask("Which papers are about reinforcement learning?", llm="extractive")
    cited = [citation.paper_id for citation in answer.citations]
    assert len(cited) == len(set(cited)) >= 3
    for source in answer.cited:
        assert "reinforcement learning" in f"{source.paper.title} {source.paper.abstract}".lower()


@given(st.text(max_size=80))
def test_any_text_is_taken(text: str) -> None:
    for opening in ("", "What is ", "papers on ", "What does "):
        subject = subject_of(opening + text)
        assert subject is None or subject.thing in opening + text


def test_a_light_verb_that_the_abstract_lacks_is_no_lack(sample: Engine) -> None:
    def coverage(question: str) -> float:
        return weigh(sample.retriever.search(question, top_k=5), sample.encode).coverage

    assert coverage("Which molecules needed diffusion?") == coverage("Which molecules, diffusion?") > 0
    assert coverage("Which molecules melted diffusion?") < coverage("Which molecules, diffusion?")
