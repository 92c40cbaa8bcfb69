from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

import anyio
import numpy as np
import onnxruntime
import pytest

from drive_server.knowledge.embedding.embedder import (
    CJK_FILE,
    CJK_FOLDER,
    DIMENSIONS,
    MODEL_FILE,
    MODEL_FOLDER,
    CjkEmbedder,
    LocalEmbedder,
    NoEmbedder,
    PackagedEmbedder,
)
from drive_server.knowledge.embedding.onnx_model import TOKENIZER_FILE
from drive_server.knowledge.embedding.vectors import EmbedderUnavailableError

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.knowledge.embedding.embedder import Embedder, Vectors


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return LocalEmbedder()


async def test_a_paraphrase_is_nearer_than_another_subject(embedder: Embedder) -> None:
    question = await embedder.embed_query("How long can a mother stay at home with her newborn?")
    vectors = await embedder.embed_documents(
        ["Parental leave lasts twelve weeks.", "The server listens on port 8000.", "Our canteen serves soup."]
    )
    assert int(np.argmax(vectors @ question)) == 0


async def test_vectors_have_length_one_and_keep_the_order_of_their_texts(embedder: Embedder) -> None:
    texts = ["a rather long text about nothing " * 50, "", "short", "😀 émoji"]
    together = await embedder.embed_documents(texts)
    assert together.shape == (4, DIMENSIONS)
    assert np.allclose((together**2).sum(axis=1), 1, atol=1e-4)


@pytest.mark.parametrize("model", [LocalEmbedder(), CjkEmbedder()], ids=["local", "cjk"])
async def test_a_text_has_the_same_vector_whatever_it_is_embedded_beside(model: Embedder) -> None:
    texts = ["a rather long text about nothing " * 9, "short", "年假制度：员工有多少天休假？", "A boundary layer. " * 9]
    together = await model.embed_documents(texts)
    alone = np.concatenate([await model.embed_documents([text]) for text in texts])
    assert np.allclose(together, alone, atol=1e-6)


NAMED_VECTORS = {
    "all-minilm-l6-v2-int8-alone": (
        (41, 88, 21, 21, 15, 28, 4, -19, 117, -34, 36, 15, -55, -15, 14, 62),
        (9, 109, 19, 50, -5, 1, 18, 94, 12, -2, 23, -2, 5, -50, -14, 8),
        (3, 126, 21, -37, -74, 37, 107, 73, 35, -87, 147, -46, 87, -20, -59, -60),
    ),
    "multilingual-e5-small-q4": (
        (31, -1, -39, -42, 104, -9, 0, 1, 75, 19, 42, 34, 75, 3, -66, 56),
        (30, 15, -21, -108, 78, -35, 25, 30, 86, 19, 92, 1, 59, -23, -77, 31),
        (60, 5, -59, -11, 104, -2, -4, 32, 114, 9, 34, -40, 115, -6, -70, 33),
    ),
}
"""The first numbers of vectors, in thousandths. Vectors of other numbers need another name: an index has both."""


@pytest.mark.parametrize("model", [LocalEmbedder(), CjkEmbedder()], ids=["local", "cjk"])
async def test_vectors_are_those_that_belong_to_the_name_of_the_model(model: Embedder) -> None:
    texts = ["a rather long text about nothing " * 9, "short", "员工可以休十二周的带薪育儿假。"]
    expected = np.array(NAMED_VECTORS[model.name], np.float32)
    found = (await model.embed_documents(texts))[:, : expected.shape[1]]
    lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1)
    # Processors round differently; the same texts embedded together, as until November 2026, have 0.966 at least.
    assert ((found * expected).sum(axis=1) / lengths).min() > 0.985


@pytest.mark.parametrize("model", [LocalEmbedder(), CjkEmbedder()], ids=["local", "cjk"])
def test_a_loaded_model_has_no_operator_that_takes_four_times_as_long_as_two_others(
    model: PackagedEmbedder, tmp_path: Path
) -> None:
    options: Any = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "loaded.onnx")
    onnxruntime.InferenceSession(str(model.path), options, providers=["CPUExecutionProvider"])
    loaded = (tmp_path / "loaded.onnx").read_bytes()
    assert b"LayerNormalization" in loaded
    assert b"SkipLayerNormalization" not in loaded


async def test_no_texts_have_no_vectors(embedder: Embedder) -> None:
    assert (await embedder.embed_documents([])).shape == (0, DIMENSIONS)


async def test_two_first_uses_at_once_load_one_model() -> None:
    fresh = LocalEmbedder()
    vectors: list[Vectors] = []

    async def ask() -> None:
        vectors.append(await fresh.embed_query("hello"))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        group.start_soon(ask)
    assert np.array_equal(vectors[0], vectors[1])


def test_the_local_model_reads_english_and_leaves_chinese_to_the_words(embedder: Embedder) -> None:
    assert embedder.supports("parental leave")
    assert not embedder.supports("育儿假")


async def test_without_a_model_there_are_no_vectors() -> None:
    none = NoEmbedder()
    assert (none.dimensions, none.supports("text")) == (0, False)
    assert (await none.embed_documents(["a", "b"])).shape == (2, 0)
    assert (await none.embed_query("a")).shape == (0,)


@pytest.mark.parametrize(("folder", "model"), [(MODEL_FOLDER, MODEL_FILE), (CJK_FOLDER, CJK_FILE)])
def test_the_packaged_files_are_those_that_their_readme_names(folder: Path, model: str) -> None:
    named = dict(re.findall(r"\| `([^`]+)`(?:, here)? \| `([0-9a-f]{64})` \|", (folder / "README.md").read_text()))
    for name in (model, TOKENIZER_FILE):
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == named[name]


async def test_chinese_japanese_korean_and_english_questions_are_nearest_to_the_chinese_answer() -> None:
    cjk = CjkEmbedder()
    vectors = await cjk.embed_documents(["员工可以休十二周的带薪育儿假。", "服务器监听8000端口。", "食堂周一供应汤。"])
    assert np.allclose((vectors**2).sum(axis=1), 1, atol=1e-4)
    for question in (
        "生孩子能休息多久？",
        "育児休暇はどのくらいですか",
        "육아휴직은 얼마나 되나요?",
        "How long is parental leave?",
    ):
        assert int(np.argmax(vectors @ await cjk.embed_query(question))) == 0


def test_each_text_has_one_model_by_its_script() -> None:
    for text in ("parental leave", "育儿假", "育児休暇はどのくらい", "육아휴직", "Budget 2024 预算", "Привет", ""):
        assert CjkEmbedder().supports(text) != LocalEmbedder().supports(text)


@pytest.mark.parametrize("content", [None, b"", b"\x08\x07 cut off"])
async def test_a_model_file_that_is_missing_or_damaged_makes_the_model_unavailable(
    tmp_path: Path, content: bytes | None
) -> None:
    broken = CjkEmbedder()
    broken.path = tmp_path / "model.onnx"
    if content is not None:
        broken.path.write_bytes(content)
    with pytest.raises(EmbedderUnavailableError):
        await broken.embed_query("假期")
    with pytest.raises(EmbedderUnavailableError):
        await broken.embed_documents(["假期"])
