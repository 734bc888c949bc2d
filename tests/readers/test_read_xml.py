"""PubMed XML and arXiv Atom: nested markup, labelled sections, broken files, hostile files."""

from __future__ import annotations

import pytest

from rag.errors import InputError
from rag.papers import Paper
from rag.readers.xmlstream import root_of

ARTICLE = """<PubmedArticle>
  <MedlineCitation><PMID Version="1">{pmid}</PMID>
    <Article>
      <Journal><Title>Bee days</Title>
      <JournalIssue><PubDate><Year>2024</Year><Month>May</Month></PubDate></JournalIssue></Journal>
      <ArticleTitle>Bees &amp; <i>Apis</i></ArticleTitle>
      <ELocationID EIdType="pii">x</ELocationID><ELocationID EIdType="doi">10.1000/{pmid}</ELocationID>
      {abstract}
      <AuthorList><Author><LastName>Lee</LastName><ForeName>Ann</ForeName></Author>
        <Author><CollectiveName>Bee Group</CollectiveName></Author></AuthorList>
    </Article>
    <KeywordList><Keyword>bee</Keyword><Keyword>light</Keyword></KeywordList>
  </MedlineCitation>
  <PubmedData><ReferenceList><Reference><ArticleIdList>
  <ArticleId IdType="doi">10.1000/no</ArticleId></ArticleIdList></Reference>
  </ReferenceList></PubmedData>
</PubmedArticle>
"""
ABSTRACT = (
    '<Abstract><AbstractText Label="AIM">To see CO<sub>2</sub>.</AbstractText>'
    '<AbstractText Label="RESULT">10<sup>5</sup> bees, p &lt; 0.05.</AbstractText></Abstract>'
)
HEAD = (
    '<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2024//EN" '
    '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_240101.dtd">\n<PubmedArticleSet>\n'
)


def pubmed(*articles: str, end: str = "</PubmedArticleSet>") -> str:
    return HEAD + "".join(articles) + end


def test_pubmed(read) -> None:
    result = read(pubmed(ARTICLE.format(pmid=1, abstract=ABSTRACT)), "a.xml")
    assert result.papers == [
        Paper(
            title="Bees & Apis",
            abstract="AIM: To see CO2.\nRESULT: 10^5 bees, p < 0.05.",
            authors=("Ann Lee", "Bee Group"),
            year=2024,
            venue="Bee days",
            doi="10.1000/1",
            url="https://pubmed.ncbi.nlm.nih.gov/1/",
            keywords=("bee", "light"),
        )
    ]


def test_articles_without_abstract_are_reported_by_line(read) -> None:
    plain = "<Abstract><AbstractText>They fly.</AbstractText></Abstract>"
    result = read(pubmed(ARTICLE.format(pmid=1, abstract=""), ARTICLE.format(pmid=2, abstract=plain)), "a.xml")
    assert result.abstracts == ["They fly."]
    assert result.skips == [(4, "no abstract (Bees & Apis)")]


def test_book(read) -> None:
    content = (
        "<PubmedArticleSet><PubmedBookArticle><BookDocument><PMID>7</PMID><Book><BookTitle>Hives</BookTitle><PubDate>"
        "<Year>2020</Year></PubDate></Book><ArticleTitle>Bees</ArticleTitle><Abstract><AbstractText>They fly."
        "</AbstractText></Abstract></BookDocument></PubmedBookArticle></PubmedArticleSet>"
    )
    (paper,) = read(content, "a.xml").papers
    assert (paper.title, paper.venue, paper.year, paper.id) == ("Bees", "Hives", 2020, "pmid:7")


@pytest.mark.parametrize(("before", "papers"), [(0, None), (2, 2)])
def test_cut_off(read, before: int, papers: int | None) -> None:
    whole = "".join(ARTICLE.format(pmid=n, abstract=ABSTRACT) for n in range(before))
    content = pubmed(whole, '<PubmedArticle><MedlineCitation><PMID Version="1">9', end="")
    if papers is None:
        with pytest.raises(InputError, match="broken or cut off"):
            read(content, "a.xml")
    else:
        result = read(content, "a.xml")
        assert len(result.papers) == papers
        assert "cut off" in result.skips[0][1]


