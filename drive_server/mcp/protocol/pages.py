"""Pages of MCP's own lists: tools, resource templates, prompts (MCP 2025-11-25, server/utilities/pagination)."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from drive_server.kernel.errors import InvalidCursorError
from drive_server.kernel.pagination import Cursors
from drive_server.kernel.signing import Signer
from drive_server.mcp.protocol.failures import as_protocol_error

T = TypeVar("T")


class Pages:
    """Cuts lists that change seldom, if at all, into pages of `size` entries, for the caller that `user_id` returns."""

    def __init__(self, signer: Signer, size: int, user_id: Callable[[], Awaitable[str]]) -> None:
        self._signer = signer
        self._user_id = user_id
        self.size = size

    async def answer(
        self, what: str, entries: Sequence[T], name_of: Callable[[T], str], request: Any
    ) -> tuple[list[T], str | None]:
        """Return the page that the request is for, and the cursor of the next, None at the end.

        Raises `McpError` for a cursor that this list did not give to this user.
        """
        with as_protocol_error(f"the list of {what}"):
            cursors = Cursors(self._signer, await self._user_id(), what)
            cursor = cursor_of(request)
            names = [name_of(entry) for entry in entries]
            start = 0 if cursor is None else _place_after(cursors.decode(cursor, str)[0], names)
        end = start + self.size
        return list(entries[start:end]), cursors.encode(names[end - 1]) if end < len(entries) else None


def cursor_of(request: Any) -> str | None:
    """Return the cursor in a request for a list, None for its first page."""
    return request.params.cursor if request.params else None


def _place_after(name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise InvalidCursorError("The list changed too much to go on.", hint="Start again without a cursor.")
    return names.index(name) + 1
