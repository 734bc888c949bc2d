"""Whole sentences against retrieved papers: verdicts, spans, notes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answer import Verdict
from rag.embedding import Embedder
from rag.grounding import Grounder, Grounding, score_pair
from rag.papers import Paper

PAPERS = [
    Paper(
        title="TNT: Improving Chunkwise Training for Test-Time Memorization",
        abstract=r"Large chunks are fast but hurt performance. TNT separates training from inference by means of two "
        r"stages. Tested on Titans, it trains up to $17\times$ faster than the baseline and is \textbf{more accurate}.",
        id="tnt",
    ),
    Paper(
        title="HiPO: Self-Hint Policy Optimization",
        abstract="Rewards are sparse, so an attempt that is almost correct yields no learning signal. HiPO reuses the "
        "first correct steps of a successful trajectory as a hint. On five benchmarks HiPO is +5.0 percentage points "
        "above the strong GRPO baseline. The largest gain is on CMIMC 2025 (+10.3 pp).",
        id="hipo",
    ),
    Paper(
        title="Demand for metals",
        abstract="The tariff raised the prices of steel in 2018. Exports of copper fell by 12 % in the same year.",
        id="metals",
    ),
    Paper(
        title="Teaching small students",
        abstract="Students memorize patterns. We introduce Inverted Probes, which ask for the logic of an answer. "
        "With Gemma-7b as the student, the method is 20.4 % better than the zero-shot model.",
        id="probes",
    ),
    Paper(
        title="OSWorld-MCP: Benchmarking Tools",
        abstract="We present a benchmark of agents. Manual validation left 158 tools, covering 7 common applications. "
        "Even the strongest models invoke them rather seldom, at a rate of only 36.3%. The benchmark assesses agents "
        "on their use of tools. It is open to all.",
        id="osworld",
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def grounding(embedder: Embedder) -> Grounding:
    return Grounder(embedder.encode).open(PAPERS, "What do TNT and HiPO gain?")


ROWS = [
    ("TNT trains up to 17 times faster than the baseline.", Verdict.SUPPORTED, [0]),
    ("HiPO beats the GRPO baseline by 5.0 percentage points on five benchmarks.", Verdict.SUPPORTED, [1]),
    ("GRPO beats HiPO by 5.0 percentage points.", Verdict.CONTRADICTED, [1]),
    ("HiPO is +6.0 percentage points above the strong GRPO baseline.", Verdict.CONTRADICTED, [1]),
    ("TNT trains up to 17× slower than the baseline.", Verdict.CONTRADICTED, [0]),
    ("TNT trains up to 17× faster than the baseline, whereas HiPO is +5.0 pp above GRPO.", Verdict.SUPPORTED, [0, 1]),
    ("The tariff raised the prices of steel in 2018, including higher wages of miners.", Verdict.PARTLY, [2]),
    ("Photosynthesis in algae depends on the wavelength of light.", Verdict.NOT_FOUND, []),
    ("Here is what the abstracts say:", Verdict.META, []),
    ("Yes.", Verdict.META, []),
    ("The abstracts do not mention the number of GPUs.", Verdict.META, []),
    ("TNT 的训练速度最多快 17×。", Verdict.PARTLY, [0]),
    ("HiPO 比 GRPO 高 +5.0 pp。", Verdict.SUPPORTED, [1]),
    ("HiPO 比 GRPO 高 +7.5 pp。", Verdict.PARTLY, [1]),
    ("HiPO 在 CMIMC 2025 上提高了 10.3 pp。", Verdict.SUPPORTED, [1]),
    ("HiPO 在 CMIMC 2024 上提高了 10.3 pp。", Verdict.PARTLY, [1]),
    ("HiPO 比 GRPO 高 10.3 pp。", Verdict.PARTLY, [1]),
    ("Inverted Probes is 20.4 % better than the zero-shot model.", Verdict.SUPPORTED, [3]),
    ("The best agents call tools about 36.3% of the time.", Verdict.SUPPORTED, [4]),
    ("OSWorld-MCP 的工具覆盖了 7 个常见应用程序。", Verdict.SUPPORTED, [4]),
    ("OSWorld-MCP 的工具覆盖了 8 个常见应用程序。", Verdict.NOT_FOUND, []),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "verdict", "papers"), ROWS)
def test_verdicts_and_papers(grounding: Grounding, sentence: str, verdict: Verdict, papers: list[int]) -> None:
    checked = grounding.check(sentence)
    assert checked.verdict is verdict, checked
    assert sorted({span.paper for span in checked.spans}) == papers


def test_a_wrong_citation_moves_to_the_right_paper_and_an_unheld_sentence_has_none(grounding: Grounding) -> None:
    moved = grounding.check("The largest gain is on CMIMC 2025 with +10.3 pp.", cited=[0])
    held_by_none = grounding.check("The largest gain was measured by an independent laboratory in Oslo.", cited=[0])
    assert (moved.verdict, [span.paper for span in moved.spans]) == (Verdict.SUPPORTED, [1])
    assert held_by_none.verdict in (Verdict.NOT_FOUND, Verdict.PARTLY)


def test_an_invented_tail_is_named(grounding: Grounding) -> None:
    checked = grounding.check("The tariff raised the prices of steel in 2018, including higher prices of aluminium.")
    assert checked.verdict is Verdict.PARTLY
    assert "aluminium" in checked.note


def test_a_note_says_that_words_cannot_check_another_language(grounding: Grounding) -> None:
    assert (
        "another language"
        in grounding.check("Das Verfahren ist nicht für die Praxis und wird auf HiPO angewendet.").note
    )


def test_quotes_show_the_abstract_as_it_is(grounding: Grounding) -> None:
    (span,) = grounding.check("TNT is more accurate than the baseline.").spans
    assert r"\textbf{more accurate}" in PAPERS[span.paper].abstract[span.start : span.end]


def test_a_figure_does_not_choose_the_passage_that_licenses_it(embedder: Embedder) -> None:
    paper = Paper(abstract="Invoices are paid within 3 days. Delivery takes two weeks in most regions.", id="terms")
    assert Grounder(embedder.encode).open([paper]).check("Delivery takes 3 days.").verdict is not Verdict.SUPPORTED


def test_without_an_embedding_words_decide() -> None:
    grounding = Grounder(None).open(PAPERS)
    assert (
        grounding.check("HiPO reuses the first correct steps of a successful trajectory.").verdict is Verdict.SUPPORTED
    )
    assert grounding.check("Photosynthesis in algae depends on light.").verdict is Verdict.NOT_FOUND


def test_no_papers_support_nothing() -> None:
    assert Grounder(None).open([]).check("HiPO beats GRPO.").verdict is Verdict.NOT_FOUND


def test_a_pair_scores_higher_when_it_is_supported(embedder: Embedder) -> None:
    good = score_pair("HiPO beats GRPO by 5.0 percentage points.", PAPERS[1].abstract, embedder.encode)
    bad = score_pair("The price of copper fell.", PAPERS[1].abstract, embedder.encode)
    assert 0 <= bad.probability < good.probability <= 1
    assert good.verdict is Verdict.SUPPORTED


@given(st.text(max_size=120))
def test_any_sentence_gets_a_verdict_and_verbatim_spans(text: str) -> None:
    checked = Grounder(None).open(PAPERS).check(text)
    assert checked.verdict in Verdict
    for span in checked.spans:
        assert 0 <= span.start < span.end <= len(PAPERS[span.paper].abstract)
