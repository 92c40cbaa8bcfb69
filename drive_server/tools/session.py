"""Tools for who is calling."""

from typing import Annotated

from mcp.types import CallToolResult

from drive_server.tools.annotations import READS, SIGNS_IN
from drive_server.tools.arguments import ApiKeySecret
from drive_server.tools.calls import Call, answer
from drive_server.tools.results import WhoamiResult
from drive_server.tools.toolbox import Toolbox


class SessionTools:
    """The tools, each named as its method; its docstring is what a model reads of it."""

    async def authenticate(self, call: Call, api_key: ApiKeySecret) -> Annotated[CallToolResult, WhoamiResult]:
        """Sign this connection in with an API key.

        Use when: another tool answered `unauthenticated` and the person gave a key to use.
        Not for: connections over HTTP, which send their key with each request.
        Notes: holds until this connection ends; `drive-agent key create` makes a key.
        """
        known = call.known_principal()
        if known is not None:
            actor = await call.actor()
            return answer(actor, f"Not needed: this connection acts for {known.email}.", WhoamiResult.of(known))
        principal = await call.sign_in(api_key)
        actor = await call.actor()
        return answer(actor, f"Signed in as {principal.email}.", WhoamiResult.of(principal))

    async def whoami(self, call: Call) -> Annotated[CallToolResult, WhoamiResult]:
        """Tell for whom this connection acts, and what its key may do.

        Use when: a call was refused for lack of a scope, or the person asks which account is in use.
        Not for: other people's accounts.
        Notes: scopes are read, write, share and delete.
        """
        actor = await call.actor()
        principal = actor.principal
        scopes = ", ".join(sorted(principal.scopes)) or "none"
        return answer(actor, f"{principal.email}; scopes: {scopes}.", WhoamiResult.of(principal))


def register(box: Toolbox) -> None:
    """Put the tools into the box."""
    tools = SessionTools()
    box.put(tools.authenticate, "Sign in", SIGNS_IN)
    box.put(tools.whoami, "Who am I", READS)
