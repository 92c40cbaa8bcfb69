"""`more_tools`: rare tools, described to the model only once it asks for them.

Their names stand in its schema. A call makes them usable for the rest of the turn: the turn's messages have it, so it
is in the state. Whoever calls a rare tool without asking first is not refused: the policy judges the call as any other.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import BaseTool
from mcp.types import CallToolResult

from graph.limits.limits import messages_of_turn
from graph.policy.matrix import Rule
from graph.tools.descriptions import for_models, short_description
from graph.tools.local import LocalTool, Request, Toolset, text_result

NAME: Final = "more_tools"
ARGUMENT: Final = "names"


def _schema(names: Sequence[str] = ()) -> dict[str, Any]:
    listed: dict[str, Any] = {"type": "string", **({"enum": [*names]} if names else {})}
    return {
        "type": "object",
        "properties": {ARGUMENT: {"type": "array", "items": listed, "minItems": 1, "maxItems": 40}},
        "required": [ARGUMENT],
        "additionalProperties": False,
    }


async def _answer(request: Request) -> CallToolResult:
    tools, wanted = request.context.toolbox.tools, dict.fromkeys(map(str, request.args[ARGUMENT]))
    lines = [f"- {name}: {_purpose(tools.get(name))}".rstrip(": ") for name in wanted]
    return text_result("\n".join(["You can call these from now on:", *lines]))


def _purpose(tool: BaseTool | None) -> str:
    return short_description(tool.description).split("\n", 1)[0] if tool else ""


MORE_TOOLS: Final = LocalTool(
    name=NAME,
    description="Get further tools, by their names; then call them. Do so before you say that something can't be done.",
    schema=_schema(),
    answer=_answer,
    rule=Rule("query", "low"),
)
LATER_LOCAL: Final = frozenset({"forget", "list_memories"})
"""The assistant's own tools that are rare."""


def not_offered(name: str, args: Mapping[str, Any], allowed: frozenset[str]) -> list[str]:
    """Return what is wrong with a call of `more_tools`, or of any other tool, for a specialist with `allowed` tools."""
    others = [one for one in args[ARGUMENT] if one not in allowed] if name == NAME else []
    return [f"{', '.join(others)}: no tool of yours. What needs another specialist, hand over."] if others else []


def requested_tools(messages: Sequence[AnyMessage]) -> frozenset[str]:
    """Return the names for which `more_tools` was called in the running turn, and answered."""
    turn = messages_of_turn(messages)
    answered = {
        message.tool_call_id for message in turn if isinstance(message, ToolMessage) and message.status == "success"
    }
    calls = [call for message in turn if isinstance(message, AIMessage) for call in message.tool_calls]
    return frozenset(
        str(name)
        for call in calls
        if call["name"] == NAME and call["id"] in answered
        for name in _listed(call["args"].get(ARGUMENT))
    )


def _listed(names: Any) -> Sequence[Any]:
    """Return names that were answered: a list, also one that the model wrote as text."""
    return json.loads(names) if isinstance(names, str) else names


def offered_tools(
    tools: Toolset, allowed: frozenset[str], rare: frozenset[str], requested: frozenset[str]
) -> list[BaseTool]:
    """Return the allowed tools as a model sees them: usual ones, `more_tools`, then requested rare ones.

    What was requested comes last, so that a service's cache still has all before it.
    """
    there = [name for name in tools.tools if name in allowed]
    later = [name for name in there if name in rare] if NAME in tools.tools else []
    usual = [tools.tools[name] for name in there if name not in later and name != NAME]
    more = [tools.tools[NAME].model_copy(update={"args_schema": _schema(later)})] if later else []
    return for_models([*usual, *more, *(tools.tools[name] for name in later if name in requested)])
