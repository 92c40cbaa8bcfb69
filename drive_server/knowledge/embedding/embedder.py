"""Embedding models: the interface, the two packaged models, and no model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import anyio.to_thread
import numpy as np

from drive_server.kernel.text.characters import is_cjk
from drive_server.knowledge.embedding.model_process import model_process
from drive_server.knowledge.embedding.vectors import Vectors

MODEL_FOLDER = Path(__file__).parent / "model"
MODEL_FILE = "all-MiniLM-L6-v2.int8.onnx"
CJK_FOLDER = Path(__file__).parent / "multilingual"
CJK_FILE = "multilingual-e5-small.int8.onnx"
CROSSING_FILE = Path(__file__).parent / "crossing" / "e5-to-minilm.npy"
DIMENSIONS = 384
BATCH_CHARACTERS = 1000
"""The most characters of texts that one call of the process embeds; a question waits for the one that is under way."""


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near a passage must be to answer a question: a cosine, less for the words that it has close together.

    `alone` is the cosine without a word. A passage needs `each_word` less for each of the first three words,
    `rare_words` times the rarity of each (`evidence.py`), and `words` less if it has them all; rare ones count more
    in the share of them that it has. It needs `missing` more if none of the passages that were looked through has any
    word of the question, and a share of that, weighed by rarity, for the words that none of them has. It needs `field`
    times the background level more (`fusion.field_of`): a library near to every question needs a passage that stands
    out of it. Chosen by `python -m benchmarks.search.absent`.
    """

    alone: float
    words: float = 0.0
    each_word: float = 0.0
    rare_words: float = 0.0
    missing: float = 0.0
    field: float = 0.0

    @property
    def counts_words(self) -> bool:
        """Whether the words of a passage count."""
        return self.rare_words > 0


class Embedder(Protocol):
    """A model that embeds texts of similar meaning near each other.

    `name` changes whenever the vectors do, but for rounding: an index under another name is built anew in the
    background, and the one before it answers meanwhile. `dimensions` is 0 for a model without vectors. `weight`, from 0
    to 1, is the greatest share of the similarity in a passage's score; `fusion.py` decides for each query. `floor` is
    the cosine of texts that have nothing in common: similarity counts from there.
    """

    name: str
    dimensions: int
    weight: float
    floor: float

    def supports(self, text: str) -> bool:
        """Return whether the model supports the language of a text. Other texts are found by their words alone."""
        ...

    def nearness(self, query: str) -> Nearness | None:
        """Return how near an answer to the query is; None if that is not known, as of a service's models."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one vector of length 1 for each text: [texts, dimensions]."""
        ...

    async def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question: [dimensions]."""
        ...


class PackagedEmbedder:
    """A model in this package, on the processor, in a process of its own that ends when nobody asks."""

    dimensions = DIMENSIONS
    path: Path
    query_prefix = ""
    passage_prefix = ""

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text, which does not depend on the others."""
        result = np.empty((len(texts), DIMENSIONS), np.float32)
        for batch in _batches([len(text) for text in texts]):
            prefixed = [self.passage_prefix + text for text in texts[batch]]
            # Several calls, so that a cancelled import ends soon and questions get their turn.
            result[batch] = await anyio.to_thread.run_sync(model_process(self.path).embed_passages, prefixed)
        return result

    async def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question."""
        return (await anyio.to_thread.run_sync(self.embed_now, [text]))[0]

    def embed_now(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of short questions; blocks: [texts, dimensions]."""
        return model_process(self.path).embed_questions([self.query_prefix + text for text in texts])


class LocalEmbedder(PackagedEmbedder):
    """all-MiniLM-L6-v2: English.

    Two thirds of Chinese are unknown tokens to it: its vectors would be a cost that brings nothing (nDCG@10 of 0.09
    where words have 0.98). The weight was chosen with `TRUST` (`fusion.py`), on twelve collections.
    """

    name = "all-minilm-l6-v2-int8-alone"
    weight = 0.75
    floor = 0.0
    path = MODEL_FOLDER / MODEL_FILE

    def supports(self, text: str) -> bool:
        """Return whether a text is mainly in a Western script."""
        return not is_cjk(text)

    def nearness(self, query: str) -> Nearness:
        """Return how near an answer is."""
        del query
        return Nearness(alone=0.525, each_word=0.08, rare_words=0.02, missing=0.03)


