"""Routes for accounts, for administrators."""

from datetime import datetime
from typing import Annotated, Self

from fastapi import APIRouter, Query, status
from pydantic import BaseModel, ConfigDict, Field, Strict, model_validator

from drive_server.http.access import ActorDep, DriveDep
from drive_server.kernel.http.problem import problem_responses
from drive_server.mcp.tools.definition.arguments import MAX_EMAIL_CHARACTERS
from drive_server.services.quota import MAX_QUOTA_BYTES

router = APIRouter(prefix="/users", tags=["people"])


class NewUser(BaseModel):
    """A person to give a drive."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"email": "ana@example.com"}]})

    email: Annotated[str, Field(max_length=MAX_EMAIL_CHARACTERS)]


class UserChange(BaseModel):
    """A change of an account; fields left out stay.

    `quota_bytes`: a new quota in bytes; 0: no limit, null: the limit in the settings. Nobody acts as a person who
    `is_disabled`: browsers are logged out, keys count for nothing until the account is enabled again.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"is_disabled": True}]})

    quota_bytes: Annotated[int | None, Strict(), Field(ge=0, le=MAX_QUOTA_BYTES)] = None
    is_admin: Annotated[bool | None, Strict()] = None
    is_disabled: Annotated[bool | None, Strict()] = None

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        """Refuse an empty change."""
        if not self.model_fields_set:
            raise ValueError("name what to change")
        return self


class UserResult(BaseModel):
    """An account; `name` is the person's own, `disabled_at` when an administrator disabled it."""

    id: str
    email: str
    name: str
    is_admin: bool
    created_at: datetime
    disabled_at: datetime | None


class UsersResult(BaseModel):
    """Everybody with an account, by email."""

    items: list[UserResult]
    cursor: None = None


class ChangedUser(UserResult):
    """An account with its usage and quota in bytes; a quota of 0 is no limit."""

    used_bytes: int
    quota_bytes: int


class ResetLink(BaseModel):
    """An address to hand to the person, who sets a new password there."""

    url: str
    expires_at: datetime


class CreatedUser(BaseModel):
    """A new account with its first key, which is shown here and nowhere else."""

    id: str
    email: str
    key: str


@router.post("", status_code=status.HTTP_201_CREATED, responses=problem_responses(403, 409))
async def create_user(new: NewUser, drive: DriveDep, actor: ActorDep) -> CreatedUser:
    """Give a person a drive; for administrators."""
    user, secret = await drive.identity.create_user(actor, new.email)
    return CreatedUser(id=user.id, email=user.email, key=secret)


@router.get("", responses=problem_responses(403))
async def list_users(drive: DriveDep, actor: ActorDep) -> UsersResult:
    """List who has an account; for administrators."""
    users = await drive.people.list(actor)
    return UsersResult(items=[UserResult.model_validate(user, from_attributes=True) for user in users])


@router.patch("/{user}", responses=problem_responses(403, 404, 409))
async def change_user(user: str, change: UserChange, drive: DriveDep, actor: ActorDep) -> ChangedUser:
    """Change the account of a person, named by id or email: quota, administrator, disabled; for administrators."""
    changed = await drive.people.change(actor, user, is_admin=change.is_admin, is_disabled=change.is_disabled)
    if "quota_bytes" in change.model_fields_set:
        await drive.quota.set_quota(actor, changed.id, change.quota_bytes)
    usage = await drive.quota.usage(changed.id)
    shown = UserResult.model_validate(changed, from_attributes=True).model_dump()
    return ChangedUser(**shown, used_bytes=usage.used_bytes, quota_bytes=usage.quota_bytes)


@router.post("/{user}/password-reset", status_code=status.HTTP_201_CREATED, responses=problem_responses(403, 404))
async def reset_password(user: str, drive: DriveDep, actor: ActorDep) -> ResetLink:
    """Make an address with which a person sets a new password: once, within a day; for administrators."""
    return ResetLink.model_validate(await drive.passwords.reset_link(actor, user), from_attributes=True)


@router.delete("/{user}", status_code=status.HTTP_204_NO_CONTENT, responses=problem_responses(403, 404, 409, 507))
async def remove_user(
    user: str,
    drive: DriveDep,
    actor: ActorDep,
    hand_over_to: Annotated[str | None, Query(max_length=MAX_EMAIL_CHARACTERS)] = None,
    *,
    delete_files: bool = False,
) -> None:
    """Remove a person, named by id or email, for good; for administrators.

    Their files go to the person named in `hand_over_to` (email or id), as a folder, or are deleted for good with
    `delete_files`. Sessions, keys, links and shares, given and received, end at once, and so do their threads,
    memories, servers and assistants. Doing it again by the id does nothing.
    """
    await drive.people.remove(actor, user, hand_over_to=hand_over_to, deletes_files=delete_files)
