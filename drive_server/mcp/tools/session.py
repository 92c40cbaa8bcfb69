"""Tools for who is calling."""

from typing import Annotated

from mcp.types import CallToolResult

from drive_server.kernel.access import Actor
from drive_server.mcp import icons
from drive_server.mcp.calls.call import Call, answer
from drive_server.mcp.results import WhoamiResult
from drive_server.mcp.tools.definition.arguments import ApiKeySecret
from drive_server.mcp.tools.definition.spec import READS, SIGNS_IN, ToolGroup, ToolSpec


class SessionTools(ToolGroup):
    """Sign in, and tell who is signed in."""

    icon = icons.KEY
    label = "session"

    @ToolSpec(None, "execution", "high", SIGNS_IN)
    async def authenticate(self, call: Call, api_key: ApiKeySecret) -> Annotated[CallToolResult, WhoamiResult]:
        """Sign this connection in with an API key.

        Use when: another tool answered `unauthenticated` and the person gave a key to use.
        Not for: connections over HTTP, which send their key with each request.
        Notes: holds until this connection ends; `drive-agent key create` makes a key.
        """
        principal = call.transport_principal()
        if principal is not None:
            actor = await call.actor()
            result = await self._result(actor)
            return answer(actor, f"Not needed: this connection acts for {_described(actor, result)}", result)
        principal = await call.sign_in(api_key)
        actor = await call.actor()
        result = await self._result(actor)
        return answer(actor, f"Signed in as {_described(actor, result)}", result)

    @ToolSpec(None, "query", "low", READS)
    async def whoami(self, call: Call) -> Annotated[CallToolResult, WhoamiResult]:
        """Tell for whom this connection acts, the day and time there, what its key may do and how much is kept.

        Use when: a date such as "until Friday" has to be worked out, a call was refused for lack of a scope or of room,
        the person asks which account is in use, or a search finds less than it should.
        Not for: other people's accounts.
        Notes: scopes are read, write, share and delete; sizes are in bytes, a quota of 0 is no limit.
        """
        actor = await call.actor()
        result = await self._result(actor)
        return answer(actor, _described(actor, result), result)

    async def _result(self, actor: Actor) -> WhoamiResult:
        principal = actor.principal
        usage = await self._drive.quota.usage(principal.user_id)
        index = await self._drive.ingester.status(principal.user_id)
        return WhoamiResult.of(
            principal,
            *await self.now(actor),
            languages=await self._drive.identity.languages(principal.user_id),
            used_bytes=usage.used_bytes,
            quota_bytes=usage.quota_bytes,
            index=index.summary,
        )


def _described(actor: Actor, result: WhoamiResult) -> str:
    principal = actor.principal
    scopes = ", ".join(sorted(principal.scopes)) or "none"
    limit = f" of {result.quota_bytes}" if result.quota_bytes else ""
    zone = f" {result.time_zone}" if result.time_zone else ""
    text = f"{principal.email}; it is {result.today}, {result.time}{zone}; scopes: {scopes}; "
    text += f"{result.used_bytes}{limit} bytes in use."
    waiting = result.index["pending"] + result.index["indexing"]
    unread = result.index["failed"] + result.index["skipped"]
    text += f" Files that can't be searched yet: {waiting}." if waiting else ""
    return text + (f" Files that can be found by name only: {unread}." if unread else "")
