"""The exact guards, one claim beside one passage: what is changed is found, what is reworded is let through."""

from __future__ import annotations

import pytest

from rag.grounding.alignment import align
from rag.grounding.analysis import analyse
from rag.grounding.failure import Context, Kind
from rag.grounding.guards import failures

GAIN = (
    "With Gemma-7b, the method is 20.39% better than the zero-shot model and 6.02% better than distillation baselines."
)
TOKENS = "Two sets result: Math-3+ with 133B tokens and Math-4+ with 52B tokens."
TRIAL = "In 1,500 patients aspirin did not reduce mortality (RR 1.76, 95 % CI 1.11–2.78, p < 0.001) at 20 mg."
STEPS = "OpenAI o3, given 15 steps, goes from 8.3% to 20.4%, and Claude 4 Sonnet, given 50 steps, from 40.1% to 43.3%."
HEADS = "In LLaMA, middle heads dominate semantic integration, whereas in Qwen deeper heads select the evidence."
SAFE = "SafeFlow plans faster, smoother and safer paths than baselines based on diffusion."
BEATS = "In experiments sparse communication beats fully-connected communication while token costs fall by 25%."
ENCODERS = "Encoder models align with humans better than decoder models do."
LATTER = (
    "The latter surpasses every earlier set, including MegaMath, FineMath and OpenWeb, and holds 5.5× more tokens "
    "than FineMath-4+."
)
LYNX = "Pages are rendered with Lynx, which respects their layout, so that formulas stay whole in the math corpus."
LISTED = "HiPO is +5.0 pp above GRPO, with the largest gain on CMIMC 2025 (+10.3 pp), followed by BRUMO 2025 (+4.9 pp)."
AVERAGES = "On average humans score 77.6% and the best embedding model 80.1%, but some datasets are handled very well."
AGAINST = "In experiments against uncompressed Muon, EF21-Muon saves up to 7× in communication and loses no accuracy."
GAINS = "A model pretrained on it outdoes strong baselines by +4.8 on MATH and +4.6 to +14.3 on MBPP+ in general."
VARIANT = "LoRA saves 40% of the memory."
NEVER = "Although the language encoder is never updated, the accuracy of segmentation improves on four public datasets."

CHANGED = [
    pytest.param(TRIAL, "Aspirin reduced mortality in 1,500 patients.", Kind.NEGATION, id="denial dropped"),
    pytest.param(GAIN, GAIN.replace("20.39", "26.39"), Kind.FIGURE, id="digit"),
    pytest.param(GAIN, "With Gemma-7b, the method is 6.02% better than the zero-shot model.", Kind.FIGURE, id="other"),
    pytest.param(GAIN, GAIN.replace("20.39%", "20.39×"), Kind.FIGURE, id="unit"),
    pytest.param(TRIAL, TRIAL.replace("< 0.001", "< 0.01"), Kind.FIGURE, id="p value"),
    pytest.param(TRIAL, TRIAL.replace("p < 0.001", "p > 0.001"), Kind.FIGURE, id="comparator"),
    pytest.param(TRIAL, TRIAL.replace("mg", "µg"), Kind.FIGURE, id="mg and µg"),
    pytest.param(TRIAL, TRIAL.replace("1.11–2.78", "1.11–2.87"), Kind.FIGURE, id="interval"),
    pytest.param("The gain is +5.0 points.", "The gain is -5.0 points.", Kind.FIGURE, id="sign"),
    pytest.param(TOKENS, "Math-4+ has 133B tokens.", Kind.FIGURE, id="figure of the other set"),
    pytest.param(TOKENS, "Math-3+ has 133M tokens.", Kind.FIGURE, id="scale"),
    pytest.param(STEPS, "Claude 4 Sonnet goes from 8.3% to 20.4%.", Kind.FIGURE, id="other model"),
    pytest.param("The invoice is paid within 3 days.", "Delivery takes 30 days.", Kind.FIGURE, id="no licence"),
    pytest.param(HEADS, "In Qwen, middle heads dominate semantic integration.", Kind.NAME, id="comparator"),
    pytest.param(HEADS, HEADS.replace("Qwen", "Mistral"), Kind.NAME, id="name"),
    pytest.param(SAFE, SAFE.replace("faster", "slower"), Kind.DIRECTION, id="direction"),
    pytest.param(BEATS, "With sparse communication token costs rise by 25%.", Kind.DIRECTION, id="falls and rises"),
    pytest.param(BEATS, "Fully-connected communication beats sparse communication.", Kind.ROLES, id="roles"),
    pytest.param(BEATS, "Sparse communication is beaten by fully-connected communication.", Kind.ROLES, id="passive"),
    pytest.param(ENCODERS, "Decoder models align with humans better than encoder models.", Kind.ROLES, id="than"),
    pytest.param(NEVER, "The language encoder is updated.", Kind.NEGATION, id="never dropped"),
    pytest.param(SAFE, "SafeFlow does not plan safer paths than baselines.", Kind.NEGATION, id="not added"),
    pytest.param(NEVER, "The accuracy of segmentation improves on all public datasets.", Kind.OVERREACH, id="all"),
    pytest.param(SAFE, "SafeFlow is proven to plan safer paths.", Kind.OVERREACH, id="proven"),
    pytest.param(LATTER, "FineMath holds 5.5× more tokens than FineMath-4+.", Kind.ROLES, id="a baseline as subject"),
    pytest.param(LATTER, "MegaMath holds 5.5× more tokens than FineMath-4+.", Kind.ROLES, id="another baseline"),
    pytest.param(LATTER, "OpenWeb surpasses FineMath.", Kind.ROLES, id="one baseline over another"),
    pytest.param(LISTED, "HiPO gained +10.3 pp on BRUMO 2025.", Kind.FIGURE, id="figure of another in a list"),
    pytest.param(LISTED, "On CMIMC 2025 the gain is +4.9 pp.", Kind.FIGURE, id="and of another"),
    pytest.param(AVERAGES, "Humans score higher on average (77.6%).", Kind.DIRECTION, id="nothing is compared"),
    pytest.param("Stress triggers sleep loss.", "Sleep loss triggers stress.", Kind.ROLES, id="triggers"),
    pytest.param("Demand drives prices.", "Prices drive demand.", Kind.ROLES, id="drive"),
    pytest.param(VARIANT, "LoRA-MoE saves 40% of the memory.", Kind.NAME, id="variant of a name"),
    pytest.param(LYNX, "Lynx does not respect the layout of pages.", Kind.NEGATION, id="denied"),
    pytest.param("A high-quality corpus was built.", "A low-quality corpus was built.", Kind.DIRECTION, id="compound"),
]  # fmt: skip

