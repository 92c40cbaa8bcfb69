"""Routes for who is calling: log in and out, profile, sessions, API keys."""

from datetime import datetime
from typing import Annotated, Final, Self
from urllib.parse import urlsplit

from fastapi import APIRouter, BackgroundTasks, Depends, Request, Response, status
from pydantic import BaseModel, ConfigDict, Field, Strict, model_validator

from drive_server.http.access import ActorDep, DriveDep, PrincipalDep, principal_of_request
from drive_server.http.logins import (
    OIDC_START,
    IssuerResult,
    MeResult,
    count_forgotten_password,
    describe_me,
    end_session,
    open_by_password,
    open_session,
)
from drive_server.kernel.http.credentials import COOKIE, require_own_site
from drive_server.kernel.http.problem import problem_responses
from drive_server.kernel.messages import LANGUAGES, Language
from drive_server.kernel.moments import LONGEST
from drive_server.kernel.settings import Tier
from drive_server.mcp.tools.definition.arguments import MAX_EMAIL_CHARACTERS
from drive_server.models.access import ApiKey
from drive_server.services.identity.keys import (
    ACCESS_PREFIX,
    MAX_KEY_DAYS,
    MAX_KEY_NAME_CHARACTERS,
    MAX_TOKEN_CHARACTERS,
)
from drive_server.services.identity.passwords import MAX_CHARACTERS as MAX_PASSWORD_CHARACTERS
from drive_server.services.identity.sessions import SESSION_PREFIX
from drive_server.services.people.service import MAX_NAME_CHARACTERS, ProfileChange

router = APIRouter(tags=["auth"])

OWN_SITE: Final = Depends(require_own_site)
MAX_SCOPES = 10
MAX_SCOPE_CHARACTERS = 20

ScopeNames = Annotated[list[Annotated[str, Field(max_length=MAX_SCOPE_CHARACTERS)]], Field(max_length=MAX_SCOPES)]


class Login(BaseModel):
    """The local access token, an API key, or a token of the issuer in the settings; or email and password."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"token": "dak_..."}, {"email": "ana@example.com", "password": "..."}]},
    )

    token: Annotated[str | None, Field(min_length=1, max_length=MAX_TOKEN_CHARACTERS)] = None
    email: Annotated[str | None, Field(max_length=MAX_EMAIL_CHARACTERS)] = None
    password: Annotated[str | None, Field(max_length=MAX_PASSWORD_CHARACTERS)] = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        """Refuse anything but a token, or an email with a password."""
        pair = self.email is not None, self.password is not None
        if pair != ((True, True) if self.token is None else (False, False)):
            raise ValueError("send a token, or an email with a password")
        return self


class NewPassword(BaseModel):
    """A new password; `old` is the one before, if there was one."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"old": "...", "new": "..."}]})

    new: Annotated[str, Field(max_length=MAX_PASSWORD_CHARACTERS)]
    old: Annotated[str | None, Field(max_length=MAX_PASSWORD_CHARACTERS)] = None


class ForgottenPassword(BaseModel):
    """The email of who forgot their password."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"email": "ana@example.com"}]})

    email: Annotated[str, Field(max_length=MAX_EMAIL_CHARACTERS)]


class NewKey(BaseModel):
    """A key to make, that ends after `days` days, or does not end."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"name": "laptop", "scopes": ["read", "write"], "days": 90}]}
    )

    name: Annotated[str, Field(max_length=MAX_KEY_NAME_CHARACTERS)]
    scopes: ScopeNames
    days: Annotated[int | None, Strict(), Field(ge=1, le=MAX_KEY_DAYS)] = None
    tools: Tier | None = None


