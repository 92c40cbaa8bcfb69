"""Parts of a tool's result that this version of the protocol does not have: the rest of the result counts."""

from collections.abc import Mapping
from typing import Any, Final, cast

from mcp.types import ContentBlock, JSONRPCResponse
from pydantic import TypeAdapter, ValidationError

META_NOT_SHOWN: Final = "drive-agent/not-shown"
"""Key in the `_meta` of an empty text that stands for a block: its kind."""
MAX_KIND: Final = 40
NO_KIND: Final = "?"
_KNOWN: Final = TypeAdapter[Any](ContentBlock)


def with_known_blocks(root: JSONRPCResponse) -> None:
    """Put an empty text in the place of each block that can't be read (MCP 2025-11-25, server/tools, "Tool Result").

    The SDK refuses the whole result for one.
    """
    content = root.result.get("content")
    if isinstance(content, list):
        root.result["content"] = [_known(block) for block in cast("list[Any]", content)]


def _known(block: Any) -> Any:
    try:
        _KNOWN.validate_python(block)
    except ValidationError:
        kind = cast("Mapping[str, Any]", block).get("type") if isinstance(block, Mapping) else None
        named = kind[:MAX_KIND] if isinstance(kind, str) and kind else NO_KIND
        return {"type": "text", "text": "", "_meta": {META_NOT_SHOWN: named}}
    return block
