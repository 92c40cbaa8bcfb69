"""The base of both scripted models: a model that wants some calls, in order, and gets to the tools for them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from benchmarks.agent.prompts import kind_of
from graph.approvals.review import ALLOWED_TOOLS, EVERYONE
from graph.routing.handover import MAX_HANDOVERS, TRANSFER
from tests.fakes.openai_server import Stream, calls, split_call, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graph.state import AgentName

Wanted = tuple[str, dict[str, Any]]
Message = dict[str, Any]

SPECIALISTS = {
    "query_table": "search_agent",
    "compare_files": "search_agent",
    "patch_file": "document_agent",
    "append_to_file": "document_agent",
}
"""The specialist of each tool that the Drive agent has not."""


@dataclass(frozen=True)
class Turn:
    """A request for the agents' model: which of the person's messages it is about, and what came of that so far."""

    request: dict[str, Any]
    number: int
    messages: Sequence[Message]

    @classmethod
    def of(cls, request: dict[str, Any], said: Sequence[str]) -> Turn:
        """Find the last of the messages that the person has said; a step's instruction is none of them."""
        messages: list[Message] = request["messages"]
        found = [
            (place, said.index(words))
            for place, message in enumerate(messages)
            for words in said
            if message["role"] == "user" and words in str(message["content"])
        ]
        place, number = found[-1]
        return cls(request, number, messages[place:])

    @property
    def made(self) -> list[Wanted]:
        """Return the calls that were made, in order."""
        asked = (call["function"] for message in self.messages for call in message.get("tool_calls") or [])
        return [(call["name"], json.loads(call["arguments"])) for call in asked]

    @property
    def results(self) -> Iterator[str]:
        """Return what the calls answered."""
        return (str(message["content"]) for message in self.messages if message["role"] == "tool")

    def may_call(self, tool: str) -> bool:
        """Say whether the tool is the specialist's: all are shown the same ones of the drive."""
        return tool not in EVERYONE or tool in ALLOWED_TOOLS[cast("AgentName", kind_of(self.request))]

    @property
    def offered(self) -> set[str]:
        """Return the names of the tools at hand, with the rare ones that can be asked for."""
        functions = [tool["function"] for tool in self.request.get("tools", [])]
        rare = [one["parameters"]["properties"]["names"]["items"] for one in functions if one["name"] == "more_tools"]
        return {one["name"] for one in functions} | {name for items in rare for name in items.get("enum", [])}


def work(turn: Turn, wanted: Sequence[Wanted], says: str) -> Stream:
    """Make the next calls that are of one tool, or hand over to who has it; say the words when all are made."""
    left = [call for call in wanted if call not in turn.made]
    if not left:
        return text(says)
    tool = left[0][0]
    if tool in turn.offered and turn.may_call(tool):
        return calls(*(call for call in left if call[0] == tool))
    if [name for name, _ in turn.made].count(TRANSFER) >= MAX_HANDOVERS:
        return text(f"Nobody has {tool}.")
    return calls((TRANSFER, {"agent": SPECIALISTS.get(tool, "drive_agent"), "reason": f"It needs {tool}."}))


def structured(request: dict[str, Any], agent: str) -> Stream | None:
    """Answer the router, and the planner with one step, which is handed over as needed; None for other requests."""
    schema = request.get("response_format", {}).get("json_schema", {}).get("name")
    asked = {tool["function"]["name"] for tool in request.get("tools", [])} | {schema}
    if "RouteDecision" in asked:
        route = {"agent": agent, "needs_plan": False, "confidence": 0.9, "reason": "So it is."}
        return split_call("RouteDecision", json.dumps(route))
    if "TaskPlan" in asked:
        step = {"title": "It", "agent": agent, "instruction": "Do it all."}
        return split_call("TaskPlan", json.dumps({"steps": [step]}))
    return None
