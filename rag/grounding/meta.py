"""Sentences of an answer that state nothing to be checked: greetings, announcements, headings, "not mentioned", and
orders that a model repeats from an abstract."""

from __future__ import annotations

import re

from rag.grounding.analysis import analyse
from rag.language.orders import is_order

_SOURCE = r"(?:abstracts?|papers?|sources?|documents?|context|text|passages?|excerpts?|information|studies)"
_TELL = (
    r"(?:mention|say|state|specify|provide|contain|discuss|address|report|include|answer|information|details?|give|cover"
    r"|describe)"
)
_TOLD = r"(?:mentioned|stated|specified|provided|discussed|addressed|reported|given|included)"
_ALONE = re.compile(
    r"^(?:yes|no|sure|certainly|of course|okay|ok|absolutely|indeed|correct|right|hello|hi|thanks?|thank you|"
    r"great question|good question|i hope this helps|let me know.*|feel free.*|是的?|不是|好的|当然(?:可以)?|没问题)"
    r"[\s,.!?。！？:：]*$",
    re.IGNORECASE,
)
_ANNOUNCE = re.compile(
    r"^(?:(?:sure|certainly|yes|okay|ok)[,!.]\s+)?(?:here(?:'s| is| are)|below (?:is|are)|"
    r"the following (?:is|are|list|points)|"
    rf"based on the (?:provided |given |retrieved )?{_SOURCE}[^.]{{0,40}}[:,]\s*$|"
    r"in (?:summary|conclusion|short)[\s:,.]*$|to summari[sz]e[\s:,.]*$|(?:以下是|下面是|总结|综上))[^.]*[:：.。]?$",
    re.IGNORECASE,
)
_SILENT = re.compile(
    rf"\b{_SOURCE}\b[^.]{{0,40}}\b(?:do(?:es)? not|don't|doesn't|did not|didn't|cannot|can't|no)\b[^.]{{0,30}}\b{_TELL}"
    r"|\b(?:there is|i (?:found|have)|i (?:could|can) find|contains?|provides?)\s+no\s+(?:\w+\s+)?"
    r"(?:information|mention|details?|evidence|answer)"
    rf"|\b(?:is|are|was|were) not {_TOLD}\b[^.]{{0,60}}\b{_SOURCE}\b"
    r"|\bI (?:do not|don't|cannot|can't) (?:know|answer|find|determine|tell)\b"
    r"|(?:摘要|论文|文献|资料)(?:中)?(?:没有|并未|未)(?:提及|提到|说明|给出|包含|涉及)|未提及|没有提到",
    re.IGNORECASE,
)


def states_nothing(text: str) -> bool:
    """Is there nothing in this sentence that a source could bear out?"""
    stripped = text.strip()
    if not any(char.isalnum() for char in stripped):
        return True
    if _heading(stripped) or _ALONE.match(stripped) or _ANNOUNCE.match(stripped) or _SILENT.search(stripped):
        return True
    if is_order(stripped):
        return True
    found = analyse(stripped.lstrip("#* "))
    if found.quantities or found.names:
        return False
    return not any(word.weight > 0.25 for word in found.words) and not re.search(r"[^\x00-\u024f]", stripped)


def _heading(text: str) -> bool:
    if text.startswith("#"):
        return True
    bare = text.strip("*_ ")
    bold = text.startswith("**") and text.endswith("**")
    return (bold or bare.endswith((":", "："))) and len(bare.split()) <= 6 and not re.search(r"[.。!?]", bare[:-1])