class KeyChange(BaseModel):
    """New scopes of a key, other `tools` that MCP hosts with it are shown, or both; null tools: as the settings say."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"scopes": ["read"]}, {"tools": "all"}]})

    scopes: ScopeNames | None = None
    tools: Tier | None = None

    @model_validator(mode="after")
    def _is_change(self) -> Self:
        """Refuse what changes nothing."""
        if self.scopes is None and "tools" not in self.model_fields_set:
            raise ValueError("send scopes, tools or both")
        return self


class Profile(BaseModel):
    """The caller's profile; fields left out stay, an empty text is nothing.

    Dates and times that they name are of the `time_zone` (an IANA name); sentences for them are in the `language`.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"name": "Ana", "time_zone": "Asia/Shanghai", "language": "zh"}]},
    )

    name: Annotated[str | None, Field(max_length=MAX_NAME_CHARACTERS)] = None
    time_zone: Annotated[str | None, Field(max_length=LONGEST)] = None
    language: Annotated[Language, Field(json_schema_extra={"enum": ["", *LANGUAGES]})] | None = None


class SessionResult(BaseModel):
    """A browser that is logged in: its own name for itself, if it gives one, and whether it is the one that asks."""

    id: str
    device: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    is_current: bool


class SessionsResult(BaseModel):
    """The browsers that are logged in as the caller, newest first."""

    items: list[SessionResult]
    cursor: None = None


class CreatedKey(ApiKey):
    """A new API key; its secret, `key`, is shown here and nowhere else."""

    key: str


class KeysResult(BaseModel):
    """All keys of the caller, newest first, the expired and revoked ones too."""

    items: list[ApiKey]
    cursor: None = None


class WaysResult(BaseModel):
    """The ways to sign in that this service offers; `oidc` is null without an issuer.

    A token of the service, such as an API key, signs in everywhere (`POST /auth/login`).
    """

    password: bool
    passkey: bool
    oidc: IssuerResult | None
    one_time_link: bool
    reset_by_mail: bool


class LoginLinkResult(BaseModel):
    """An address that logs one browser in, once, before it expires."""

    url: str
    expires_at: datetime


@router.get("/auth/ways")
async def list_ways(drive: DriveDep) -> WaysResult:
    """Tell how people sign in to this service; needs no key, and says nothing of any account."""
    host = urlsplit(drive.settings.oidc_issuer).netloc
    return WaysResult(
        password=True,
        passkey=drive.passkeys.is_possible,
        oidc=IssuerResult(name=host, url=OIDC_START) if drive.oidc else None,
        one_time_link=True,
        reset_by_mail=drive.outbox.can_send,
    )


@router.post("/auth/login", dependencies=[OWN_SITE], responses=problem_responses(403, 429))
async def login(body: Login, request: Request, response: Response, drive: DriveDep) -> MeResult:
    """Open a session for a browser: its cookie stands for the token, for 30 days at most."""
    if body.token is not None:
        return await describe_me(drive, await open_session(drive, request, response, body.token))
    return await describe_me(
        drive, await open_by_password(drive, request, response, body.email or "", body.password or "")
    )


@router.put("/auth/password", status_code=status.HTTP_204_NO_CONTENT, responses=problem_responses(403))
async def change_password(new: NewPassword, request: Request, drive: DriveDep, actor: ActorDep) -> None:
    """Set the caller's password, and log their other browsers out; the one before is asked for."""
    await drive.passwords.change(actor, new.new, new.old, request.cookies.get(COOKIE, ""))


@router.post(
    "/auth/password/forgot",
    status_code=status.HTTP_202_ACCEPTED,
    dependencies=[OWN_SITE],
    responses=problem_responses(403, 429),
)
async def forgot_password(
    forgotten: ForgottenPassword, request: Request, drive: DriveDep, afterwards: BackgroundTasks
) -> None:
    """Mail an address to set a new password to who has an account; the answer is the same for who has none."""
    await count_forgotten_password(drive, request)
    # After the answer: neither it nor its time says whether there is an account.
    afterwards.add_task(drive.passwords.mail_reset, forgotten.email)


@router.post("/auth/login-links", status_code=status.HTTP_201_CREATED)
async def create_login_link(drive: DriveDep, principal: PrincipalDep) -> LoginLinkResult:
    """Make an address that logs a browser in as the caller: once, within ten minutes."""
    return LoginLinkResult.model_validate(await drive.login_links.create(principal), from_attributes=True)


