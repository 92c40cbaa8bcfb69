"""`GET /api/drive/contacts`: people and groups that the caller may name when sharing."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel

from drive_server.http.access import ActorDep, DriveDep
from drive_server.mcp.tools.definition.arguments import MAX_EMAIL_CHARACTERS
from drive_server.services.sharing.contacts import MAX_CONTACTS
from drive_server.services.tree.grantees import is_group

router = APIRouter(tags=["people"])


class ContactResult(BaseModel):
    """A person or group to share with: `address` goes into `email` of a share; `name` may be empty."""

    kind: Literal["person", "group"]
    address: str
    name: str


class ContactsResult(BaseModel):
    """The contacts, those that begin with the words first."""

    items: list[ContactResult]
    cursor: None = None


class AccountResult(BaseModel):
    """Who an address names. `has_account` is false if nobody has it yet, null if that is not told."""

    kind: Literal["person", "group"]
    address: str
    has_account: bool | None


@router.get("/contacts/account")
async def find_account(
    drive: DriveDep,
    actor: ActorDep,
    address: Annotated[str, Query(max_length=MAX_EMAIL_CHARACTERS, description="An email, or `group:NAME`.")],
) -> AccountResult:
    """Tell, before something is shared with an address, whether there is somebody who will hear of it."""
    who, has_account = await drive.accounts.find(actor, address)
    kind = "group" if is_group(who.shown) else "person"
    return AccountResult(kind=kind, address=who.shown, has_account=has_account)


@router.get("/contacts")
async def find_contacts(
    drive: DriveDep,
    actor: ActorDep,
    q: Annotated[str, Query(max_length=MAX_EMAIL_CHARACTERS, description="Words of a name or an address.")] = "",
    limit: Annotated[int, Query(ge=1, le=MAX_CONTACTS)] = 20,
) -> ContactsResult:
    """Find people and groups to share with.

    People are those you share with, those who share with you, and members of your groups; for administrators all.
    """
    found = await drive.contacts.find(actor, q, limit)
    return ContactsResult(items=[ContactResult.model_validate(one, from_attributes=True) for one in found])
