"""Traces for an OTLP collector: off until an endpoint is set, and never with contents, names of items or messages.

Spans go to a provider of our own, not to OpenTelemetry's global one: libraries would write addresses and the texts of
errors into that. Without an endpoint a span costs a look at one variable.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, Span, SpanKind, Status, StatusCode, Tracer, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from drive_server.kernel.telemetry.conventions import ERROR_TYPE

__all__ = ["SpanKind", "exporting_to", "is_tracing", "span", "traceparent", "tracing_by"]

SERVICE: Final = "drive-agent"
PATH: Final = "/v1/traces"
Attributes = Mapping[str, str | int]
_PROPAGATOR: Final = TraceContextTextMapPropagator()
_tracers: Final[list[Tracer]] = []
"""The tracer of this process, as the last of those that were begun: none while traces are off."""


@contextmanager
def exporting_to(endpoint: str, version: str) -> Generator[None]:
    """Send spans to the OTLP collector at an address (`http://127.0.0.1:4318`) until the end of the block; none to "".

    Raises `ImportError` if the SDK or its exporter is not installed.
    """
    if not endpoint:
        yield
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(
        resource=Resource.create({"service.name": SERVICE, "service.version": version}), shutdown_on_exit=False
    )
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint.rstrip("/") + PATH)))
    with tracing_by(provider.get_tracer(SERVICE, version)):
        try:
            yield
        finally:
            provider.shutdown()


@contextmanager
def tracing_by(tracer: Tracer) -> Generator[None]:
    """Make spans by this tracer until the end of the block."""
    _tracers.append(tracer)
    try:
        yield
    finally:
        _tracers.remove(tracer)


def is_tracing() -> bool:
    """Say whether spans go anywhere."""
    return bool(_tracers)


@contextmanager
def span(
    name: str,
    attributes: Attributes | None = None,
    kind: SpanKind = SpanKind.INTERNAL,
    carrier: Mapping[str, Any] | None = None,
) -> Generator[Span]:
    """Measure a block, below the running span, or below the one that the carrier's `traceparent` names.

    Of an error only the name of its class is written.
    """
    if not _tracers:
        yield INVALID_SPAN
        return
    above = _context_in(carrier) if carrier else None
    with _tracers[-1].start_as_current_span(
        name, above, kind, attributes, record_exception=False, set_status_on_exception=False
    ) as made:
        try:
            yield made
        except BaseException as error:
            made.set_attribute(ERROR_TYPE, type(error).__name__)
            made.set_status(Status(StatusCode.ERROR))
            raise


def traceparent() -> dict[str, str]:
    """Return the running span as `traceparent` (W3C Trace Context) for `_meta` or headers; nothing without one."""
    carrier: dict[str, str] = {}
    if _tracers:
        _PROPAGATOR.inject(carrier)
        carrier.pop("tracestate", None)
    return carrier


def _context_in(carrier: Mapping[str, Any]) -> Context | None:
    """Return the context that a carrier names; None without a valid one, and so the running one."""
    sent = carrier.get("traceparent")
    if not isinstance(sent, str):
        return None
    found = _PROPAGATOR.extract({"traceparent": sent}, Context())
    return found if get_current_span(found).get_span_context().is_valid else None
