"""Routes for authentication: log in and out, API keys, accounts."""

from datetime import datetime
from typing import Annotated, Final

from fastapi import APIRouter, Request, Response, status
from pydantic import BaseModel, ConfigDict, Field, Strict

from drive_server.access import Actor, Principal
from drive_server.drive import Drive
from drive_server.errors import UnauthenticatedError
from drive_server.http.access import COOKIE, ActorDep, DriveDep, PrincipalDep, principal_of_request
from drive_server.mcp.tools.arguments import MAX_EMAIL_CHARACTERS
from drive_server.models import ApiKey
from drive_server.rate_limiter import RateLimiter, network_of
from drive_server.services.identity.keys import MAX_KEY_DAYS, MAX_KEY_NAME_CHARACTERS, SESSION_PREFIX, SessionService
from drive_server.services.identity.tokens import MOST_CHARACTERS
from drive_server.services.quota import MAX_QUOTA_BYTES

router = APIRouter(tags=["auth"])

FAILURES: Final = 10
"""Wrong tokens of one address in a minute."""
MOST_SCOPES = 10
MOST_SCOPE_CHARACTERS = 20

ScopeNames = Annotated[list[Annotated[str, Field(max_length=MOST_SCOPE_CHARACTERS)]], Field(max_length=MOST_SCOPES)]


class Login(BaseModel):
    """The local access token, an API key, or a token of the issuer in the settings."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"token": "drv_..."}]})

    token: Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)]


class NewKey(BaseModel):
    """A key to make, that ends after `days` days, or does not end."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"name": "laptop", "scopes": ["read", "write"], "days": 90}]}
    )

    name: Annotated[str, Field(max_length=MAX_KEY_NAME_CHARACTERS)]
    scopes: ScopeNames
    days: Annotated[int | None, Strict(), Field(ge=1, le=MAX_KEY_DAYS)] = None


class KeyChange(BaseModel):
    """New scopes of a key."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"scopes": ["read"]}]})

    scopes: ScopeNames


class NewUser(BaseModel):
    """A person to give a drive."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"email": "ada@example.com"}]})

    email: Annotated[str, Field(max_length=MAX_EMAIL_CHARACTERS)]


class MeResult(BaseModel):
    """The caller, and the scopes of the key in use."""

    id: str
    email: str
    root_id: str
    is_admin: bool
    scopes: list[str]
    method: str
    key_name: str | None
    expires_at: datetime | None
    used_bytes: int
    quota_bytes: int


class NewQuota(BaseModel):
    """A new quota in bytes; 0: no limit, null: the limit in the settings."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"quota_bytes": 10000000000}]})

    quota_bytes: Annotated[int | None, Strict(), Field(ge=0, le=MAX_QUOTA_BYTES)]


class QuotaResult(BaseModel):
    """Usage and quota of a person in bytes; a quota of 0 is no limit."""

    id: str
    email: str
    used_bytes: int
    quota_bytes: int


class CreatedKey(ApiKey):
    """A new API key; its secret, `key`, is shown here and nowhere else."""

    key: str


class KeysResult(BaseModel):
    """All keys of the caller, newest first, the expired and revoked ones too."""

    items: list[ApiKey]
    cursor: None = None


class LoginLinkResult(BaseModel):
    """An address that logs one browser in, once, before it expires."""

    url: str
    expires_at: datetime


class UserResult(BaseModel):
    """An account."""

    id: str
    email: str
    is_admin: bool
    created_at: datetime


class UsersResult(BaseModel):
    """Everybody with an account, by email."""

    items: list[UserResult]
    cursor: None = None


class CreatedUser(BaseModel):
    """A new account with its first key, which is shown here and nowhere else."""

    id: str
    email: str
    key: str


@router.post("/auth/login")
async def login(body: Login, request: Request, response: Response, drive: DriveDep) -> MeResult:
    """Open a session for a browser: its cookie stands for the token, for 30 days at most."""
    return await _me(drive, await open_session(drive, request, response, body.token))


@router.post("/auth/login-links", status_code=status.HTTP_201_CREATED)
async def create_login_link(drive: DriveDep, principal: PrincipalDep) -> LoginLinkResult:
    """Make an address that logs a browser in as the caller: once, within ten minutes, and not after a restart."""
    return LoginLinkResult.model_validate(drive.login_links.create(principal), from_attributes=True)


@router.post("/auth/logout", status_code=status.HTTP_204_NO_CONTENT)
async def logout(request: Request, response: Response, drive: DriveDep, *, everywhere: bool = False) -> None:
    """End this browser's session, also one that has expired; or all sessions of the person."""
    if everywhere:
        await SessionService(drive.database).end_all(await principal_of_request(drive, request))
    await end_session(drive, request, response)


