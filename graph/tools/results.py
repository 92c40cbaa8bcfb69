"""`read_result`: what a long result of this thread says in full, piece by piece."""

from typing import Any, Final

from mcp.types import CallToolResult

from graph.policy.matrix import Rule
from graph.tools.local import LocalTool, Request, error_result, text_result

NAME: Final = "read_result"
WHOLE: Final = ":whole"
"""Follows the reference of what was too long even for a model to see at once."""
MOST_CHARACTERS: Final = 8_000

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "reference": {"type": "string", "description": "The reference that stands in the excerpt."},
        "start": {"type": "integer", "minimum": 0, "default": 0, "description": "First character, from 0."},
        "length": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_CHARACTERS,
            "default": MOST_CHARACTERS,
            "description": "How many characters.",
        },
    },
    "required": ["reference"],
    "additionalProperties": False,
}


async def _read(request: Request) -> CallToolResult:
    result_store, reference = request.bench.result_store, str(request.args["reference"])
    texts = await result_store.texts([f"{reference}{WHOLE}", reference]) if result_store else {}
    text = texts.get(f"{reference}{WHOLE}") or texts.get(reference)
    if text is None:
        return error_result(
            "not_found", "This conversation has no result with that reference. Call the tool again instead."
        )
    start = int(request.args.get("start") or 0)
    part = text[start : start + int(request.args.get("length") or MOST_CHARACTERS)]
    end = start + len(part)
    more = "That is the end." if end >= len(text) else f"Go on with start={end}."
    data = {"reference": reference, "start": start, "end": end, "total_characters": len(text), "text": part}
    return text_result(f"Characters {start} to {end} of {len(text)} of an earlier result. {more}", data)


READ_RESULT: Final = LocalTool(
    name=NAME,
    description="Read an earlier result of this conversation of which you see only an excerpt (`in_full`). "
    "It is as it was then; files may have changed since.",
    schema=SCHEMA,
    answer=_read,
    rule=Rule("read", "low"),
)
