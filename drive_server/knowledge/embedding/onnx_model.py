"""A packaged model with its tokenizer, in the process that it is loaded into."""

import os
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from drive_server.knowledge.embedding.vectors import Vectors

TOKENIZER_FILE: Final = "tokenizer.json"
MAX_THREADS: Final = 4


def embed(path: Path, texts: list[str]) -> Vectors | str:
    """Return the vectors of texts by the model in a file, [texts, dimensions]; the kind of error without the model.

    The model stays loaded, one for the process.
    """
    try:
        model = _opened(path)
    except Exception as error:  # noqa: BLE001 - onnxruntime's and tokenizers' errors have no base but this
        return type(error).__name__
    return model.embed(texts)


class OnnxModel:
    """The session and its tokenizer."""

    def __init__(self, path: Path) -> None:
        import onnxruntime  # here, because loading it costs more than the service's whole start may
        from tokenizers import Tokenizer

        options: Any = onnxruntime.SessionOptions()
        # A core is left to the service; spinning threads would take it after all.
        options.intra_op_num_threads = max(1, min(MAX_THREADS, (os.cpu_count() or 2) - 1))
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session: Any = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self._tokenizer: Any = Tokenizer.from_file(str(path.with_name(TOKENIZER_FILE)))

    def embed(self, texts: list[str]) -> Vectors:
        """Return the vectors of texts, [texts, dimensions].

        One at a time: the layers are quantized to int8 by the range of all values in a run, so that texts that run
        together, and their padding, would change each other's vectors (cosine 0.990 at least). On one thread a run of
        several long texts is no faster.
        """
        return np.concatenate([self._embed_one(text) for text in texts])

    def _embed_one(self, text: str) -> Vectors:
        encoded = self._tokenizer.encode(text)
        inputs = {
            "input_ids": np.array([encoded.ids], np.int64),
            "attention_mask": np.array([encoded.attention_mask], np.int64),
        }
        return self._session.run(["embedding"], inputs)[0]


_opened = cache(OnnxModel)
