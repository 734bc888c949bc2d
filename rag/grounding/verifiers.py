"""Verifiers: a second opinion on what was located. `located` has none; `nli:MODEL`, `llm` and `odds` read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from rag.answer import Verdict
from rag.errors import RagError, SettingsError
from rag.grounding.judgement import JudgeFailed, parse_judgement

LONGEST: Final = 120.0  # seconds for one claim where nobody says less
Complete = Callable[[str, float, threading.Event | None], str]


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a verifier says of a claim and a passage: the verdict, how sure (0 to 1), and why in words.

    `failed` is the reason why there is no verdict; the located one then stands. `reading`, where it is set, is a
    log-likelihood ratio of support to be weighed with what was located; such an opinion has no verdict of its own.
    """

    verdict: Verdict | None
    score: float = 0.0
    reason: str = ""
    failed: str = ""
    reading: float | None = None


class Verifier(Protocol):
    """`name` is what RAG_VERIFIER calls it."""

    @property
    def name(self) -> str: ...

    def prepare(self, seconds: float, stop: threading.Event) -> str:
        """Get ready to read, before an answer's first claim; returns why it cannot be used, "" where it can."""

    def read(
        self, claim: str, passage: str, *, seconds: float = ..., stop: threading.Event | None = ...
    ) -> Opinion | None:
        """An opinion, or None when this verifier does not read; one that takes longer than `seconds` has failed."""


@dataclass(frozen=True, slots=True)
class Located:
    """The embedded verifier: what was located by words, figures and names stands."""

    name: str = "located"

    def prepare(self, seconds: float, stop: threading.Event) -> str:
        return ""

    def read(
        self, claim: str, passage: str, *, seconds: float = LONGEST, stop: threading.Event | None = None
    ) -> Opinion | None:
        return None


class Nli:
    """A sentence-transformers CrossEncoder by name or folder, with two labels (not, yes), three NLI labels or one.

    Loaded on first use. Which output means what is read from the model's own `id2label`; where that says nothing,
    the order is contradiction, entailment, neutral as in the cross-encoder/nli-* models.
    """

    def __init__(self, model: str) -> None:
        self.name = f"nli:{model}"
        self._path = model
        self._model: Any = None
        self._missing = ""  # why it could not be loaded; it is not tried again for every sentence

    def prepare(self, seconds: float, stop: threading.Event) -> str:
        return ""

    def read(
        self, claim: str, passage: str, *, seconds: float = LONGEST, stop: threading.Event | None = None
    ) -> Opinion:
        import numpy as np

        try:
            model = self._loaded()
            logits = np.asarray(model.predict([(passage, claim)], convert_to_numpy=True, activation_fn=_identity()))[0]
        except (OSError, ValueError, RuntimeError) as error:
            return Opinion(None, failed=f"the cross-encoder {self._path} failed: {error}")
        logits = np.atleast_1d(logits).astype(float)
        if not np.isfinite(logits).all():
            return Opinion(None, failed=f"the cross-encoder {self._path} gave no number")
        if len(logits) == 1:
            probability = float(1 / (1 + np.exp(-logits[0])))
            return Opinion(Verdict.SUPPORTED if probability >= 0.5 else Verdict.NOT_FOUND, probability)
        shares = np.exp(logits - logits.max())
        shares /= shares.sum()
        yes, no = self._columns(len(logits))
        best = int(shares.argmax())
        verdict = Verdict.SUPPORTED if best == yes else Verdict.CONTRADICTED if best == no else Verdict.NOT_FOUND
        return Opinion(verdict, float(shares[yes]))

    def _loaded(self) -> Any:
        if self._missing:
            raise OSError(self._missing)
        if self._model is None:
            from sentence_transformers import CrossEncoder

            from rag.hub import load

            try:
                self._model = load(CrossEncoder, self._path, device="cpu")
            except (OSError, ValueError) as error:
                self._missing = str(error)
                raise
        return self._model

    def _columns(self, count: int) -> tuple[int, int | None]:
        """Positions of entailment and of contradiction (None where the model has no such label)."""
        labels = {i: str(label).lower() for i, label in getattr(self._model.config, "id2label", {}).items()}
        yes = next((i for i, label in labels.items() if label.startswith(("entail", "support"))), None)
        no = next((i for i, label in labels.items() if label.startswith(("contra", "refut"))), None)
        if yes is None:
            return (1, 0) if count == 3 else (1, None)
        return yes, no


def _identity() -> Any:
    import torch

    return torch.nn.Identity()


@dataclass(frozen=True, slots=True)
class Judge:
    """The configured language model, asked for a verdict in JSON; `complete` sends a prompt and returns the reply.

    It gets the seconds that are left and the event that stops it, too.

    A reply that cannot be read is asked for once more; then the judge has failed, which is an outcome of its own.
    """

    complete: Complete
    prompt: Callable[[str, str], str]
    name: str = "llm"

    def prepare(self, seconds: float, stop: threading.Event) -> str:
        return ""

    def read(
        self, claim: str, passage: str, *, seconds: float = LONGEST, stop: threading.Event | None = None
    ) -> Opinion:
        reason = ""
        deadline = time.monotonic() + seconds
        for _ in range(2):
            left = deadline - time.monotonic()
            if left <= 0 or (stop and stop.is_set()):
                break
            try:
                found = parse_judgement(self.complete(self.prompt(claim, passage), left, stop))
            except (JudgeFailed, RagError, OSError) as failed:
                reason = str(failed)
                continue
            return Opinion(found.verdict, 1.0 if found.verdict is Verdict.SUPPORTED else 0.0, found.reason)
        return Opinion(None, failed=reason or "there was no time")


def verifier(name: str) -> Verifier:
    """The verifier without a language model that RAG_VERIFIER names. Raises SettingsError for an unknown name."""
    if name == "located":
        return Located()
    if name.startswith("nli:") and len(name) > 4:
        return Nli(name[4:])
    raise SettingsError(f"RAG_VERIFIER={name} is unknown", hint="use auto, located, odds, nli:MODEL or llm")
