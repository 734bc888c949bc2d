"""JSON of every service: the right field from the right place, the right line, and broken files."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag.errors import InputError
from rag.papers import Paper

OPENREVIEW_2 = {
    "id": "aB3_-9xYz1",
    "forum": "aB3_-9xYz1",
    "cdate": 1726000000000,
    "content": {
        "title": {"value": "Bees"},
        "abstract": {"value": "They fly."},
        "authors": {"value": ["Ann Lee", "Bo Li"]},
        "keywords": {"value": ["bee", "light"]},
        "venue": {"value": "ICLR 2026 Poster"},
        "venueid": {"value": "ICLR.cc/2026/Conference"},
    },
}
OPENREVIEW_1 = {
    "id": "aB3_-9xYz1",
    "forum": "aB3_-9xYz1",
    "pdate": 1726000000000,
    "content": {
        "title": "Bees",
        "abstract": "They fly.",
        "authors": ["Ann Lee", "Bo Li"],
        "keywords": ["bee", "light"],
    },
}
PAPER_COPILOT = {
    "title": "Bees",
    "status": "Poster",
    "site": "https://openreview.net/forum?id=aB3_-9xYz1",
    "id": "aB3_-9xYz1",
    "author": "Ann Lee;Bo Li",
    "keywords": "bee;light",
    "abstract": "They fly.",
    "tldr": "",
}
ARXIV = {
    "id": "2401.01234",
    "authors": "Ann L\\'ee, Bo Li",
    "authors_parsed": [["L\\'ee", "Ann", ""], ["Li", "Bo", "Jr"]],
    "title": "Bees of\n  $\\alpha$ kind",
    "journal-ref": None,
    "doi": None,
    "categories": "cs.CL q-bio",
    "abstract": "  They fly\nfar.\n",
    "versions": [{"version": "v1", "created": "Mon, 2 Jan 2023 19:18:42 GMT"}],
    "update_date": "2024-05-01",
}
SEMANTIC_SCHOLAR = {
    "paperId": "abc",
    "externalIds": {"DOI": "10.1000/AbC", "ArXiv": "2401.01234"},
    "title": "Bees",
    "abstract": "They fly.",
    "year": 2024,
    "venue": "",
    "journal": {"name": "Bee Days", "pages": "1"},
    "authors": [{"authorId": "1", "name": "Ann Lee"}, {"authorId": "2", "name": "Bo Li"}],
    "fieldsOfStudy": ["Biology"],
    "url": "https://www.semanticscholar.org/paper/abc",
}
OPENALEX = {
    "id": "https://openalex.org/W1",
    "doi": "https://doi.org/10.1000/AbC",
    "display_name": "Bees",
    "publication_year": 2024,
    "abstract_inverted_index": {"fly": [1, 4], "They": [0], "and": [2], "bees": [3], "far.": [5]},
    "authorships": [{"author": {"display_name": "Ann Lee"}}, {"author": {"display_name": "Bo Li"}}],
    "primary_location": {"landing_page_url": "https://example.org/1", "source": {"display_name": "Bee Days"}},
    "keywords": [{"display_name": "Bee", "score": 0.5}],
}
CROSSREF = {
    "title": ["Bees"],
    "abstract": "<jats:p>They fly.</jats:p>",
    "author": [{"given": "Ann", "family": "Lee"}, {"name": "Bee Group"}],
    "issued": {"date-parts": [[2024, 5]]},
    "container-title": ["Bee Days"],
    "DOI": "10.1000/ABC",
}
ZOTERO = {
    "key": "X",
    "data": {
        "title": "Bees",
        "abstractNote": "They fly.",
        "creators": [{"creatorType": "author", "firstName": "Ann", "lastName": "Lee"}],
        "date": "May 2024",
        "publicationTitle": "Bee Days",
        "DOI": "10.1000/ABC",
        "tags": [{"tag": "bee"}],
    },
}
FORUM = "https://openreview.net/forum?id=aB3_-9xYz1"
BEES = {"title": "Bees", "abstract": "They fly."}
TWO = ("Ann Lee", "Bo Li")
RECORDS = [
    pytest.param(
        OPENREVIEW_2,
        Paper(**BEES, authors=TWO, keywords=("bee", "light"), venue="ICLR 2026 Poster", year=2026, url=FORUM),
        id="OpenReview 2",
    ),
    pytest.param(
        OPENREVIEW_1, Paper(**BEES, authors=TWO, keywords=("bee", "light"), year=2024, url=FORUM), id="OpenReview 1"
    ),
    pytest.param(PAPER_COPILOT, Paper(**BEES, authors=TWO, keywords=("bee", "light"), url=FORUM), id="Paper Copilot"),
    pytest.param(
        ARXIV,
        Paper(
            title="Bees of α kind",
            abstract="They fly\nfar.",
            authors=("Ann Lée", "Bo Li Jr"),
            year=2023,
            venue="arXiv",
            keywords=("cs.CL", "q-bio"),
            url="https://arxiv.org/abs/2401.01234",
        ),
        id="arXiv snapshot",
    ),
    pytest.param(
        SEMANTIC_SCHOLAR,
        Paper(
            **BEES,
            authors=TWO,
            year=2024,
            venue="Bee Days",
            doi="10.1000/abc",
            keywords=("Biology",),
            url="https://www.semanticscholar.org/paper/abc",
        ),
        id="Semantic Scholar",
    ),
    pytest.param(
        OPENALEX,
        Paper(
            title="Bees",
            abstract="They fly and bees fly far.",
            authors=TWO,
            year=2024,
            venue="Bee Days",
            doi="10.1000/abc",
            keywords=("Bee",),
            url="https://example.org/1",
        ),
        id="OpenAlex",
    ),
    pytest.param(
        CROSSREF,
        Paper(
            title="Bees",
            abstract="<jats:p>They fly.</jats:p>",
            authors=("Ann Lee", "Bee Group"),
            year=2024,
            venue="Bee Days",
            doi="10.1000/abc",
        ),
        id="Crossref",
    ),
    pytest.param(
        ZOTERO,
        Paper(**BEES, authors=("Ann Lee",), year=2024, venue="Bee Days", doi="10.1000/abc", keywords=("bee",)),
        id="Zotero",
    ),
    pytest.param({"row": {"title": "Bees", "abstract": "They fly."}}, Paper(**BEES), id="wrapped in a row"),
    pytest.param({"_id": "7", "title": "Bees", "text": "They fly."}, Paper(**BEES), id="BEIR"),
    pytest.param({"Title": "Bees", "Summary": "They fly.", "Date": "2024-05-01"}, Paper(**BEES, year=2024), id="plain"),
    pytest.param({**BEES, "authors": None, "year": None, "doi": None}, Paper(**BEES), id="nulls"),
    pytest.param(
        {**BEES, "abstract": {"AIM": "To fly.", "RESULT": "They fly."}},
        Paper(title="Bees", abstract="AIM: To fly. RESULT: They fly."),
        id="structured abstract",
    ),
]


@pytest.mark.parametrize("layout", ["list", "pretty", "lines", "wrapped", "one after another"])
@pytest.mark.parametrize(("record", "paper"), RECORDS)
def test_record(read, record: dict[str, object], paper: Paper, layout: str) -> None:
    other = {"title": "Fire", "abstract": "It burns."}
    content = {
        "list": json.dumps([record, other]),
        "pretty": json.dumps([record, other], indent=2, ensure_ascii=False),
        "lines": f"{json.dumps(record)}\n\n{json.dumps(other)}\n",
        "wrapped": json.dumps({"count": 2, "next": None, "meta": {"x": []}, "results": [record, other]}),
        "one after another": f"{json.dumps(record, indent=1)}\n{json.dumps(other, indent=1)}",
    }[layout]
    result = read(content, "a.json")
    assert result.papers == [paper, Paper(title="Fire", abstract="It burns.")]
    assert result.skips == []


@pytest.mark.parametrize(
    ("content", "titles"),
    [
        pytest.param('{"notes": [{"title": "A", "abstract": "b."}]}', ["A"], id="notes"),
        pytest.param('{"data": {"papers": [{"title": "A", "abstract": "b."}]}}', ["A"], id="deeper"),
        pytest.param('{"message": {"items": [{"title": ["A"], "abstract": "b."}]}}', ["A"], id="Crossref answer"),
        pytest.param(
            '{"x1": {"title": "A", "abstract": "b."}, "x2": {"title": "C", "abstract": "d."}}', ["A", "C"], id="by ids"
        ),
        pytest.param('{"title": "A", "abstract": "b.", "authors": [{"name": "C"}]}', ["A"], id="one paper"),
        pytest.param('["They fly.", "It burns."]', ["", ""], id="list of abstracts"),
        pytest.param(
            '[{"title": "A", "abstract": "b."}]\n[{"title": "C", "abstract": "d."}]', ["A", "C"], id="two lists"
        ),
        pytest.param("[]", [], id="empty list"),
        pytest.param('{"results": []}', [], id="empty answer"),
        pytest.param('\ufeff [\n{"title": "A", "abstract": "b."},\n]', ["A"], id="byte order mark, last comma"),
    ],
)
def test_layout(read, content: str, titles: list[str]) -> None:
    assert read(content, "a.json").titles == titles


@pytest.mark.parametrize(
    ("content", "skips", "titles"),
    [
        pytest.param(
            '{"title":"A","abstract":"b."}\n{"title":\n{"title":"C","abstract":"d."}\n',
            [2],
            ["A", "C"],
            id="broken line",
        ),
        pytest.param(
            '{"title":"A"\n{"title":"C","abstract":"d."}\n{"title":"E","abstract":"f."}',
            [1],
            ["C", "E"],
            id="first line",
        ),
        pytest.param('{"title":"A","abstract":""}\n[1]\n"x y z"\n', [1, 2], [""], id="no abstract, no object"),
        pytest.param(
            '[\n{"title":"A","abstract":null},\n\n{"title":"B","abstract":"c."}]', [2], ["B"], id="list with a null"
        ),
        pytest.param(
            '[\n{"title":"A","abstract":"b."},\n{"title":"B",,},\n{"title":"C","abstract":"d."}]',
            [3],
            ["A", "C"],
            id="hole",
        ),
        pytest.param('[\n{"title":"A","abstract":"b."},\n{"title":"B","abst', [3], ["A"], id="cut off"),
        pytest.param(
            '{"notes": [\n{"title":"A","abstract":"b."},\n{"title":"B","abst', [3], ["A"], id="wrapped, cut off"
        ),
        pytest.param(
            '{"total":2,\n"results": [\n{"title":"A"},\n{"title":"B","abstract":"c."}]}', [3], ["B"], id="wrapped lines"
        ),
        pytest.param("[1, null, true]", [1, 1, 1], [], id="no objects"),
    ],
)
def test_unusable(read, content: str, skips: list[int], titles: list[str]) -> None:
    result = read(content, "a.jsonl" if content.startswith('{"title') else "a.json")
    assert ([line for line, _ in result.skips], result.titles) == (skips, titles)


def test_an_abstract_without_a_word_is_skipped(read) -> None:
    rows = (
        '{"title":"Bees","abstract":17}\n{"title":"Fire","abstract":"2024"}\n{"title":"Mud","abstract":"It dries."}\n'
    )
    result = read(rows, "a.jsonl")
    assert result.titles == ["Mud"]
    assert result.skips == [(1, "no words in the abstract (Bees)"), (2, "no words in the abstract (Fire)")]


@pytest.mark.parametrize(
    "content", ['{"a": 1}', '{"a": [1, 2]}', "{", '{"title": "A", "abstract": "b"', "[" * 100_000 + "]"]
)
def test_no_papers_at_all(read, content: str) -> None:
    try:
        assert read(content, "a.json").papers == []
    except InputError as error:
        assert "a.json" in str(error)


def test_mapping_and_paths(read) -> None:
    content = '[{"name": "Bees", "body": {"en": "They fly."}, "abstract": "wrong"}]'
    (paper,) = read(content, "a.json", mapping={"title": "name", "abstract": "body.en"}).papers
    assert (paper.title, paper.abstract) == ("Bees", "They fly.")


def test_half_characters_are_replaced(read) -> None:
    assert read('{"abstract": "They \\ud83d fly."}\n{"abstract": "x y"}', "a.jsonl").abstracts[0] == "They \ufffd fly."


def test_an_index_of_astronomical_places_costs_nothing(read) -> None:
    assert read('[{"abstract_inverted_index": {"fly": [900000000000], "They": [-1]}}]', "a.json").abstracts == [
        "They fly"
    ]


PLAIN_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), max_size=80)


@given(texts=st.lists(PLAIN_TEXT, min_size=2, max_size=6), indent=st.sampled_from([None, 1]), ascii_only=st.booleans())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read(read, texts: list[str], indent: int | None, ascii_only: bool) -> None:
    records = [{"abstract": f"Abstract: {text}", "authors": [f"Ann {n}"]} for n, text in enumerate(texts)]
    listed = json.dumps(records, indent=indent, ensure_ascii=ascii_only)
    lines = "\n".join(json.dumps(record, ensure_ascii=ascii_only) for record in records)
    expected = [f"Abstract: {text}".strip() for text in texts]
    assert read(listed, "a.json").abstracts == expected
    assert read(lines, "a.jsonl").abstracts == expected


@pytest.mark.parametrize(
    ("parts", "author"),
    [
        ({"family": "Ortiz", "given": "Ana"}, "Ana Ortiz"),
        ({"family": "Gogh", "given": "Vincent", "non-dropping-particle": "van"}, "Vincent van Gogh"),
        ({"family": "Goethe", "given": "J. W.", "dropping-particle": "von"}, "J. W. von Goethe"),
        ({"family": "King", "given": "Martin", "suffix": "Jr."}, "Martin King Jr."),
        ({"family": "García López", "given": "Ana"}, "García López, Ana"),
        ({"literal": "The Bee Group"}, "The Bee Group"),
    ],
)
def test_names_of_csl_json(read, parts: dict[str, str], author: str) -> None:
    item = {
        "id": "a",
        "type": "article-journal",
        "abstract": "They fly.",
        "author": [parts],
        "issued": {"date-parts": [[2021, 5]]},
        "container-title": "Bees",
        "DOI": "10.1000/B",
        "keyword": "bee; fly",
    }
    (paper,) = read(json.dumps([item]), "a.json").papers
    assert (paper.authors, paper.year, paper.venue) == ((author,), 2021, "Bees")
    assert (paper.doi, paper.keywords) == ("10.1000/b", ("bee", "fly"))
