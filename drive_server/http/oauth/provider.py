"""The MCP SDK's authorization server over the drive's programs and grants, for one request."""

from typing import Any

from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    RegistrationError,
    TokenError,
)
from mcp.shared.auth import InvalidRedirectUriError, OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl, Field

from drive_server.drive import Drive
from drive_server.kernel.errors import InvalidInputError
from drive_server.services.identity.programs.clients import Program
from drive_server.services.identity.programs.grants import Grant, Tokens
from drive_server.services.identity.programs.redirects import is_same


class Client(OAuthClientInformationFull):
    """A program as the SDK's handlers read it; its addresses are compared as the drive does."""

    program: Program = Field(exclude=True)

    def validate_redirect_uri(self, redirect_uri: AnyUrl | None) -> AnyUrl:
        """Return the address to lead back to. Raises `InvalidRedirectUriError` for one that was not registered."""
        return AnyUrl(self.redirect_of(None if redirect_uri is None else str(redirect_uri)))

    def redirect_of(self, asked: str | None) -> str:
        """Return the address as it was asked for, or the only registered one. Raises `InvalidRedirectUriError`."""
        known = self.program.redirect_uris
        if asked is None and len(known) == 1:
            return known[0]
        if asked is None or not any(is_same(uri, asked) for uri in known):
            raise InvalidRedirectUriError("redirect_uri is none of those that the program registered")
        return asked


class Code(AuthorizationCode):
    """A code with its grant."""

    grant: Grant


class Refresh(RefreshToken):
    """A refresh token with its grant."""

    grant: Grant


class Access(AccessToken):
    """An access token with its grant."""

    grant: Grant


class DriveProvider(OAuthAuthorizationServerProvider[Code, Refresh, Access]):
    """Answers the SDK's handlers. `network` is where the request comes from; consent has routes of its own."""

    def __init__(self, drive: Drive, network: str = "") -> None:
        self._drive = drive
        self._network = network

    async def get_client(self, client_id: str) -> Client | None:
        """Return the program, None for an unknown one and for one whose description can't be used.

        Raises `UnavailableError` for an address that does not answer.
        """
        try:
            program = await self._drive.clients.find(client_id)
        except InvalidInputError:
            return None
        return client_of(program) if program is not None else None

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Store a program, and give it its secret. Raises `RegistrationError`, `RateLimitError`."""
        registration = client_info.model_dump(mode="json", exclude_none=True)
        try:
            program = await self._drive.clients.register(client_info.client_id or "", registration, self._network)
        except InvalidInputError as error:
            is_redirect = error.details.get("field") == "redirect_uris"
            kind = "invalid_redirect_uri" if is_redirect else "invalid_client_metadata"
            raise RegistrationError(kind, " ".join(error.texts("en"))) from error
        client_info.client_secret = program.secret
        # It never ends by itself (RFC 7591, 3.2.1); the SDK leaves it out without a time.
        client_info.client_secret_expires_at = 0 if program.secret else None

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        """Raise: the drive has a page of its own for that."""
        raise NotImplementedError

    async def load_authorization_code(self, client: OAuthClientInformationFull, authorization_code: str) -> Code | None:
        """Return the code if it is this program's and was not used."""
        grant = await self._drive.grants.by_code(_program_of(client), authorization_code)
        if grant is None:
            return None
        return Code(
            code=authorization_code,
            scopes=list(grant.scopes),
            expires_at=grant.code_expires_at.timestamp(),
            client_id=grant.client_id,
            code_challenge=grant.challenge,
            redirect_uri=AnyUrl(grant.redirect_uri),
            redirect_uri_provided_explicitly=grant.is_redirect_explicit,
            resource=grant.resource,
            subject=grant.user_id,
            grant=grant,
        )

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: Code
    ) -> OAuthToken:
        """Return the tokens for the code. Raises `TokenError` for one that counts no more."""
        del client
        return _to_token(await self._drive.grants.redeem(authorization_code.grant))

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> Refresh | None:
        """Return the refresh token if it is the last one of this program's grant."""
        grant = await self._drive.grants.by_refresh(_program_of(client), refresh_token)
        if grant is None:
            return None
        return Refresh(
            token=refresh_token,
            client_id=grant.client_id,
            scopes=list(grant.scopes),
            expires_at=int(grant.ends_at.timestamp()),
            resource=grant.resource,
            subject=grant.user_id,
            grant=grant,
        )

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: Refresh, scopes: list[str]
    ) -> OAuthToken:
        """Return new tokens for the refresh token. Raises `TokenError` for one that counts no more."""
        del client
        return _to_token(await self._drive.grants.refresh(refresh_token.grant, refresh_token.token, scopes))

    async def load_access_token(self, token: str) -> Access | None:
        """Return the access token, to be revoked."""
        grant = await self._drive.grants.by_access(token)
        if grant is None:
            return None
        return Access(token=token, client_id=grant.client_id, scopes=list(grant.scopes), grant=grant)

    async def revoke_token(self, token: Access | Refresh) -> None:
        """End the grant of the token."""
        await self._drive.grants.end(token.grant.key_id)


def client_of(program: Program) -> Client:
    """Return the program as the SDK's handlers read it."""
    fields: dict[str, Any] = {
        "client_id": program.id,
        "client_name": program.name,
        "redirect_uris": list(program.redirect_uris),
        "token_endpoint_auth_method": program.auth_method,
        "client_secret": program.secret,
    }
    return Client(**fields, program=program)


def _program_of(client: OAuthClientInformationFull) -> Program:
    assert isinstance(client, Client)  # noqa: S101 - `get_client` returns no others
    return client.program


def _to_token(tokens: Tokens | None) -> OAuthToken:
    if tokens is None:
        raise TokenError("invalid_grant", "it was used before, has expired, or its person ended it")
    return OAuthToken(
        access_token=tokens.access,
        expires_in=tokens.seconds,
        scope=" ".join(tokens.scopes),
        refresh_token=tokens.refresh,
    )
