"""Words of a question that ask rather than say: function words, asking words and the talk about papers.

Lists are this project's own and short on purpose: a word belongs here if a paper that answers the question need not
contain it.
"""

from __future__ import annotations

import re
import unicodedata


def _without_accents(text: str) -> frozenset[str]:
    split = unicodedata.normalize("NFKD", text)
    return frozenset(re.sub("[\u0300-\u036f]", "", split).split())


ENGLISH = _without_accents(
    """a about above again all also am an and any anyone anything are aren as at be because been before being below
    between both but by can cannot could couldn did didn do does doesn doing don done down during each either else ever
    every few for from further get gets got had has have having he her here hers him his how i if in into is isn it its
    itself just ll let like many may maybe me might more most much must my neither no nor not now of off on once one
    only or other others ought our ours out over own per please quite rather re really s same shall she should shouldn
    since so some somebody someone something such t than thank thanks that the their theirs them then there these they
    thing things this those through thus to too under until up upon us use used uses using ve versus very via vs was
    wasn we were weren what whatever when where whether which while who whom whose why will with within without won
    would wouldn yes yet you your yours
    abstract abstracts article articles author authors paper papers publication publications researcher researchers
    hello hi hey ok okay etc al et"""
)

GERMAN = _without_accents(
    """aber als am an auf aus bei das dass dem den der des die dieser dieses durch ein eine einem einen einer eines er
    es für gibt hat haben hinter ich im in ist kann können man mit nach nicht oder ob sich sie sind so über um und uns
    unter von vor war waren warum was welche welchem welchen welcher welches wenn wer werden wie wieviel viele viel wird
    wo wurde wurden zu zum zur zwischen bitte nenne erkläre beschreibe autor autoren arbeit arbeiten"""
)
FRENCH = _without_accents(
    """a au aux avec ce ces cet cette combien comment dans de des donc du elle elles en est et eux il ils je la le les
    leur leurs lui mais me même mes moi mon ne nos notre nous on ont ou où par pas plus pour pourquoi qu que quel quelle
    quelles quels qui quoi sa se ses son sont sur ta te tes toi ton tu un une vos votre vous c d j l à m n s t y été
    être fait font article articles auteur auteurs quand"""
)
SPANISH = _without_accents(
    """a al ante con cómo como cual cuál cuales cuáles cuando cuándo cuánto cuántos cuántas de del desde donde dónde el
    ella ellos en entre es esta este esto estos fue han hay la las lo los más me mi muy no nos o para pero por porque
    qué que quién se según ser si sin sobre son su sus también te un una unos y ya artículo autores"""
)

_PAPER = r"(?:papers?|abstracts?|authors?|articles?|stud(?:y|ies)|researchers?|texts?|sources?|documents?)"
_SAY = r"(?:say|state|report|mention|claim|describe|discuss|talk|explain|tell us|present|suggest|conclude|find|show)"
ASKING = re.compile(
    rf"""\b(?:
    (?:can|could|would|will)\ you(?:\ please)?(?:\ (?:tell|show|give|explain|describe|list|find|name|summari[sz]e))?
    | (?:tell|show|give|find|help|remind)\ (?:me|us)(?:\ (?:more\ )?(?:about|of|what|everything))?
    | i(?:\ am|'m|’m)?\ (?:want|need|would\ like|looking|interested|wonder(?:ing)?|curious)
      (?:\ (?:to\ (?:know|learn|find(?:\ out)?|understand|see|read)|for|in))?
    | who\ (?:wrote|published)(?:\ (?:about|on))?
    | (?:an?\ )?(?:short\ |brief\ )?(?:summary|overview)\ of
      | let\ me\ know | do\ you\ know | i'd\ like\ to\ know | what\ about | how\ about
    | according\ to(?:\ (?:the|this|that|these|those|your|any))?\ {_PAPER}
    | (?:do|does|did|is|are|was|were|has|have)\ (?:(?:the|this|that|these|those|any|its?)\ )?
      (?:{_PAPER}|they|it|he|she|we|work)\ {_SAY}(?:ed|s|d)?(?:\ (?:about|that|on|of))?
    | (?:in|of|from|by|among|across)\ (?:all\ )?(?:the|this|that|these|those|your|any|my)
      \ (?:{_PAPER}|list|corpus|collection)
    | (?:which|what|any|how\ many|whose)(?:\ of\ (?:the|these|those))?\ {_PAPER}
      (?:\ (?:{_SAY}(?:s|ed|d)?|deals?|is|are|was|were)(?:\ (?:about|with|on|that))?)?
    | {_PAPER}\ (?:about|on|that|which)
    | (?:is|are|was|were)\ there(?:\ (?:any|some|an?|other))?
    | what(?:'s|’s|\ is|\ are|\ was|\ were)\ (?:the\ )?(?:(?:main|key|central|core|basic|general)\ )?
      (?:idea|point|contribution|finding|result|takeaway|purpose|goal|aim|meaning|definition|name)s?
      (?=\ (?:of|behind|from|for|in)\b)
    | stands?\ for\b
    | (?:what|who)\ is\ meant\ by | what\ (?:kind|sort|type)s?\ of | in\ (?:which|what)\ way | by\ how\ much
    | how\ (?:many|much|large|big|long|fast|often|far|high|low|well|good|small|old|come)
    | (?:say|said|says|stated?|reported|mentioned|talk(?:s|ed)?)\ (?:about|that)
    )\b
    | ^\W*(?:please\ )?(?:explain|describe|summari[sz]e|list|name|give|show|tell|discuss|define|outline|compare|mention|
      find|search\ for)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
ASKS_FOR_A_THING = re.compile(r"\b(?:which|what|who|whose|where|when|why|how)\b", re.IGNORECASE)
ASKING_CJK = re.compile(
    "请问|請問|请|告诉我|告訴我|介绍一下|介绍|解释一下|解释|总结一下|总结|列出|哪些论文|哪篇论文|哪几篇|这篇论文|该论文|论文|論文|文章|摘要|作者|文献|"
    "什么样|什么|甚麼|什麼|是否|是不是|有没有|有多少|多少|多大|多高|多长|几个|几种|哪些|哪个|哪种|哪篇|哪里|如何|怎么样|怎么|怎样|为什么|為什麼|为何|"
    "谁|吗|呢|吧|啊|了|的|是|在|和|与|及|或|对|把|被|用了|使用了|它们|他们|我们|它|他|她|这|那|这个|那个|有|中|请给出|给出|"
    "ですか|ますか|でしょうか|とは|何ですか|何|どの|どのような|どれくらい|いくつ|なぜ|教えてください|について|ください|です|ます|という|"
    "は|が|を|に|の|と|で|も|か|무엇|어떤|어떻게|얼마나|왜|논문|저자"
)


def stopwords(words: list[str]) -> frozenset[str]:
    """The function words of the language `words` (case-folded) are in; English unless another clearly fits better."""
    best, hits = ENGLISH, sum(word in ENGLISH for word in words)
    for other in (GERMAN, FRENCH, SPANISH):
        found = sum(word in other for word in words)
        if found >= 2 and found > hits:
            best, hits = other | {"paper", "papers", "abstract", "abstracts"}, found
    return best
