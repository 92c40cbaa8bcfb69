"""The action of a message by its meaning: that of the nearest examples of `examples.tsv`, in either language.

The packaged multilingual embedding model compares them, so that slips and other words cost nothing. It only chooses
among actions that read or talk: no change is ever begun because a message sounds like one. One short text takes 4 ms of
CPU; loading the model and the examples once takes about a second (`python -m benchmarks.offline`).
"""

from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from drive_server.knowledge.embedding.embedder import CjkEmbedder, Vectors
from drive_server.knowledge.embedding.vectors import EmbedderUnavailableError

LONGEST, NEAREST = 160, 2
NEAR, APART = 0.85, 0.012
PLAIN, FAR_APART = 0.89, 0.02
"""An action counts from this similarity on, and if it is ahead of all others by this."""
_TEXT: Final = (Path(__file__).parents[1] / "examples.tsv").read_text(encoding="utf-8")
_ROWS: Final = tuple((row[0], tuple(row[1:])) for row in (line.split("\t") for line in _TEXT.splitlines()))


class Meaning(NamedTuple):
    """The action whose examples are nearest, how near they are (a cosine), and how far ahead of the next action's."""

    action: str = ""
    near: float = 0.0
    ahead: float = 0.0

    @property
    def is_plain(self) -> bool:
        """Say whether the message says little else than this action."""
        return self.near >= PLAIN and self.ahead >= FAR_APART

    @property
    def is_sure(self) -> bool:
        """Say whether the message may be taken for this action."""
        return self.near >= NEAR and self.ahead >= APART


@lru_cache(maxsize=512)
def meaning_of(text: str) -> Meaning:
    """Return the meaning nearest to a short message; none for a long one, or without the model."""
    if not text.strip() or len(text) > LONGEST:
        return Meaning()
    try:
        said = _embedder().embed_now([text])[0]
        scores = [(float(np.sort(vectors @ said)[-NEAREST:].mean()), name) for name, vectors in _examples()]
    except EmbedderUnavailableError:
        return Meaning()
    (near, action), (following, _) = sorted(scores, reverse=True)[:2]
    return Meaning(action, near, near - following)


@lru_cache(maxsize=64)
def likeness(question: str, texts: tuple[str, ...]) -> tuple[float, ...]:
    """Return how near each text is to a question (cosines); nothing without the model."""
    if not texts:
        return ()
    try:
        asked, *said = _embedder().embed_now([question[:LONGEST], *(one[:LONGEST] for one in texts)])
    except EmbedderUnavailableError:
        return ()
    return tuple(float(one @ asked) for one in said)


@lru_cache(maxsize=1)
def _embedder() -> CjkEmbedder:
    return CjkEmbedder()


@lru_cache(maxsize=1)
def _examples() -> tuple[tuple[str, Vectors], ...]:
    return tuple((name, _embedder().embed_now(examples)) for name, examples in _ROWS)
