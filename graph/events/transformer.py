"""The graph's events in LangGraph's own event streams, `astream_events(version="v3")`, for `langgraph dev`."""

import time
from collections.abc import Mapping
from typing import Any, Final, cast

from langgraph.stream import CustomTransformer
from langgraph.stream._mux import StreamMux  # neither type has a public name
from langgraph.stream._types import ProtocolEvent

TOOLS: Final = "tools"


class EventTransformer(CustomTransformer):
    """Shows the graph's own events as they are, and its calls as LangGraph's events of tools beside them.

    LangGraph makes these of its own tools' callbacks. Calls of this graph go over MCP, and have none.
    """

    requires_async = True
    _mux: StreamMux

    def _on_register(self, mux: StreamMux) -> None:
        self._mux = mux

    async def aprocess(self, event: ProtocolEvent) -> bool:
        """Handle an event; those of calls are followed by the one of LangGraph."""
        stays = self.process(event)
        about = event["params"]
        told = about["data"]
        if event["method"] == "custom" and isinstance(told, Mapping) and (data := _tool_event(told)):
            params = {"namespace": about["namespace"], "timestamp": int(time.time() * 1000), "data": data}
            shown = {"type": "event", "method": TOOLS, "params": params}
            await self._mux.apush(cast("ProtocolEvent", shown))
        return stays


def _tool_event(event: Mapping[str, Any]) -> dict[str, Any] | None:
    match event.get("type"):
        case "tool_call_start":
            called = {"tool_name": event["name"], "input": event["args"]}
            return {"event": "tool-started", "tool_call_id": event["tool_call_id"], **called}
        case "tool_call_end" if event["status"] == "done":
            return {"event": "tool-finished", "tool_call_id": event["tool_call_id"], "output": event["result"]}
        case "tool_call_end":
            return {"event": "tool-error", "tool_call_id": event["tool_call_id"], "message": event["result"]}
        case _:
            return None
