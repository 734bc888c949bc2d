"""all-MiniLM-L6-v2 from its published weights with torch alone.

For questions from a cold terminal: importing sentence-transformers takes longer than answering. The layers are torch's
own; a test holds that the vectors equal sentence-transformers' ones.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn

_BATCH = 32
# BERT's names of a layer's parts and torch's
_PARTS = {
    "attention.output.dense": "self_attn.out_proj",
    "attention.output.LayerNorm": "norm1",
    "intermediate.dense": "linear1",
    "output.dense": "linear2",
    "output.LayerNorm": "norm2",
}


class MiniLM:
    """Texts to unit vectors of shape (n, 384): mean of the last layer over the tokens (Reimers & Gurevych 2019)."""

    def __init__(self, folder: Path, *, window: int, bf16: bool) -> None:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        weights = load_file(folder / "model.safetensors")
        self._precision = torch.bfloat16 if bf16 else torch.float32
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(window)
        self._tokenizer.enable_padding()
        self._words = weights["embeddings.word_embeddings.weight"]
        self._places = (
            weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
        )
        self._norm = weights["embeddings.LayerNorm.weight"], weights["embeddings.LayerNorm.bias"]
        self._epsilon = float(config["layer_norm_eps"])
        self._layers = _encoder(config, weights).to(self._precision)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), 384), float32, rows of unit length."""
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        vectors = np.empty((len(texts), self._words.shape[1]), dtype=np.float32)
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            vectors[batch] = self._encode_batch([texts[index] for index in batch]).numpy()
        return vectors

    @torch.inference_mode()
    def _encode_batch(self, texts: list[str]) -> Tensor:
        encoded = self._tokenizer.encode_batch_fast(texts)
        ids = torch.tensor([item.ids for item in encoded])
        mask = torch.tensor([item.attention_mask for item in encoded])
        embedded = self._words[ids] + self._places[: ids.shape[1]]
        embedded = nn.functional.layer_norm(embedded, embedded.shape[-1:], *self._norm, eps=self._epsilon)
        hidden = self._layers(embedded.to(self._precision), src_key_padding_mask=mask == 0).float()
        weight = mask.unsqueeze(-1).float()
        return nn.functional.normalize((hidden * weight).sum(1) / weight.sum(1), dim=1)


def _encoder(config: dict[str, Any], weights: dict[str, Tensor]) -> nn.TransformerEncoder:
    layer = nn.TransformerEncoderLayer(
        config["hidden_size"],
        config["num_attention_heads"],
        config["intermediate_size"],
        dropout=0.0,
        activation="gelu",
        layer_norm_eps=config["layer_norm_eps"],
        batch_first=True,
    )
    count = config["num_hidden_layers"]
    encoder = nn.TransformerEncoder(layer, count, enable_nested_tensor=False)
    state = {}
    for number in range(count):
        theirs, ours = f"encoder.layer.{number}", f"layers.{number}"
        for kind in ("weight", "bias"):
            projections = [weights[f"{theirs}.attention.self.{name}.{kind}"] for name in ("query", "key", "value")]
            state[f"{ours}.self_attn.in_proj_{kind}"] = torch.cat(projections)
            state |= {f"{ours}.{to}.{kind}": weights[f"{theirs}.{part}.{kind}"] for part, to in _PARTS.items()}
    encoder.load_state_dict(state)
    return encoder.eval()
