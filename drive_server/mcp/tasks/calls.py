"""Calls of tools as tasks: the person agrees before, and the call is made later, without its request."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, TypeVar

from mcp.server.fastmcp import Context, FastMCP
from mcp.server.session import ServerSession
from pydantic import PrivateAttr

from drive_server.kernel.access import Actor, Principal, Scope
from drive_server.kernel.clock import utc_now
from drive_server.kernel.errors import UnauthenticatedError
from drive_server.mcp.calls.authentication import IN_PROCESS
from drive_server.mcp.calls.call import Call
from drive_server.mcp.calls.purging import require_purge
from drive_server.mcp.calls.sampling import HostModel, can_sample
from drive_server.models.changes import Outcome
from drive_server.services.identity.service import TOKEN_METHOD, IdentityService
from drive_server.services.map_reduce.language_model import LanguageModel
from drive_server.services.progress import Progress
from drive_server.services.tasks import Task

RELATED: Final = "io.modelcontextprotocol/related-task"
"""In `_meta`: the task that a message is about."""

T = TypeVar("T")


class CallReadyError(Exception):
    """Ends a tool where its work would begin: the person agreed, or need not. `actor` makes the call."""

    def __init__(self, actor: Actor) -> None:
        super().__init__("the call is settled")
        self.actor = actor


class Proposal(Call):
    """A call that asks the person for consent, and does nothing else: it ends with `CallReadyError`."""

    _proposed: Actor = PrivateAttr()

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)

    async def caller(self) -> Actor:
        """Return the caller, as `Call.actor` does."""
        self._proposed = await super().actor()
        return self._proposed

    async def actor(self) -> Actor:
        """Return the caller, for a dry run."""
        return replace(await self.caller(), dry_run=True)

    async def agreed(self, actor: Actor, operation: Callable[[Actor], Awaitable[Outcome[T]]]) -> Outcome[T]:
        """Ask as a call would that is no task, and end there. Raises `CallReadyError`, and `DeclinedError`."""
        del actor
        raise CallReadyError(await self._approved(self._proposed, operation))


class TaskCall(Call):
    """The call that a task makes; `host` is the session that had it made, as long as that is there.

    What nothing brings back (`purges`) is looked at again: the key may have lost the scope since the task was made.
    """

    _task: Task = PrivateAttr()
    _identity: IdentityService = PrivateAttr()
    _report: Progress = PrivateAttr()
    _host: ServerSession | None = PrivateAttr()

    def __init__(
        self,
        task: Task,
        server: FastMCP[Any],
        identity: IdentityService,
        report: Progress,
        host: ServerSession | None = None,
        *,
        purges: bool = False,
    ) -> None:
        Context.__init__(self, fastmcp=server)
        self._purges = purges
        self._task = task
        self._host = host
        self._identity = identity
        self._report = report

    @property
    def progress(self) -> Progress:
        """The receiver of progress."""
        return self._report

    async def actor(self) -> Actor:
        """Return the person who had the task made, with the scopes of now. Raises `UnauthenticatedError`."""
        order = self._task.order
        return Actor(
            principal=await proved_again(self._identity, order.caller),
            tool=order.tool,
            idempotency_key=order.key,
            run_id=order.meta["run_id"],
            if_match=order.meta["if_match"],
            dry_run=order.meta["dry_run"],
            approved_by=order.meta["approved_by"],
            approved_key=order.meta.get("approved_key"),
            whole_results=order.meta.get("whole_results", False),
        )

    def host_model(self, silent_seconds: float) -> LanguageModel | None:
        """Return the model of the host that had the task made, None if it is gone or lends none."""
        if self._host is None or not can_sample(self._host):
            return None
        return HostModel(self._host, None, silent_seconds, **{RELATED: {"taskId": self._task.id}})

    async def reauthenticate(self) -> None:
        """Raise `UnauthenticatedError` if the key that the task was made with has ended since."""
        await self.actor()

    async def agreed(self, actor: Actor, operation: Callable[[Actor], Awaitable[Outcome[T]]]) -> Outcome[T]:
        """Run the operation. Raises `MissingScopeError` for a deletion for good that nobody agreed to."""
        if self._purges:
            require_purge(actor, is_asked=actor.approved_by is not None)
        return await operation(actor)


def meta_of(actor: Actor) -> dict[str, Any]:
    """Return the part of a call's `_meta` that its task stores, as JSON."""
    return {
        "run_id": actor.run_id,
        "if_match": actor.if_match,
        "dry_run": actor.dry_run,
        "approved_by": actor.approved_by,
        "approved_key": actor.approved_key,
        "whole_results": actor.whole_results,
    }


def caller_of(principal: Principal) -> dict[str, Any]:
    """Return the facts that prove the caller again later, as JSON."""
    return {
        "user_id": principal.user_id,
        "scopes": sorted(principal.scopes),
        "method": principal.method,
        "key_id": principal.key_id,
        "key_name": principal.key_name,
        "expires_at": principal.expires_at.isoformat() if principal.expires_at else None,
    }


async def proved_again(identity: IdentityService, caller: dict[str, Any]) -> Principal:
    """Return the caller with the rights of now. Raises `UnauthenticatedError` if their key has ended since."""
    try:
        if caller["key_id"] is not None:
            return await identity.authenticate_key(caller["key_id"])
        principal = await identity.principal_for(caller["user_id"], [Scope(word) for word in caller["scopes"]])
    except UnauthenticatedError as error:
        raise _over() from error
    if caller["method"] == IN_PROCESS:
        return principal
    expires_at = datetime.fromisoformat(caller["expires_at"]) if caller["expires_at"] else None
    if caller["method"] != TOKEN_METHOD or expires_at is None or expires_at <= utc_now():
        raise _over()
    return replace(principal, method=caller["method"], key_name=caller["key_name"], expires_at=expires_at)


def _over() -> UnauthenticatedError:
    return UnauthenticatedError(
        "The key that this task was made with is not valid any more, so it was not done.",
        hint="Make the call again with a key that is.",
    )
