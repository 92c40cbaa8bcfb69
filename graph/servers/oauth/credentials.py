"""The result of a sign-in: tokens, and the data to refresh them. Nothing of it is for logs, errors or answers."""

import logging
from collections.abc import Mapping
from typing import Protocol

import httpx
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import BaseModel, Field

from graph.servers.addresses import AddressGuard, GuardedTransport
from graph.servers.definition import ServerDefinition
from graph.servers.intake import Intake
from graph.servers.reasons import FaultError, Reason

REQUEST_SECONDS = 10.0
ANSWER_BYTES = 200_000
PORTS: Mapping[str, int] = {"http": 80, "https": 443}

# It logs states, tokens and servers' answers. Its failures reach the person.
logging.getLogger("mcp.client.auth").setLevel(logging.CRITICAL)


class Credentials(BaseModel):
    """Tokens for the server at `address`, with the client and the services that they belong to.

    `expires_at` is in seconds since the epoch; None if the service did not say.
    """

    address: str
    expires_at: float | None
    tokens: OAuthToken = Field(repr=False)
    client: OAuthClientInformationFull = Field(repr=False)
    service: OAuthMetadata | None
    resource: ProtectedResourceMetadata | None


class CredentialStore(Protocol):
    """Stores credentials, as text, encrypted. The service implements it over its tables."""

    async def read(self, definition: ServerDefinition) -> str | None:
        """Return the credentials of a person for their server, None if they are not signed in."""
        ...

    async def write(self, definition: ServerDefinition, credentials: str, *, is_new: bool) -> None:
        """Store credentials, if the server still leads where it did; those that are not new only replace others."""
        ...

    async def delete(self, definition: ServerDefinition) -> None:
        """Delete the credentials, if there are any."""
        ...


class Collector:
    """The SDK's storage during one flow: begins with stored values, and collects new ones."""

    def __init__(self, client: OAuthClientInformationFull | None = None, tokens: OAuthToken | None = None) -> None:
        self._client = client
        self._tokens = tokens
        self.received: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        """Return the tokens until now."""
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Take new tokens."""
        self.received = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the registered client."""
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Take the client that was registered."""
        self._client = client_info

    @property
    def client(self) -> OAuthClientInformationFull:
        """Return the client. Raises `FaultError` if none was registered."""
        if self._client is None:
            raise FaultError(Reason("sign_in_failed"))
        return self._client


def credentials_of(provider: OAuthClientProvider, collector: Collector, tokens: OAuthToken, now: float) -> Credentials:
    """Return the credentials from a finished flow of the SDK's client."""
    context = provider.context
    return Credentials(
        address=context.server_url,
        expires_at=None if tokens.expires_in is None else now + tokens.expires_in,
        tokens=tokens,
        client=collector.client,
        service=context.oauth_metadata,
        resource=context.protected_resource_metadata,
    )


def client_metadata(redirect_uri: str) -> OAuthClientMetadata:
    """Return how this program introduces itself: as a public client, whose proof is PKCE."""
    return OAuthClientMetadata.model_validate(
        {"redirect_uris": [redirect_uri], "client_name": "Drive Agent", "token_endpoint_auth_method": "none"}
    )


def oauth_client(guard: AddressGuard, auth: httpx.Auth | None = None) -> httpx.AsyncClient:
    """Return a client for requests of a sign-in: guarded addresses, encrypted, with bounded answers."""

    async def check(request: httpx.Request) -> None:
        require_encryption(guard, request.url)

    transport = GuardedTransport(guard, Intake(ANSWER_BYTES, lambda _: None))
    hooks = {"request": [check]}
    return httpx.AsyncClient(
        transport=transport, auth=auth, timeout=REQUEST_SECONDS, trust_env=False, event_hooks=hooks
    )


def require_encryption(guard: AddressGuard, url: httpx.URL) -> None:
    """Raise `FaultError` for an address without TLS, unless the operator allowed its host as a private one."""
    if url.scheme != "https" and not guard.is_private_host(url.host, port_of(url)):
        raise FaultError(Reason("not_encrypted", {"host": url.host}))


def port_of(url: httpx.URL) -> int:
    """Return the port of an http(s) address."""
    return url.port or PORTS.get(url.scheme, 0)
