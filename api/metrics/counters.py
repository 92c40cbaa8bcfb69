"""Counts and times that grow while this process works. Labels never hold people's texts."""

from typing import Final

from prometheus_client import Counter, Histogram

from drive_server.kernel.telemetry.metrics import REGISTRY, SECONDS

RUNS: Final = Counter("drive_agent_runs", "Runs that ended here, by their status.", ("status",), registry=REGISTRY)
FIRST_WORDS_SECONDS: Final = Histogram(
    "drive_agent_first_words_seconds",
    "Seconds from the start of a run to the first words of its answer.",
    registry=REGISTRY,
    buckets=(*SECONDS, 60.0, 120.0),
)
MODEL_TOKENS: Final = Counter(
    "drive_agent_model_tokens", "Tokens of models in runs that ended here, by kind.", ("kind",), registry=REGISTRY
)
TAKE_OVERS: Final = Counter(
    "drive_agent_take_overs", "Runs taken up that another process, or a crash, had left.", registry=REGISTRY
)
FENCE_REFUSALS: Final = Counter(
    "drive_agent_fence_refusals", "Writes of runs that were refused, as another process has the run.", registry=REGISTRY
)


def count_tokens(usage: dict[str, int]) -> None:
    """Count a run's tokens of models; its cost is left out."""
    for kind, number in usage.items():
        if kind.endswith("tokens") and number > 0:
            MODEL_TOKENS.labels(kind).inc(number)
