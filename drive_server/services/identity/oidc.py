"""Log in at an OpenID Connect issuer: the authorization code flow with PKCE, for browsers."""

import hmac
import logging
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx
import jwt
import orjson
from authlib.common.errors import AuthlibBaseError
from authlib.common.security import generate_token
from jwt.exceptions import PyJWTError
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Principal
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import ForbiddenError, InvalidInputError, UnauthenticatedError, UnavailableError
from drive_server.kernel.messages import Message
from drive_server.kernel.settings import DriveSettings
from drive_server.kernel.sql.database import Database
from drive_server.services.identity.emails import has_lookalike, normalise_email
from drive_server.services.identity.issuer import FETCH_WITHIN_SECONDS, IssuerKeys, is_safe_address
from drive_server.services.identity.keys import MAX_TOKEN_CHARACTERS
from drive_server.services.identity.service import LOCAL_EMAIL, IdentityService, add_user, find_user
from drive_server.services.identity.tokens import LEEWAY_SECONDS, TAKEN
from drive_server.storage.tables.people import IdentityRow, UserRow

logger = logging.getLogger(__name__)

METHOD: Final = "oidc"
PURPOSE: Final = "oidc login 2"
"""The purpose of the signatures. Its number grows when the signed fields change: older signatures are refused."""

ANSWERED_WITHIN: Final = timedelta(minutes=10)
SECRET_CHARACTERS: Final = 48
MAX_SUBJECT_CHARACTERS: Final = 255


@dataclass(frozen=True, slots=True)
class Beginning:
    """A login that begins: the address for the browser, and the signed memory that it keeps meanwhile."""

    url: str
    memory: str


