"""Greetings, thanks and questions that are none: what is said to them, without a look into any paper."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from rag.text import has_cjk

_ASK: Final = "Ask something about the papers in the library, for example what a method is called or how much it gains."
_ASK_CHINESE: Final = "请就文献库中的论文提问，例如某个方法叫什么、提升了多少。"

_GREETING = re.compile(
    r"(?:hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day)|hallo|guten (?:tag|morgen|abend)|"
    r"servus|moin|bonjour|bonsoir|salut|hola|buenos d[ií]as|buenas (?:tardes|noches)|ciao|olá|你好|您好|嗨|早上好|"
    r"下午好|晚上好|大家好|こんにちは|안녕하세요)(?: (?:there|all|everyone|everybody|team|again|you|bot|friend))?"
    r"(?: (?:how are you|what'?s up)(?: (?:today|doing))?)?"
    r"|how are you(?: (?:today|doing))?|how do you do|what'?s up|wie geht'?s|ça va"
)
_THANKS = re.compile(
    r"(?:ok |okay |great |perfect )?"
    r"(?:thanks?|thank you|thx|ty|cheers|danke|vielen dank|merci|gracias|谢谢|多谢|感谢|ありがとう)"
    r"(?: ?(?:you|a lot|so much|very much|everyone|beaucoup|sehr|schön|你|您|大家))*"
)
_GOODBYE = re.compile(r"(?:good ?)?bye(?: bye)?|see you(?: later| soon)?|tschüss|au revoir|adi[óo]s|再见|拜拜")
_ABOUT = re.compile(
    r"(?:who|what) are you|what can (?:you do|i ask(?: you)?|i do here)|how (?:do|can) i use (?:this|you)|help|help me|"
    r"what is this|are you (?:a bot|an? ai|there|human)|你是谁|你能做什么|帮助"
)
_LIBRARY = re.compile(
    r"(?:please )?(?:(?:list|show|name)(?: me)? )?(?:all )?(?:the |my |your )?papers(?: are there| do you have)?"
    r"|how many papers(?: are there| do you have| are in (?:here|the library))?"
    r"|(?:which|what) papers(?: are there| do you have)"
    r"|what (?:are|is) (?:the |these )?papers about|what(?:'s| is) in (?:here|the library)"
)
_REMARK = re.compile(
    r"(?:ok|okay|k|yes|no|yep|nope|sure|great|good|nice|cool|perfect|awesome|interesting|wow|lol|haha+|hm+|test|testing|"
    r"ja|nein|oui|non|好|好的|嗯|是|不|是的|不是)"
)


def smalltalk(question: str) -> str | None:
    """A fitting reply to a greeting, to thanks, to an empty question; None for what is to be looked up."""
    words = re.sub(r"[^\w'’ ]+|_", " ", question.casefold().replace("’", "'"))
    said = " ".join(words.split())
    ask = _ASK_CHINESE if has_cjk(question) else _ASK
    if not any(char.isalpha() for char in said):
        return ask
    if _GREETING.fullmatch(said):
        return f"你好！{ask}" if has_cjk(question) else f"Hello! {ask}"
    if _THANKS.fullmatch(said):
        return "不客气。" if has_cjk(question) else "You are welcome."
    if _GOODBYE.fullmatch(said):
        return "再见。" if has_cjk(question) else "Goodbye."
    if _ABOUT.fullmatch(said):
        about = (
            "I answer questions from the abstracts in the library, and every sentence points to the one that says it."
        )
        return ask if has_cjk(question) else f"{about} {ask}"
    if _LIBRARY.fullmatch(said):
        return f"The Library tab and rag sources say what is here; rag search finds papers. {ask}"
    return ask if _REMARK.fullmatch(said) or _is_noise(question) else None


def _is_noise(question: str) -> bool:
    """Whether a tenth of it or more is no text at all, as of a file that was piped in."""
    strange = sum(char == "\ufffd" or unicodedata.category(char) in ("Cc", "Co", "Cn") for char in question)
    return strange * 10 > len(question) + 10 * question.count("\n")
