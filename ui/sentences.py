"""The sentences of an answer as HTML: paragraphs and lists, citation numbers, marks for what was not found."""

from __future__ import annotations

import re
from itertools import groupby

from rag.answer import Answer, Citation, Sentence, Source, Verdict
from ui.render import Html, join, rich, tag

_LIST_MARK = re.compile(r"\n\s*(?:[-*•]|\d{1,2}[.)])\s+$")
_FLAGS = {
    Verdict.NOT_FOUND: ("not-found", "not found", "found in none of the retrieved abstracts"),
    Verdict.PARTLY: ("partly", "partly", "found in part: point at the mark to see which part is not"),
    Verdict.CONTRADICTED: ("contradicted", "contradicted", "an abstract says otherwise"),
}


def sentence_blocks(sentences: tuple[Sentence, ...], sources: tuple[Source, ...] = ()) -> Html:
    """Sentences as paragraphs and list items, the way their leads say."""
    titles = {source.paper.id: source.paper.label for source in sources}
    blocks: list[tuple[bool, list[Html]]] = []
    for sentence in sentences:
        item = bool(_LIST_MARK.search(f"\n{sentence.lead}" if not blocks else sentence.lead))
        if not blocks or item or "\n" in sentence.lead:
            blocks.append((item, []))
        blocks[-1][1].append(_sentence(sentence, titles))
    out: list[Html] = []
    for item, group in groupby(blocks, key=lambda block: block[0]):
        inner = [tag("li" if item else "p", _spaced(parts)) for _, parts in group]
        out.append(tag("ul", inner) if item else join(inner))
    return join(out)


def _spaced(parts: list[Html]) -> Html:
    return Html(" ".join(parts))


def _sentence(sentence: Sentence, titles: dict[str, str]) -> Html:
    by_number: dict[int, list[Citation]] = {}
    for citation in sentence.citations:
        by_number.setdefault(citation.number, []).append(citation)
    cites = [_cite(number, citations, titles) for number, citations in by_number.items()]
    flag = None
    if sentence.checking:
        flag = tag("span", "checking", class_="flag", role="note", aria_label="the sources are being read again")
    elif sentence.verdict in _FLAGS:
        _, label, meaning = _FLAGS[sentence.verdict]
        flag = tag(
            "span",
            label,
            tag(
                "span",
                tag("span", sentence.note or meaning.capitalize(), class_="card-note"),
                class_="card",
                hidden=True,
            ),
            class_="flag",
            tabindex=0,
            role="note",
            aria_label=f"{label}: {sentence.note or meaning}",
        )
    kind = _FLAGS[sentence.verdict][0] if sentence.verdict in _FLAGS else str(sentence.verdict.value)
    kind = "checking" if sentence.checking else kind
    return tag("span", tag("span", rich(sentence.text), class_="words"), cites, flag, class_=f"sentence {kind}")


def _cite(number: int, citations: list[Citation], titles: dict[str, str]) -> Html:
    title = titles.get(citations[0].paper_id, "")
    card = tag(
        "span",
        tag("span", rich(title), class_="card-title"),
        (tag("q", rich(citation.quote), class_="card-quote") for citation in citations),
        class_="card",
        hidden=True,
    )
    return tag(
        "a",
        str(number),
        card,
        class_="cite",
        href="#evidence",
        role="button",
        data_number=number,
        data_marks=" ".join(mark_name(citation) for citation in citations),
        aria_label=f"Source {number}{': ' if title else ''}{title[:200]}",
    )


def mark_name(citation: Citation) -> str:
    """How a cited span is called on the page; the same span of the same paper has the same name."""
    return f"{citation.number}-{citation.start}-{citation.end}"


def legend(answer: Answer) -> Html | None:
    seen = {sentence.verdict for sentence in answer.sentences}
    items = [
        tag("li", tag("span", label, class_=f"swatch {kind}"), f" {meaning}")
        for verdict, (kind, label, meaning) in _FLAGS.items()
        if verdict in seen
    ]
    return tag("ul", items, class_="legend", aria_label="What the marks mean") if items else None
