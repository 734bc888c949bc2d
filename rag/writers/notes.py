"""Markdown: the question, the answer with footnotes that quote the abstracts, and what its marks mean."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.answer import Answer, Sentence, Source, Verdict
from rag.readers.latex import MATH
from rag.writers.listing import cited, one_line

_MARKUP = re.compile(r"[\\`*_\[\]<>~$]|&(?=#?\w+;)|^(?=[#=+|:-])|^(\d{1,9})(?=[.)])", re.MULTILINE)
_MODELS_OWN = re.compile(r"\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*(?!\*)|`[^`\n]+`")  # bold and code, which models write
_END = ".!?。！？…"


def write(answers: Sequence[Answer]) -> str:
    """One section an answer; nothing in it changes from one export to the next."""
    several = len(answers) > 1
    sections = (_section(answer, f"{at}-" if several else "") for at, answer in enumerate(answers, 1))
    return "\n\n".join(sections) + "\n" * bool(answers)


def _section(answer: Answer, prefix: str) -> str:
    blocks = [f"## {escaped(one_line(answer.question)) or '(no question)'}"]
    if answer.standalone and one_line(answer.standalone) != one_line(answer.question):
        blocks.append(f"Searched for: {escaped(one_line(answer.standalone))}")
    if answer.refusal:
        blocks += [escaped(text) for text in (answer.refusal.message, answer.refusal.hint) if text]
    else:
        blocks.append("".join(one.lead + _sentence(one, prefix) for one in answer.sentences).strip())
        blocks += [*_legend(answer), *_doubts(answer)]
    blocks += [escaped(notice) for notice in answer.notices]
    blocks.append(f"*{_made_by(answer)}*")
    if not answer.refusal:
        blocks += [_footnote(answer, source, prefix) for source in cited(answer)]
    return "\n\n".join(block for block in blocks if block)


def _sentence(sentence: Sentence, prefix: str) -> str:
    numbers = dict.fromkeys(citation.number for citation in sentence.citations)
    marks = "".join(f"[^{prefix}{number}]" for number in numbers)
    sign = f" {escaped(sentence.verdict.sign)}" if sentence.verdict.sign else ""
    if not marks:
        return escaped(sentence.text, models_own=True) + sign
    stem = sentence.text.rstrip(_END)
    return f"{escaped(stem, models_own=True)}{marks}{sentence.text[len(stem) :]}{sign}"


def _legend(answer: Answer) -> list[str]:
    shown = [verdict for verdict in Verdict if verdict.sign and answer.count(verdict)]
    return [" · ".join(f"{escaped(verdict.sign)} {verdict.meaning}" for verdict in shown)] if shown else []


def _doubts(answer: Answer) -> list[str]:
    """What is wrong with the sentences that are marked, in the grounding's words."""
    doubtful = [one for one in answer.sentences if one.verdict.sign and one.note]
    return (
        [
            "\n".join(
                f"- {escaped(one.verdict.sign)} {escaped(one_line(one.text))} ({escaped(one.note)})" for one in doubtful
            )
        ]
        if doubtful
        else []
    )


def _made_by(answer: Answer) -> str:
    stated = len(answer.sentences) - answer.count(Verdict.META)
    parts = [f"No answer: {answer.refusal.reason.value}"] if answer.refusal else []
    if stated and not answer.refusal:
        located = answer.count(Verdict.SUPPORTED)
        papers = len(answer.cited)
        parts.append(
            f"{located} of {stated} sentence{'' if stated == 1 else 's'} located in "
            f"{papers} paper{'' if papers == 1 else 's'}"
        )
    parts += [f"written by {escaped(answer.model)}", f"checked by {escaped(answer.verifier)}"]
    return " · ".join((*parts, "stopped") if answer.stopped else parts)


def _footnote(answer: Answer, source: Source, prefix: str) -> str:
    quotes = dict.fromkeys(citation.quote for citation in answer.citations if citation.number == source.number)
    lines = [f"[^{prefix}{source.number}]: {_reference(source)}"]
    lines += [f"    > {escaped(one_line(quote))}" for quote in quotes]
    return "\n\n".join(lines)


def _reference(source: Source) -> str:
    """ "First author et al. Title. Venue, 2024. <https://…>" with what is known of the paper."""
    paper = source.paper
    authors = f"{paper.authors[0]}{' et al.' if len(paper.authors) > 1 else ''}" if paper.authors else ""
    place = ", ".join(part for part in (paper.venue, str(paper.year or "")) if part)
    if paper.venue and paper.year and str(paper.year) in paper.venue:
        place = paper.venue
    address = paper.url or (f"https://doi.org/{paper.doi}" if paper.doi else "")
    parts = [f"{escaped(one_line(part).rstrip('.'))}." for part in (authors, paper.label, place) if part]
    return " ".join((*parts, _link(address)) if address else parts)


def _link(address: str) -> str:
    return f"<{address}>" if re.fullmatch(r"https?://[^\s<>]+", address) else escaped(address)


def escaped(text: str, *, models_own: bool = False) -> str:
    """`text` so that Markdown shows it as it stands; formulas stay formulas.

    With `models_own`, paired ** and backticks stay what they are.
    """
    kept = re.compile(f"{MATH.pattern}|{_MODELS_OWN.pattern}", MATH.flags) if models_own else MATH
    parts: list[str] = []
    at = 0
    for match in kept.finditer(text):
        parts += _plain(text[at : match.start()], at == 0), match.group()
        at = match.end()
    return "".join((*parts, _plain(text[at:], at == 0)))


def _plain(text: str, first: bool) -> str:
    def sign(match: re.Match[str]) -> str:
        if match.group(1):
            return f"{match.group(1)}\\" if first or match.start() else match.group()
        if match.group():
            return f"\\{match.group()}"
        return "\\" if first or match.start() else ""

    return _MARKUP.sub(sign, text)
