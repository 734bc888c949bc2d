"""RIS and MEDLINE: missing ends, text around, abstracts in several places and over several lines."""

from __future__ import annotations

import pytest

from rag.papers import Paper

ALL = """TY  - JOUR
AU  - Lee, Ann
AU  - Li, Bo
TI  - Bees &amp; light
AB  - They fly.
PY  - 2024/05/01/
JO  - Bee Days
DO  - 10.1000/ABC
UR  - https://example.org/1
KW  - bee
KW  - light; sky
ER  - 
"""


def test_all_fields(read) -> None:
    assert read(ALL, "a.ris").papers == [
        Paper(
            title="Bees & light",
            abstract="They fly.",
            authors=("Lee, Ann", "Li, Bo"),
            year=2024,
            venue="Bee Days",
            doi="10.1000/abc",
            url="https://example.org/1",
            keywords=("bee", "light", "sky"),
        )
    ]


@pytest.mark.parametrize(
    ("content", "abstracts"),
    [
        pytest.param("TY  - JOUR\nAB  - They fly.\nER  - \n", ["They fly."], id="AB"),
        pytest.param("TY  - JOUR\nN2  - They fly.\nER  - \n", ["They fly."], id="N2"),
        pytest.param("TY  - JOUR\nAB  - They fly.\nN2  - They fly too.\nER  - ", ["They fly."], id="AB before N2"),
        pytest.param(
            "TY  - JOUR\nAB  - They\nfly\n  far.\n\nAnd home.\nER  -", ["They fly far. And home."], id="lines"
        ),
        pytest.param("TY  - JOUR\nAB  - They fly.\nAB  - And home.\nER  - ", ["They fly. And home."], id="AB twice"),
        pytest.param("TY  - JOUR\nAB  - They\nAB  - fly\nfar.\nER  - ", ["They fly far."], id="AB twice, then a line"),
        pytest.param(
            "TY  - JOUR\nAB  - They fly.\nTY  - JOUR\nAB  - It burns.\n", ["They fly.", "It burns."], id="no ER"
        ),
        pytest.param("\ufeffTY  - JOUR\nAB  - They fly.\nER  - \n", ["They fly."], id="byte order mark"),
        pytest.param("Exported\n1 record\n\nTY  - JOUR\nAB  - They fly.\nER  - \n", ["They fly."], id="text before"),
        pytest.param(
            "1.\nTY  - JOUR\nAB  - They fly.\nER  - \n\n2.\nTY  - JOUR\nAB  - It burns.\nER  - ",
            ["They fly.", "It burns."],
            id="numbers",
        ),
        pytest.param("TY  -  JOUR\r\nAB  -  They fly.\r\nER  -\r\n", ["They fly."], id="Windows, more spaces"),
        pytest.param("TY - JOUR\nAB - They fly.\nER -\n", ["They fly."], id="fewer spaces"),
        pytest.param(
            "TY  - JOUR\nX1  - odd\nAB  - They fly.\nmore\nZZ  - odd\nER  - ", ["They fly. more"], id="unknown tags"
        ),
        pytest.param("TY  - JOUR\nN1  - a note\nAB  - They fly.\nER  - ", ["They fly."], id="a note"),
    ],
)
def test_abstract(read, content: str, abstracts: list[str]) -> None:
    result = read(content, "a.ris")
    assert (result.abstracts, result.skips) == (abstracts, [])


def test_used_and_skipped_are_counted(read) -> None:
    result = read(ALL + "\nTY  - JOUR\nTI  - Fire\nER  - \n" + ALL.replace("/ABC", "/DEF"), "a.ris")
    assert len(result.papers) == 2
    assert result.skips == [(14, "no abstract (Fire)")]


MEDLINE = """
PMID- 123
OWN - NLM
DP  - 2024 May
TI  - Bees fly home by the
      light of the sky.
LID - 10.1000/ABC [doi]
AB  - BACKGROUND: They fly. METHODS: We looked
      at them. RESULTS: 20% came.
FAU - Lee, Ann
AU  - Lee A
FAU - Li, Bo
JT  - Bee days
OT  - bee
OT  - *light

PMID- 124
TI  - No abstract here.

PMID- 125
TI  - Fire
AB  - It burns.
"""


def test_medline(read) -> None:
    result = read(MEDLINE, "a.nbib")
    assert result.papers[0] == Paper(
        title="Bees fly home by the light of the sky.",
        abstract="BACKGROUND: They fly.\nMETHODS: We looked at them.\nRESULTS: 20% came.",
        authors=("Lee, Ann", "Li, Bo"),
        year=2024,
        venue="Bee days",
        doi="10.1000/abc",
        url="https://pubmed.ncbi.nlm.nih.gov/123/",
        keywords=("bee", "light"),
    )
    assert [paper.id for paper in result.papers] == ["doi:10.1000/abc", "pmid:125"]
    assert result.skips == [(17, "no abstract (No abstract here.)")]
