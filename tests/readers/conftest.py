"""What tests of the readers share: read some bytes as a file of a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from rag.papers import Paper, Skipped
from rag.readers import Limits, sources


@dataclass(frozen=True)
class Result:
    papers: list[Paper]
    skipped: list[Skipped]

    @property
    def titles(self) -> list[str]:
        return [paper.title for paper in self.papers]

    @property
    def abstracts(self) -> list[str]:
        return [paper.abstract for paper in self.papers]

    @property
    def skips(self) -> list[tuple[int, str]]:
        return [(row.line, row.reason) for row in self.skipped]


Read = Callable[..., Result]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """`read(content, "name.csv")` → the papers and the rows that gave none."""

    def read_file(
        content: str | bytes,
        name: str = "list.txt",
        *,
        mapping: Mapping[str, str] | None = None,
        limits: Limits | None = None,
    ) -> Result:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        found = [item for source in sources([str(path)], mapping=mapping, limits=limits) for item in source.papers()]
        return Result(
            [item for item in found if isinstance(item, Paper)], [item for item in found if isinstance(item, Skipped)]
        )

    return read_file
