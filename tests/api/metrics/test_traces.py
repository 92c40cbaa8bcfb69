"""The spans of a whole turn are one trace, from the request to the drive's answer, and hold no word of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.api.command_model import command
from tests.drive_server.kernel.telemetry.collected_spans import spans

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from tests.e2e.person import Person

__all__ = ["spans"]

REQUEST = "POST chat"


def parent_of(span: ReadableSpan, spans: tuple[ReadableSpan, ...]) -> str:
    above = span.parent.span_id if span.parent else None
    return next((one.name for one in spans if one.get_span_context().span_id == above), "")  # pyright: ignore[reportOptionalMemberAccess] - it is there


def test_a_turn_is_one_trace_and_holds_no_word_of_it(owner: Person, spans: InMemorySpanExporter) -> None:
    with owner.chat(command("create_folder", name="Unspeakable secret")) as turn:
        turn.finish()
    owner.http.get("/api/drive/items/%2FUnspeakable%20secret", headers={"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"})
    found = spans.get_finished_spans()
    parents = {span.name: parent_of(span, found) for span in found}
    assert parents["run"] == REQUEST
    assert parents["invoke_agent drive_agent"] == "run"
    assert parents["execute_tool create_folder"] == "run"
    assert parents["tools/call create_folder"] == "execute_tool create_folder"
    assert [name for name, above in parents.items() if name.startswith("chat") and above == "invoke_agent drive_agent"]
    assert "tools/call create_folder" in {parent_of(span, found) for span in found if span.name == "transaction"}
    traces = {span.name: f"{span.get_span_context().trace_id:032x}" for span in found}  # pyright: ignore[reportOptionalMemberAccess] - it is there
    assert traces["tools/call create_folder"] == traces[REQUEST]
    assert "a" * 32 in traces.values()
    told = "".join(span.to_json() for span in found)
    assert "Unspeakable" not in told
    assert "secret" not in told
    attributes = next(span.attributes for span in found if span.name == "execute_tool create_folder")
    assert attributes
    assert {"gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.tool.call.id", "drive_agent.run.id"} == {*attributes}
