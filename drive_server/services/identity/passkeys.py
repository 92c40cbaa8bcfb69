"""Passkeys (Web Authentication Level 3): registered, listed, removed, and used to log in."""

import json
import logging
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from ipaddress import ip_address
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import anyio
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import ALL_SCOPES, Actor, Principal, require_person
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.context import public_address
from drive_server.kernel.errors import (
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    StateConflictError,
    UnauthenticatedError,
)
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.database import Database
from drive_server.kernel.telemetry.security import record
from drive_server.services.identity.challenges import Challenges
from drive_server.services.identity.keys import clean_key_name, require_scopes
from drive_server.services.identity.service import IdentityService
from drive_server.services.identity.sessions import SessionService
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.people import PasskeyRow

logger = logging.getLogger(__name__)

METHOD: Final = "passkey"
SERVICE_NAME: Final = "Drive Agent"
LOG_IN: Final = "log in"
MAX_OF_ONE_PERSON: Final = 20
MAX_KEY_CHARACTERS: Final = 2000
MAX_ID_CHARACTERS: Final = 1400
"""1023 bytes, the longest id of a credential, in base64url."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Passkey:
    """A passkey of the caller."""

    id: str
    name: str
    created_at: datetime
    last_used_at: datetime | None


class PasskeyService:
    """Registers passkeys and logs people in by them. They hold for the address at which they were registered."""

    def __init__(
        self,
        database: Database,
        identity: IdentityService,
        sessions: SessionService,
        public_url: str,
        clock: Clock = utc_now,
    ) -> None:
        self._database = database
        self._identity = identity
        self._sessions = sessions
        self._public_url = public_url
        self._clock = clock
        self._challenges = Challenges(database, clock)

    @property
    def is_possible(self) -> bool:
        """Whether the service's address has a name, which passkeys hold for."""
        try:
            self._site()
        except StateConflictError:
            return False
        return True

    async def list(self, actor: Actor) -> tuple[Passkey, ...]:
        """Return the caller's passkeys, newest first."""
        require_person(actor.principal)

        async def work(session: AsyncSession) -> tuple[Passkey, ...]:
            return tuple(_to_passkey(row) for row in await _rows_of(session, actor.user_id))

        return await self._database.look(work)

    async def begin_registration(self, actor: Actor) -> dict[str, Any]:
        """Return the options with which a browser makes a passkey (PublicKeyCredentialCreationOptionsJSON).

        It logs in with all scopes, so it takes a proof that has them, does not end, and is fresh: `MissingScopeError`,
        `ForbiddenError`, `FreshProofNeededError`. Raises `StateConflictError` for a person with too many, and at an
        address without a name.
        """
        await self._require_whole(actor.principal)
        self._identity.require_fresh(actor.principal)

        async def work(session: AsyncSession) -> list[bytes]:
            return [_bytes(row.credential) for row in await _rows_of(session, actor.user_id)]

        known = await self._database.look(work)
        _require_room(known)
        host, _ = self._site()
        challenge = self._challenges.create(actor.user_id)
        return await anyio.to_thread.run_sync(_creation_options, host, actor.principal, challenge, known)

    async def register(self, actor: Actor, name: str, credential: Mapping[str, Any]) -> Passkey:
        """Store the passkey that a browser made (RegistrationResponseJSON), under a name.

        Raises `InvalidInputError` for a bad name, and for one that was not made for a challenge of this caller in the
        last minutes; `StateConflictError` for one that is registered already; and as `begin_registration` does.
        """
        await self._require_whole(actor.principal)
        clean, (host, origin) = clean_key_name(name), self._site()
        challenge = _challenge_of(credential)
        async with self._challenges.taken(challenge, actor.user_id, InvalidInputError(Message.of("bad_passkey"))):
            return await self._register(actor.user_id, clean, credential, (challenge, host, origin))

    async def _register(
        self, user_id: str, name: str, credential: Mapping[str, Any], expected: tuple[bytes, str, str]
    ) -> Passkey:
        row = PasskeyRow(id=new_id(), user_id=user_id, name=name, created_at=self._clock())
        found = await _checked(lambda: _verified_registration(credential, *expected))
        if found is None:
            raise InvalidInputError(Message.of("bad_passkey"))
        row.credential, row.public_key, row.sign_count = found

        async def work(session: AsyncSession) -> None:
            _require_room(await _rows_of(session, user_id))
            if await session.scalar(select(PasskeyRow.id).where(PasskeyRow.credential == row.credential)):
                raise StateConflictError(Message.of("passkey_exists"))
            session.add(row)

        await self._database.change(work)
        record("passkey_added", "done", actor=user_id, passkey=row.id)
        return _to_passkey(row)

    async def has_some(self, user_id: str) -> bool:
        """Return whether the person has a passkey."""

        async def work(session: AsyncSession) -> bool:
            return bool(await _rows_of(session, user_id))

        return await self._database.look(work)

    async def remove(self, actor: Actor, passkey_id: str, session_secret: str = "") -> None:
        """Remove a passkey of the caller, and log out the browsers that it let in, but the one that asks.

        Raises `NotFoundError`, `MissingScopeError` without all scopes, and `FreshProofNeededError`: a browser that was
        left open takes no way to sign in from its person.
        """
        require_person(actor.principal)
        require_scopes(actor.principal, ALL_SCOPES)
        self._identity.require_fresh(actor.principal)
        own = PasskeyRow.id == passkey_id, PasskeyRow.user_id == actor.user_id

        async def work(session: AsyncSession) -> None:
            row = await session.scalar(select(PasskeyRow).where(*own))
            if row is None:
                raise NotFoundError(Message.of("no_passkey"))
            await session.delete(row)

        await self._database.change(work)
        record("passkey_removed", "done", actor=actor.user_id, passkey=passkey_id)
        await self._sessions.end_opened_by(actor.user_id, passkey_id, session_secret)

    async def begin_login(self) -> dict[str, Any]:
        """Return the options with which a browser signs (PublicKeyCredentialRequestOptionsJSON).

        They name no passkey: the browser offers those that it has. Raises `StateConflictError` at an address without
        a name.
        """
        host, _ = self._site()
        return await anyio.to_thread.run_sync(_request_options, host, self._challenges.create(LOG_IN))

    async def log_in(self, credential: Mapping[str, Any]) -> Principal:
        """Return whose passkey signed (AuthenticationResponseJSON), with all scopes.

        Raises `UnauthenticatedError` for an unknown passkey, a challenge that is over or was used, a wrong signature,
        and a counter that did not grow, as of a copied one; `AccountDisabledError` for who was disabled.
        """
        challenge, (host, origin) = _challenge_of(credential), self._site()
        async with self._challenges.taken(challenge, LOG_IN, UnauthenticatedError(Message.of("login_failed"))):
            return await self._holder(credential, (challenge, host, origin))

    async def _holder(self, credential: Mapping[str, Any], expected: tuple[bytes, str, str]) -> Principal:
        async with self._database.write() as session:
            known = PasskeyRow.credential == _text(_bytes(str(credential.get("id"))))
            row = await session.scalar(select(PasskeyRow).where(known).with_for_update())
            if row is None:
                raise UnauthenticatedError(Message.of("login_failed"))
            stored = _bytes(row.public_key), row.sign_count, bytes.fromhex(row.user_id)
            count = await _checked(lambda: _verified_login(credential, *expected, *stored))
            if count is None:
                raise UnauthenticatedError(Message.of("login_failed"))
            row.sign_count, row.last_used_at = count, self._clock()
        return replace(await self._identity.person(row.user_id, METHOD), proof_id=row.id)

    def _site(self) -> tuple[str, str]:
        """Return the host that passkeys hold for and the origin of its pages."""
        parts = urlsplit(public_address(self._public_url))
        host = parts.hostname or ""
        if not host or _is_number(host):
            raise StateConflictError(Message.of("passkeys_need_name"))
        return host, f"{parts.scheme}://{parts.netloc}"

    async def _require_whole(self, principal: Principal) -> None:
        require_person(principal)
        require_scopes(principal, ALL_SCOPES)
        if not await self._identity.lasts(principal):
            raise ForbiddenError(Message.of("passkey_key_ends"))


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


