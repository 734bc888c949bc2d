"""When two records are one paper, and what the one paper then is."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from rag.papers import Paper, normal_text

_ALIKE = 0.85  # share of common words, of the longer text
_CUT_OFF_WORDS = 20  # a text this long that starts the other is the same one, cut off


def same_paper(a: Paper, b: Paper) -> bool:
    """The same id or DOI in any spelling, or the same title (or none known) and a near-identical abstract.

    Two different ids of one registry are two papers, whatever they say, unless one is a preprint's DOI.
    """
    if a.id == b.id or (a.doi and a.doi == b.doi):
        return True
    kind = a.id.partition(":")[0]
    if kind != "hash" and kind == b.id.partition(":")[0] and not _preprint(a.doi, b.doi):
        return False
    titles = normal_text(a.title), normal_text(b.title)
    return (titles[0] == titles[1] or "" in titles) and near_identical(a.abstract, b.abstract)


def near_identical(a: str, b: str) -> bool:
    """Whether two abstracts differ only in spelling, marks or a few words, or one is the other cut off."""
    first, second = normal_text(a).split(), normal_text(b).split()
    if first == second:
        return True
    shorter, longer = sorted((first, second), key=len)
    if len(shorter) >= _CUT_OFF_WORDS and longer[: len(shorter) - 1] == shorter[:-1]:
        return True
    common = (Counter(first) & Counter(second)).total()
    return common >= _ALIKE * len(longer) > 0


def merge(a: Paper, b: Paper) -> Paper:
    """One paper of two records of it: `a` with the longer abstract of both and its empty fields filled from `b`.

    The id is that of the better known one: a DOI before other ids, a hash last.
    """
    doi = a.doi or b.doi
    return replace(
        a,
        abstract=max(a.abstract, b.abstract, key=len),
        title=a.title or b.title,
        authors=a.authors or b.authors,
        year=a.year if a.year is not None else b.year,
        venue=a.venue or b.venue,
        url=a.url or b.url,
        doi=doi,
        keywords=a.keywords or b.keywords,
        id=min((a.id, b.id), key=_id_rank),
    )


def _id_rank(paper_id: str) -> int:
    kinds = ("doi", "openreview", "arxiv", "pmid")
    kind = paper_id.partition(":")[0]
    return kinds.index(kind) if kind in kinds else len(kinds) + (kind == "hash")


def _preprint(*dois: str) -> bool:
    """Whether one of the DOIs is a preprint server's, so that the other may be the published paper's."""
    return any(
        doi.startswith(("10.48550/arxiv.", "10.1101/", "10.21203/", "10.26434/", "10.2139/ssrn")) for doi in dois
    )
