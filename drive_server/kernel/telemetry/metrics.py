"""Metrics of this process in Prometheus' data model. Labels never hold people's texts.

https://prometheus.io/docs/concepts/data_model
"""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram

REGISTRY: Final = CollectorRegistry()
SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

REQUEST_SECONDS: Final = Histogram(
    "drive_agent_request_seconds",
    "Seconds until the answer to a request began.",
    ("method", "operation", "status"),
    registry=REGISTRY,
    buckets=SECONDS,
)
REFUSALS: Final = Counter(
    "drive_agent_refusals", "Sign-ins, requests and calls that were refused.", ("event", "reason"), registry=REGISTRY
)
