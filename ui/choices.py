"""What can be chosen from: models that are there, sources of the store, example questions from its papers."""

from __future__ import annotations

import random
import re
from itertools import chain, zip_longest

from rag.errors import RagError
from rag.generation.providers import list_models
from rag.papers import Paper
from rag.settings import Settings
from ui.engines import Engines
from ui.tables import source_name

EXAMPLES = 4
_ASKING = re.compile(r"(?:how|why|what|when|where|which|who|can|do|does|is|are|should)\b", re.IGNORECASE)


def model_choices(settings: Settings) -> list[tuple[str, str]]:
    """(label, value) of the models a question can be answered with; "" is what the settings say."""
    configured = f"As configured ({settings.llm})"
    named = [(name, name) for name in list_models(settings) if name != "extractive"]
    return [(configured, ""), *named, ("Extractive: quotes, no model", "extractive")]


def source_choices(engines: Engines) -> list[tuple[str, str]]:
    """(label, value) of the store's sources; "" is any of them."""
    try:
        return [("Any", ""), *((source_name(one.name), one.name) for one in engines.get().store.sources())]
    except RagError:
        return [("Any", "")]


def example_questions(engines: Engines) -> list[str]:
    """A few questions that papers of the corpus in use can answer; the same ones until the corpus changes."""
    try:
        catalogue = engines.get().store.catalogue
        count = catalogue.count()
        last = catalogue.select("SELECT max(n) FROM papers")[0][0]
        if not count:
            return []
        drawn = random.Random(count).sample(range(1, last + 1), min(12 * EXAMPLES, last))
        ids = catalogue.select(f"SELECT id FROM papers WHERE n IN ({','.join(map(str, drawn))})")
        papers = [paper for (paper_id,) in ids if (paper := catalogue.paper(paper_id))]
    except RagError:
        return []
    questions = sorted({question for paper in papers if (question := question_about(paper))}, key=len)
    by_opening: dict[str, list[str]] = {}
    for question in questions:
        by_opening.setdefault(" ".join(question.split()[:2]), []).append(question)
    mixed = chain.from_iterable(zip_longest(*by_opening.values()))
    return [question for question in mixed if question][:EXAMPLES]


def question_about(paper: Paper) -> str:
    """A question that this paper answers, made of its title; "" where the title gives none."""
    title = paper.title.strip().rstrip(".")
    if not 8 <= len(title) <= 110 or "$" in title or "\\" in title:
        return ""
    name, colon, rest = (part.strip() for part in title.partition(":"))
    if title.endswith("?"):
        return title.rpartition(":")[2].strip() if colon else title
    if colon and len(name.split()) <= 2 and not _ASKING.match(name):
        return f"What is {name}, and what does it do?"
    if colon and _ASKING.match(rest):
        return f"What is known about {rest[0].lower()}{rest[1:]}?"
    topic = rest if colon and len(rest.split()) > 2 else title
    topic = topic if topic[:2].isupper() or topic[1:2].isupper() else topic[0].lower() + topic[1:]
    return f"What is known about {topic}?"
