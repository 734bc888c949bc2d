"""A real and deterministic encoder that costs nothing: words hashed into 384 dimensions.

Texts that share words are near each other, so retrieval over it means something; two texts without a common word are
(nearly) orthogonal. It lets the tests of the store ingest thousands of records in a second.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np

from rag.embedding import Embedder, Vectors
from rag.text import stems

DIMENSION = 384


class HashEmbedder(Embedder):
    """`variant` makes encoders whose vectors must not be mixed."""

    def __init__(self, variant: str = "words") -> None:
        super().__init__("minilm", "fp32")
        self.variant = variant
        self.encoded: list[str] = []  # every passage that was encoded, in order

    @property
    def dimension(self) -> int:
        return DIMENSION

    @property
    def window(self) -> int:
        return 64

    @property
    def fingerprint(self) -> str:
        return f"hash-{self.variant}/{DIMENSION}/0"

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.encoded += texts
        vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for row, text in enumerate(texts):
            for stem in stems(text) or ["nothing"]:
                code = zlib.crc32(f"{self.variant}:{stem}".encode())
                vectors[row, code % DIMENSION] += 1.0 if code & 0x10000 else -1.0
            if not vectors[row].any():
                vectors[row, 0] = 1.0
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)

    def encode_question(self, text: str) -> Vectors:
        return np.asarray(self.encode([text])[0], dtype=np.float32)

    def load_for_questions(self) -> None:
        """There is nothing to load."""

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        return [len(re.findall(r"\w+|[^\w\s]", text)) for text in texts]
