"""Sign in sessions without a key: a person agrees on a page, and no secret passes through host or model."""

from functools import partial
from typing import Final
from weakref import WeakKeyDictionary, ref

import anyio
from mcp.server.session import ServerSession
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp.types import ElicitRequestURLParams

from drive_server.kernel.access import Principal
from drive_server.kernel.errors import DeclinedError, UnauthenticatedError
from drive_server.kernel.texts import ORIGINAL
from drive_server.mcp.calls.consent import OTHERS, TEXTS
from drive_server.services.identity.service import IdentityService
from drive_server.services.identity.sign_ins import SignIn, SignInService

NOBODY: Final = "Nobody is signed in."


class PageSignIn:
    """Asks for each session once at a time, and keeps the keys of the sessions that were signed in."""

    def __init__(self, identity: IdentityService, sign_ins: SignInService) -> None:
        self._identity = identity
        self._sign_ins = sign_ins
        self._lock = anyio.Lock()
        self._requests: WeakKeyDictionary[ServerSession, str] = WeakKeyDictionary()
        self._keys: WeakKeyDictionary[ServerSession, str] = WeakKeyDictionary()

    async def principal(self, session: ServerSession) -> Principal:
        """Return the principal who signed the session in.

        Raises `UrlElicitationRequiredError` or `UnauthenticatedError` with where to do that, and `DeclinedError` while
        the answer was no. A key that is revoked or has expired ends at once: the session is asked about again.
        """
        while True:
            key_id = self._keys.get(session)
            if key_id is None:
                async with self._lock:
                    key_id = self._keys.get(session) or await self._answered(session)
            try:
                return await self._identity.authenticate_key(key_id)
            except UnauthenticatedError:
                # Of several calls that notice, the first asks anew, and the others wait for the same answer.
                if self._keys.get(session) == key_id:
                    del self._keys[session], self._requests[session]

    async def signed_in(self, session: ServerSession) -> Principal:
        """Return the principal who signed the session in, asking nobody. Raises `UnauthenticatedError` without one."""
        key_id = self._keys.get(session)
        if key_id is None:
            raise UnauthenticatedError(NOBODY)
        return await self._identity.authenticate_key(key_id)

    async def _answered(self, session: ServerSession) -> str:
        """Return the id of the key that the session was signed in with; raise if it was not."""
        asked = self._requests.get(session)
        found = await self._sign_ins.state(asked) if asked else None
        if found is None:
            raise await self._ask(session)
        if found.is_declined:
            raise DeclinedError(
                "The person declined to sign this program in.",
                hint="Ask them what they want; `authenticate` with an API key works too.",
            )
        if found.key_id is None:
            raise _sign_in_needed(session, found)
        self._keys[session] = found.key_id
        return found.key_id

    async def _ask(self, session: ServerSession) -> Exception:
        """Make a request for the session; return the error with its address."""
        client = session.client_params
        made = await self._sign_ins.ask(client.clientInfo.name if client else "")
        self._requests[session] = made.id
        if _opens_pages(session):
            # The request must not keep a session alive whose host has gone.
            self._sign_ins.when_answered(made.id, partial(_notify_host, ref(session), made.id))
        return _sign_in_needed(session, made)


async def _notify_host(session: "ref[ServerSession]", sign_in_id: str) -> None:
    waiting = session()
    if waiting is None:
        return
    try:
        await waiting.send_elicit_complete(sign_in_id)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return  # the host has gone


def _opens_pages(session: ServerSession) -> bool:
    client = session.client_params
    elicitation = client.capabilities.elicitation if client else None
    return elicitation is not None and elicitation.url is not None


def _sign_in_needed(session: ServerSession, sign_in: SignIn) -> Exception:
    if not _opens_pages(session):
        return UnauthenticatedError(
            NOBODY,
            hint=f"Ask the person to open {sign_in.url} and to agree there if the page shows {sign_in.code}; or call "
            "`authenticate` with an API key, or set DRIVE_API_KEY where this server is started.",
        )
    message = " ".join(TEXTS.say("sign_in", language, code=sign_in.code) for language in (ORIGINAL, *OTHERS))
    page = ElicitRequestURLParams(message=message, url=sign_in.url, elicitationId=sign_in.id)
    return UrlElicitationRequiredError([page], NOBODY)
