"""`more_tools`: the tools beside the core, described to the model only once it asks for them.

Their names stand in its schema, the same for all specialists. A call makes them usable for the rest of the turn: the
turn's messages have it, so it is in the state. They come last, in the order in which they were asked for, so that all
that stood before stays where it was. A tool of the core is told in full in the answer, and stays as it is. A call of a
tool without asking first is not refused for that: the policy judges the call as any other.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import BaseTool
from mcp.types import CallToolResult

from graph.limits.limits import messages_of_turn
from graph.policy.matrix import Rule
from graph.prompts import compact
from graph.tools.core import CORE, core_tools
from graph.tools.descriptions import for_model, short_description
from graph.tools.local import LocalTool, Request, Toolset, text_result

NAME: Final = "more_tools"
ARGUMENT: Final = "names"


LIMITS: Final = {"minItems": 1, "maxItems": 40}


def _schema(names: Sequence[str] = ()) -> dict[str, Any]:
    """Return the schema: for a model with the `names` to choose from, else as calls are checked against it."""
    listed: dict[str, Any] = {"type": "string", **({"enum": [*names]} if names else {})}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {ARGUMENT: {"type": "array", "items": listed, **({} if names else LIMITS)}},
        "required": [ARGUMENT],
    }
    return schema if names else {**schema, "additionalProperties": False}


async def _answer(request: Request) -> CallToolResult:
    tools, wanted = request.context.toolbox.tools, dict.fromkeys(map(str, request.args[ARGUMENT]))
    lines = [f"- {name}: {_purpose(tools.get(name))}".rstrip(": ") for name in wanted]
    return text_result("\n".join(["You can call these from now on:", *lines]))


def _purpose(tool: BaseTool | None) -> str:
    if tool is None:
        return ""
    if tool.name not in CORE or not isinstance(tool.args_schema, dict):
        return short_description(tool.description).split("\n", 1)[0]
    whole = for_model(tool)
    return f"{whole.description}\n  arguments: {compact(cast('Mapping[str, Any]', whole.args_schema)['properties'])}"


MORE_TOOLS: Final = LocalTool(
    name=NAME,
    description="Get further tools, or all arguments of one, by name; then call them. Before you say that it can't "
    "be done.",
    schema=_schema(),
    answer=_answer,
    rule=Rule("query", "low"),
)


def not_offered(name: str, args: Mapping[str, Any], allowed: frozenset[str]) -> list[str]:
    """Return the problems of a call of `more_tools`, or of any other tool, for a specialist with `allowed` tools."""
    others = [one for one in args[ARGUMENT] if one not in allowed] if name == NAME else []
    return [f"{', '.join(others)}: no tool of yours. What needs another specialist, hand over."] if others else []


def requested_tools(messages: Sequence[AnyMessage]) -> tuple[str, ...]:
    """Return the names for which `more_tools` was called in the running turn, and answered, in that order."""
    turn = messages_of_turn(messages)
    answered = {
        message.tool_call_id for message in turn if isinstance(message, ToolMessage) and message.status == "success"
    }
    calls = [call for message in turn if isinstance(message, AIMessage) for call in message.tool_calls]
    asked = [
        str(name)
        for call in calls
        if call["name"] == NAME and call["id"] in answered
        for name in _listed(call["args"].get(ARGUMENT))
    ]
    return tuple(dict.fromkeys(asked))


def _listed(names: Any) -> Sequence[Any]:
    """Return names that were answered: a list, also one that the model wrote as text."""
    return json.loads(names) if isinstance(names, str) else names


def offered_tools(tools: Toolset, allowed: frozenset[str], requested: Sequence[str]) -> list[BaseTool]:
    """Return the allowed tools as a model sees them: the core, `more_tools`, the person's own, then requested ones.

    The tools of the person's own servers are described already.
    """
    outside = tools.outside.tools
    there = {name: tool for name, tool in tools.tools.items() if name in allowed}
    named = {*CORE, NAME}
    later = [name for name in there if name not in named and (name not in outside or name in tools.outside.rare)]
    more = [tools.tools[NAME].model_copy(update={"args_schema": _schema(later)})] if later and NAME in there else []
    own = [outside[name] for name in there if name in outside and name not in later]
    wanted = [outside[name] if name in outside else for_model(there[name]) for name in requested if name in later]
    return [*core_tools(there), *more, *own, *wanted]
