"""Tokens on requests to servers: read from the store, refreshed once for many callers at a time."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from contextvars import Context
from http import HTTPStatus
from typing import Final

import httpx
from mcp.client.auth import OAuthClientProvider
from pydantic import ValidationError

from graph.clock import Clock
from graph.servers.addresses import AddressGuard
from graph.servers.definition import ServerDefinition
from graph.servers.faults import reason_of
from graph.servers.oauth.credentials import (
    Collector,
    Credentials,
    CredentialStore,
    client_metadata,
    credentials_of,
    oauth_client,
    require_encryption,
)
from graph.servers.reasons import FaultError, Reason

EARLY_SECONDS: Final = 30.0
"""A token is refreshed so long before its end."""
REFRESH_SECONDS: Final = 20.0
LONG_AGO: Final = 1.0
"""A time of expiry, in seconds since the epoch; the SDK takes 0 for none."""
FINAL_REFUSALS: Final = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})


class Tokens:
    """The tokens of all people's servers."""

    def __init__(self, store: CredentialStore, guard: AddressGuard, clock: Clock) -> None:
        self._store = store
        self._guard = guard
        self._clock = clock
        self._refreshing: dict[tuple[str, str], asyncio.Task[Credentials | None]] = {}

    def auth(self, definition: ServerDefinition) -> httpx.Auth:
        """Return the authentication that puts the person's token on requests to a server, if they are signed in."""
        return _TokenAuth(self, definition, self._guard)

    async def current(self, definition: ServerDefinition) -> str | None:
        """Return a token that is not over; None if the person is not signed in. Raises `FaultError`."""
        credentials = await self.read(definition)
        if credentials and credentials.expires_at and credentials.expires_at - EARLY_SECONDS <= self._now():
            return await self.after(definition, credentials.tokens.access_token)
        return credentials.tokens.access_token if credentials else None

    async def after(self, definition: ServerDefinition, refused: str) -> str | None:
        """Return the token that replaces one which is over or was refused; None if it takes a new sign-in.

        Callers at the same time share one refresh, which goes on without them: the service may give the new token once.
        """
        key = definition.user_id, definition.id
        task = self._refreshing.get(key)
        if task is None:
            task = asyncio.create_task(self._refresh(definition, refused), context=Context())
            self._refreshing[key] = task
            task.add_done_callback(lambda _: self._refreshing.pop(key))
        credentials = await asyncio.shield(task)
        return credentials.tokens.access_token if credentials else None

    async def read(self, definition: ServerDefinition) -> Credentials | None:
        """Return the credentials for the address that the server has now."""
        text = await self._store.read(definition)
        with suppress(ValidationError):
            credentials = Credentials.model_validate_json(text) if text else None
            return credentials if credentials and credentials.address == definition.base_url else None
        return None

    async def aclose(self) -> None:
        """Wait until nothing is refreshed any more."""
        await asyncio.gather(*self._refreshing.values(), return_exceptions=True)

    async def _refresh(self, definition: ServerDefinition, refused: str) -> Credentials | None:
        credentials = await self.read(definition)
        if credentials is None or credentials.tokens.access_token != refused:
            return credentials
        try:
            async with asyncio.timeout(REFRESH_SECONDS):
                fresh = await self._ask(credentials)
        except (httpx.HTTPError, TimeoutError) as error:
            raise FaultError(reason_of(error, definition.host, REFRESH_SECONDS)) from None
        if fresh is None:
            await self._store.delete(definition)
        else:
            await self._store.write(definition, fresh.model_dump_json(), is_new=False)
        return fresh

    async def _ask(self, credentials: Credentials) -> Credentials | None:
        """Refresh with the SDK's client; return None if the service refuses it for good. Raises `FaultError`."""
        if not credentials.tokens.refresh_token:
            return None
        collector = Collector(credentials.client, credentials.tokens)
        provider = _provider(credentials, collector)
        request = httpx.Request("GET", credentials.address)
        response: httpx.Response | None = None
        async with oauth_client(self._guard) as http, aclosing(provider.async_auth_flow(request)) as flow:
            asked = await anext(flow)
            while asked is not request:
                response = await http.send(asked)
                asked = await flow.asend(response)
        if collector.received:
            # A service that gives no new refresh token leaves the one before.
            before = {"refresh_token": credentials.tokens.refresh_token}
            received = collector.received
            tokens = received if received.refresh_token else received.model_copy(update=before)
            return credentials_of(provider, collector, tokens, self._now())
        if response is not None and response.status_code in FINAL_REFUSALS:
            return None
        raise FaultError(Reason("sign_in_failed"))

    def _now(self) -> float:
        return self._clock().timestamp()


class _TokenAuth(httpx.Auth):
    """Puts the token on requests to one server, and a fresh one after a refusal."""

    def __init__(self, tokens: Tokens, definition: ServerDefinition, guard: AddressGuard) -> None:
        self._tokens = tokens
        self._definition = definition
        self._origin = _origin(httpx.URL(definition.base_url))
        self._guard = guard

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """Send the request with a token. Raises `FaultError` if the sign-in is over."""
        token = await self._tokens.current(self._definition) if _origin(request.url) == self._origin else None
        if token is None:
            yield request
            return
        require_encryption(self._guard, request.url)
        request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        if response.status_code != HTTPStatus.UNAUTHORIZED:
            return
        fresh = await self._tokens.after(self._definition, token)
        if fresh is None:
            raise FaultError(Reason("sign_in"))
        request.headers["Authorization"] = f"Bearer {fresh}"
        yield request


def _provider(credentials: Credentials, collector: Collector) -> OAuthClientProvider:
    """Return the SDK's client, with a token that is over."""
    redirects = credentials.client.redirect_uris or [""]
    provider = OAuthClientProvider(credentials.address, client_metadata(str(redirects[0])), collector)
    provider.context.oauth_metadata = credentials.service
    provider.context.protected_resource_metadata = credentials.resource
    provider.context.token_expiry_time = LONG_AGO
    return provider


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port
