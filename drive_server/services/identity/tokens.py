"""Access tokens of an OpenID Connect issuer: JSON web tokens (RFC 7519) for this drive."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import jwt
from jwt.exceptions import (
    ExpiredSignatureError,
    ImmatureSignatureError,
    InvalidAudienceError,
    InvalidIssuerError,
    MissingRequiredClaimError,
    PyJWTError,
)

from drive_server.kernel.access import ALL_SCOPES, Scope
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import UnauthenticatedError, UnknownKeyError
from drive_server.kernel.settings import DriveSettings
from drive_server.services.identity.issuer import ALGORITHMS, IssuerKeys
from drive_server.services.identity.keys import MAX_TOKEN_CHARACTERS

MAX_CLIENT_CHARACTERS: Final = 100
LEEWAY_SECONDS: Final = 60
LATEST: Final = datetime(9999, 1, 1, tzinfo=UTC)
PARTS: Final = 3
TYPES: Final = frozenset({"jwt", "at+jwt", "application/jwt", "application/at+jwt"})
"""Values of `typ` that an access token may have: JWTs are made for other ends too (RFC 8725, section 3.11)."""
TAKEN: Final = frozenset(algorithm for algorithms in ALGORITHMS.values() for algorithm in algorithms)
SCOPE_PREFIX: Final = "drive:"
WHAT_IS_WRONG: Final = (
    (ExpiredSignatureError, "The token has expired."),
    (ImmatureSignatureError, "The token is not valid yet."),
    (InvalidAudienceError, "The token is not meant for this drive."),
    (InvalidIssuerError, "The token is of another issuer."),
    (MissingRequiredClaimError, "It lacks a claim: `exp`, `iss` and `aud` have to be there."),
)


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a valid token: subject, scopes, expiry, and the client that it was given to."""

    email: str
    scopes: frozenset[Scope]
    expires_at: datetime
    client: str | None


class TokenService:
    """Verifies tokens of one issuer. With `create_users`, a person gets an account at the first sign-in."""

    def __init__(self, settings: DriveSettings, clock: Clock = utc_now) -> None:
        """Raise `InvalidInputError` if the issuer's address can't be used."""
        self.create_users = settings.jwt_create_users
        self._issuer = settings.jwt_issuer
        self._audiences = [name for name in (settings.jwt_audience, settings.mcp_url) if name]
        self._keys = IssuerKeys(settings.jwt_issuer, settings.jwt_keys_url, clock)

    @staticmethod
    def is_token(secret: str) -> bool:
        """Tell tokens from keys, which have no dots."""
        return "." in secret

    async def verify(self, token: str) -> Claims:
        """Return the claims of the token.

        Raises `UnauthenticatedError` unless it is signed by the issuer, for this drive, valid now, and names a person
        by an email address that the issuer does not call unverified; `UnavailableError` if the issuer's keys can't
        be had.
        """
        header = _header(token)
        key = await self._keys.find(header.get("kid"), header["alg"])
        if key is None:
            raise _forged("It is signed with a key that the issuer does not have.")
        try:
            payload: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[header["alg"]],
                audience=self._audiences,
                issuer=self._issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"], "enforce_minimum_key_length": True},
            )
            return _claims(payload)
        except PyJWTError as error:
            # The signature was checked before: these are tokens of the issuer, and no guesses.
            reason = next((words for kind, words in WHAT_IS_WRONG if isinstance(error, kind)), None)
            raise (_refused(reason) if reason else _forged("Its signature is wrong.")) from error

    async def close(self) -> None:
        """Close the connections to the issuer."""
        await self._keys.close()


def _header(token: str) -> dict[str, Any]:
    """Return the header, of which nothing is believed but which of the issuer's keys to try."""
    if len(token) > MAX_TOKEN_CHARACTERS or token.count(".") != PARTS - 1 or not token.isascii():
        raise _forged("It is no JSON web token.")
    try:
        header = jwt.get_unverified_header(token)
    except PyJWTError as error:
        raise _forged("It is no JSON web token.") from error
    algorithm, key_id, kind = header.get("alg"), header.get("kid"), header.get("typ", "JWT")
    # Nothing that a header may say has to be understood (`crit`, RFC 7515 section 4.1.11) is understood here.
    if str(algorithm) not in TAKEN or not isinstance(key_id, str | None) or "crit" in header:
        raise _forged("It is signed in a way that is not taken here.")
    if not isinstance(kind, str) or kind.lower() not in TYPES:
        raise _forged("It is no access token.")
    return header


def _claims(payload: dict[str, Any]) -> Claims:
    email, verified = payload.get("email"), payload.get("email_verified", True)
    if not isinstance(email, str) or not email:
        raise _refused("It names no email address: let the issuer add the claim `email`.")
    if verified is not True and str(verified).lower() != "true":
        raise _refused("Its email address was not verified by the issuer.")
    return Claims(email, _scopes(payload), _ends(payload), _client(payload))


def _scopes(payload: dict[str, Any]) -> frozenset[Scope]:
    """Return the drive's scopes among those of the token (`scope` of RFC 8693, `scp` of some issuers)."""
    words: set[str] = set()
    for claim in ("scope", "scp"):
        value = payload.get(claim, [])
        listed = value.split() if isinstance(value, str) else value if isinstance(value, list) else []
        words |= {word.removeprefix(SCOPE_PREFIX) for word in listed if isinstance(word, str)}
    return frozenset(scope for scope in ALL_SCOPES if scope.value in words)


def _ends(payload: dict[str, Any]) -> datetime:
    return datetime.fromtimestamp(min(int(payload["exp"]), LATEST.timestamp()), UTC)


def _client(payload: dict[str, Any]) -> str | None:
    """Return the program that the token was given to (`azp`, `client_id`), as the journal names it."""
    for claim in ("azp", "client_id"):
        name = payload.get(claim)
        if isinstance(name, str) and name.isprintable() and 0 < len(name) <= MAX_CLIENT_CHARACTERS:
            return name
    return None


def _forged(why: str) -> UnknownKeyError:
    return UnknownKeyError("This token is not valid.", hint=why)


def _refused(why: str) -> UnauthenticatedError:
    return UnauthenticatedError("This token is not valid.", hint=why)