class EarlierLocalEmbedder(LocalEmbedder):
    """The same model's questions for an index of an earlier version, as long as it answers.

    Its texts were embedded together, which changed their vectors a little (cosine 0.979 at least): near enough to be
    found, too far to be taken over.
    """

    name = "all-minilm-l6-v2-int8"


class CjkEmbedder(PackagedEmbedder):
    """multilingual-e5-small: Chinese, Japanese and Korean, and English questions about them.

    A passage takes five times as long as with `LocalEmbedder` (`python -m benchmarks.search.embedding`); loaded, it is
    149 MB. The weight was chosen with `CJK_TRUST` (`fusion.py`), on four collections.
    """

    name = "multilingual-e5-small-q4"
    """As it was with all layers in 4 bits, from whose vectors these differ by rounding (`multilingual/README.md`)."""

    weight = 0.85
    floor = 0.7
    path = CJK_FOLDER / CJK_FILE
    query_prefix = "query: "
    passage_prefix = "passage: "

    def supports(self, text: str) -> bool:
        """Return whether a text is mainly Chinese, Japanese or Korean."""
        return is_cjk(text)

    def nearness(self, query: str) -> Nearness:
        """Return how near an answer is; one to a question in another script is never as near."""
        if not is_cjk(query):
            return Nearness(alone=0.85)
        return Nearness(alone=0.906, words=0.04, each_word=0.004, rare_words=0.003)


class CrossingEmbedder:
    """Questions in Chinese, Japanese and Korean for passages that `LocalEmbedder` embedded.

    The question's vector by `CjkEmbedder` is brought to where `LocalEmbedder` puts a text of this meaning, by a linear
    map (README.md beside it). So passages need no second vector, which would cost four times as much as their first.
    """

    name = LocalEmbedder.name
    dimensions = DIMENSIONS
    weight = 0.75
    floor = 0.0

    def __init__(self, questions: "Embedder") -> None:
        self._questions = questions

    def supports(self, text: str) -> bool:
        """Return whether a text is mainly Chinese, Japanese or Korean."""
        return is_cjk(text)

    def nearness(self, query: str) -> Nearness:
        """Return how near an answer is; the words that count are those of passages in the question's own language."""
        del query
        return Nearness(alone=0.316, field=0.35)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts as if they were questions."""
        vectors = [await self.embed_query(text) for text in texts]
        return np.array(vectors, np.float32).reshape(len(texts), DIMENSIONS)

    async def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question."""
        return self.cross_question(await self._questions.embed_query(text))

    def cross_question(self, vector: Vectors) -> Vectors:
        """Return the vector of a question from its vector by `CjkEmbedder`."""
        return _crossed(vector[None], self._maps[0])[0]

    def cross_passages(self, vectors: Vectors) -> Vectors:
        """Return vectors of passages by `CjkEmbedder` as vectors among those by `LocalEmbedder`, at length 1."""
        return _crossed(vectors, self._maps[1])

    @cached_property
    def _maps(self) -> Vectors:
        """The maps of questions and of passages: a matrix each, and as its last row the offset: [2, 385, 384]."""
        return np.load(CROSSING_FILE).astype(np.float32)


class NoEmbedder:
    """No vectors: search uses words alone."""

    name = "none"
    dimensions = 0
    weight = 0.0
    floor = 0.0

    def supports(self, text: str) -> bool:
        """Return False."""
        del text
        return False

    def nearness(self, query: str) -> None:
        """Return None."""
        del query

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return vectors without components."""
        return np.empty((len(texts), 0), np.float32)

    async def embed_query(self, text: str) -> Vectors:
        """Return a vector without components."""
        del text
        return np.empty(0, np.float32)


def _crossed(vectors: Vectors, fitted: Vectors) -> Vectors:
    crossed = vectors @ fitted[:-1] + fitted[-1]
    return (crossed / np.linalg.norm(crossed, axis=1, keepdims=True)).astype(np.float32)


def _batches(lengths: Sequence[int]) -> Iterator[slice]:
    """Yield the places of texts of these lengths, as many together as fit into a batch."""
    start = size = 0
    for place, length in enumerate(lengths):
        if place > start and size + length > BATCH_CHARACTERS:
            yield slice(start, place)
            start, size = place, 0
        size += length
    if lengths:
        yield slice(start, len(lengths))
