"""A fixture: the spans that were made in a test, in memory in place of a collector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from drive_server.kernel.telemetry.traces import tracing_by

if TYPE_CHECKING:
    from collections.abc import Generator


@pytest.fixture
def spans() -> Generator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with tracing_by(provider.get_tracer("test")):
        yield exporter
