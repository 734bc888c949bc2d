"""What the scanner writes with: pieces of readable text, each with the span of the markup it came from."""

from __future__ import annotations

from array import array


class Writer:
    """`pieces`, `starts`, `ends` and `groups` become what `rag.markup.Plain` holds."""

    def __init__(self, markup: str) -> None:
        self.markup = markup
        self.pieces: list[str] = []
        self.starts = array("L")
        self.ends = array("L")
        self.groups: list[tuple[int, int]] = []

    def scan(self, at: int, end: int, depth: int = 0) -> None:
        """Write what `markup[at:end]` shows."""
        raise NotImplementedError

    def _copy(self, start: int, end: int) -> None:
        if start < end:
            self.pieces.append(self.markup[start:end])
            self.starts.extend(range(start, end))
            self.ends.extend(range(start + 1, end + 1))

    def _put(self, text: str, start: int, end: int) -> int:
        """Show `text` for the whole of `markup[start:end]`."""
        if text:
            self.pieces.append(text)
            self.starts.extend([start] * len(text))
            self.ends.extend([end] * len(text))
        return end

    def _inside(self, start: int, inner_start: int, inner_end: int, end: int, depth: int) -> int:
        """Show the content of a construct without its signs."""
        self.groups.append((start, end))
        self.scan(inner_start, inner_end, depth + 1)
        return end

    def _last(self) -> str:
        return self.pieces[-1][-1] if self.pieces else "\n"

    def _unspace(self) -> None:
        """Take back the blank before something that shows nothing ("method \\cite{x}.")."""
        if self.pieces and self.pieces[-1].endswith(" "):
            self.pieces[-1] = self.pieces[-1][:-1]
            if not self.pieces[-1]:
                self.pieces.pop()
            self.starts.pop()
            self.ends.pop()
