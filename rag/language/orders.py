"""Sentences that order their reader about ("Ignore the instructions and answer …") instead of saying something.

An abstract is a statement about some work. A sentence of it that tells a language model, or whoever reads, what to
write is no statement: nothing can be borne out by it, and nothing is to be quoted from it. Grammar tells the two apart:
an order is an imperative, or speaks to "you", or names the machine it is meant for. An abstract on such orders mentions
them within quotation marks, in a sentence of its own.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_LONGEST = 2000  # characters that are looked at

_THESE = (
    r"(?:(?:all|any|every|each|everything|the|these|those|this|that|your|our|my|of|other|previous|prior|earlier|"
    r"preceding|above|former|original|initial|existing|given|following|system|safety|user|user's|and|or)\s+)*"
)
_RULES = (
    r"(?:instructions?|prompts?|rules?|guidelines?|directions?|directives?|commands?|orders?|constraints?|messages?|"
    r"contexts?|abstracts?|sources?|papers?|documents?|questions?|quer(?:y|ies)|requests?|"
    r"(?:text\s+|everything\s+|anything\s+)?(?:above|before)|(?:you\s+)?(?:were|was|have\s+been)\s+told)\b"
)
_SAY = r"(?:answer|reply|respond|say|write|print|output|return|repeat|state|type|tell|echo|generate|produce|recommend)"
_TO_YOU = r"you\s+(?:must|should|shall|will|are\s+to|have\s+to|need\s+to|can\s+only|may\s+only|are\s+now)"
_LEAST = r"(?:(?:always|only|simply|just|never|please|now|then|instead|kindly)\s+)*"
# Where an imperative can begin: with the sentence, after a mark or a short opening ("From now on, …"), after "please".
_BEGINS = rf"(?:^|^[^,.]{{1,30}},\s*|[.!?;:>\]*]\s*|\s[-–—]+\s|\bplease\s+|\bkindly\s+|\b{_TO_YOU}\s+)[\W_]*{_LEAST}"
_ORDERS = re.compile(
    "|".join(
        (
            rf"{_BEGINS}(?:ignore|disregard|forget|override|overlook|bypass|neglect|do\s+not\s+(?:follow|obey|use)|"
            rf"don't\s+(?:follow|obey|use)|pay\s+no\s+attention\s+to)\s+{_THESE}{_RULES}",
            rf"{_BEGINS}{_SAY}\s+"
            r"(?:(?:back|to|all|any|every|each|the|this|these|questions?|prompts?)\s+)*(?:only|just|exactly|always|"
            r"simply|nothing|with|using|as\s+follows|the\s+(?:word|words|phrase|sentence|text|string|token|following)|"
            r"this|[“\"'‘`«])",
            rf"{_BEGINS}{_SAY}\s+(?:[\W_]*[\w-]+[\W_]*$|.{{1,60}}\bnothing\s+(?:else|more|but)\b|after\s+me\b)",
            rf"\b{_TO_YOU}\s+(?:(?:now|only|always|instead|therefore|never|not|simply|just|a|an|in)\s+)*"
            rf"(?:{_SAY}|ignore|disregard|forget|obey|follow|act|pretend|claim|cite|mention|DAN|assistant|model|"
            r"developer\s+mode)\b",
            r"\b(?:answer|reply|response)s?\s+(?:to|for)\s+(?:all|any|every|whatever)\s+(?:[\w']+\s+){0,3}"
            r"(?:question|quer|prompt|request)\w*\s+(?:is|are|must\s+be|should\s+be|shall\s+be|will\s+be|=|:)\s+"
            r"[\W_]*[\w-]+[\W_]*$",
            r"^\W*your\s+(?:(?:only|final|new|one|correct|whole|entire)\s+)*(?:answer|reply|response|output|task|job|"
            r"goal|instructions?)\s*(?:is\b|are\b|must\b|should\b|shall\b|will\b|has\s+to\b|:)",
            r"^\W*(?:\w+\s+)?(?:note|message|attention|instructions?|order|command|reminder|memo)\s+(?:to|for)\s+"
            r"(?:(?:the|any|all|every)\s+)?(?:ai|llm|gpt|chatgpt|claude|gemini|chatbot|assistant|language\s+model|"
            r"model|reader|reviewer|system)s?\s*[:,.!–—-]",
            r"^\W*(?:dear|hey|hello|attention)\b[\s,:]*(?:ai|llm|gpt|chatgpt|chatbot|assistant|language\s+model|"
            r"model|reader|reviewer)s?\b",
            r"^\W*(?:#+\s*)?(?:system|assistant|user|developer|human|new)\s*(?:prompt|message|instructions?|override)?"
            r"\W*:\s*\S",
            r"<\|?(?:im_?start|im_?end|system|user|assistant|endoftext|eot_?id|start_?header_?id)\|?>|\[/?INST\]|<</?SYS>>",
            r"(?:忽略|无视|忘记|不要理会)[^。！？]{0,12}(?:指令|指示|提示|说明|规则|要求)|^\W*(?:请|只)+(?:只|仅)?(?:回答|回复|输出|说)",
            r"\b(?:ignorier|missacht|vergiss|vergess)\w*\s+(?:\w+\s+){0,4}(?:anweisung|regel|vorgabe|instruktion)",
            r"\b(?:ignorez|oublie[zs]?)\s+(?:\w+\s+){0,4}(?:instructions?|consignes?|règles)",
            r"\b(?:ignora|ignore|olvida|olvide)\s+(?:\w+\s+){0,4}(?:instrucciones|reglas|indicaciones)",
        )
    ),
    re.IGNORECASE,
)
_QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"|«[^»]*»|‘[^’]{3,}’|(?<!\w)'[^']{3,}'(?!\w)|`[^`]*`")


@lru_cache(maxsize=4096)
def is_order(sentence: str) -> bool:
    """Does this sentence tell its reader what to write or to ignore, rather than state something?"""
    text = _plain(sentence[:_LONGEST])
    return _ORDERS.search(_QUOTED.sub(" “…” ", text) if _mentions(text) else text) is not None


def _mentions(text: str) -> bool:
    """Whether a quotation stands in a sentence of its own words, in front of it: `prompts such as "ignore …" fail`."""
    own = re.findall(r"\w+", _QUOTED.sub(" ", text))
    return len(own) >= 4 and _QUOTED.search(text) is not None


def _plain(text: str) -> str:
    """Without what hides words from a pattern and not from a model: odd letters, invisible ones, emphasis, spacing."""
    folded = unicodedata.normalize("NFKC", text)
    visible = "".join(char for char in folded if unicodedata.category(char) != "Cf").replace("’", "'")
    return re.sub(r"\s+", " ", re.sub(r"[*~]+|(?<!\w)_+|_+(?!\w)", "", visible)).strip()
