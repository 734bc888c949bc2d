"""Names as the papers spell them, in a question that was typed in small letters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rag.language.stopwords import ENGLISH
from rag.papers import Paper
from rag.text import tokens


def respelled(question: str, papers: Iterable[Paper]) -> str:
    """The question with each small word that these papers only have as a name ("hipo") spelled as they do ("HiPO").

    Whether a question can be answered, and from where, hangs on its names, and capitals are what tells a name.
    """
    small = {word.text for word in tokens(question) if word.text.islower()} - ENGLISH
    if not small:
        return question
    spellings: dict[str, Counter[str]] = {word: Counter() for word in small}
    for paper in papers:
        for word in tokens(f"{paper.title}\n{paper.abstract}"):
            if (counted := spellings.get(word.text.lower())) is not None:
                counted[word.text] += 1
    names = {
        word: counted.most_common(1)[0][0]
        for word, counted in spellings.items()
        if counted and all(any(map(str.isupper, one[1:])) for one in counted)
    }
    for word in reversed(tokens(question)):
        if name := names.get(word.text):
            question = f"{question[: word.start]}{name}{question[word.end :]}"
    return question