@router.get("/auth/me")
async def me(drive: DriveDep, principal: PrincipalDep) -> MeResult:
    """Tell who is calling."""
    return await _me(drive, principal)


@router.get("/auth/keys")
async def list_keys(drive: DriveDep, actor: ActorDep) -> KeysResult:
    """List the caller's API keys."""
    keys = await drive.identity.list_keys(actor)
    return KeysResult(items=[key for key in keys if not key.prefix.startswith(SESSION_PREFIX)])


@router.post("/auth/keys", status_code=status.HTTP_201_CREATED)
async def create_key(new: NewKey, drive: DriveDep, actor: ActorDep) -> CreatedKey:
    """Make an API key with some of the scopes of the key in use."""
    key, secret = await drive.identity.create_key(actor, new.name, new.scopes, new.days)
    return CreatedKey(**key.model_dump(), key=secret)


@router.delete("/auth/keys/{key_id}", status_code=status.HTTP_204_NO_CONTENT)
async def revoke_key(key_id: str, drive: DriveDep, actor: ActorDep) -> None:
    """End an API key at once."""
    await drive.identity.revoke_key(actor, key_id)


@router.patch("/auth/keys/{key_id}")
async def change_key(key_id: str, change: KeyChange, drive: DriveDep, actor: ActorDep) -> ApiKey:
    """Give an API key other scopes; they hold at once, in MCP sessions that are open as well."""
    return await drive.identity.change_scopes(actor, key_id, change.scopes)


@router.post("/users", status_code=status.HTTP_201_CREATED)
async def create_user(new: NewUser, drive: DriveDep, actor: ActorDep) -> CreatedUser:
    """Give a person a drive; for administrators."""
    user, secret = await drive.identity.create_user(actor, new.email)
    return CreatedUser(id=user.id, email=user.email, key=secret)


@router.get("/users")
async def list_users(drive: DriveDep, actor: ActorDep) -> UsersResult:
    """List who has an account; for administrators."""
    users = await drive.identity.list_users(actor)
    return UsersResult(items=[UserResult.model_validate(user, from_attributes=True) for user in users])


async def open_session(drive: Drive, request: Request, response: Response, token: str) -> Principal:
    """Log a browser in: put the cookie of a new session on the response, and return who it is for.

    Raises `UnauthenticatedError` for a token that is not valid, `RateLimitError` after too many of them.
    """
    failures, network = _login_failures(request), network_of(request.client.host if request.client else "")
    failures.check(network)
    try:
        principal = await drive.identity.authenticate(token.strip())
    except UnauthenticatedError:
        failures.count(network)
        raise
    await set_session(drive, request, response, principal)
    return principal


async def set_session(drive: Drive, request: Request, response: Response, principal: Principal) -> None:
    """Put the cookie of a new session of this person on the response."""
    secret, ends = await SessionService(drive.database).create(principal)
    # Behind a proxy that the HTTP server trusts, the scheme is the proxy's.
    is_secure = request.url.scheme == "https"
    response.set_cookie(COOKIE, secret, expires=ends, path="/", httponly=True, samesite="strict", secure=is_secure)


def _login_failures(request: Request) -> RateLimiter:
    """Return the application's own count of wrong tokens."""
    state = request.app.state
    if not hasattr(state, "login_failures"):
        state.login_failures = RateLimiter(FAILURES, "Too many wrong tokens came from your address.")
    return state.login_failures


async def end_session(drive: Drive, request: Request, response: Response) -> None:
    """Log a browser out, also one whose session is over."""
    await SessionService(drive.database).end(request.cookies.get(COOKIE, ""))
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")


@router.patch("/users/{user}")
async def set_quota(user: str, new: NewQuota, drive: DriveDep, actor: ActorDep) -> QuotaResult:
    """Set how many bytes a person, named by id or email, may keep; for administrators."""
    user_id, email, usage = await drive.quota.set_quota(actor, user, new.quota_bytes)
    return QuotaResult(id=user_id, email=email, used_bytes=usage.used_bytes, quota_bytes=usage.quota_bytes)


async def _me(drive: Drive, principal: Principal) -> MeResult:
    user = await drive.identity.me(Actor(principal))
    usage = await drive.quota.usage(user.id)
    return MeResult(
        id=user.id,
        email=user.email,
        root_id=user.root_id,
        is_admin=user.is_admin,
        scopes=sorted(principal.scopes),
        method=principal.method,
        key_name=principal.key_name,
        expires_at=principal.expires_at,
        used_bytes=usage.used_bytes,
        quota_bytes=usage.quota_bytes,
    )
