"""Figures of parts that leave out what they share, and of sentences that say "it"."""

from __future__ import annotations

import pytest

from rag.answer import Verdict
from rag.embedding import Embedder
from rag.grounding import Grounder
from rag.papers import Paper

STEPS = Paper(
    "We propose QuickDrift, which learns a small correction of the drift. On CIFAR-10, QuickDrift reaches an FID of "
    "2.91 with 8 steps and 2.44 with 16 steps. On ImageNet 64x64 it reaches an FID of 4.02 with 8 steps.",
    title="QuickDrift: Sampling in Few Steps",
)
DOSES = Paper(
    "A single infusion of 1.0 mg/kg edited 62% of the alleles and lowered LDL cholesterol by 57%. At 0.5 mg/kg LDL "
    "cholesterol fell by 34%. Hospitalisation was reduced by 19% in patients with diabetes and by 31% in patients "
    "without diabetes.",
    title="Base editing in macaques",
)
FILMS = Paper(
    "The transition temperature is 14.2 K in films of 8 nm and 9.7 K in films of 12 nm.", title="Nickelate films"
)
WAGES = Paper(
    "In eastern Germany wages rose by 9.8%, in western Germany by 4.7%. In cities rents fell by 3%, in villages by 8%.",
    title="Wages and rents",
)


@pytest.mark.parametrize(
    ("claim", "supported"),
    [
        ("QuickDrift reaches an FID of 2.44 with 16 steps on CIFAR-10.", True),
        ("With 16 steps, QuickDrift has an FID of 2.44.", True),
        ("QuickDrift reaches an FID of 2.44 with 8 steps on CIFAR-10.", False),
        ("QuickDrift reaches an FID of 2.91 with 16 steps on CIFAR-10.", False),
        ("QuickDrift reaches an FID of 4.02 on ImageNet.", True),
        ("QuickDrift reaches an FID of 4.02 with 8 steps on CIFAR-10.", False),
        ("QuickDrift reaches an FID of 4.02 with 16 steps on ImageNet.", False),
        ("LDL cholesterol fell by 57% at 1.0 mg/kg.", True),
        ("LDL cholesterol fell by 34% at 0.5 mg/kg.", True),
        ("LDL cholesterol fell by 57% at 0.5 mg/kg.", False),
        ("LDL cholesterol fell by 34% at 1.0 mg/kg.", False),
        ("Hospitalisation was reduced by 31% in patients without diabetes.", True),
        ("Hospitalisation was reduced by 31% in patients with diabetes.", False),
        ("The transition temperature is 9.7 K in films of 12 nm.", True),
        ("The transition temperature is 9.7 K in films of 8 nm.", False),
        ("The transition temperature is 14.2 K in films of 12 nm.", False),
        ("In western Germany, wages rose by 4.7%.", True),
        ("In western Germany, wages rose by 9.8%.", False),
        ("Wages rose by 9.8% in eastern Germany.", True),
        ("Wages rose by 4.7% in eastern Germany.", False),
        ("Rents fell by 8% in villages.", True),
        ("Rents fell by 3% in villages.", False),
        ("In cities, rents fell by 3%.", True),
        ("In cities, rents fell by 8%.", False),
    ],
)
def test_each_figure_is_that_of_its_own_part(embedder: Embedder, claim: str, supported: bool) -> None:
    checked = Grounder(embedder.encode).open([STEPS, DOSES, FILMS, WAGES]).check(claim)
    assert (checked.verdict is Verdict.SUPPORTED) is supported, checked.note
