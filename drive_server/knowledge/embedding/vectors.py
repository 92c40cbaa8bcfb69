"""Vectors of texts, and the error instead of them."""

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class EmbedderUnavailableError(Exception):
    """The model can't be reached now. The message is for a log."""
