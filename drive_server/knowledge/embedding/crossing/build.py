"""Make the map of README.md: `python -m drive_server.knowledge.embedding.crossing.build ENGLISH CHINESE`.

ENGLISH and CHINESE are files of one text a line.
"""

import argparse
from pathlib import Path

import anyio
import numpy as np

from drive_server.knowledge.embedding.embedder import CROSSING_FILE, CjkEmbedder, LocalEmbedder, Vectors

PENALTY = 1.0
SHIFT = 0.5
"""How far the mean of what is mapped lies from that of English towards that of Chinese."""


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


async def build(english: Path, chinese: Path) -> None:
    """Embed the texts and write the map."""
    texts, others = (path.read_text(encoding="utf-8").splitlines() for path in (english, chinese))
    questions = Questions()
    source, target = await questions.embed_documents(texts), await LocalEmbedder().embed_documents(texts)
    fitted = fit(source, target, await questions.embed_documents(others))
    np.save(CROSSING_FILE, fitted.astype(np.float16))


def main() -> None:
    """Make the map."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("english", type=Path)
    parser.add_argument("chinese", type=Path)
    options = parser.parse_args()
    anyio.run(build, options.english, options.chinese)


if __name__ == "__main__":
    main()
