"""Routes for who may come in: log in and out, API keys, accounts."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request, Response, status
from pydantic import BaseModel, ConfigDict, Field, Strict

from drive_server.access import Actor, Principal
from drive_server.drive import Drive
from drive_server.http.access import COOKIE, ActorDep, DriveDep, PrincipalDep, principal_of_request
from drive_server.models import ApiKey
from drive_server.services.identity import MAX_KEY_DAYS, MAX_KEY_NAME_CHARACTERS
from drive_server.services.sessions import SESSION_PREFIX, SessionService
from drive_server.tools.arguments import MAX_EMAIL_CHARACTERS, MAX_KEY_CHARACTERS

router = APIRouter(tags=["auth"])

MOST_SCOPES = 10
MOST_SCOPE_CHARACTERS = 20


class Login(BaseModel):
    """The local access token or an API key."""

    model_config = ConfigDict(extra="forbid")

    token: Annotated[str, Field(min_length=1, max_length=MAX_KEY_CHARACTERS)]


class NewKey(BaseModel):
    """A key to make, that ends after `days` days, or does not end."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(max_length=MAX_KEY_NAME_CHARACTERS)]
    scopes: Annotated[list[Annotated[str, Field(max_length=MOST_SCOPE_CHARACTERS)]], Field(max_length=MOST_SCOPES)]
    days: Annotated[int | None, Strict(), Field(ge=1, le=MAX_KEY_DAYS)] = None


class NewUser(BaseModel):
    """A person to give a drive."""

    model_config = ConfigDict(extra="forbid")

    email: Annotated[str, Field(max_length=MAX_EMAIL_CHARACTERS)]


class MeResult(BaseModel):
    """Who is calling, and what the key in use may do."""

    id: str
    email: str
    root_id: str
    is_admin: bool
    scopes: list[str]
    method: str
    key_name: str | None
    expires_at: datetime | None


class KeyResult(BaseModel):
    """An API key without its secret."""

    id: str
    name: str
    prefix: str
    scopes: list[str]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None

    @classmethod
    def of(cls, key: ApiKey) -> "KeyResult":
        """Return the key as it is on the wire."""
        return cls.model_validate(key, from_attributes=True)


class CreatedKey(KeyResult):
    """A new API key; its secret, `key`, is shown here and nowhere else."""

    key: str


class KeysResult(BaseModel):
    """All keys of the caller, newest first, the expired and revoked ones too."""

    items: list[KeyResult]
    cursor: None = None


class CreatedUser(BaseModel):
    """A new account with its first key, which is shown here and nowhere else."""

    id: str
    email: str
    key: str


@router.post("/auth/login")
async def login(body: Login, request: Request, response: Response, drive: DriveDep) -> MeResult:
    """Open a session for a browser: its cookie stands for the token, for 30 days at most."""
    principal = await drive.identity.authenticate(body.token.strip())
    secret, ends = await SessionService(drive.database).create(principal)
    response.set_cookie(
        COOKIE,
        secret,
        expires=ends,
        path="/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return await _me(drive, principal)


@router.post("/auth/logout", status_code=status.HTTP_204_NO_CONTENT)
async def logout(request: Request, response: Response, drive: DriveDep, *, everywhere: bool = False) -> None:
    """End this browser's session, also one that has expired; or all sessions of the person."""
    sessions = SessionService(drive.database)
    if everywhere:
        await sessions.end_all(await principal_of_request(drive, request))
    await sessions.end(request.cookies.get(COOKIE, ""))
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")


@router.get("/auth/me")
async def me(drive: DriveDep, principal: PrincipalDep) -> MeResult:
    """Tell who is calling."""
    return await _me(drive, principal)


@router.get("/auth/keys")
async def list_keys(drive: DriveDep, actor: ActorDep) -> KeysResult:
    """List the caller's API keys."""
    keys = await drive.identity.list_keys(actor)
    return KeysResult(items=[KeyResult.of(key) for key in keys if not key.prefix.startswith(SESSION_PREFIX)])


@router.post("/auth/keys", status_code=status.HTTP_201_CREATED)
async def create_key(new: NewKey, drive: DriveDep, actor: ActorDep) -> CreatedKey:
    """Make an API key with some of the scopes of the key in use."""
    key, secret = await drive.identity.create_key(actor, new.name, new.scopes, new.days)
    return CreatedKey(**KeyResult.of(key).model_dump(), key=secret)


@router.delete("/auth/keys/{key_id}", status_code=status.HTTP_204_NO_CONTENT)
async def revoke_key(key_id: str, drive: DriveDep, actor: ActorDep) -> None:
    """End an API key at once."""
    await drive.identity.revoke_key(actor, key_id)


@router.post("/users", status_code=status.HTTP_201_CREATED)
async def create_user(new: NewUser, drive: DriveDep, actor: ActorDep) -> CreatedUser:
    """Give a person a drive; for administrators."""
    user, secret = await drive.identity.create_user(actor, new.email)
    return CreatedUser(id=user.id, email=user.email, key=secret)


async def _me(drive: Drive, principal: Principal) -> MeResult:
    user = await drive.identity.me(Actor(principal))
    return MeResult(
        id=user.id,
        email=user.email,
        root_id=user.root_id,
        is_admin=user.is_admin,
        scopes=sorted(principal.scopes),
        method=principal.method,
        key_name=principal.key_name,
        expires_at=principal.expires_at,
    )
