"""The scanner behind `rag.markup`: walks over the places where markup could start and writes readable text.

Each handler writes text with the span it came from and returns where it stopped, or returns None: then the characters
stand for themselves. In doubt it is no markup: a stray sign in an abstract is better than a lost one.
"""

from __future__ import annotations

import re

from rag.language.latex import Latex
from rag.language.marks import Html, Markdown

_DEPTH = 24  # constructs nested deeper than this are left as they are
_SPECIAL = re.compile(
    r"""(?P<url>(?:https?://|\bwww\.)[^\s<>()\[\]{}"*`$\\]+) | (?P<latex>\\) | (?P<dollar>\$) | (?P<entity>&(?=[#\w]))
    | (?P<tag><(?=[/!a-zA-Z])) | (?P<star>\*+) | (?P<under>_+(?!\{)) | (?P<strike>~~(?=\S)) | (?P<tick>`+)
    | (?P<quote>'') | (?P<tie>~) | (?P<script>(?<=[\w)\]}])[\^_]\{[^{}\s$]{1,20}\})
    | (?P<brace>\{) | (?P<link>!?\[) | (?P<dash>(?<!-)---?(?!-))
    | (?P<block>^[ ]{0,3}(?:\#{1,6}[ \t]+(?!of\b)(?=\S)|>[ ](?=[A-Za-z"'*])))""",
    re.VERBOSE | re.MULTILINE,
)


class Scanner(Latex, Markdown, Html):
    """One pass over `markup`; the handler of a place is the method named like its group in `_SPECIAL`."""

    def scan(self, at: int, end: int, depth: int = 0) -> None:
        """Write what `markup[at:end]` shows."""
        done = at
        while depth < _DEPTH and (match := _SPECIAL.search(self.markup, at, end)):
            kind = match.lastgroup or ""
            here = match.start()
            self._copy(done, here)
            done = here
            after = getattr(self, f"_{kind}")(here, end, depth)
            if after is None:
                at = match.end() if kind in ("star", "under", "tick") else here + 1
                self._copy(done, at)
                done = at
            else:
                at = done = after
        self._copy(done, end)

    def _url(self, at: int, end: int, depth: int) -> int:
        match = _SPECIAL.match(self.markup, at, end)
        stop = match.end() if match else at + 1
        stop = at + len(self.markup[at:stop].rstrip("_~'&"))
        self._copy(at, stop)
        return stop

    def _block(self, at: int, end: int, depth: int) -> int | None:
        match = _SPECIAL.match(self.markup, at, end)
        return match.end() if match else None
