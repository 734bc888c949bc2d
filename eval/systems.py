"""What is evaluated: our engine over a store, behind the small face that a peer can have too."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import rag
from eval.dataset import Exchange
from rag.answer import Answer
from rag.errors import InputError, StoreDamaged, StoreMismatch
from rag.papers import Paper
from rag.settings import Settings

if TYPE_CHECKING:
    from rag.engine import Engine
    from rag.store import Store

OURS = "askabstracts"
SAMPLE = Path(rag.__file__).parent / "data" / "iclr2026_sample.jsonl"
FIRST_RANKS = 20

# Settings that cannot change an answer; all others are part of what an answer depends on.
_IRRELEVANT = {"data", "llm_key", "chroma_token", "log", "lock_seconds"}


class System(Protocol):
    """One setup. `model` and `model_reason` say what writes; `fingerprint` is of its papers."""

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def model_reason(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...

    def has(self, paper_id: str) -> bool:
        """Whether the corpus holds this paper."""

    def ask(self, question: str, history: Sequence[Exchange], order: Sequence[int] | None) -> Answer:
        """One answer; `order` rearranges the evidence before it is shown to the writer."""

    def ranked(self, question: str) -> list[str]:
        """Ids of the 20 papers most relevant to a stand-alone question, best first."""

    def close(self) -> None: ...


class OurSystem:
    """`rag.engine` with these settings."""

    def __init__(self, settings: Settings, engine: Engine | None = None) -> None:
        from rag.engine import Engine

        self.name = OURS
        self._engine: Engine = engine or Engine.open(settings)
        model = self._engine.model
        self.model, self.model_reason = model.name, model.reason
        self.encode = self._engine.encode
        self.fingerprint = corpus_fingerprint(self._engine.store)

    def has(self, paper_id: str) -> bool:
        return self._engine.paper(paper_id) is not None

    def ask(self, question: str, history: Sequence[Exchange], order: Sequence[int] | None) -> Answer:
        from rag.conversation import Turn

        turns = [Turn(item.question, item.answer) for item in history]
        return self._engine.ask(question, history=turns, evidence_order=order)

    def ranked(self, question: str) -> list[str]:
        return [source.paper.id for source in self._engine.search(question, top_k=FIRST_RANKS)]

    def close(self) -> None:
        self._engine.close()


def corpus_fingerprint(store: Store) -> str:
    """16 hex digits over the ids and contents of all papers, in any order."""
    digest = hashlib.sha256()
    for line in sorted(f"{paper.id} {paper.content_hash}" for paper in store.catalogue.papers()):
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()[:16]


def ingest(corpus: Path, settings: Settings) -> Settings:
    """Settings for a store beside the evaluations that holds this file and nothing else; a second time costs little."""
    if not corpus.exists():
        raise InputError(f"there is no corpus {corpus}")
    key = f"{corpus.resolve()} {settings.embed_model} {settings.embed_precision}"
    name = f"{corpus.name}-{hashlib.sha256(key.encode()).hexdigest()[:8]}"
    own = settings.model_copy(update={"data": home(settings) / "corpora" / name, "chroma_url": ""})
    try:
        _sync(corpus, own)
    except (StoreMismatch, StoreDamaged):  # made by another version; all that is in it comes from the file
        shutil.rmtree(own.data)
        _sync(corpus, own)
    return own


def corpus_papers(corpus: Path) -> list[Paper]:
    """The papers of a file; raises InputError where there are none."""
    from rag.readers import sources

    found = [item for source in sources([str(corpus)]) for item in source.papers() if isinstance(item, Paper)]
    if not found:
        raise InputError(f"{corpus} has no papers")
    return found


def _sync(corpus: Path, settings: Settings) -> None:
    from rag.readers import sources
    from rag.store import Store

    store = Store(settings)
    try:
        for source in sources([str(corpus)]):
            store.sync(source.name, source.papers())
    finally:
        store.close()


def home(settings: Settings) -> Path:
    """Folder of all evaluations."""
    return settings.data / "evaluations"


def relevant(settings: Settings) -> dict[str, Any]:
    """The settings that an answer depends on, as JSON types without secrets."""
    return {key: value for key, value in settings.model_dump(mode="json").items() if key not in _IRRELEVANT}