class OidcService:
    """Logs people in by the issuer of the settings.

    A newcomer is known by a verified email, if the settings allow it.
    """

    def __init__(
        self, settings: DriveSettings, database: Database, identity: IdentityService, clock: Clock = utc_now
    ) -> None:
        """Raise `InvalidInputError` if the issuer's address can't be used."""
        self._settings = settings
        self._database = database
        self._identity = identity
        self._clock = clock
        self._keys = IssuerKeys(settings.oidc_issuer, "", clock)

    async def begin(self, callback: str, again: tuple[str, str] = ("", "")) -> Beginning:
        """Return where to log in; the issuer leads back to `callback`. Raises `UnavailableError` if it can't be had.

        `again` has the ids of a person who has to prove anew who they are, and of their session: the issuer is told to
        ask them (OpenID Connect Core 1.0, section 3.1.2.1), and nobody else logs in by it.
        """
        endpoint = await self._endpoint("authorization_endpoint")
        verifier, nonce = generate_token(SECRET_CHARACTERS), generate_token(SECRET_CHARACTERS)
        asks = {"prompt": "login", "max_age": "0"} if any(again) else {}
        async with self._client(callback) as client:
            url, state = client.create_authorization_url(endpoint, code_verifier=verifier, nonce=nonce, **asks)
        ends = int((self._clock() + ANSWERED_WITHIN).timestamp())
        memory = orjson.dumps([state, nonce, verifier, again, ends])
        return Beginning(url, self._database.signer.sign(PURPOSE, memory))

    async def finish(self, memory: str, callback: str, answer: dict[str, str]) -> Principal:
        """Return the person who logged in, by the browser's memory and the issuer's answer.

        Raises `UnauthenticatedError` for an answer to another login, a late, refused or forged one, and for a person
        without an account; `ForbiddenError` for another person than the one who was to log in again;
        `AccountDisabledError`; `UnavailableError`.
        """
        state, nonce, verifier, (again, _) = self._remembered(memory)
        is_ours = hmac.compare_digest(state.encode(), answer.get("state", "").encode())
        # RFC 9207: an issuer that names itself has to be ours.
        is_named = answer.get("iss") in (None, self._settings.oidc_issuer)
        if not (is_ours and is_named and answer.get("code")):
            raise _failed()
        token = await self._fetch(callback, answer["code"], verifier)
        claims = await self._claims(token, nonce)
        user_id, now = await self._user_of(claims), self._clock()
        if again and user_id != again:
            raise ForbiddenError(Message.of("other_person"))
        proved_at = _proved_at(claims, now)
        if again and now - proved_at > ANSWERED_WITHIN:
            raise _failed()
        return replace(await self._identity.person(user_id, METHOD), proved_at=proved_at)

    async def close(self) -> None:
        """Close the connections to the issuer."""
        await self._keys.close()

    def session_of(self, memory: str) -> str:
        """Return the id of the session whose person proves anew who they are; of a first login nothing.

        Raises `UnauthenticatedError` for a forged memory, and for one that is too old.
        """
        _, _, _, (_, session_id) = self._remembered(memory)
        return session_id

    def _remembered(self, memory: str) -> tuple[str, str, str, tuple[str, str]]:
        payload = self._database.signer.verify(PURPOSE, memory)
        if payload is None:
            raise _failed()
        state, nonce, verifier, (user_id, session_id), ends = orjson.loads(payload)
        if ends <= self._clock().timestamp():
            raise _failed()
        return state, nonce, verifier, (user_id, session_id)

    def _client(self, callback: str) -> Any:
        # Imported late: a command that logs nobody in starts without it.
        from authlib.integrations.httpx_client import AsyncOAuth2Client

        return AsyncOAuth2Client(
            self._settings.oidc_client_id,
            self._settings.oidc_client_secret.get_secret_value() or None,
            scope="openid email profile",
            redirect_uri=callback,
            code_challenge_method="S256",
            timeout=FETCH_WITHIN_SECONDS,
            follow_redirects=False,
        )

    async def _endpoint(self, name: str) -> str:
        address = (await self._keys.metadata()).get(name)
        if not isinstance(address, str) or not is_safe_address(address):
            raise UnavailableError(Message.of("no_issuer"))
        return address

    async def _fetch(self, callback: str, code: str, verifier: str) -> str:
        """Exchange the code for the ID token (OpenID Connect Core 1.0, section 3.1.3)."""
        endpoint = await self._endpoint("token_endpoint")
        try:
            async with self._client(callback) as client:
                answer = await client.fetch_token(
                    endpoint, grant_type="authorization_code", code=code, code_verifier=verifier
                )
        except (httpx.HTTPError, OSError) as error:
            raise UnavailableError(Message.of("no_issuer")) from error
        except (AuthlibBaseError, ValueError) as error:
            logger.warning("The issuer refused a code: %s", error)
            raise _failed() from error
        token = answer.get("id_token")
        if not isinstance(token, str) or len(token) > MAX_TOKEN_CHARACTERS:
            raise _failed()
        return token

    async def _claims(self, token: str, nonce: str) -> dict[str, Any]:
        """Return the claims of a valid ID token (OpenID Connect Core 1.0, section 3.1.3.7)."""
        try:
            header = jwt.get_unverified_header(token)
            algorithm, key_id = str(header.get("alg")), header.get("kid")
            is_known = algorithm in TAKEN and isinstance(key_id, str | None) and "crit" not in header
            key = await self._keys.find(key_id, algorithm) if is_known else None
            if key is None:
                raise _failed()
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=self._settings.oidc_client_id,
                issuer=self._settings.oidc_issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iat", "iss", "aud", "sub", "nonce"]},
            )
        except PyJWTError as error:
            logger.warning("An ID token of the issuer is not valid: %s", error)
            raise _failed() from error
        is_for_us = claims.get("azp", self._settings.oidc_client_id) == self._settings.oidc_client_id
        if not is_for_us or not hmac.compare_digest(str(claims["nonce"]).encode(), nonce.encode()):
            raise _failed()
        return claims

    async def _user_of(self, claims: dict[str, Any]) -> str:
        """Return the id of the account: from the first login on it is the subject's, also if their email changes."""
        subject = str(claims["sub"])
        if not 0 < len(subject) <= MAX_SUBJECT_CHARACTERS:
            raise _failed()
        identity = IdentityRow.issuer == self._settings.oidc_issuer, IdentityRow.subject == subject

        async def work(session: AsyncSession) -> str:
            known = await session.scalar(select(IdentityRow.user_id).where(*identity))
            if known is not None:
                return known
            user = await self._first_login(session, _verified_email(claims))
            row = {"issuer": self._settings.oidc_issuer, "subject": subject, "user_id": user.id}
            session.add(IdentityRow(**row, created_at=self._clock()))
            return user.id

        return await self._database.change(work)

    async def _first_login(self, session: AsyncSession, email: str) -> UserRow:
        user = await find_user(session, email)
        may = self._settings.oidc_create_users if user is None else self._settings.oidc_link_by_email
        if not may or email == LOCAL_EMAIL:
            raise UnauthenticatedError(Message.of("no_account_for_login"))
        return user or await add_user(session, email, self._clock())


def _verified_email(claims: dict[str, Any]) -> str:
    email = claims.get("email")
    if claims.get("email_verified") is not True or not isinstance(email, str) or has_lookalike(email):
        raise UnauthenticatedError(Message.of("email_not_verified"))
    try:
        return normalise_email(email)
    except InvalidInputError as error:
        raise UnauthenticatedError(Message.of("email_not_verified")) from error


def _proved_at(claims: dict[str, Any], now: datetime) -> datetime:
    """Return when the issuer last asked the person who they are: `auth_time`, or now if it does not say."""
    told = claims.get("auth_time")
    if not isinstance(told, int | float) or isinstance(told, bool):
        return now
    return min(now, datetime.fromtimestamp(max(0.0, min(told, now.timestamp())), UTC))


def _failed() -> UnauthenticatedError:
    return UnauthenticatedError(Message.of("login_failed"))
