"""Whether a question leans on the one before it."""

from __future__ import annotations

import re

from rag.text import has_cjk, informative, named_terms, tokens

_CONNECTIVE = re.compile(
    r"\W*(?:and|but|or|so|then|also|what about|how about|what if|und|aber|et|mais|y)\b"
    r"|\W*(?:那|还有|以及|而|然后|换成|再)",
    re.IGNORECASE,
)
_THING = (
    r"(?:algorithm|analysis|approach|arm|association|authors?|benchmark|bonus|change|code|corpus|dataset|data|decline|"
    r"decrease|difference|drop|effect|experiment|framework|gain|group|idea|improvement|increase|limitations?|method|"
    r"metric|models?|module|numbers?|papers?|participants|patients|phase|population|problem|reduction|results?|"
    r"rise|sample size|scheme|stage|step|student|study|system|task|teacher|technique|tool|trial|way|work|"
    r"year (?:after|before))"
)
_PRONOUN = re.compile(
    r"\b(?:it|its|itself|they|them|their|theirs|he|she|his|her|dessen|deren|davon|dabei|elle|elles|ils)\b"
    r"|(?:^\W*|\b(?:does|do|did|is|are|was|were|can|could|will|would|how|why|what|than|about|after|before|with|for|of|"
    r"from|to|on|in|by|at|and|like|has|have|explain|describe|repeat) )(?:this|that|these|those|both)\b(?=\W*$| (?:is|"
    r"are|was|were|do|does|did|has|have|can|could|will|would|also|better|worse|faster|slower|larger|smaller|higher|lower|true|"
    r"really|in|for|with|on|too|still|only|not|so|appl|chang|com|compar|differ|affect|happen|help|hold|improv|matter|mean|need|"
    r"requir|work)(?:e|es|s|y|ies|)\b)"
    rf"|\b(?:this|that|these|those|the said|such an?) (?:\w+ )?{_THING}\b"
    r"|\b(?:does|do|did) (?:this|that)\b"
    r"|[它他她]们?|这个|那个|这篇|那篇|这些|那些|该(?:方法|模型|论文|系统|数据集|框架)|前者|后者|上述|其(?!中|他|它|实|余)",
    re.IGNORECASE,
)
_POINTER = re.compile(
    r"^\W*which ones?\b|\b(?:the (?:former|latter|others?(?! hand)|rest)|one of them"
    r"|(?:first|second|third|last|other|next|previous) ones?"
    rf"|the (?:first|second|third|other|last|next) (?:\w+ )?{_THING}|the same (?!\w+ (?:as|than)\b)\w+)\b",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"\b(?:is|was|makes?|how is) it (?:true|possible|known|clear|necessary|important|useful|better|worth|hard|easy)\b"
    r"|\b(?:its|their|his|her) own\b|(?<!sure )(?<!whether )(?<!that )\bit (?:is|was) "
    r"|\b(?:call|find|made) it (?:when|through|hard|easy)\b",
    re.IGNORECASE,
)
_DEFINITE = re.compile(
    rf"\b(?:the|their|his|her) (?:\w+ )?{_THING}\b(?! (?:on|about|that|which|who|with|of|for|from|in)\b)", re.IGNORECASE
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|am|be|do|does|did|has|have|had|can|could|will|would|should|may|might|must|"
    r"(?:achiev|address|appl|ask|build|come|compar|deal|evaluat|find|giv|handl|happen|improv|introduc|learn|mak|measur|need|"
    r"outperform|win|writ|wrot|propos|reach|reduc|report|sav|show|solv|studi|stud|tak|tell|train|try|us|work|describ|"
    r"explain|list)"
    r"(?:e|es|s|y|ies|ied|ed|ing|en|)|made|gave|took|built|found|shown|won|tells?)\b|^\W*who (?!else\b)\w{4,}",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"\W*(?:any|with|on|in|for|by|at|from|to|than|under|compared|without|using|versus|vs|when|where|why|how|which|what|who|"
    r"whose|really|mit|ohne|auf|bei|für|avec|sans|pour|sur)\b",
    re.IGNORECASE,
)
_STATISTICS = {"CI", "SD", "SE", "SEM", "IQR", "HR", "OR", "RR", "ANOVA", "N"}
_OWN_WORDS = 3  # content words before a pronoun from which on it has its antecedent in the question itself
_SHORT = 4  # words of "what accuracy on QM9?"; a longer question of this kind has a verb, be it in no list here
_ELLIPSIS = 3  # content words that a question without a verb may have and still lean on the one before


def is_follow_up(question: str) -> bool:
    """Whether the question leans on one before it: by a connective, a pronoun, or by what it leaves out."""
    if connective := _CONNECTIVE.match(question):
        return not _begins_anew(question[connective.end() :])
    spoken = _EXPLETIVE.sub(" ", question)
    for pattern, own_words in ((_POINTER, _OWN_WORDS + 1), (_PRONOUN, _OWN_WORDS)):
        for found in pattern.finditer(spoken):
            before = spoken[: found.start()]
            asked = pattern is _POINTER or re.search(r"\b(?:do|does|did) \Z", before)  # "how many LLMs did they"
            if not (_proper if asked else names_in)(before) and len(informative(before)) < own_words:
                return True
    names = _proper(question)
    words = informative(question)
    if _DEFINITE.search(question) and not names and len(words) <= _ELLIPSIS:
        return True
    if has_cjk(question):
        return not names and len(words) <= _ELLIPSIS
    if _VERB.search(question) or not _OPENING.match(question):
        return not words and bool(tokens(question))
    asks_which = re.match(r"\W*(?:which|what|whose?)\b", question, re.IGNORECASE)
    return len(words) <= _ELLIPSIS and not (asks_which and len(tokens(question)) > _SHORT)


def _begins_anew(rest: str) -> bool:
    """Whether what comes after an "and" or "but" is a question of its own: with a name, or about the papers."""
    asks = re.match(r"\W*(?:which|what|who|why|how|where|when)\b(?! about\b)", rest, re.IGNORECASE)
    anew = bool(_proper(rest)) or re.match(r"\W*(?:which|what|how many) (?:\w+ )?(?:papers|abstracts)\b", rest, re.I)
    return bool(asks and anew) and is_clause(rest) and not is_follow_up(rest)


def is_clause(text: str) -> bool:
    """Whether something is said or asked in it, and not only named."""
    return _VERB.search(text) is not None


def names_said(answer: str) -> list[str]:
    """The names that an answer is about: no unit behind a number and no term of statistics."""
    terms = [term for term in named_terms(answer) if not re.search(r"\d\W?\Z", answer[: term.start])]
    return [name for name in dict.fromkeys(term.text for term in terms) if name not in _STATISTICS]


def names_in(text: str) -> list[str]:
    """The names in a text, each once."""
    return list(dict.fromkeys(term.text for term in named_terms(text)))


def _proper(text: str) -> list[str]:
    """Names but for kinds, which no "they" needs to point beyond."""
    return [name for name in names_in(text) if not is_kind(name)]


def is_kind(name: str) -> bool:
    """Whether a name is of many things ("LLMs", "GPU")."""
    return re.fullmatch(r"[A-Z]{2,}s|[CGT]PU|LLM", name) is not None
