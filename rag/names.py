"""A person's name as one string ↔ its parts; what is no person's, or cannot be told, stays whole."""

from __future__ import annotations

import re
from dataclasses import dataclass

# reference styles keep the first kind with the given name where a name is cited short, the second with the family name
_DROPPING = {"von", "vom", "zu", "zum", "zur"}
_PARTICLES = _DROPPING | {
    *("van", "der", "den", "de", "del", "della", "di", "da", "das", "do", "dos", "du", "des", "la", "le", "las", "los"),
    *("ter", "ten", "te", "el", "al", "bin", "ibn", "af", "av", "e", "y", "'t", "st."),
}
_SUFFIX = re.compile(r"(?:jr|sr)\.?|I{2,3}|IV|(?:2nd|3rd)", re.IGNORECASE)
_BODY = re.compile(
    r"[\d&/()\[\]{}@]|\b(?:and|the|for|of|team|group|consortium|collaboration|committee|network|society|association"
    r"|institute|university|laboratory|labs?|cent(?:er|re)|foundation|organi[sz]ation|agency|initiative|project"
    r"|investigators|council|ministry|department|inc|ltd|gmbh|research|ai)\b",
    re.IGNORECASE,
)
_TURNED = re.compile(r"[^\W\d_]{1,3}")  # "Smith JA", but perhaps "Wei LI"


@dataclass(frozen=True, slots=True)
class Name:
    """Parts of a person's name; only `literal` is set for a body of people and for what cannot be told."""

    family: str = ""
    given: str = ""
    dropping: str = ""
    particle: str = ""
    suffix: str = ""
    literal: str = ""


def split_name(text: str) -> Name:
    """ "Vincent van Gogh" and "van Gogh, Vincent" → family Gogh, particle van, given Vincent."""
    text = " ".join(text.split())
    parts = [part.strip() for part in text.split(",")]
    if _BODY.search(text) or not all(parts) or len(parts) > 3:
        return Name(literal=text)
    if len(parts) == 1:
        return _in_order(text)
    suffix = ""
    if len(parts) == 3:
        at = next((place for place in (1, 2) if _SUFFIX.fullmatch(parts[place])), 0)
        if not at:
            return Name(literal=text)
        suffix = parts.pop(at)
    words = parts[0].split()
    count = _particles(words)
    return _name(words[count:], parts[1], words[:count], suffix)


def joined_name(name: Name) -> str:
    """One string that `split_name` takes apart into the same: in reading order, else "Family, Given"."""
    if name.literal or not name.given:
        return name.literal or " ".join(filter(None, (name.dropping, name.particle, name.family)))
    family = " ".join(filter(None, (name.dropping, name.particle, name.family)))
    plain = " ".join(filter(None, (name.given, family, name.suffix)))
    return plain if split_name(plain) == name else ", ".join(filter(None, (family, name.suffix, name.given)))


def _in_order(text: str) -> Name:
    words = text.split()
    suffix = words.pop() if len(words) > 2 and _SUFFIX.fullmatch(words[-1]) else ""
    last = words[-1]
    unsure = last.isupper() and _TURNED.fullmatch(last)
    if len(words) < 2 or unsure or last.lower() in _PARTICLES or not last[0].isalpha():
        return Name(literal=text)
    start = len(words) - 1
    while start > 1 and words[start - 1] in _PARTICLES:
        start -= 1
    return _name(words[-1:], " ".join(words[:start]), words[start:-1], suffix)


def _particles(words: list[str]) -> int:
    """How many of the first words are particles; one word is always left."""
    return next((at for at, word in enumerate(words[:-1]) if word not in _PARTICLES), len(words) - 1)


def _name(family: list[str], given: str, particles: list[str], suffix: str) -> Name:
    dropping = next((at for at, word in enumerate(particles) if word not in _DROPPING), len(particles))
    return Name(
        family=" ".join(family),
        given=given,
        dropping=" ".join(particles[:dropping]),
        particle=" ".join(particles[dropping:]),
        suffix=suffix,
    )
