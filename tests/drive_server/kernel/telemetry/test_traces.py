"""Spans: where they lie in each other, what they never hold, and that there are none until a collector is named."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from drive_server.kernel.telemetry.traces import exporting_to, is_tracing, span, traceparent
from tests.drive_server.kernel.telemetry.collected_spans import spans

if TYPE_CHECKING:
    from collections.abc import Generator

    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

__all__ = ["spans"]

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CLIENTS = f"00-{TRACE}-00f067aa0ba902b7-01"


def named(spans: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {found.name: found for found in spans.get_finished_spans()}


def test_without_a_collector_nothing_is_measured() -> None:
    assert not is_tracing()
    with span("nothing", {"a": "b"}) as made:
        assert not made.is_recording()
        assert traceparent() == {}
    with exporting_to("", "0"):
        assert not is_tracing()


def test_a_span_lies_below_the_running_one_and_goes_on_elsewhere(spans: InMemorySpanExporter) -> None:
    with span("above"):
        sent = traceparent()
        with span("below"):
            pass
    with span("elsewhere", carrier=sent):
        pass
    found = named(spans)
    assert sent.keys() == {"traceparent"}
    for name in ("below", "elsewhere"):
        parent = found[name].parent
        assert parent
        assert parent.span_id == found["above"].get_span_context().span_id  # pyright: ignore[reportOptionalMemberAccess] - it is there


@pytest.mark.parametrize("sent", ["", "nonsense", 7, None, "00-0-0-00", CLIENTS.upper() + "-x"])
def test_a_trace_that_is_none_is_left_out(spans: InMemorySpanExporter, sent: object) -> None:
    with span("request", carrier={"traceparent": sent}):
        pass
    assert named(spans)["request"].parent is None


def test_a_clients_trace_goes_on(spans: InMemorySpanExporter) -> None:
    with span("request", carrier={"traceparent": CLIENTS, "tracestate": "x=y"}):
        pass
    parent = named(spans)["request"].parent
    assert parent
    assert f"{parent.trace_id:032x}" == TRACE


def test_an_error_leaves_its_class_and_none_of_its_words(spans: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="secret"), span("fails"):
        raise ValueError("secret words")
    found = named(spans)["fails"]
    assert found.attributes == {"error.type": "ValueError"}
    assert "secret" not in found.to_json()


class Collector(BaseHTTPRequestHandler):
    """Keeps the names of the spans that it is sent."""

    taken: list[tuple[str, str]]

    def do_POST(self) -> None:
        sent = ExportTraceServiceRequest.FromString(self.rfile.read(int(self.headers["content-length"])))
        for resource in sent.resource_spans:
            service = {one.key: one.value.string_value for one in resource.resource.attributes}["service.name"]
            self.taken += [(service, one.name) for scope in resource.scope_spans for one in scope.spans]
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named by the library
        pass


@contextmanager
def collecting() -> Generator[tuple[str, list[tuple[str, str]]]]:
    """Yield the address of a collector, and the services and names of the spans that it takes."""
    taken: list[tuple[str, str]] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Taking", (Collector,), {"taken": taken}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", taken
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_collector_gets_the_spans_at_the_end_at_the_latest() -> None:
    with collecting() as (url, taken):
        with exporting_to(f"{url}/", "0.1.0"), span("sent"):
            assert is_tracing()
        assert not is_tracing()
    assert taken == [("drive-agent", "sent")]
