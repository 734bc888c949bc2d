"""JSON: the answer with its checked sentences and its papers, or CSL-JSON for reference managers and pandoc."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from rag.answer import Answer, Citation
from rag.names import split_name
from rag.papers import Paper
from rag.writers.listing import citation_keys, cited, in_proceedings, one_line, papers_of, untitled


def write(answers: Sequence[Answer]) -> str:
    """One answer: its fields and `papers`, each with its number and key. Several: `answers` and all their `papers`."""
    papers = papers_of(answers)
    keys = citation_keys(papers)
    if len(answers) != 1:
        listed = [{"key": keys[paper.id], **asdict(paper)} for paper in papers]
        return _dumped({"answers": [_answer(answer, keys) for answer in answers], "papers": listed})
    numbered = [
        {"number": source.number, "key": keys[source.paper.id], **asdict(source.paper)} for source in cited(answers[0])
    ]
    return _dumped({**_answer(answers[0], keys), "papers": numbered})


def write_csl(answers: Sequence[Answer]) -> str:
    """A list of items in the order of the answer's numbers."""
    papers = papers_of(answers)
    keys = citation_keys(papers)
    return _dumped([_item(paper, keys[paper.id]) for paper in papers])


def _answer(answer: Answer, keys: dict[str, str]) -> dict[str, object]:
    def citation(one: Citation) -> dict[str, object]:
        place = {"start": one.start, "end": one.end, "quote": one.quote, "score": one.score}
        return {"number": one.number, "key": keys.get(one.paper_id, ""), **place}

    sentences = [
        {
            "sentence": sentence.text,
            "verdict": sentence.verdict.value,
            "note": sentence.note,
            "citations": [citation(one) for one in sentence.citations],
        }
        for sentence in answer.sentences
    ]
    return {
        "question": answer.question,
        "standalone": answer.standalone,
        "answer": answer.text,
        "refusal": answer.refusal and asdict(answer.refusal),
        "model": answer.model,
        "verifier": answer.verifier,
        "policy": answer.policy,
        "notices": answer.notices,
        "sentences": sentences,
    }


def _item(paper: Paper, key: str) -> dict[str, object]:
    kind = "article" if not paper.venue else "paper-conference" if in_proceedings(paper) else "article-journal"
    item: dict[str, object] = {
        "id": key,
        "type": kind,
        "title": paper.title,
        "author": [_author(author) for author in paper.authors],
        "issued": {"date-parts": [[paper.year]]} if paper.year else None,
        "container-title": paper.venue,
        "DOI": paper.doi,
        "URL": paper.url,
        "keyword": "".join(f"{keyword.replace(';', ',')}; " for keyword in paper.keywords).strip(),
        "abstract": paper.abstract,
        "note": one_line(untitled(paper)),
    }
    return {name: value for name, value in item.items() if value}


def _author(author: str) -> dict[str, str]:
    name = split_name(author)
    parts = {
        "family": name.family,
        "given": name.given,
        "dropping-particle": name.dropping,
        "non-dropping-particle": name.particle,
        "suffix": name.suffix,
        "literal": name.literal,
    }
    return {part: value for part, value in parts.items() if value}


def _dumped(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
