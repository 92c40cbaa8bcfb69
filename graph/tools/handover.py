"""`transfer_to_agent` and `make_plan`, as models see them; the graph answers them (`graph/routing/handover.py`)."""

from typing import Any, Final

from mcp.types import CallToolResult

from graph.policy.matrix import Rule
from graph.routing.handover import MAKE_PLAN, REASON_CHARACTERS, TRANSFER
from graph.state import AGENTS
from graph.tools.local import LocalTool, Request, error_result

_REASON: Final[dict[str, Any]] = {"type": "string", "minLength": 1, "maxLength": REASON_CHARACTERS}
_TRANSFER: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "agent": {"type": "string", "enum": [*AGENTS]},
        "reason": {**_REASON, "description": "One short sentence for the person, in their language."},
    },
    "required": ["agent", "reason"],
    "additionalProperties": False,
}
_PLAN: Final[dict[str, Any]] = {"type": "object", "properties": {}, "additionalProperties": False}


async def _not_alone(_request: Request) -> CallToolResult:
    return error_result("invalid_argument", "Call it alone.")


TRANSFER_TO_AGENT: Final = LocalTool(
    name=TRANSFER,
    description="Hand the request, or your step of a plan, over to the specialist that has the tools for it: "
    "document_agent reads and edits the text of a document; drive_agent creates, moves, renames, deletes, restores, "
    "shares, lists and undoes; search_agent finds documents and answers from them. Do your own part first. Call it "
    "alone.",
    schema=_TRANSFER,
    answer=_not_alone,
    rule=Rule("query", "low"),
)
MAKE_A_PLAN: Final = LocalTool(
    name=MAKE_PLAN,
    description="Have the request done step by step by several specialists: only if it asks for several actions, one "
    "of which changes something, and not all of them are yours. Call it alone, before you change anything.",
    schema=_PLAN,
    answer=_not_alone,
    rule=Rule("query", "low"),
)
