"""Answers as files: Markdown with its sources, BibTeX and RIS of the papers they cite."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from rag.answer import Answer
from rag.papers import Paper
from ui.turns import reference, status_line

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "$": r"\$",
}  # fmt: skip
_STEM_WORDS = {"the", "a", "an", "on", "of", "in", "for", "to", "and", "with", "from", "towards", "toward"}


def export_turns(answers: Sequence[Answer], form: str) -> dict[str, str]:
    """A file of one answer or of several: `{name, type, text}`; `form` is markdown, bibtex or ris."""
    stem = file_stem(answers[0].question if answers else "")
    papers = list({source.paper.id: source.paper for answer in answers for source in answer.cited}.values())
    if form == "bibtex":
        return {"name": f"{stem}.bib", "type": "application/x-bibtex", "text": bibtex(papers)}
    if form == "ris":
        return {"name": f"{stem}.ris", "type": "application/x-research-info-systems", "text": ris(papers)}
    return {"name": f"{stem}.md", "type": "text/markdown", "text": "\n\n".join(markdown(one) for one in answers) + "\n"}


def file_stem(question: str) -> str:
    """A short file name made of the question's words."""
    folded = unicodedata.normalize("NFKD", question).encode("ascii", "ignore").decode()
    return "-".join(re.findall(r"[a-z0-9]+", folded.lower())[:8])[:60] or "answer"


def markdown(answer: Answer) -> str:
    """Question, answer with its markers, status, and each cited paper with the sentences it was cited for."""
    lines = [f"## {' '.join(answer.question.split())}", "", answer.text, "", f"*{status_line(answer)}*"]
    for source in answer.cited:
        lines += ["", f"[{source.number}] {reference(source)}"]
        quotes = dict.fromkeys(c.quote for c in answer.citations if c.number == source.number)
        lines += [f"> {' '.join(quote.split())}" for quote in quotes]
    marked = [s for s in answer.sentences if not s.citations and s.verdict.value in ("not found", "contradicted")]
    if marked:
        lines += [
            "",
            "Not borne out by these abstracts:",
            *(f"- {s.text} ({s.note or s.verdict.value})" for s in marked),
        ]
    return "\n".join(lines)


def bibtex(papers: Sequence[Paper]) -> str:
    """An entry for each paper, with unique keys."""
    keys: dict[str, int] = {}
    entries = []
    for paper in papers:
        key = _key(paper)
        keys[key] = keys.get(key, 0) + 1
        unique = key if keys[key] == 1 else f"{key}{chr(95 + keys[key])}" if keys[key] < 28 else f"{key}{keys[key]}"
        fields = {
            "title": f"{{{_latex(paper.label)}}}",
            "author": " and ".join(_latex(author) for author in paper.authors),
            "year": str(paper.year or ""),
            "booktitle": _latex(paper.venue),
            "doi": paper.doi,
            "url": paper.url,
            "abstract": _latex(paper.abstract),
            "keywords": _latex(", ".join(paper.keywords)),
        }
        body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value.strip("{}"))
        entries.append(f"@{'inproceedings' if paper.venue else 'misc'}{{{unique},\n{body}\n}}")
    return "\n\n".join(entries) + "\n"


def ris(papers: Sequence[Paper]) -> str:
    """A record for each paper; line breaks within a field become spaces."""
    records = []
    for paper in papers:
        rows = [("TY", "CPAPER" if paper.venue else "GEN"), ("TI", paper.label)]
        rows += [("AU", author) for author in paper.authors]
        rows += [("PY", str(paper.year or "")), ("T2", paper.venue), ("DO", paper.doi), ("UR", paper.url)]
        rows += [("AB", paper.abstract), *(("KW", word) for word in paper.keywords)]
        lines = [f"{name}  - {' '.join(value.split())}" for name, value in rows if value.strip()]
        records.append("\r\n".join([*lines, "ER  - "]))
    return "\r\n\r\n".join(records) + "\r\n"


def _key(paper: Paper) -> str:
    """ "ortiz2024cataract": first author's last name, year, first word that says something."""
    last = paper.authors[0].replace(",", " ").split() if paper.authors else []
    who = (last[0] if paper.authors and "," in paper.authors[0] else last[-1]) if last else "anon"
    words = [word for word in re.findall(r"\w+", _plain(paper.label)) if word not in _STEM_WORDS]
    return f"{re.sub(r'[^a-z0-9]', '', _plain(who)) or 'anon'}{paper.year or ''}{words[0] if words else ''}"


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()


def _latex(text: str) -> str:
    """Text for a BibTeX value. Markup that the source has stays as it is if its braces close."""
    if "\\" in text or "$" in text:
        depth = 0
        for sign in re.sub(r"\\[{}]", "", text):
            depth += {"{": 1, "}": -1}.get(sign, 0)
            if depth < 0:
                break
        if depth == 0:
            return re.sub(r"(?<!\\)([&%#])", r"\\\1", text)
    return "".join(_SPECIAL.get(sign, sign) for sign in text)
