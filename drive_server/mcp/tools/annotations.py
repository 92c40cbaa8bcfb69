"""What a tool does to the drive, as MCP's annotations say it. No tool reaches beyond the drive."""

from typing import Final

from mcp.types import ToolAnnotations


def _kind(*, read_only: bool = False, destructive: bool = False, idempotent: bool = False) -> ToolAnnotations:
    return ToolAnnotations(
        readOnlyHint=read_only, destructiveHint=destructive, idempotentHint=idempotent, openWorldHint=False
    )


READS: Final = _kind(read_only=True, idempotent=True)
ADDS: Final = _kind()
BRINGS_BACK: Final = _kind(idempotent=True)
OVERWRITES: Final = _kind(destructive=True, idempotent=True)
EDITS: Final = _kind(destructive=True)
SIGNS_IN: Final = _kind(idempotent=True)
