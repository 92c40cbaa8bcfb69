"""Signing in: a person opens an address in their browser, and comes back with a code that becomes tokens.

The SDK's client does the flow as one request, which waits in a task until the person is back: in this process.
"""

import asyncio
import json
from contextvars import Context
from dataclasses import dataclass, field
from http import HTTPStatus
from secrets import compare_digest
from typing import Any, Final

import httpx
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError
from mcp.shared.auth import OAuthClientInformationFull
from mcp.types import LATEST_PROTOCOL_VERSION

from graph.clock import Clock
from graph.servers.addresses import AddressGuard
from graph.servers.definition import ServerDefinition
from graph.servers.faults import reason_of
from graph.servers.oauth.credentials import (
    REQUEST_SECONDS,
    Collector,
    CredentialStore,
    client_metadata,
    credentials_of,
    oauth_client,
    port_of,
    require_encryption,
)
from graph.servers.oauth.tokens import Tokens
from graph.servers.reasons import FaultError, Reason, ServerUnavailableError, timed_out

BEGIN_SECONDS: Final = 30.0
FINISH_SECONDS: Final = 30.0
PERSON_SECONDS: Final = 600.0
"""How long a person may take in their browser."""
REVOKE_SECONDS: Final = 5.0
REFUSED: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
DENIED: Final = "access_denied"
HELLO: Final[dict[str, Any]] = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": LATEST_PROTOCOL_VERSION,
        "capabilities": {},
        "clientInfo": {"name": "drive-agent", "version": "1"},
    },
}


@dataclass(frozen=True, slots=True)
class OwnClient:
    """A client that the person has registered with the service themselves."""

    id: str
    secret: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Comeback:
    """The parameters with which a browser comes back (RFC 6749 section 4.1.2, RFC 9207)."""

    state: str
    code: str = field(default="", repr=False)
    error: str = ""
    issuer: str = ""