async def _rows_of(session: AsyncSession, user_id: str) -> list[PasskeyRow]:
    query = select(PasskeyRow).where(PasskeyRow.user_id == user_id)
    return list(await session.scalars(query.order_by(PasskeyRow.created_at.desc(), PasskeyRow.id)))


def _require_room(known: list[Any]) -> None:
    if len(known) >= MAX_OF_ONE_PERSON:
        raise StateConflictError(Message.of("too_many_passkeys", limit=MAX_OF_ONE_PERSON))


def _to_passkey(row: PasskeyRow) -> Passkey:
    return Passkey(row.id, row.name, row.created_at, row.last_used_at)


def _text(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    """Return the bytes of base64url, none for any other text."""
    try:
        return urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4))
    except ValueError:
        return b""


def _challenge_of(credential: Mapping[str, Any]) -> bytes:
    """Return the challenge that a browser says it got, none if it is no credential."""
    try:
        client_data = json.loads(_bytes(str(credential["response"]["clientDataJSON"])))
        return _bytes(str(client_data["challenge"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return b""


async def _checked(verify: Callable[[], T]) -> T | None:
    """Return the function's result, from a thread; None if it raises."""
    try:
        return await anyio.to_thread.run_sync(verify)
    except Exception as error:  # noqa: BLE001 - four parsers read anybody's bytes, each with errors of its own
        logger.info("A passkey is not valid: %s", error)
        return None


# The library is imported late: a command that logs nobody in starts without it.


def _creation_options(host: str, principal: Principal, challenge: bytes, known: list[bytes]) -> dict[str, Any]:
    from webauthn import generate_registration_options
    from webauthn.helpers import options_to_json_dict
    from webauthn.helpers.structs import (
        AuthenticatorSelectionCriteria,
        PublicKeyCredentialDescriptor,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    options = generate_registration_options(
        rp_id=host,
        rp_name=SERVICE_NAME,
        user_id=bytes.fromhex(principal.user_id),
        user_name=principal.email,
        user_display_name=principal.name or principal.email,
        challenge=challenge,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.PREFERRED
        ),
        exclude_credentials=[PublicKeyCredentialDescriptor(id=one) for one in known],
    )
    return options_to_json_dict(options)


def _request_options(host: str, challenge: bytes) -> dict[str, Any]:
    from webauthn import generate_authentication_options
    from webauthn.helpers import options_to_json_dict

    return options_to_json_dict(generate_authentication_options(rp_id=host, challenge=challenge))


def _verified_registration(
    credential: Mapping[str, Any], challenge: bytes, host: str, origin: str
) -> tuple[str, str, int] | None:
    from webauthn import verify_registration_response

    found = verify_registration_response(
        credential=dict(credential), expected_challenge=challenge, expected_rp_id=host, expected_origin=origin
    )
    identifier, key = _text(found.credential_id), _text(found.credential_public_key)
    fits = 0 < len(identifier) <= MAX_ID_CHARACTERS and len(key) <= MAX_KEY_CHARACTERS
    return (identifier, key, found.sign_count) if fits else None


def _verified_login(
    credential: Mapping[str, Any],
    challenge: bytes,
    host: str,
    origin: str,
    public_key: bytes,
    count: int,
    user_handle: bytes,
) -> int | None:
    from webauthn import verify_authentication_response

    found = verify_authentication_response(
        credential=dict(credential),
        expected_challenge=challenge,
        expected_rp_id=host,
        expected_origin=origin,
        credential_public_key=public_key,
        credential_current_sign_count=count,
    )
    # Section 7.2, step 6: who was not known before is the one whom the passkey names.
    is_theirs = _bytes(str(credential["response"].get("userHandle"))) == user_handle
    return found.new_sign_count if is_theirs else None