ENTRY = """<entry>
    <id>http://arxiv.org/abs/2401.0{n}v2</id>
    <published>2024-01-03T00:00:00Z</published><updated>2025-01-01T00:00:00Z</updated>
    <title>Bees of
      $\\alpha$ kind</title>
    <summary>  They fly.
And home.
</summary>
    <author><name>Ann Lee</name><arxiv:affiliation>X</arxiv:affiliation></author><author><name>Bo Li</name></author>
    <link href="http://arxiv.org/abs/2401.0{n}v2" rel="alternate" type="text/html"/>
    <category term="cs.CL"/>
  </entry>
"""
FEED = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom" '
    'xmlns:arxiv="http://arxiv.org/schemas/atom">\n  <title>ArXiv Query</title>\n'
)


def test_atom(read) -> None:
    result = read(FEED + ENTRY.format(n="1234") + ENTRY.format(n="1235") + "</feed>", "a.xml")
    assert result.papers[0] == Paper(
        title="Bees of α kind",
        abstract="They fly.\nAnd home.",
        authors=("Ann Lee", "Bo Li"),
        year=2024,
        venue="arXiv",
        url="http://arxiv.org/abs/2401.01234v2",
        keywords=("cs.CL",),
    )
    assert [paper.id for paper in result.papers] == ["arxiv:2401.01234", "arxiv:2401.01235"]


def test_atom_error_of_the_server(read) -> None:
    error = "<entry><id>http://arxiv.org/api/errors#x</id><title>Error</title><summary>incorrect id</summary></entry>"
    assert read(FEED + error + "</feed>", "a.xml").skips == [(4, "the server's error: incorrect id")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("<html><body>x</body></html>", "web page", id="web page"),
        pytest.param("<!DOCTYPE html>\n<html>", "web page", id="web page with a doctype"),
        pytest.param("<?xml version='1.0'?><!-- a --><records/>", "unknown kind .<records>", id="other XML"),
        pytest.param(
            '<!DOCTYPE feed [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><feed><entry><summary>&b;</summary></entry></feed>',
            "defines entities",
            id="entities",
        ),
        pytest.param(
            '<!DOCTYPE feed [<!ENTITY a SYSTEM "file:///etc/hostname">]><feed><entry>&a;</entry></feed>',
            "refused",
            id="file",
        ),
        pytest.param("<feed>" + "<a>" * 100_000, "nested", id="deep"),
    ],
)
def test_refused(read, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(content, "a.xml")


@pytest.mark.parametrize(
    "text", ["They\x0b fly.", "They&#11; fly.", "They&nbsp;fly.", "<![CDATA[They fly.]]>", "They fly.&#xA0;"]
)
def test_what_xml_forbids_and_exports_hold(read, text: str) -> None:
    (abstract,) = read(f"<feed><entry><summary>{text}</summary></entry></feed>", "a.xml").abstracts
    assert abstract.replace("\xa0", " ") == "They fly."


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1251"])
def test_declared_encoding(read, encoding: str) -> None:
    word = "Жук" if encoding == "windows-1251" else "Müller"
    content = (
        f'<?xml version="1.0" encoding="{encoding}"?>\n<feed><entry><summary>{word} flies.</summary></entry></feed>'
    )
    assert read(content.encode(encoding), "a.xml").abstracts == [f"{word} flies."]


@pytest.mark.parametrize(
    ("prolog", "root"),
    [
        ("", "feed"),
        ("<?xml version='1.0'?>\n<!-- <other> -->\n", "feed"),
        ('<!DOCTYPE feed PUBLIC "-//X//EN" "http://x.org/x.dtd">', "feed"),
        ('<!DOCTYPE feed [<!ELEMENT a (b)>\n<!ELEMENT b (c)>] >\n<?xsl a="b"?>', "feed"),
        ("<!-- never closed ", ""),
        ("<?xml ", ""),
    ],
)
def test_root(prolog: str, root: str) -> None:
    assert root_of(f"{prolog}<a:feed x='1'>") == root
