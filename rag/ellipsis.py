"""A question that only names another thing: what was asked before, asked of that thing instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Protocol

from rag.followup import is_clause
from rag.subject import subject_of
from rag.text import informative, named_terms, stems, tokens

OPENING: Final = re.compile(
    r"^\W*(?:(?:and|but|or|so|then|und|aber|et|mais|y|e)\s+)?(?:(?:what|how)\s+)?about\s+"
    r"|^\W*(?:and|but|or|und|aber|oder|et|mais|ou|y|e)\s+|^\W*(?:那么?|那麼|换成|還有|还有)\s*",
    re.IGNORECASE,
)
_PREPOSITION = r"(?:on|in|for|with|without|at|by|under|against|over|than|from|to|of|among|during|within|after|before)"
_SETTING = re.compile(rf"(?:(?:those|the ones|patients|people)\s+)?({_PREPOSITION})\s+", re.IGNORECASE)
_PHRASE = re.compile(
    rf"\b(?P<preposition>{_PREPOSITION})\s+(?:(?:the|an?)\s+)?(?P<what>[^\s,;:?？!][^,;:?？!]*?)"
    rf"(?=\s+(?:{_PREPOSITION}|and|or|as|when|while|if|but)\b|[,;:?？!]|\.?\s*\Z)",
    re.IGNORECASE,
)
_OPPOSITE: Final = {"with": "without", "without": "with"}
_ARTICLE = re.compile(r"\A(?:the|an?)\s+", re.IGNORECASE)
_A_NUMBER = re.compile(r"\d|(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|half|twice)\b", re.IGNORECASE)
_ONES = re.compile(r"(?<=\w )ones?\Z", re.IGNORECASE)
_ASKS = re.compile(r"(?:what|which|who|whom|whose|how|why|general|particular|fact|short)\b", re.IGNORECASE)
_CLOSING = re.compile(r"\s*呢?\s*[?？!.。]*\s*$")
_LONGEST: Final = 4  # words of a setting that another can take the place of
_MOST = 3  # content words of a thing's name with what describes it ("the larger LLaMA model")


class Shelf(Protocol):
    """What the papers hold, for questions whose words alone leave open what they are about."""

    def holds(self, words: str) -> bool:
        """Whether one paper has all these words."""
        ...

    def is_own(self, name: str) -> bool:
        """Whether a paper introduces what bears this name, or has it in its title."""
        ...


def asked_of_another(question: str, topic: Sequence[str], shelf: Shelf | None = None) -> list[str]:
    """The questions of a topic, the last of them asked of what `question` names ("How about TNT?", "and on QM9?").

    Empty where it names nothing, or there is nothing to put it in place of. That is the name in the same place: after
    the same preposition (also what is no name: "and in mice?"), else one that shares a part, else the first that stands
    after none, or the thing that was only asked for; where the last question has none ("How valid are they on QM9?"),
    that of a question before it. A shelf knows better: what a paper introduces takes the place of what one introduces,
    anything else of something else ("and MATH?" asks of another benchmark, not of another method), and a setting goes
    with the old name where no paper has it together with the new one.
    """
    opening = OPENING.match(question)
    rest = _CLOSING.sub("", question[opening.end() :] if opening else question.lstrip())
    setting = _SETTING.match(rest)
    if not topic or (opening is None and setting is None):
        return []
    thing = rest[setting.end() :] if setting else rest
    if is_clause(thing) or sum(map(str.isalpha, informative(thing))) > _MOST:
        return []
    if setting:
        return [*topic[:-1], changed] if (changed := _set(topic[-1], setting[1].lower(), thing)) else []
    for index in range(len(topic) - 1, -1, -1):
        if changed := _swapped(topic[index], thing, shelf):
            return [*topic[:index], changed, *topic[index + 1 :]]
    return []


def _set(before: str, preposition: str, thing: str) -> str:
    """The question with another setting: in place of the one after the same preposition, or added. A name takes the
    place of a name, a number that of a number ("and with 8?"), other words that of other words."""
    if not informative(thing) or _ASKS.match(thing):
        return ""
    bare = _ARTICLE.sub("", thing)
    named, number = bool(_names(thing, capitals=True)), _A_NUMBER.match(bare) is not None
    if named and (place := next((span for span in _names(before) if _preceded(before, span[0], preposition)), None)):
        return f"{before[: place[0]]}{thing}{before[place[1] :]}"
    alike = {preposition, _OPPOSITE.get(preposition)}
    phrases = [
        phrase
        for phrase in _PHRASE.finditer(before)
        if phrase["preposition"].lower() in alike
        and (_A_NUMBER.match(phrase["what"]) is not None) is number
        and bool(_names(phrase["what"], capitals=True)) is named
        and len(phrase["what"].split()) <= _LONGEST
    ]
    if not phrases:
        return f"{before.rstrip(' ?？.!')} {preposition} {thing}?"
    first, _, rest = phrases[-1]["what"].partition(" ")
    if number and " " not in bare:
        thing = f"{thing} {rest}".rstrip()  # "16 steps" → "8 steps"
    thing = _ONES.sub(rest.split()[-1] if rest else first, thing)
    return f"{before[: phrases[-1].start()]}{preposition} {thing}{before[phrases[-1].end() :]}"


def _swapped(before: str, thing: str, shelf: Shelf | None) -> str:
    """The question with `thing` in the place of the likeliest of its names; "" where it has none."""
    spans = _names(before)
    if not spans and (subject := subject_of(before)) is not None and _names(thing, capitals=True):
        return before.replace(subject.thing, thing)
    new = [thing[start:end] for start, end in _names(thing, capitals=True)]
    if not new or {before[start:end].casefold() for start, end in spans}.issuperset(map(str.casefold, new)):
        return ""
    parts = {part for name in new for part in stems(name) if part.isalpha()}
    alike = [span for span in spans if parts.intersection(stems(before[span[0] : span[1]]))]
    free = [span for span in spans if not _is_setting(before, span[0])]
    places = [*alike, *free]
    if shelf is not None and not alike and shelf.holds(new[0]):
        own = shelf.is_own(new[0])
        places = [span for span in spans if shelf.is_own(before[span[0] : span[1]]) is own] or free
    if not places:
        return ""
    start, end = places[0]
    changed = f"{before[:start]}{thing}{before[end:]}"
    return changed if shelf is None else _without_strange_settings(changed, start + len(thing), new[0], shelf)


def _without_strange_settings(question: str, after: int, name: str, shelf: Shelf) -> str:
    """Without the settings behind `after` that no paper has together with `name`, where papers have it at all."""
    if not shelf.holds(name):
        return question
    for start, end in reversed(_names(question)):
        if start >= after and _is_setting(question, start) and not shelf.holds(f"{name} {question[start:end]}"):
            opened = re.search(rf"\s*\b{_SETTING.pattern}(?:the\s+)?\Z", question[:start], re.IGNORECASE)
            question = question[: opened.start() if opened else start] + question[end:]
    return question


def _is_setting(text: str, at: int) -> bool:
    return re.search(rf"\b{_SETTING.pattern}\Z", text[:at], re.IGNORECASE) is not None


def _preceded(text: str, at: int, preposition: str) -> bool:
    return re.search(rf"\b{preposition}\s+(?:the\s+)?\Z", text[:at], re.IGNORECASE) is not None


def _names(text: str, *, capitals: bool = False) -> list[tuple[int, int]]:
    """Spans of the names, each with the number behind it ("AIME 2024"); neighbours are one name.

    `capitals`: within a sentence any capital makes a name ("and Claude?").
    """
    words = {word.start: word for word in tokens(text)}
    spans: list[tuple[int, int]] = []
    for term in [word for word in words.values() if word.text[0].isupper()] if capitals else named_terms(text):
        end = term.end
        after = words.get(end + 1)
        if after is not None and after.text.isdecimal() and text[end] == " ":
            end = after.end
        if spans and text[spans[-1][1] : term.start].strip() == "" and spans[-1][1] < term.start:
            spans[-1] = spans[-1][0], end
        elif not spans or term.start >= spans[-1][1]:
            spans.append((term.start, end))
    return spans
