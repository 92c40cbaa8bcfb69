"""The profile of a model: whether it is a small one, for which prompts, tools and results are made short.

A small model is known by its name (`qwen2.5:3b`, `gemma-3-270m-it`) or measured by its server, which tells how many
parameters it has (llama.cpp, Ollama), or how few tokens it reads.
"""

import re
from typing import Final

from graph.models.serving import ServedModel
from graph.settings import AgentSettings, split_model

SMALL_PARAMETERS: Final = 10_000_000_000
SMALL_CONTEXT: Final = 8_192
"""A context in tokens in which the prompts for large models leave too little room."""
WINDOW_TOKENS: Final = 6_000
"""Messages that a small model sees at most, in tokens: it reads slowly, and loses its way in more."""
_SIZE: Final = re.compile(r"(?<![\w.])(?:e)?(\d+(?:\.\d+)?)(b|m)(?![a-z0-9])", re.IGNORECASE)


def is_small(settings: AgentSettings, model: str, served: ServedModel) -> bool:
    """Say whether the model is small, by the setting, by its server, or by its name."""
    if settings.model_profile != "auto":
        return settings.model_profile == "small"
    if served.parameters:
        return served.parameters < SMALL_PARAMETERS or 0 < served.context < SMALL_CONTEXT
    return 0 < served.context < SMALL_CONTEXT or 0 < parameters_in(model) < SMALL_PARAMETERS


def parameters_in(model: str) -> float:
    """Return how many parameters the name of a model says that it has; 0 if it says nothing.

    Of a mixture of experts (`30b-a3b`) the whole counts.
    """
    name = split_model(model)[1].rpartition("/")[2].replace("_", "-")
    sizes = [float(size) * (1e9 if unit in "bB" else 1e6) for size, unit in _SIZE.findall(name)]
    return max(sizes, default=0)
