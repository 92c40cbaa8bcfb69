"""An OpenID Connect issuer on a real socket, with keys of its own, that can rotate them, break and go away."""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import get_default_algorithms
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.drive_server.http.service import Server

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from starlette.requests import Request

AUDIENCE = "http://127.0.0.1:8000/mcp"


def new_key(algorithm: str) -> Any:
    """Return a private key for signatures by the algorithm."""
    if algorithm.startswith(("RS", "PS")):
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)
    if algorithm == "EdDSA":
        return ed25519.Ed25519PrivateKey.generate()
    return ec.generate_private_key(ec.SECP256R1() if algorithm == "ES256" else ec.SECP384R1())


def public_jwk(key: Any, algorithm: str, key_id: str | None) -> dict[str, Any]:
    """Return the public half as a JSON web key."""
    entry: dict[str, Any] = get_default_algorithms()[algorithm].to_jwk(key.public_key(), as_dict=True)
    entry |= {"use": "sig", "alg": algorithm}
    return entry if key_id is None else {**entry, "kid": key_id}


@dataclass
class Issuer:
    """An issuer of tokens whose answers can be changed while it runs; `asked` counts the requests for its keys."""

    url: str
    algorithm: str = "ES256"
    key_id: str = "first"
    key: Any = None
    keys: list[Any] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    failure: Response | None = None
    asked: int = 0

    def rotate(self, key_id: str, algorithm: str = "ES256") -> None:
        """Sign with a new key from now on, and forget the others."""
        self.algorithm, self.key_id, self.key = algorithm, key_id, new_key(algorithm)
        self.keys = [public_jwk(self.key, algorithm, key_id)]

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Return the claims of a good token with some changed; None leaves one out."""
        now = int(time.time())
        good = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "1234",
            "email": "alice@example.com",
            "email_verified": True,
            "scope": "openid read write",
            "azp": "editor",
            "iat": now,
            "nbf": now,
            "exp": now + 600,
        }
        return {name: value for name, value in {**good, **changes}.items() if value is not None}

    def token(self, headers: dict[str, Any] | None = None, **changes: Any) -> str:
        """Return a token signed by the newest key."""
        named = {"kid": self.key_id, "typ": "at+jwt", **(headers or {})}
        shown = {name: value for name, value in named.items() if value is not None}
        return jwt.encode(self.claims(**changes), self.key, self.algorithm, shown)

    async def answer_metadata(self, request: Request) -> Response:
        """Say where the keys are."""
        del request
        return self.failure or JSONResponse({"issuer": self.url, "jwks_uri": f"{self.url}/keys", **self.metadata})

    async def answer_keys(self, request: Request) -> Response:
        """Show the keys."""
        del request
        self.asked += 1
        return self.failure or JSONResponse({"keys": self.keys})


@asynccontextmanager
async def issuing(*more: Route) -> AsyncGenerator[Issuer]:
    """Run an issuer on a free port, with `more` routes of its own."""
    listener = socket.create_server(("127.0.0.1", 0))
    issuer = Issuer(f"http://127.0.0.1:{listener.getsockname()[1]}")
    issuer.rotate("first")
    app = Starlette(
        routes=[
            Route("/.well-known/openid-configuration", issuer.answer_metadata),
            Route("/keys", issuer.answer_keys),
            *more,
        ]
    )
    server = Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="off"))
    task = asyncio.create_task(server.serve([listener]))
    await server.is_up.wait()
    try:
        yield issuer
    finally:
        server.should_exit = True
        await task
        listener.close()
