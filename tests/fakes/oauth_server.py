"""A server that demands a sign-in, with its authorization server, both of the SDK, over real HTTP.

Everybody who opens its address agrees. `overrides` are answers instead of its own, by path.
"""

from __future__ import annotations

import secrets
import socket
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx
import uvicorn
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.fastmcp import FastMCP
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.responses import JSONResponse

from tests.prompt_server import PromptServer

if TYPE_CHECKING:
    from collections.abc import Generator

    from starlette.types import ASGIApp, Receive, Scope, Send

RESOURCE_METADATA = "/.well-known/oauth-protected-resource/mcp"
SERVICE_METADATA = "/.well-known/oauth-authorization-server"
START_SECONDS = 10


class MemoryProvider:
    """The authorization server's memory. `lasts` is how long tokens are good, in seconds; `refreshes` counts."""

    def __init__(self) -> None:
        self.lasts = 3600
        self.refreshes = 0
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.resources: list[str | None] = []

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        assert client_info.client_id
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = AuthorizationCode(
            code=secrets.token_urlsafe(24),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id or "",
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        self.resources.append(params.resource)
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        del client
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._tokens(client, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        del client
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        self.refreshes += 1
        del self.refresh[refresh_token.token]
        return self._tokens(client, scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        del token
        self.access.clear()
        self.refresh.clear()

    def _tokens(self, client: OAuthClientInformationFull, scopes: list[str], resource: str | None) -> OAuthToken:
        access, refresh = f"access-{secrets.token_urlsafe(16)}", f"refresh-{secrets.token_urlsafe(16)}"
        known: Any = {"client_id": client.client_id or "", "scopes": scopes, "resource": resource}
        self.access[access] = AccessToken(token=access, expires_at=int(time.time()) + self.lasts, **known)
        self.refresh[refresh] = RefreshToken(token=refresh, **known)
        return OAuthToken(access_token=access, refresh_token=refresh, expires_in=self.lasts)


class OAuthServer(PromptServer):
    """The server and its authorization server, on one port."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.provider = MemoryProvider()
        self.overrides: dict[str, Any] = {}
        self.paths: list[str] = []
        super().__init__(uvicorn.Config(self._overriding(self._app()), port=port, log_config=None, access_log=False))

    @property
    def mcp_url(self) -> str:
        """Return the address of the MCP server."""
        return f"{self.url}/mcp"

    def metadata(self, **changes: Any) -> dict[str, Any]:
        """Return the metadata of the authorization server, changed."""
        return {**httpx.get(f"{self.url}{SERVICE_METADATA}").json(), **changes}

    def agree(self, address: str) -> httpx.QueryParams:
        """Open the address of a sign-in as a browser does, and return what it comes back with."""
        response = httpx.get(address)
        assert response.is_redirect, response.text
        return httpx.URL(response.headers["location"]).params

    def _app(self) -> ASGIApp:
        auth = AuthSettings(
            issuer_url=AnyHttpUrl(self.url),
            resource_server_url=AnyHttpUrl(self.mcp_url),
            client_registration_options=ClientRegistrationOptions(enabled=True),
            revocation_options=RevocationOptions(enabled=True),
            validate_token_resource=True,
        )
        server = FastMCP("locked", auth_server_provider=self.provider, auth=auth, json_response=True)

        @server.tool()
        def secret_of_the_day() -> str:
            """Tell it."""
            return "swordfish"

        del secret_of_the_day
        return server.streamable_http_app()

    def _overriding(self, app: ASGIApp) -> ASGIApp:
        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            path = scope.get("path", "")
            self.paths.append(path)
            if path in self.overrides:
                await JSONResponse(self.overrides[path])(scope, receive, send)
            else:
                await app(scope, receive, send)

        return answer


@contextmanager
def oauth_server() -> Generator[OAuthServer]:
    """Serve until the end of the block."""
    server = OAuthServer()
    thread = threading.Thread(target=server.run)
    thread.start()
    until = time.monotonic() + START_SECONDS
    while not server.started and time.monotonic() < until:
        time.sleep(0.005)
    try:
        yield server
    finally:
        server.should_exit = True
        thread.join()
