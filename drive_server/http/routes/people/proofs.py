"""Routes by which a person who is logged in proves anew who they are, before they make something that lasts."""

from datetime import datetime, timedelta
from typing import Annotated, Final, Self
from urllib.parse import urlsplit

from fastapi import APIRouter, Request, status
from pydantic import BaseModel, ConfigDict, Field, model_validator

from drive_server.drive import Drive
from drive_server.http.access import DriveDep, PrincipalDep
from drive_server.http.logins import OIDC_START, IssuerResult, prove_again, prove_by_token, require_session
from drive_server.kernel.access import Principal
from drive_server.kernel.http.problem import problem_responses
from drive_server.services.identity.keys import MAX_TOKEN_CHARACTERS
from drive_server.services.identity.passwords import MAX_CHARACTERS as MAX_PASSWORD_CHARACTERS
from drive_server.services.identity.proofs.freshness import SESSION, is_as_strong, proof_of

router = APIRouter(prefix="/auth/proof", tags=["auth"])

AGAIN: Final = f"{OIDC_START}?again=true"


class Proof(BaseModel):
    """The caller's password; or a token of theirs: the local access token, an API key, a token of the issuer."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"password": "..."}, {"token": "dak_..."}]}
    )

    password: Annotated[str | None, Field(max_length=MAX_PASSWORD_CHARACTERS)] = None
    token: Annotated[str | None, Field(min_length=1, max_length=MAX_TOKEN_CHARACTERS)] = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        """Refuse anything but one of both."""
        if (self.password is None) == (self.token is None):
            raise ValueError("send a password or a token")
        return self


class ProofResult(BaseModel):
    """Until when the caller counts as fresh (null: a key, which proves it with each request), and the ways to do it.

    Only the ways that are as strong as the one by which the browser was logged in are true; `oidc` leads to the issuer.
    """

    fresh_until: datetime | None
    is_fresh: bool
    password: bool
    passkey: bool
    token: bool
    oidc: IssuerResult | None


@router.get("")
async def get_proof(drive: DriveDep, principal: PrincipalDep) -> ProofResult:
    """Tell whether the caller proved lately enough who they are, and how they can do so again."""
    return await _described(drive, principal)


@router.post("", status_code=status.HTTP_204_NO_CONTENT, responses=problem_responses(403, 409, 429))
async def prove(body: Proof, request: Request, drive: DriveDep, principal: PrincipalDep) -> None:
    """Confirm who is logged in with this browser, by a password or token as strong as the proof it was logged in by.

    403 `forbidden` for a weaker proof, or another person's.
    """
    require_session(principal)
    if body.token is not None:
        proof = await prove_by_token(drive, request, body.token)
    else:
        proof = await drive.passwords.verify_own(principal, body.password or "")
    await prove_again(drive, request, principal, proof)


async def _described(drive: Drive, principal: Principal) -> ProofResult:
    within = timedelta(minutes=drive.settings.fresh_proof_minutes)
    is_session = principal.method == SESSION
    until = principal.proved_at + within if is_session and principal.proved_at else None
    opened = proof_of(principal)
    can_oidc = drive.oidc is not None and is_as_strong("oidc", opened)
    return ProofResult(
        fresh_until=until,
        is_fresh=drive.identity.is_fresh(principal),
        password=is_as_strong("password", opened) and await drive.passwords.has_one(principal.user_id),
        passkey=drive.passkeys.is_possible and await drive.passkeys.has_some(principal.user_id),
        token=is_as_strong("api_key", opened),
        oidc=IssuerResult(name=urlsplit(drive.settings.oidc_issuer).netloc, url=AGAIN) if can_oidc else None,
    )