@router.post(
    "/auth/logout", status_code=status.HTTP_204_NO_CONTENT, dependencies=[OWN_SITE], responses=problem_responses(403)
)
async def logout(request: Request, response: Response, drive: DriveDep, *, everywhere: bool = False) -> None:
    """End this browser's session, also one that has expired; or all sessions of the person."""
    if everywhere:
        await drive.sessions.end_all(await principal_of_request(drive, request))
    await end_session(drive, request, response)


@router.get("/auth/me")
async def me(drive: DriveDep, principal: PrincipalDep) -> MeResult:
    """Tell who is calling."""
    return await describe_me(drive, principal)


@router.patch("/auth/me", responses=problem_responses(403))
async def change_profile(change: Profile, drive: DriveDep, actor: ActorDep) -> MeResult:
    """Change the caller's profile."""
    await drive.people.change_profile(actor, ProfileChange(change.name, change.time_zone, change.language))
    return await describe_me(drive, actor.principal)


@router.get("/auth/sessions", responses=problem_responses(403))
async def list_sessions(request: Request, drive: DriveDep, principal: PrincipalDep) -> SessionsResult:
    """List the browsers that are logged in as the caller."""
    found = await drive.sessions.list(principal, request.cookies.get(COOKIE, ""))
    return SessionsResult(items=[SessionResult.model_validate(one, from_attributes=True) for one in found])


@router.delete("/auth/sessions", status_code=status.HTTP_204_NO_CONTENT, responses=problem_responses(403))
async def end_other_sessions(request: Request, drive: DriveDep, principal: PrincipalDep) -> None:
    """Log out all browsers of the caller but the one that asks."""
    await drive.sessions.end_all(principal, request.cookies.get(COOKIE, ""))


@router.delete(
    "/auth/sessions/{session_id}", status_code=status.HTTP_204_NO_CONTENT, responses=problem_responses(403, 404)
)
async def end_one_session(session_id: str, drive: DriveDep, principal: PrincipalDep) -> None:
    """Log a browser of the caller out."""
    await drive.sessions.end_one(principal, session_id)


@router.get("/auth/keys")
async def list_keys(drive: DriveDep, actor: ActorDep) -> KeysResult:
    """List the caller's API keys, and those of the programs that they let in, under the names of these."""
    keys = await drive.identity.list_keys(actor)
    return KeysResult(items=[key for key in keys if not key.prefix.startswith((SESSION_PREFIX, ACCESS_PREFIX))])


@router.post("/auth/keys", status_code=status.HTTP_201_CREATED)
async def create_key(new: NewKey, drive: DriveDep, actor: ActorDep) -> CreatedKey:
    """Make an API key with some of the scopes of the key in use.

    It ends with that key; one made by a person who is logged in ends by itself, or when it is revoked. 403
    `fresh_proof_needed` for a browser that was logged in too long ago: see `POST /auth/proof`.
    """
    key, secret = await drive.identity.create_key(actor, new.name, new.scopes, new.days, new.tools)
    return CreatedKey(**key.model_dump(), key=secret)


@router.delete("/auth/keys/{key_id}", status_code=status.HTTP_204_NO_CONTENT)
async def revoke_key(key_id: str, drive: DriveDep, actor: ActorDep) -> None:
    """End an API key at once, with the keys, browsers, streams and runs that came of it."""
    await drive.identity.revoke_key(actor, key_id)


@router.patch("/auth/keys/{key_id}")
async def change_key(key_id: str, change: KeyChange, drive: DriveDep, actor: ActorDep) -> ApiKey:
    """Give an API key other scopes or tools; they hold at once, in MCP sessions that are open as well."""
    if change.scopes is not None:
        changed = await drive.identity.change_scopes(actor, key_id, change.scopes)
        if "tools" not in change.model_fields_set:
            return changed
    return await drive.identity.change_tools(actor, key_id, change.tools)
