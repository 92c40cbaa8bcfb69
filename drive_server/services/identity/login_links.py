"""One-time addresses that log a browser in, so that nobody pastes a lasting secret into one."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Final

from drive_server.access import Principal, require_person
from drive_server.clock import Clock, utc_now
from drive_server.context import public_address
from drive_server.errors import NotFoundError
from drive_server.services.identity.keys import SECRET_BYTES, digest
from drive_server.services.identity.proofs.freshness import SESSION

if TYPE_CHECKING:
    from drive_server.services.identity.service import IdentityService

PAGE: Final = "/login"
HOLDS_FOR: Final = timedelta(minutes=10)
MOST_OF_ONE_PERSON: Final = 10


@dataclass(frozen=True, slots=True)
class LoginLink:
    """An address that logs one browser in, once, before it expires."""

    url: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class _Waiting:
    principal: Principal
    expires_at: datetime


class LoginLinks:
    """Makes and redeems them. They are in memory, by the digest of their secret: none survives the process."""

    def __init__(self, identity: "IdentityService", public_url: str, clock: Clock = utc_now) -> None:
        self._identity = identity
        self._public_url = public_url
        self._clock = clock
        self._waiting: dict[str, _Waiting] = {}

    def create(self, principal: Principal) -> LoginLink:
        """Return a new link for the caller; of more than ten of one person, the oldest gives way."""
        require_person(principal)
        now = self._clock()
        self._waiting = {key: link for key, link in self._waiting.items() if link.expires_at > now}
        own = [key for key, link in self._waiting.items() if link.principal.user_id == principal.user_id]
        for key in own[: max(0, len(own) + 1 - MOST_OF_ONE_PERSON)]:
            del self._waiting[key]
        secret, ends = token_urlsafe(SECRET_BYTES), min(now + HOLDS_FOR, principal.expires_at or now + HOLDS_FOR)
        proved_at = principal.proved_at if principal.method == SESSION else now
        self._waiting[digest(secret)] = _Waiting(replace(principal, proved_at=proved_at), ends)
        return LoginLink(f"{public_address(self._public_url)}{PAGE}/{secret}", ends)

    def find(self, secret: str) -> Principal:
        """Return whom a link logs in; it stays as it is. Raises `NotFoundError` if it holds no more."""
        found = self._waiting.get(digest(secret))
        if found is None or found.expires_at <= self._clock():
            raise NotFoundError(
                "This address to log in was used, has expired, or never was.",
                hint="Print a new one with `drive-agent login-link`.",
            )
        return found.principal

    async def redeem(self, secret: str) -> Principal:
        """Use a link up, and return whom it logs in, with no scope that the maker's key has lost since.

        Raises `NotFoundError` as `find` does, `UnauthenticatedError` if that key was revoked or its person disabled.
        """
        maker = self.find(secret)
        del self._waiting[digest(secret)]
        if maker.key_id is None:
            await self._identity.principal_for(maker.user_id, [])
            return maker
        now = await self._identity.authenticate_key(maker.key_id)
        return replace(maker, scopes=maker.scopes & now.scopes)
