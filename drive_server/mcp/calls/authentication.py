"""Authentication: find out for each request anew who calls a tool or reads a resource."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any
from weakref import WeakKeyDictionary

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.session import ServerSession
from mcp.shared.context import RequestContext
from pydantic import ConfigDict, SkipValidation
from starlette.requests import Request

from drive_server.kernel.access import Actor, Principal
from drive_server.kernel.context import (
    META_APPROVAL_ID,
    META_APPROVED_BY,
    META_APPROVED_KEY,
    META_DRY_RUN,
    META_GRANT_ID,
    META_IDEMPOTENCY_KEY,
    META_IF_MATCH,
    META_RUN_ID,
    META_TIME_ZONE,
    META_TOOL_CALL_ID,
    META_WHOLE_RESULTS,
    current_principal,
)
from drive_server.kernel.errors import InvalidInputError, UnauthenticatedError
from drive_server.mcp.calls.sign_in import PageSignIn
from drive_server.services.identity.service import IdentityService
from drive_server.services.identity.sign_ins import SignInService

IN_PROCESS = "in_process"
META_LIMITS = {
    META_TIME_ZONE: 64,
    META_RUN_ID: 64,
    META_IDEMPOTENCY_KEY: 255,
    META_IF_MATCH: 128,
    META_APPROVED_BY: 320,
    META_APPROVED_KEY: 255,
    META_TOOL_CALL_ID: 190,
    META_APPROVAL_ID: 64,
    META_GRANT_ID: 64,
}
ASSISTANTS = (META_APPROVED_BY, META_APPROVED_KEY, META_TOOL_CALL_ID, META_APPROVAL_ID, META_GRANT_ID)
"""Facts that are believed of the assistant in this process, and of nobody else."""
HOSTS_RUN_CHARACTERS = 40

DriveRequest = RequestContext[ServerSession, Any, Request]
OnCaller = Callable[[ServerSession, Principal], object]


class DriveToken(AccessToken):
    """A bearer token that was checked for one HTTP request, with its owner."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    principal: SkipValidation[Principal]


class Authenticator:
    """Finds the principal of a request.

    Over HTTP that is the bearer of this request (not of the one that opened the session), in process the user that the
    session was opened for, over stdio the owner of the key given to `sign_in` or, before that, of `default_key`, and
    without any key the person who signs the session in on a page. Each call looks the key up: a revoked or expired key
    ends at once, and so does a scope that was taken from it. `on_caller` hears of each caller of a session.
    """

    def __init__(
        self, identity: IdentityService, sign_ins: SignInService, default_key: str = "", *, on_caller: OnCaller
    ) -> None:
        self._identity = identity
        self._on_caller = on_caller
        self._page = PageSignIn(identity, sign_ins)
        self._default_key = default_key
        self._keys: WeakKeyDictionary[ServerSession, str] = WeakKeyDictionary()

    async def principal(self, request: DriveRequest) -> Principal:
        """Return the principal of the request.

        Raises `UnauthenticatedError` if nobody proved who they are; where a person can sign the session in on a page,
        also the errors of `PageSignIn.principal`.
        """
        principal = self.transport_principal(request)
        if principal is None:
            key = self._keys.get(request.session, self._default_key)
            principal = await (
                self._identity.authenticate_program(key) if key else self._page.principal(request.session)
            )
        self._on_caller(request.session, principal)
        return principal

    async def caller(self, request: DriveRequest) -> Principal | None:
        """Return the principal of the request, None if nobody signed the session in; ask nobody to."""
        try:
            return self.transport_principal(request) or await self.reauthenticate(request)
        except UnauthenticatedError:
            return None

    async def reauthenticate(self, request: DriveRequest) -> Principal:
        """Return the principal of the session now, for messages that it gets without a request."""
        if request.request is not None:
            return await self._identity.authenticate_program(_token_of(request.request).token)
        known = current_principal.get()
        if known is not None:
            return known
        key = self._keys.get(request.session, self._default_key)
        return await (self._identity.authenticate_program(key) if key else self._page.signed_in(request.session))

    def transport_principal(self, request: DriveRequest) -> Principal | None:
        """Return the principal that the transport itself proves, None where the session has to sign in."""
        if request.request is not None:
            return _token_of(request.request).principal
        return current_principal.get()

    async def sign_in(self, session: ServerSession, key: str) -> Principal:
        """Let the session act with the key from now on. Raises `UnauthenticatedError`; the key before then stays."""
        principal = await self._identity.authenticate_program(key)
        self._keys[session] = key
        return principal


def actor_of(principal: Principal, tool: str, meta: dict[str, Any]) -> Actor:
    """Return the call as the services take it, with its `_meta`. Raises `InvalidInputError` for bad facts."""
    stated = {key: _text(meta, key) for key in ASSISTANTS}
    vouched = stated if principal.method == IN_PROCESS else dict.fromkeys(stated)
    return Actor(
        principal=principal,
        tool=tool,
        run_id=_run_id(principal, meta),
        idempotency_key=_text(meta, META_IDEMPOTENCY_KEY),
        if_match=_text(meta, META_IF_MATCH),
        dry_run=_flag(meta, META_DRY_RUN),
        approved_by=vouched[META_APPROVED_BY],
        approved_key=vouched[META_APPROVED_KEY],
        tool_call_id=vouched[META_TOOL_CALL_ID],
        approval_id=vouched[META_APPROVAL_ID],
        grant_id=vouched[META_GRANT_ID],
        time_zone=_text(meta, META_TIME_ZONE),
        whole_results=principal.method == IN_PROCESS or _flag(meta, META_WHOLE_RESULTS),
    )


def _run_id(principal: Principal, meta: dict[str, Any]) -> str | None:
    """Return the run of a call. A host's own runs have its key before their id, so that none is the assistant's."""
    stated = _text(meta, META_RUN_ID)
    if stated is None or principal.method == IN_PROCESS:
        return stated
    if len(stated) > HOSTS_RUN_CHARACTERS:
        stated = sha256(stated.encode("utf-8", "surrogatepass")).hexdigest()[:HOSTS_RUN_CHARACTERS]
    return f"host:{(principal.key_id or principal.method)[:16]}:{stated}"


def _token_of(request: Request) -> DriveToken:
    user = request.scope.get("user")
    token = user.access_token if isinstance(user, AuthenticatedUser) else None
    if not isinstance(token, DriveToken):
        raise UnauthenticatedError(
            "This request has no valid API key.", hint="Send one as `Authorization: Bearer dak_...`."
        )
    return token


def _text(meta: dict[str, Any], key: str) -> str | None:
    value = meta.get(key)
    if value is None:
        return None
    limit = META_LIMITS[key]
    if not isinstance(value, str) or not 0 < len(value) <= limit:
        raise InvalidInputError(
            f"`_meta` has a value for {key} that can't be used.", hint=f"Send a text of 1 to {limit} characters."
        )
    return value


def _flag(meta: dict[str, Any], key: str) -> bool:
    value = meta.get(key, False)
    if not isinstance(value, bool):
        raise InvalidInputError(f"`_meta` has a value for {key} that can't be used.", hint="Send true or false.")
    return value
