"""Sessions that come without a key: a person lets them in on a page, and no secret passes through host or model.

Over stdio alone: MCP's own authorization is for HTTP, where every request brings a token (MCP 2025-11-25,
client/elicitation, "URL Mode Elicitation for OAuth Flows").
"""

from functools import partial
from typing import Final
from weakref import WeakKeyDictionary, ref

import anyio
from mcp.server.session import ServerSession
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp.types import ElicitRequestURLParams

from drive_server.access import Principal
from drive_server.errors import DeclinedError, UnauthenticatedError
from drive_server.services.identity.service import IdentityService
from drive_server.services.identity.sign_ins import SignIn, SignInService

NOBODY: Final = "Nobody is signed in."


class Reception:
    """Asks for each session once at a time, and knows the sessions that were let in.

    A host that opens pages for its person (elicitation in URL mode) gets the page's address by error -32042, and a
    notification once the person has answered; any other gets it in the hint of an `unauthenticated` error.
    """

    def __init__(self, identity: IdentityService, sign_ins: SignInService) -> None:
        self._identity = identity
        self._sign_ins = sign_ins
        self._asking = anyio.Lock()
        self._asked: WeakKeyDictionary[ServerSession, str] = WeakKeyDictionary()
        self._let_in: WeakKeyDictionary[ServerSession, str] = WeakKeyDictionary()

    async def principal(self, session: ServerSession) -> Principal:
        """Return who let the session in.

        Raises `UrlElicitationRequiredError` or `UnauthenticatedError` with where to do that, and `DeclinedError` while
        the answer was no. A key that is revoked or has expired ends at once: the session is asked about again.
        """
        while True:
            key_id = self._let_in.get(session)
            if key_id is None:
                async with self._asking:
                    key_id = self._let_in.get(session) or await self._answered(session)
            try:
                return await self._identity.authenticate_key(key_id)
            except UnauthenticatedError:
                # Of several calls that notice, the first asks anew, and the others wait for the same answer.
                if self._let_in.get(session) == key_id:
                    del self._let_in[session], self._asked[session]

    async def let_in(self, session: ServerSession) -> Principal:
        """Return who let the session in, asking nobody. Raises `UnauthenticatedError` if nobody did, or no more."""
        key_id = self._let_in.get(session)
        if key_id is None:
            raise UnauthenticatedError(NOBODY)
        return await self._identity.authenticate_key(key_id)

    async def _answered(self, session: ServerSession) -> str:
        """Return the id of the key that the session was let in with; raise if it was not."""
        asked = self._asked.get(session)
        found = await self._sign_ins.state(asked) if asked else None
        if found is None:
            raise await self._ask(session)
        if found.is_declined:
            raise DeclinedError(
                "The person declined to sign this program in.",
                hint="Ask them what they want; `authenticate` with an API key works too.",
            )
        if found.key_id is None:
            raise _needed(session, found)
        self._let_in[session] = found.key_id
        return found.key_id

    async def _ask(self, session: ServerSession) -> Exception:
        """Make a request for the session; return the error that tells of it."""
        client = session.client_params
        made = await self._sign_ins.ask(client.clientInfo.name if client else "")
        self._asked[session] = made.id
        if _opens_pages(session):
            # The request must not keep a session alive whose host has gone.
            self._sign_ins.when_answered(made.id, partial(_tell, ref(session), made.id))
        return _needed(session, made)


async def _tell(session: "ref[ServerSession]", sign_in_id: str) -> None:
    waiting = session()
    if waiting is None:
        return
    try:
        await waiting.send_elicit_complete(sign_in_id)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return  # the host has gone: nobody is left to be told


def _opens_pages(session: ServerSession) -> bool:
    client = session.client_params
    elicitation = client.capabilities.elicitation if client else None
    return elicitation is not None and elicitation.url is not None


def _needed(session: ServerSession, sign_in: SignIn) -> Exception:
    if not _opens_pages(session):
        return UnauthenticatedError(
            NOBODY,
            hint=f"Ask the person to open {sign_in.url} and to agree there if the page shows {sign_in.code}; or call "
            "`authenticate` with an API key, or set DRIVE_API_KEY where this server is started.",
        )
    message = (
        f"Sign in to your drive. Agree only if the page shows the code {sign_in.code}. "
        f"登录您的云盘。只有当页面显示代码 {sign_in.code} 时才同意。"
    )
    page = ElicitRequestURLParams(message=message, url=sign_in.url, elicitationId=sign_in.id)
    return UrlElicitationRequiredError([page], NOBODY)
