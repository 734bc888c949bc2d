"""Search by words in the catalogue's FTS5 index, and how rare words are in it."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any

from rag.catalogue import Catalogue
from rag.language.stopwords import ASKING_CJK
from rag.text import has_cjk, informative, stems, tokens

_TITLE_WEIGHT = 2.0
_TRIGRAM = 3
_MOST_TERMS = 64  # of a question; beyond it, the rarest are kept
_MOST_ROWS = 12_000  # entries of the index that one search reads; words that are nearly everywhere tell little


class FullText:
    """The full-text side of one catalogue connection."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def search(
        self, question: str, frequency: Mapping[str, int], count: int, allowed: Mapping[str, Any] | None = None
    ) -> dict[str, float]:
        """Paper id → BM25 score (positive, higher is better) of the `count` best, limited to `allowed`.

        `frequency` holds the stems to search for (see `frequency`).
        """
        found: dict[str, float] = {}
        if expression := match_expression(question, frequency):
            found = self._matches("fulltext", f"bm25(fulltext, {_TITLE_WEIGHT}, 1.0)", expression, count, allowed)
        if has_cjk(question):
            for paper, score in self._search_cjk(question, count, allowed).items():
                found[paper] = found.get(paper, 0.0) + score
        return dict(sorted(found.items(), key=lambda item: -item[1])[:count])

    def frequency(self, words: Iterable[str]) -> dict[str, int]:
        """In how many papers each stem occurs, in the order given; 0 for those that none has."""
        wanted = list(dict.fromkeys(words))
        rows = self._catalogue.select(
            "SELECT term, doc FROM vocabulary WHERE term IN (SELECT value FROM json_each(?))", [json.dumps(wanted)]
        )
        found = dict(rows)
        return {word: found.get(word, 0) for word in wanted}

    def holding(self, words: str, most: int) -> list[str]:
        """The ids of up to `most` papers that have all the informative words, in any order and form."""
        wanted = set(informative(words))
        found = [token.text for token in tokens(words) if wanted.intersection(stems(token.text))]
        phrases = [_phrase(text) for text in found if not has_cjk(text)]
        if not phrases:
            return []
        rows = self._catalogue.select(
            "SELECT papers.id FROM fulltext JOIN papers ON papers.n = fulltext.rowid WHERE fulltext MATCH ? LIMIT ?",
            [" AND ".join(phrases), most],
        )
        return [paper for (paper,) in rows]

    def stems_beside(self, stem: str) -> list[str]:
        """The stems in the index that begin with the same letter and are about as long (two letters more or less)."""
        rows = self._catalogue.select(
            "SELECT term FROM vocabulary WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?",
            [stem[0], chr(ord(stem[0]) + 1), len(stem) - 2, len(stem) + 2],
        )
        return [term for (term,) in rows]

    def texts_with(self, stem: str, most: int) -> list[str]:
        """Titles and abstracts of up to `most` papers with a word that begins as the stem does."""
        rows = self._catalogue.select(
            "SELECT title || char(10) || abstract FROM papers WHERE n IN"
            " (SELECT rowid FROM fulltext WHERE fulltext MATCH ? LIMIT ?)",
            [f"{_phrase(stem)} *", most],  # by its beginning: the index would cut a stem once more
        )
        return [text for (text,) in rows]

    def _search_cjk(self, question: str, count: int, allowed: Mapping[str, Any] | None) -> dict[str, float]:
        """Runs of Chinese, Japanese or Korean, less what only asks, by trigrams; a run of two characters by a scan."""
        content = ASKING_CJK.sub(" ", unicodedata.normalize("NFKC", question))
        runs = [token.text for token in tokens(content) if has_cjk(token.text)]
        grams = {run[i : i + _TRIGRAM] for run in runs for i in range(max(0, len(run) - _TRIGRAM + 1))}
        found: dict[str, float] = {}
        if grams:
            expression = " OR ".join(f'"{gram}"' for gram in sorted(grams))
            found = self._matches("fulltext_cjk", "bm25(fulltext_cjk)", expression, count, allowed)
        for run in (run for run in runs if len(run) == _TRIGRAM - 1):
            rows = self._catalogue.select(
                "SELECT papers.id FROM fulltext_cjk JOIN papers ON papers.n = fulltext_cjk.rowid"
                " WHERE instr(body, ?) LIMIT ?",
                [run, count],
            )
            for (paper,) in rows:
                if allowed is None or paper in allowed:
                    found[paper] = found.get(paper, 0.0) + 1.0
        return found

    def _matches(
        self, table: str, rank: str, expression: str, count: int, allowed: Mapping[str, Any] | None
    ) -> dict[str, float]:
        narrowed, arguments = "", [expression]
        if allowed is not None:
            narrowed = "AND papers.id IN (SELECT value FROM json_each(?))"
            arguments.append(json.dumps(list(allowed)))
        rows = self._catalogue.select(
            f"SELECT papers.id, -{rank} AS score FROM {table} JOIN papers ON papers.n = {table}.rowid"
            f" WHERE {table} MATCH ? {narrowed} ORDER BY score DESC LIMIT {int(count)}",
            arguments,
        )
        return {paper: float(score) for paper, score in rows}


def rarity(frequency: Mapping[str, int], total: int) -> dict[str, float]:
    """Inverse document frequency of stems among `total` papers, ln(1 + (N - n + 0.5) / (n + 0.5)): that of BM25
    (Robertson & Zaragoza 2009) kept from being negative. A word that no paper has gets the largest."""
    return {word: math.log1p((total - min(total, papers) + 0.5) / (papers + 0.5)) for word, papers in frequency.items()}


def match_expression(question: str, frequency: Mapping[str, int]) -> str:
    """The question in FTS5's language: its informative words joined by OR, the rarest first; IL-6 and the like as
    phrases.

    In a large library the commonest words are left out, though never the rarest that occurs: ranking every paper that
    has one of them would take longer than all the rest of a search.
    """
    phrases: dict[str, int] = {}
    for token in tokens(unicodedata.normalize("NFKC", question)):
        parts = [part for part in stems(token.text) if part in frequency]
        if parts and not has_cjk(token.text):
            phrases[_phrase(token.text)] = min(frequency[part] for part in parts)
    rarest = sorted(phrases, key=lambda phrase: phrases[phrase])[:_MOST_TERMS]
    rows = accumulate(phrases[phrase] for phrase in rarest)
    return " OR ".join(
        phrase for phrase, read in zip(rarest, rows, strict=True) if read <= max(_MOST_ROWS, phrases[phrase])
    )


def _phrase(text: str) -> str:
    return '"' + text.replace('"', " ") + '"'
