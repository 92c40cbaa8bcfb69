"""One call of a tool: who makes it, whether the person agrees, and what is answered."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from typing import Any, TypeVar

import anyio
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.session import ServerSession
from mcp.shared.exceptions import McpError
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, PrivateAttr
from starlette.requests import Request

from drive_server.access import Actor, Principal
from drive_server.context import META_CHANGE_ID, META_EFFECT, META_REPLAYED
from drive_server.errors import DeclinedError, DriveError, IdempotencyConflictError
from drive_server.models import Effect, Outcome
from drive_server.tools.callers import IN_PROCESS, Callers, DriveRequest, actor_of

T = TypeVar("T")

ANSWER_WITHIN_SECONDS = 300
MOST_NAMED = 10
NO_ETAG = "none"
EMPTY_FORM: dict[str, Any] = {"type": "object", "properties": {}}


class Call(Context[ServerSession, Any, Request]):
    """What a tool gets besides its arguments."""

    _tool: str = PrivateAttr()
    _callers: Callers = PrivateAttr()

    def __init__(self, request: DriveRequest, server: FastMCP[Any], tool: str, callers: Callers) -> None:
        super().__init__(request_context=request, fastmcp=server)
        self._tool = tool
        self._callers = callers

    async def actor(self) -> Actor:
        """Return who calls, with what the request's `_meta` says. Raises `UnauthenticatedError`."""
        request = self.request_context
        principal = await self._callers.principal(request)
        return actor_of(principal, self._tool, (request.meta and request.meta.model_extra) or {})

    def known_principal(self) -> Principal | None:
        """Return whom the transport vouches for, None where the session has to sign in."""
        return self._callers.known_to_transport(self.request_context)

    async def sign_in(self, key: str) -> Principal:
        """Let this session act with the key from now on. Raises `UnauthenticatedError`."""
        return await self._callers.sign_in(self.session, key)

    async def agreed(self, actor: Actor, operation: Callable[[Actor], Awaitable[Outcome[T]]]) -> Outcome[T]:
        """Run the operation, after asking the person at an outside host that can ask.

        The assistant inside this process has asked already; a host that can't ask is held by the scopes of its key.
        Raises `DeclinedError`, and `EtagMismatchError` if what was shown is not what would be done any more.
        """
        if actor.dry_run or actor.principal.method == IN_PROCESS or not self._can_ask():
            return await operation(actor)
        try:
            rehearsal = await operation(replace(actor, dry_run=True))
        except DriveError as refusal:
            return await _recorded(actor, operation, refusal)
        effect = rehearsal.effect or Effect("")
        await self._ask(effect)
        return await operation(replace(actor, if_match=effect.etag, approved_by=actor.principal.email))

    def _can_ask(self) -> bool:
        client = self.session.client_params
        elicitation = client.capabilities.elicitation if client else None
        return elicitation is not None and (elicitation.form is not None or elicitation.url is None)

    async def _ask(self, effect: Effect) -> None:
        answer = None
        try:
            with anyio.move_on_after(ANSWER_WITHIN_SECONDS):
                answer = await self.session.elicit_form(_question(effect), EMPTY_FORM, self.request_context.request_id)
        except McpError as error:
            raise DeclinedError("The host could not ask the person; nothing was changed.") from error
        if answer is None:
            raise DeclinedError("The person did not answer in time; nothing was changed.")
        if answer.action != "accept":
            raise DeclinedError("The person said no; nothing was changed.", hint="Ask them what they want instead.")


async def _recorded(
    actor: Actor, operation: Callable[[Actor], Awaitable[Outcome[T]]], refusal: DriveError
) -> Outcome[T]:
    """Return what was recorded if this very call was made before; else raise what kept it from being rehearsed."""
    if actor.idempotency_key is None:
        raise refusal
    try:
        # Nobody was asked: with an etag that nothing has, a call can be repeated but not be made.
        return await operation(replace(actor, if_match=NO_ETAG))
    except IdempotencyConflictError:
        raise
    except DriveError as error:
        raise refusal from error


def answer(actor: Actor, text: str, result: BaseModel, detail: str = "") -> CallToolResult:
    """Return the structured result with a short text beside it.

    `detail` is what a host needs that shows its model only texts; the assistant in this process reads the structure.
    """
    shown = f"{text}\n{detail}" if detail and actor.principal.method != IN_PROCESS else text
    return CallToolResult(
        content=[TextContent(type="text", text=shown)], structuredContent=result.model_dump(mode="json")
    )


def changed(actor: Actor, outcome: Outcome[Any], text: str, result: BaseModel) -> CallToolResult:
    """Return what a change answers; `_meta` has its number in the journal, or the effect of a dry run."""
    answered = answer(actor, _told(outcome, text), result)
    meta: dict[str, Any] = {META_REPLAYED: outcome.replayed}
    if outcome.change_id is not None:
        meta[META_CHANGE_ID] = outcome.change_id
    if outcome.effect is not None:
        meta[META_EFFECT] = asdict(outcome.effect)
    answered.meta = meta
    return answered


def refused(error: DriveError) -> CallToolResult:
    """Return the error as a tool answers it; the text alone is enough for hosts that drop the structure."""
    text = " ".join(part for part in (f"{error.code}: {error.message}", error.hint) if part)
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structuredContent=error.to_dict(), isError=True
    )


def _told(outcome: Outcome[Any], text: str) -> str:
    if outcome.effect is not None:
        return f"Nothing was changed. This would: {outcome.effect.summary}"
    return f"{text} This call was made before; nothing was done again." if outcome.replayed else text


def _question(effect: Effect) -> str:
    named = [f"- {item['path']}" for item in effect.items[:MOST_NAMED]]
    more = effect.count - len(named)
    if named and more > 0:
        named.append(f"- and {more} more")
    return "\n".join([effect.summary, *named])
