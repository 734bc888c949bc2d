"""The embedding model: unit vectors, the same from every path, of the published weights or none."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

import rag.embedding
from rag.embedding import PACKAGED_DIMENSION, Embedder, Remembered, packaged_folder
from rag.errors import EmbeddingUnavailable

TEXTS = ["Coral reefs bleach.", "", "珊瑚礁", "x " * 3000, "Coral reefs lose colour when the sea is warm."]


def test_vectors_are_unit_length_whatever_the_text(embedder: Embedder) -> None:
    vectors = embedder.encode(TEXTS)
    assert (vectors.shape, vectors.dtype) == ((len(TEXTS), PACKAGED_DIMENSION), np.float32)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-3)
    assert vectors[0] @ vectors[4] > 0.5 > vectors[0] @ vectors[2]
    assert embedder.encode([]).shape == (0, PACKAGED_DIMENSION)


def test_both_ways_to_embed_agree() -> None:
    """A question first (light) and a passage first (sentence-transformers) give one and the same vector."""
    light, full = Embedder(precision="fp32"), Embedder(precision="fp32")
    passages = full.encode(TEXTS)
    questions = np.stack([light.encode_question(text) for text in TEXTS])
    assert (passages * questions).sum(1) == pytest.approx(1, abs=1e-4)


def test_the_order_and_the_company_of_a_text_do_not_matter(embedder: Embedder) -> None:
    together = embedder.encode(TEXTS)
    alone = np.stack([embedder.encode([text])[0] for text in TEXTS])
    assert (together * alone).sum(1) == pytest.approx(1, abs=2e-3)


def test_tokens_are_counted_beyond_the_window(embedder: Embedder) -> None:
    assert embedder.token_counts(["coral", "x " * 3000]) == [1, 3000]


def test_fingerprint_names_model_dimension_and_weights() -> None:
    assert Embedder().fingerprint == "minilm/384/53aa51172d142c89"


def test_changed_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "gt_other"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "model" / "model.safetensors").write_bytes(b"other weights")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(rag.embedding, "_PACKAGE", "gt_other")
    with pytest.raises(EmbeddingUnavailable, match="not the published one"):
        packaged_folder()
    with pytest.raises(EmbeddingUnavailable):
        Embedder().encode_question("x")
    with pytest.raises(EmbeddingUnavailable):
        Embedder().encode(["x"])
    monkeypatch.setattr(rag.embedding, "_PACKAGE", "gt_missing")
    with pytest.raises(EmbeddingUnavailable, match="pip install"):
        packaged_folder()


def test_remembered_vectors_are_the_same_and_asked_for_once(embedder: Embedder) -> None:
    remembered = Remembered(embedder, most=3)
    assert remembered(TEXTS[:3] + TEXTS[:1]) == pytest.approx(embedder.encode(TEXTS[:3] + TEXTS[:1]), abs=0.02)
    assert remembered([]).shape == (0, PACKAGED_DIMENSION)
    first = remembered([TEXTS[0]])
    remembered(TEXTS)
    assert remembered([TEXTS[0]]) == pytest.approx(first, abs=0.02)


def test_several_threads_may_load_it_at_once() -> None:
    shared_by_all, found = Embedder(), list[float]()
    threads = [
        threading.Thread(target=lambda: found.append(float(shared_by_all.encode_question("reef")[0]))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 4
    assert max(found) - min(found) < 1e-6
