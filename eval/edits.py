"""Sentences of abstracts, edited: copies that say something else, and rewordings that say the same.

What a checker must tell apart. Made by rule from any corpus and seeded, so that a run can be repeated. The word lists
here are deliberately not the checker's own: what it does not know has to show.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rag.markup import plain_text
from rag.papers import Paper
from rag.quantities import quantities
from rag.text import named_terms, sentences


@dataclass(frozen=True, slots=True)
class Edit:
    """One sentence and its edited copy; `faithful` says whether the copy still says the same. `what` is "old → new"."""

    paper: Paper
    original: str
    edited: str
    kind: str
    what: str
    faithful: bool = False


Rule = Callable[[str, Paper, random.Random], tuple[str, str] | None]


def figure_edits(papers: Sequence[Paper], count: int, seed: int = 0) -> list[Edit]:
    """`count` copies with one number, unit, sign or named system changed."""
    names = _Names(papers)
    rules: dict[str, Rule] = {"number": _number, "unit": _unit, "sign": _sign, "name": names.change}
    return _edits(papers, rules, count, seed)


def flip_edits(papers: Sequence[Paper], count: int, seed: int = 0) -> list[Edit]:
    """`count` copies with a negation put in or taken out, or a direction word turned round."""
    return _edits(papers, {"negation": _negation, "direction": _direction}, count, seed)


def faithful_edits(papers: Sequence[Paper], count: int, seed: int = 0) -> list[Edit]:
    """`count` rewordings that say the same or less."""
    rules: dict[str, Rule] = {
        "authors": _authors,
        "synonyms": _synonyms,
        "format": _format,
        "clause": _clause,
        "reorder": _reorder,
        "passive": _passive,
        "report": _report,
        "two": _two,
    }
    return [
        Edit(edit.paper, edit.original, edit.edited, edit.kind, edit.what, True)
        for edit in _edits(papers, rules, count, seed)
    ]


def corpus_sentences(papers: Sequence[Paper]) -> list[tuple[Paper, str]]:
    """Readable sentences of 8 to 60 words that end as sentences do."""
    found = []
    for paper in papers:
        text = plain_text(paper.abstract)
        for span in sentences(text):
            sentence = re.sub(r"[ \t\r\n]+", " ", text[span.start : span.end])
            if 8 <= len(sentence.split()) <= 60 and sentence[-1] in ".!" and sentence[0].isupper():
                found.append((paper, sentence))
    return found


def _edits(papers: Sequence[Paper], rules: dict[str, Rule], count: int, seed: int) -> list[Edit]:
    """The rarest kind so far goes first, one edit a sentence; a corpus that runs out is gone through again."""
    chance = random.Random(seed)
    pool = corpus_sentences(papers)
    chance.shuffle(pool)
    made_of = dict.fromkeys(rules, 0)
    found: list[Edit] = []
    seen: set[str] = set()
    for _ in range(6):
        for paper, sentence in pool:
            if len(found) == count:
                return found
            for kind in sorted(rules, key=lambda kind: made_of[kind]):  # the rarest kind first
                made = rules[kind](sentence, paper, chance)
                if made is not None and made[0] not in seen and made[0] != sentence:
                    found.append(Edit(paper, sentence, made[0], kind, made[1]))
                    seen.add(made[0])
                    made_of[kind] += 1
                    break
    return found


# Figures and names


def _number(sentence: str, _: Paper, chance: random.Random) -> tuple[str, str] | None:
    spans = [(quantity.start, quantity.end) for quantity in quantities(sentence)]  # no list marks, links or names
    numbers = [
        match
        for match in re.finditer(r"(?<![\w.,-])\d+(?:[.,]\d+)*", sentence)
        if any(start <= match.start() and match.end() <= end for start, end in spans)
    ]
    if not numbers:
        return None
    match = chance.choice(numbers)
    digits = [i for i, char in enumerate(match.group()) if char.isdigit()]
    place = chance.choice(digits)
    old = match.group()[place]
    choices = [d for d in "123456789" if d != old]
    new = match.group()[:place] + chance.choice(choices) + match.group()[place + 1 :]
    others = {q.text.strip() for q in quantities(sentence)}
    if new in others:
        return None
    return _put(sentence, match.start(), match.end(), new), f"{match.group()} → {new}"


_UNITS = [
    (r"(?<=\d)\s?%", "×"),
    (r"(?<=\d)\s?[×x](?=[\s.,;)])", "%"),
    (r"(?<=\d)B\b", "M"),
    (r"(?<=\d)M\b", "B"),
    (r"(?<=\d)[kK]\b", "M"),
    (r"(?<=\d)\s?ms\b", " s"),
    (r"(?<=\d)\s?mg\b", " µg"),
    (r"(?<=\d)[ -]hours?\b", " days"),
    (r"(?<=\d)[ -]minutes?\b", " hours"),
    (r"(?<=\d)[ -](?:million|billion)\b", " thousand"),
    (r"(?<=\d)\s?GB\b", " MB"),
    (r"(?<=\d)\s?percentage points\b", " times"),
]


def _unit(sentence: str, _: Paper, chance: random.Random) -> tuple[str, str] | None:
    found = [(m, new) for pattern, new in _UNITS for m in re.finditer(pattern, sentence)]
    if not found:
        return None
    match, new = chance.choice(found)
    return _put(sentence, match.start(), match.end(), new), f"{match.group().strip()} → {new.strip()}"


_SIGNS = ((r"(?<![\w)])\+(?=\d)", "-"), (r"(?<=\s)-(?=\d)", "+"), (r"<(?=\s?\d)", ">"), (r">(?=\s?\d)", "<"))


def _sign(sentence: str, _: Paper, chance: random.Random) -> tuple[str, str] | None:
    found = [
        (match, new)
        for pattern, new in (
            (r"(?<![\w)])\+(?=\d)", "-"),
            (r"(?<=\s)-(?=\d)", "+"),
            (r"<(?=\s?\d)", ">"),
            (r">(?=\s?\d)", "<"),
        )
        for match in re.finditer(pattern, sentence)
    ]
    if not found:
        return None
    match, new = chance.choice(found)
    return _put(sentence, match.start(), match.end(), new), f"{match.group()} → {new}"


class _Names:
    """Changes a name for one that the abstract has elsewhere, or for one of another paper."""

    def __init__(self, papers: Sequence[Paper]) -> None:
        self._all = sorted({name for paper in papers for name in _names(plain_text(paper.abstract))})

    def change(self, sentence: str, paper: Paper, chance: random.Random) -> tuple[str, str] | None:
        here = _names(sentence)
        if not here:
            return None
        old = chance.choice(here)
        inside = [name for name in _names(plain_text(paper.abstract)) if not _alike(name, here)]
        choices = inside if inside and chance.random() < 0.5 else [n for n in self._all if not _alike(n, here)]
        if not choices or len(re.findall(rf"(?<!\w){re.escape(old)}(?!\w)", sentence)) != 1:
            return None
        new = chance.choice(choices)
        return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, sentence), f"{old} → {new}"


def _names(text: str) -> list[str]:
    """Names of systems and data: at least two capitals or a digit."""
    return list(
        dict.fromkeys(
            token.text
            for token in named_terms(text)
            if len(token.text) >= 3 and (sum(c.isupper() for c in token.text) >= 2 or re.search(r"\d", token.text))
        )
    )


def _alike(name: str, others: Sequence[str]) -> bool:
    return any(name.lower().rstrip("s") in o.lower() or o.lower().rstrip("s") in name.lower() for o in others)


# Negation and direction

_AUXILIARY = re.compile(r"\b(is|are|was|were|can|could|does|do|should|will|may|has been|have been)\b(?! not\b)")
_THIRD = re.compile(
    r"\b(outperform|improve|reduce|increase|achieve|show|require|provide|enable|demonstrate|yield|suffer|surpass|"
    r"generalize|remain|allow|exhibit|lead|support|depend|scale|capture|reveal|introduce|use|maintain|preserve)(s)?\b"
)
_REMOVE = [
    (r"\b(is|are|was|were|can|could|does|do|did|should|will|has|have) not\b", r"\1"),
    (r"\bcannot\b", "can"),
    (r"\bwithout\b", "with"),
    (r"\bfails? to\b", "manages to"),
    (r"\bnever\b", "always"),
    (r"\bno longer\b", "still"),
    (r"\bno\b(?= \w)", "some"),
    (r"\bnot\b (?!only|just)", ""),
]


def _negation(sentence: str, _: Paper, chance: random.Random) -> tuple[str, str] | None:
    removals = [(m, m.expand(new)) for pattern, new in _REMOVE for m in re.finditer(pattern, sentence)]
    if removals:
        match, new = removals[0]
        return _put(sentence, match.start(), match.end(), new), f"{match.group().strip()} → {new}"
    options: list[tuple[int, int, str]] = []
    for match in _AUXILIARY.finditer(sentence):
        word = match.group()
        new = f"{word.split()[0]} not been" if " " in word else "cannot" if word == "can" else f"{word} not"
        options.append((match.start(), match.end(), new))
    for match in _THIRD.finditer(sentence):
        before = sentence[: match.start()].split()[-1:]
        if before and before[0].lower() in (
            "to",
            "can",
            "not",
            "a",
            "an",
            "the",
            "of",
            "in",
            "and",
            "by",
            "could",
            "or",
        ):
            continue
        if not match.group(2) and not (
            before and before[0].lower() in ("we", "results", "models", "methods", "experiments")
        ):
            continue
        auxiliary = "does" if match.group(2) else "do"
        options.append((match.start(), match.end(), f"{auxiliary} not {match.group(1)}"))
    if not options:
        return None
    start, end, new = chance.choice(options)
    return _put(sentence, start, end, new), f"{sentence[start:end]} → {new}"


_TURN = [
    ("increase", "decrease"), ("increases", "decreases"), ("increasing", "decreasing"), ("increased", "decreased"),
    ("improve", "worsen"), ("improves", "worsens"), ("improved", "worsened"), ("improving", "worsening"),
    ("improvement", "deterioration"), ("improvements", "deteriorations"),
    ("reduce", "raise"), ("reduces", "raises"), ("reducing", "raising"), ("reduced", "raised"), ("reduction", "rise"),
    ("higher", "lower"), ("highest", "lowest"), ("high", "low"), ("larger", "smaller"), ("large", "small"),
    ("outperforms", "underperforms"), ("outperform", "underperform"), ("outperforming", "underperforming"),
    ("surpasses", "lags behind"), ("surpassing", "lagging behind"), ("exceeds", "falls short of"),
    ("faster", "slower"), ("fast", "slow"), ("accelerates", "slows down"), ("before", "after"), ("after", "before"),
    ("with", "without"), ("more", "less"), ("less", "more"), ("fewer", "more"), ("better", "worse"),
    ("worse", "better"),
    ("best", "worst"), ("stronger", "weaker"), ("strong", "weak"), ("stable", "unstable"), ("efficient", "inefficient"),
    ("effective", "ineffective"), ("enhances", "weakens"), ("enhance", "weaken"), ("mitigates", "aggravates"),
    ("mitigate", "aggravate"), ("alleviates", "aggravates"), ("maximizing", "minimizing"), ("minimizing", "maximizing"),
    ("maximize", "minimize"), ("minimize", "maximize"), ("longer", "shorter"), ("long", "short"), ("above", "below"),
    ("positive", "negative"), ("similar", "different"), ("easy", "hard"), ("simple", "complex"),
    ("superior", "inferior"),
    ("significantly", "insignificantly"), ("consistently", "inconsistently"), ("robust", "fragile"),
    ("enables", "prevents"),
    ("preserving", "destroying"), ("preserves", "destroys"), ("accurate", "inaccurate"), ("dense", "sparse"),
    ("often", "rarely"), ("lower", "higher"), ("smaller", "larger"), ("slower", "faster"), ("gains", "losses"),
    ("success", "failure"), ("boosts", "hurts"), ("deeper", "shallower"), ("early", "late"), ("safe", "unsafe"),
]  # fmt: skip
_TURNS = dict(_TURN)


def _direction(sentence: str, _: Paper, chance: random.Random) -> tuple[str, str] | None:
    words = [m for m in re.finditer(r"\b[a-z]+\b", sentence) if m.group() in _TURNS]
    words = [m for m in words if m.group() not in ("with", "more", "after", "before", "less")] or words
    if not words:
        return None
    match = chance.choice(words)
    new = _TURNS[match.group()]
    return _put(sentence, match.start(), match.end(), new), f"{match.group()} → {new}"


# Rewordings

_SAME = {
    "propose": "introduce", "proposes": "presents", "introduce": "present", "introduces": "proposes", "novel": "new",
    "demonstrate": "show", "demonstrates": "shows", "show": "demonstrate", "utilizes": "uses", "leverages": "uses",
    "significantly": "substantially", "substantially": "significantly", "achieves": "attains", "achieve": "reach",
    "outperforms": "surpasses", "outperform": "surpass", "enhances": "improves", "improves": "enhances",
    "improve": "enhance", "approach": "method", "method": "approach", "methods": "approaches", "large": "big",
    "address": "tackle", "addresses": "tackles", "crucial": "important", "important": "essential",
    "existing": "current",
    "numerous": "many", "various": "different", "however": "nevertheless", "reduces": "lowers", "reduce": "cut",
    "increases": "raises", "obtain": "get", "requires": "needs", "require": "need", "enables": "allows",
    "challenging": "difficult", "challenge": "problem", "tasks": "problems", "extensive": "comprehensive",
    "experiments": "evaluations", "evaluate": "test", "mitigate": "alleviate", "mitigates": "alleviates",
    "framework": "method", "construct": "build", "datasets": "data sets", "employ": "use", "generate": "produce",
    "rapid": "fast", "previous": "prior", "prior": "earlier", "often": "frequently", "reveals": "shows",
}  # fmt: skip


def _authors(sentence: str, _: Paper, chance: random.Random) -> tuple[str, str] | None:
    if not re.search(r"\b(?:[Ww]e|[Oo]ur)\b", sentence):
        return None
    edited = re.sub(r"\bWe\b", "The authors", sentence)
    edited = re.sub(r"\bwe\b", "the authors", edited)
    edited = re.sub(r"\bOur\b", "Their", edited)
    return re.sub(r"\bour\b", "their", edited), "we → the authors"


def _synonyms(sentence: str, _: Paper, chance: random.Random) -> tuple[str, str] | None:
    words = [m for m in re.finditer(r"\b[A-Za-z]+\b", sentence) if m.group().lower() in _SAME]
    if not words:
        return None
    edited, what = sentence, []
    for match in sorted(chance.sample(words, min(len(words), 2)), key=lambda m: -m.start()):
        new = _SAME[match.group().lower()]
        new = new.capitalize() if match.group()[0].isupper() else new
        edited = _put(edited, match.start(), match.end(), new)
        what.append(f"{match.group()} → {new}")
    return edited, ", ".join(what)


def _format(sentence: str, _: Paper, chance: random.Random) -> tuple[str, str] | None:
    edited = re.sub(r"(?<=\d)\s?%", chance.choice([" percent", " %"]), sentence)
    edited = re.sub(r"(?<=\d),(?=\d{3}\b)", "", edited)
    edited = re.sub(r"(?<=\d)\s?×", "x", edited)
    return (edited, "figures written otherwise") if edited != sentence else None


def _clause(sentence: str, _: Paper, chance: random.Random) -> tuple[str, str] | None:
    for pattern in (
        r";\s+",
        r", (?:while|whereas|and) (?=(?:we|it|the|our|they)\b)",
        r", but (?=(?:we|it|the|they)\b)",
    ):
        parts = re.split(pattern, sentence.rstrip("."))
        parts = [part.strip() for part in parts if len(part.split()) >= 7]
        if len(parts) > 1:
            part = chance.choice(parts)
            return part[0].upper() + part[1:] + ".", "one clause"
    match = re.match(r"(.{40,}?), (?:which|thereby|while|whereas|including|resulting|leading)\b", sentence)
    return (match.group(1) + ".", "main clause") if match else None


_OPENING = re.compile(
    r"^(?P<opening>(?:To|On|In|By|For|While|When|Using|Under|Through|Across|Although|Without) [^,;:()]{8,90}), "
    r"(?P<rest>(?:we|our|the|this|it|they|these) [^;:]+)\.$"
)


def _reorder(sentence: str, _: Paper, chance: random.Random) -> tuple[str, str] | None:
    match = _OPENING.match(sentence)
    if not match:
        return None
    rest, opening = match["rest"], match["opening"]
    return f"{rest[0].upper()}{rest[1:]}, {opening[0].lower()}{opening[1:]}.", "opening put last"


_PARTICIPLE = {
    "propose": "proposed", "introduce": "introduced", "present": "presented", "develop": "developed",
    "evaluate": "evaluated", "analyze": "analyzed", "construct": "constructed", "investigate": "investigated",
    "study": "studied", "provide": "provided", "identify": "identified", "validate": "validated", "release": "released",
}  # fmt: skip
_WE_DO = re.compile(
    rf"\b[Ww]e (?:also |then |further )?({'|'.join(_PARTICIPLE)}) "
    r"((?:an?|the|our) [^,;:.()]+?)(?=,|\.$| that | which | to | for )"
)
_BEATS = re.compile(
    r"^([A-Z][\w-]+(?: [\w-]+){0,3}) (?:significantly |consistently )?"
    r"(outperform|surpass|exceed)(?:e?s) ([^,;:.]+)(.*)$"
)


def _passive(sentence: str, _: Paper, chance: random.Random) -> tuple[str, str] | None:
    if match := _BEATS.match(sentence):
        participle = {"outperform": "outperformed", "surpass": "surpassed", "exceed": "exceeded"}[match[2]]
        target = match[3][0].upper() + match[3][1:]
        return f"{target} are {participle} by {match[1]}{match[4]}", "passive"
    match = _WE_DO.search(sentence)
    if not match or match.start() > 60:
        return None
    thing = re.sub(r"^our\b", "their", match[2])
    if match.start() == 0:
        thing = thing[0].upper() + thing[1:]
    edited = f"{sentence[: match.start()]}{thing} is {_PARTICIPLE[match[1]]}{sentence[match.end() :]}"
    return edited, "passive"


def _report(sentence: str, paper: Paper, chance: random.Random) -> tuple[str, str] | None:
    opening = chance.choice(["According to the abstract, ", "The paper reports that ", "The authors state that "])
    named = re.match(r"[A-Z][a-z]+ ", sentence) and not named_terms(sentence[:25])
    rest = sentence[0].lower() + sentence[1:] if named else sentence
    edited = _authors(rest, paper, chance)
    return opening + (edited[0] if edited else rest), "reported"


def _two(sentence: str, paper: Paper, chance: random.Random) -> tuple[str, str] | None:
    first = _synonyms(sentence, paper, chance)
    if not first:
        return None
    for rule in (_passive, _reorder, _format, _authors, _clause):
        if second := rule(first[0], paper, chance):
            return second[0], f"{first[1]}; {second[1]}"
    return None


def _put(text: str, start: int, end: int, new: str) -> str:
    return re.sub(r"  +", " ", text[:start] + new + text[end:])


def labelled(papers: Sequence[Paper], count: int, seed: int = 0) -> Iterator[Edit]:
    """`count` of each: figures changed, statements flipped, faithful rewordings."""
    yield from figure_edits(papers, count, seed)
    yield from flip_edits(papers, count, seed)
    yield from faithful_edits(papers, count, seed)