REWORDED = [
    pytest.param(GAIN, "The method is 20.39 percent better than the zero-shot model.", id="percent"),
    pytest.param(GAIN, "Over distillation the method gains 6.02 %.", id="order"),
    pytest.param(TRIAL, "Aspirin failed to reduce mortality in 1500 patients.", id="fails to"),
    pytest.param(TOKENS, "Math-3+ contains 133 billion tokens.", id="billion"),
    pytest.param(STEPS, "Claude 4 Sonnet rises from 40.1 % to 43.3 % with 50 steps.", id="spaces"),
    pytest.param(HEADS, "Qwen's deeper heads select the evidence.", id="clause"),
    pytest.param(BEATS, "Fully-connected communication is beaten by sparse communication.", id="passive"),
    pytest.param(ENCODERS, "Decoder models align less well with humans than encoder models.", id="converse"),
    pytest.param(
        "Nemotron holds 5.5× more tokens than FineMath.", "FineMath holds fewer tokens than Nemotron.", id="fewer than"
    ),
    pytest.param(LATTER, "Every earlier set, FineMath included, is surpassed by the latter.", id="baselines surpassed"),
    pytest.param("HiPO beats GRPO; GRPO beats PPO by 2 %.", "GRPO beats PPO by 2 %.", id="a baseline that wins, too"),
    pytest.param(LISTED, "HiPO gains +4.9 pp on BRUMO 2025.", id="its own in a list"),
    pytest.param(LISTED, "HiPO gains +10.3 pp on CMIMC 2025 and +4.9 pp on BRUMO 2025.", id="both in a list"),
    pytest.param(SAFE, "SafeFlow is better than baselines based on diffusion, with smoother paths.", id="compared"),
    pytest.param(AGAINST, "The compressed EF21-Muon saves up to 7× in communication.", id="against uncompressed"),
    pytest.param(GAINS, "Code generation improved by +4.6 to +14.3 on MBPP+.", id="generation is no verb"),
    pytest.param(LYNX, "Lynx renders pages so that formulas are not lost in the math corpus.", id="harm denied"),
    pytest.param("LoRA-MoE saves 40% of the memory.", "LoRA saves 40% of the memory.", id="name cut short"),
    pytest.param(NEVER, "The language encoder is not updated.", id="never and not"),
    pytest.param(NEVER, "Segmentation accuracy improves without updating the language encoder.", id="without"),
    pytest.param(SAFE, "Baselines based on diffusion plan slower paths than SafeFlow.", id="slower than"),
]  # fmt: skip


def kinds(passage: str, claim: str) -> set[Kind]:
    return {failure.kind for failure in failures(align(analyse(claim), analyse(passage)), Context())}


@pytest.mark.parametrize(("passage", "claim", "kind"), CHANGED)
def test_a_change_is_found(passage: str, claim: str, kind: Kind) -> None:
    assert kind in kinds(passage, claim)


@pytest.mark.parametrize(("passage", "claim"), REWORDED)
def test_a_rewording_passes(passage: str, claim: str) -> None:
    assert kinds(passage, claim) == set()


@pytest.mark.parametrize(
    "passage",
    [GAIN, TOKENS, TRIAL, STEPS, HEADS, SAFE, BEATS, ENCODERS, NEVER, LATTER, LYNX, LISTED, AVERAGES, AGAINST, GAINS],
)
def test_a_quotation_passes(passage: str) -> None:
    assert kinds(passage, passage) == set()


def test_notes_name_the_part_and_what_the_source_says() -> None:
    (failure,) = failures(align(analyse(GAIN.replace("6.02", "9.02")), analyse(GAIN)), Context())
    assert failure.part == "9.02%"
    assert "6.02%" in failure.note
    assert failure.conflict