class SignIns:
    """People who are signing in, one sign-in for each server of a person at a time; and the tokens of all others."""

    def __init__(self, store: CredentialStore, guard: AddressGuard, clock: Clock) -> None:
        self.tokens = Tokens(store, guard, clock)
        self._store = store
        self._guard = guard
        self._clock = clock
        self._flows: dict[tuple[str, str], _Flow] = {}

    async def begin(self, definition: ServerDefinition, redirect_uri: str, own: OwnClient | None = None) -> str:
        """Return the address to open; an earlier sign-in to this server is over. Raises `ServerUnavailableError`."""
        if definition.type == "stdio":
            raise ServerUnavailableError(definition.name, Reason("sign_in_unneeded"))
        key = definition.user_id, definition.id
        if earlier := self._flows.pop(key, None):
            await earlier.end()
        flow = _Flow(definition, redirect_uri, own, self._guard)
        self._flows[key] = flow
        flow.task = asyncio.create_task(self._run(flow), context=Context())
        flow.task.add_done_callback(lambda _: self._forget(flow))
        await asyncio.wait({flow.task, flow.address}, timeout=BEGIN_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if flow.address.done():
            return flow.address.result()
        reason = flow.reason() if flow.task.done() else timed_out(BEGIN_SECONDS)
        await flow.end()
        raise ServerUnavailableError(definition.name, reason or Reason("sign_in_unneeded"))

    async def finish(self, definition: ServerDefinition, back: Comeback) -> None:
        """Exchange the code for tokens, and store them. Raises `ServerUnavailableError`.

        A state counts once, for the person and the server that it was made for.
        """
        key = definition.user_id, definition.id
        flow = self._flows.get(key)
        if flow is None or not flow.has_state(back.state):
            raise ServerUnavailableError(definition.name, Reason("sign_in_gone"))
        del self._flows[key]
        if reason := flow.answer(back):
            await flow.end()
            raise ServerUnavailableError(definition.name, reason)
        done, _ = await asyncio.wait({flow.task}, timeout=FINISH_SECONDS)
        reason = flow.reason() if done else timed_out(FINISH_SECONDS)
        await flow.end()
        if reason:
            raise ServerUnavailableError(definition.name, reason)

    async def sign_out(self, definition: ServerDefinition) -> None:
        """Delete the credentials, and ask the service, if it can be asked, to revoke them."""
        if flow := self._flows.pop((definition.user_id, definition.id), None):
            await flow.end()
        credentials = await self.tokens.read(definition)
        await self._store.delete(definition)
        if credentials is None or credentials.service is None or not credentials.service.revocation_endpoint:
            return
        token = credentials.tokens.refresh_token or credentials.tokens.access_token
        client = credentials.client
        # An empty secret may be omitted (RFC 6749 section 2.3.1), but the SDK's own servers want the field.
        fields = {"token": token, "client_id": client.client_id or "", "client_secret": client.client_secret or ""}
        try:
            async with asyncio.timeout(REVOKE_SECONDS), oauth_client(self._guard) as http:
                await http.post(str(credentials.service.revocation_endpoint), data=fields)
        except (httpx.HTTPError, FaultError, OSError):
            return  # the token is deleted here; it ends there by itself

    async def aclose(self) -> None:
        """End all sign-ins that are under way."""
        for flow in [*self._flows.values()]:
            await flow.end()
        await self.tokens.aclose()

    async def _run(self, flow: "_Flow") -> None:
        async with asyncio.timeout(PERSON_SECONDS):
            provider, collector = await flow.authorize()
        if collector.received is None:
            raise FaultError(Reason("sign_in_unneeded"))
        now = self._clock().timestamp()
        credentials = credentials_of(provider, collector, collector.received, now)
        await self._store.write(flow.definition, credentials.model_dump_json(), is_new=True)

    def _forget(self, flow: "_Flow") -> None:
        key = flow.definition.user_id, flow.definition.id
        if self._flows.get(key) is flow:
            del self._flows[key]


class _Flow:
    """One sign-in: the SDK's request, the address that it made, and the code that it waits for."""

    task: "asyncio.Task[None]"

    def __init__(
        self, definition: ServerDefinition, redirect_uri: str, own: OwnClient | None, guard: AddressGuard
    ) -> None:
        loop = asyncio.get_running_loop()
        self.definition = definition
        self.address: asyncio.Future[str] = loop.create_future()
        self._redirect_uri = redirect_uri
        self._guard = guard
        self._own = own
        self._code: asyncio.Future[tuple[str, str | None]] = loop.create_future()
        self._state = ""
        self._provider: OAuthClientProvider

    async def authorize(self) -> tuple[OAuthClientProvider, Collector]:
        """Run the flow to its end. Raises the errors of the SDK and of httpx, and `FaultError`."""
        collector = Collector(_client_of(self._own, self._redirect_uri) if self._own else None)
        self._provider = OAuthClientProvider(
            self.definition.base_url, client_metadata(self._redirect_uri), collector, self._leave, self._come_back
        )
        is_sse = self.definition.type == "sse"
        headers = {"Accept": "text/event-stream" if is_sse else "application/json, text/event-stream"}
        method, body = ("GET", None) if is_sse else ("POST", json.dumps(HELLO))
        headers |= {} if is_sse else {"Content-Type": "application/json"}
        async with (
            oauth_client(self._guard, self._provider) as http,
            http.stream(method, self.definition.base_url, content=body, headers=headers) as response,
        ):
            if response.status_code in REFUSED:
                raise FaultError(Reason("unauthorized", {"status": response.status_code}))
        return self._provider, collector

    def has_state(self, state: str) -> bool:
        """Say whether the state is that of this sign-in."""
        return bool(self._state) and compare_digest(self._state.encode(), state.encode())

    def answer(self, back: Comeback) -> Reason | None:
        """Hand the code to the SDK's client; return the reason if it is not taken."""
        service = self._provider.context.oauth_metadata
        if back.issuer and (service is None or back.issuer.rstrip("/") != str(service.issuer).rstrip("/")):
            return Reason("issuer")
        if back.error or not back.code:
            return Reason("sign_in_denied" if back.error == DENIED else "sign_in_failed")
        if self._code.done():
            return Reason("sign_in_gone")
        self._code.set_result((back.code, back.state))
        return None

    def reason(self) -> Reason | None:
        """Return why the flow failed; None if it did not."""
        if self.task.cancelled():
            return Reason("sign_in_gone")
        match error := self.task.exception():
            case None:
                return None
            case OAuthRegistrationError():
                return Reason("not_registered")
            case OAuthFlowError():
                # Without its text, which may quote the service's answer.
                return Reason("issuer" if "issuer mismatch" in str(error) else "sign_in_failed")
            case _:
                return reason_of(error, self.definition.host, REQUEST_SECONDS)

    async def end(self) -> None:
        """End the flow, wherever it waits."""
        self.task.cancel()
        self.address.cancel()
        await asyncio.wait({self.task})

    async def _leave(self, address: str) -> None:
        """Take the address that the person has to open. Raises `FaultError` if it leads into a private network."""
        service, url = self._provider.context.oauth_metadata, httpx.URL(address)
        if service and "S256" not in (service.code_challenge_methods_supported or ()):
            raise FaultError(Reason("no_pkce"))
        require_encryption(self._guard, url)
        await self._guard.addresses(url.host, port_of(url))
        self._state = url.params["state"]
        self.address.set_result(address)

    async def _come_back(self) -> tuple[str, str | None]:
        return await self._code


def _client_of(own: OwnClient, redirect_uri: str) -> OAuthClientInformationFull:
    fields = {"client_id": own.id, "redirect_uris": [redirect_uri], "token_endpoint_auth_method": "none"}
    if own.secret:
        fields |= {"client_secret": own.secret, "token_endpoint_auth_method": "client_secret_post"}
    return OAuthClientInformationFull.model_validate(fields)
