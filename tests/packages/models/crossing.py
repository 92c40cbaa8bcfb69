"""Make the maps of README.md: `python -m tests.packages.models.crossing ENGLISH CHINESE PAIRS`.

ENGLISH and CHINESE are files of one text a line; PAIRS has a Chinese sentence, a tab and its translation.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import anyio
import numpy as np

from drive_server.knowledge.embedding.embedder import CROSSING_FILE, CjkEmbedder, LocalEmbedder, Vectors

PENALTY = 1.0
SHIFT = 0.5
"""How far the mean of the mapped vectors lies from that of English towards that of Chinese."""
COMPARED = 6000
"""How many sentences tell how far vectors of passages lie from those of the same texts as questions."""
HOLD = 10.0
"""How strongly translations leave the map as English has made it: the penalty on the distance from it."""


class Questions(CjkEmbedder):
    """The model, as it embeds questions."""

    passage_prefix = CjkEmbedder.query_prefix


def fit(source: Vectors, target: Vectors, chinese: Vectors) -> Vectors:
    """Return the map [dimensions + 1, dimensions] by ridge regression (Hoerl and Kennard, 1970)."""
    mean, target_mean = source.mean(0), target.mean(0)
    centred = source - mean
    normal = centred.T @ centred + PENALTY * np.eye(source.shape[1])
    matrix = np.linalg.solve(normal, centred.T @ (target - target_mean))
    origin = (1 - SHIFT) * mean + SHIFT * chinese.mean(0)
    return np.vstack([matrix, target_mean - origin @ matrix]).astype(np.float32)


def refine(fitted: Vectors, source: Vectors, target: Vectors) -> Vectors:
    """Return the map near `fitted` that brings sentences to their translations: a ridge regression around it."""
    known = np.hstack([source, np.ones((len(source), 1), source.dtype)]).astype(np.float64)
    normal = known.T @ known + HOLD * np.eye(known.shape[1])
    return np.linalg.solve(normal, known.T @ target + HOLD * fitted).astype(np.float32)


def for_passages(fitted: Vectors, questions: Vectors, passages: Vectors) -> Vectors:
    """Return the map for texts that were embedded as passages, given some that were embedded as both."""
    apart = passages.mean(0) - questions.mean(0)
    return np.vstack([fitted[:-1], fitted[-1] - apart @ fitted[:-1]])


async def build(english: Sequence[str], chinese: Sequence[str], pairs: Sequence[str]) -> Vectors:
    """Embed the texts and return the map of questions and that of passages."""
    questions, passages = Questions(), LocalEmbedder()
    source, target = await questions.embed_documents(english), await passages.embed_documents(english)
    fitted = fit(source, target, await questions.embed_documents(chinese))
    sentences, translations = zip(*(pair.split("\t") for pair in pairs), strict=True)
    source, target = await questions.embed_documents(sentences), await passages.embed_documents(translations)
    as_passages = await CjkEmbedder().embed_documents(sentences[:COMPARED])
    return np.array([refine(fitted, source, target), for_passages(fitted, source[:COMPARED], as_passages)])


def main() -> None:
    """Make the maps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("english", type=Path)
    parser.add_argument("chinese", type=Path)
    parser.add_argument("pairs", type=Path)
    options = parser.parse_args()
    english, chinese, pairs = (
        file.read_text(encoding="utf-8").splitlines() for file in (options.english, options.chinese, options.pairs)
    )
    np.save(CROSSING_FILE, anyio.run(build, english, chinese, pairs).astype(np.float16))


if __name__ == "__main__":
    main()
