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
    """Return the vectors of a batch by the model in a file, [texts, dimensions]; the kind of error without the model.

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
        """Return the vectors of one batch."""
        encoded = self._tokenizer.encode_batch(texts)
        inputs = {
            "input_ids": np.array([one.ids for one in encoded], np.int64),
            "attention_mask": np.array([one.attention_mask for one in encoded], np.int64),
        }
        return self._session.run(["embedding"], inputs)[0]


_opened = cache(OnnxModel)
