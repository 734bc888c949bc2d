"""Where code and maths end in a text that is still growing.

Each function gets the index of an opening character and tells where what it opens ends; right after that character if
it opens nothing, None if more text must come before this can be told.
"""

from __future__ import annotations

import re
from typing import Final

FENCE: Final = "```"
_CODE_WINDOW = 160  # characters that inline code may have
_MATHS_WINDOW = 200


def verbatim_end(text: str, at: int, complete: bool) -> int | None:
    """The end of what a backtick, a dollar or a backslash opens; `complete` tells that no more text will come."""
    opens = {"`": _code_end, "$": _dollar_end, "\\": _escaped_end}
    return opens[text[at]](text, at, complete)


def _code_end(text: str, at: int, complete: bool) -> int | None:
    """`…` on one line. Three backticks open a fence; two are LaTeX's opening quote."""
    ticks = len(text) - at - len(text[at:].lstrip("`"))
    if at + ticks == len(text) and ticks < len(FENCE) and not complete:
        return None
    if ticks > 1:
        return at + min(ticks, len(FENCE))
    window = text[at + 1 : at + 1 + _CODE_WINDOW]
    stop = re.search(r"[`\n]", window)
    if stop is None:
        return at + 1 if complete or len(window) == _CODE_WINDOW else None
    return at + 1 if stop.group() == "\n" else at + 1 + stop.end()


def _dollar_end(text: str, at: int, complete: bool) -> int | None:
    """$…$ on one line. As in Pandoc a closing $ stands after no space and before no digit: "$5 and $6" are dollars."""
    window = text[at + 1 : at + 1 + _MATHS_WINDOW]
    complete = complete or len(window) == _MATHS_WINDOW
    for index, char in enumerate(window):
        if char == "\n" or (index == 0 and char.isspace()):
            return at + 1
        if char == "$" and index and not window[index - 1].isspace():
            if index + 1 == len(window) and not complete:
                return None
            if not window[index + 1 : index + 2].isdigit():
                return at + 2 + index
    return at + 1 if complete else None


def _escaped_end(text: str, at: int, complete: bool) -> int | None:
    r"""`\(…\)` and `\[…\]`."""
    two = text[at : at + 2]
    if len(two) < 2 and not complete:
        return None
    if two not in ("\\[", "\\("):
        return at + 1
    window = text[at + 2 : at + 2 + _MATHS_WINDOW]
    stop = window.find("\\]" if two == "\\[" else "\\)")
    if stop < 0:
        return at + 2 if complete or len(window) == _MATHS_WINDOW else None
    return at + 2 + stop + 2
