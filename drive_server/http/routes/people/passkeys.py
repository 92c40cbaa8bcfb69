"""Routes for passkeys: registered, listed, removed, and used to log a browser in."""

from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Request, Response, status
from pydantic import BaseModel, ConfigDict, Field

from drive_server.http.access import ActorDep, DriveDep, PrincipalDep
from drive_server.http.logins import MeResult, describe_me, prove_again, prove_by_passkey, require_session, set_session
from drive_server.kernel.http.credentials import COOKIE, require_own_site
from drive_server.kernel.http.problem import problem_responses
from drive_server.services.identity.keys import MAX_KEY_NAME_CHARACTERS

router = APIRouter(prefix="/auth", tags=["auth"])

MAX_CHARACTERS: Final = 50_000
EXAMPLE: Final = {"id": "AbCd", "rawId": "AbCd", "type": "public-key"}
CLIENT: Final = {"clientDataJSON": "eyJ0"}
SIGNED: Final = {"authenticatorData": "SZYN", "signature": "MEUC", "userHandle": "AbCd"}
Encoded = Annotated[str, Field(max_length=MAX_CHARACTERS)]
Id = Annotated[str, Field(min_length=1, max_length=1400)]


class AttestationResponse(BaseModel):
    """The `response` of a new passkey, in base64url."""

    client_data: Annotated[Encoded, Field(alias="clientDataJSON")]
    attestation: Annotated[Encoded, Field(alias="attestationObject")]


class AssertionResponse(BaseModel):
    """The `response` of a passkey that signed, in base64url."""

    client_data: Annotated[Encoded, Field(alias="clientDataJSON")]
    authenticator_data: Annotated[Encoded, Field(alias="authenticatorData")]
    signature: Encoded
    user_handle: Annotated[Id, Field(alias="userHandle")]


class NewCredential(BaseModel):
    """The result of `toJSON()` of the credential that `navigator.credentials.create()` made."""

    id: Id
    raw_id: Annotated[Id, Field(alias="rawId")]
    type: Annotated[str, Field(max_length=20)]
    response: AttestationResponse


class SignedCredential(BaseModel):
    """The result of `toJSON()` of the credential that `navigator.credentials.get()` found."""

    id: Id
    raw_id: Annotated[Id, Field(alias="rawId")]
    type: Annotated[str, Field(max_length=20)]
    response: AssertionResponse


class NewPasskey(BaseModel):
    """A passkey to register, and how its person calls it."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"name": "Laptop", "credential": {**EXAMPLE, "response": {**CLIENT, "attestationObject": "o2Nm"}}}
            ]
        },
    )

    name: Annotated[str, Field(max_length=MAX_KEY_NAME_CHARACTERS)]
    credential: NewCredential


class PasskeyLogin(BaseModel):
    """The passkey that signed."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"credential": {**EXAMPLE, "response": {**CLIENT, **SIGNED}}}],
        },
    )

    credential: SignedCredential


class OptionsResult(BaseModel):
    """Options for the browser: `PublicKeyCredential.parseCreationOptionsFromJSON()`, or `...RequestOptions...`."""

    options: dict[str, Any]


class PasskeyResult(BaseModel):
    """A passkey of the caller."""

    id: str
    name: str
    created_at: datetime
    last_used_at: datetime | None


class PasskeysResult(BaseModel):
    """The caller's passkeys, newest first."""

    items: list[PasskeyResult]
    cursor: None = None


@router.post("/passkeys/options", responses=problem_responses(403, 409))
async def begin_passkey(drive: DriveDep, actor: ActorDep) -> OptionsResult:
    """Give a browser a challenge for a new passkey: it counts once, for five minutes."""
    return OptionsResult(options=await drive.passkeys.begin_registration(actor))


@router.post("/passkeys", status_code=status.HTTP_201_CREATED, responses=problem_responses(403, 409))
async def register_passkey(new: NewPasskey, drive: DriveDep, actor: ActorDep) -> PasskeyResult:
    """Register a passkey, with which the caller then logs in with all scopes."""
    made = await drive.passkeys.register(actor, new.name, new.credential.model_dump(by_alias=True))
    return PasskeyResult.model_validate(made, from_attributes=True)


@router.get("/passkeys", responses=problem_responses(403))
async def list_passkeys(drive: DriveDep, actor: ActorDep) -> PasskeysResult:
    """List the caller's passkeys."""
    found = await drive.passkeys.list(actor)
    return PasskeysResult(items=[PasskeyResult.model_validate(one, from_attributes=True) for one in found])


@router.delete("/passkeys/{passkey_id}", status_code=status.HTTP_204_NO_CONTENT, responses=problem_responses(403, 404))
async def remove_passkey(passkey_id: str, request: Request, drive: DriveDep, actor: ActorDep) -> None:
    """Remove a passkey: nobody logs in with it any more. Browsers that did so are logged out, but the one that asks.

    403 `fresh_proof_needed` for a browser that was logged in too long ago.
    """
    await drive.passkeys.remove(actor, passkey_id, request.cookies.get(COOKIE, ""))


@router.post("/login/passkey/options", responses=problem_responses(409))
async def begin_passkey_login(drive: DriveDep) -> OptionsResult:
    """Give a browser a challenge to log in: it counts once, for five minutes."""
    return OptionsResult(options=await drive.passkeys.begin_login())


@router.post("/login/passkey", dependencies=[Depends(require_own_site)], responses=problem_responses(403, 409, 429))
async def log_in_by_passkey(body: PasskeyLogin, request: Request, response: Response, drive: DriveDep) -> MeResult:
    """Open a session for a browser whose passkey signed."""
    principal = await prove_by_passkey(drive, request, body.credential.model_dump(by_alias=True))
    await set_session(drive, request, response, principal)
    return await describe_me(drive, principal)


@router.post("/proof/passkey", status_code=status.HTTP_204_NO_CONTENT, responses=problem_responses(403, 409, 429))
async def prove_with_passkey(body: PasskeyLogin, request: Request, drive: DriveDep, principal: PrincipalDep) -> None:
    """Prove anew who is logged in with this browser, by a passkey, which signed as for a login."""
    require_session(principal)
    proof = await prove_by_passkey(drive, request, body.credential.model_dump(by_alias=True))
    await prove_again(drive, request, principal, proof)
