"""Routes for groups: everybody sees their names, administrators manage them."""

from typing import Annotated

from fastapi import APIRouter, status
from pydantic import BaseModel, ConfigDict, Field

from drive_server.http.access import ActorDep, DriveDep
from drive_server.kernel.http.problem import problem_responses
from drive_server.mcp.tools.definition.arguments import MAX_EMAIL_CHARACTERS
from drive_server.services.people.groups import MAX_GROUP_CHARACTERS, MAX_MEMBERS_AT_ONCE, Group
from drive_server.services.tree.grantees import GROUP

router = APIRouter(prefix="/groups", tags=["people"])

Emails = Annotated[list[Annotated[str, Field(max_length=MAX_EMAIL_CHARACTERS)]], Field(max_length=MAX_MEMBERS_AT_ONCE)]
Name = Annotated[str, Field(min_length=1, max_length=MAX_GROUP_CHARACTERS)]


class NewGroup(BaseModel):
    """A group to make, of people with an account."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"name": "Sales", "members": ["ana@example.com"]}]}
    )

    name: Name
    members: Emails = []


class GroupChange(BaseModel):
    """A change of a group; fields left out stay. `add` and `remove` are emails."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"add": ["ben@example.com"]}]})

    name: Name | None = None
    add: Emails = []
    remove: Emails = []


class GroupResult(BaseModel):
    """A group. `address` stands for it where a person's email does; `members` are shown to administrators alone."""

    id: str
    name: str
    address: str
    is_member: bool
    members: list[str] | None

    @classmethod
    def of(cls, group: Group) -> "GroupResult":
        """Return the group as it is on the wire."""
        members = None if group.members is None else [*group.members]
        address = GROUP + group.name
        return cls(id=group.id, name=group.name, address=address, is_member=group.is_member, members=members)


class GroupsResult(BaseModel):
    """All groups, by name."""

    items: list[GroupResult]
    cursor: None = None


@router.get("", responses=problem_responses(403))
async def list_groups(drive: DriveDep, actor: ActorDep) -> GroupsResult:
    """List the groups that things can be shared with."""
    return GroupsResult(items=[GroupResult.of(group) for group in await drive.groups.list(actor)])


@router.post("", status_code=status.HTTP_201_CREATED, responses=problem_responses(403, 404, 409))
async def create_group(new: NewGroup, drive: DriveDep, actor: ActorDep) -> GroupResult:
    """Make a group; for administrators."""
    return GroupResult.of(await drive.groups.create(actor, new.name, new.members))


@router.patch("/{group}", responses=problem_responses(403, 404, 409))
async def change_group(group: str, change: GroupChange, drive: DriveDep, actor: ActorDep) -> GroupResult:
    """Rename a group, named by id or name, or change who is in it; for administrators. It holds at once."""
    return GroupResult.of(await drive.groups.change(actor, group, change.name, change.add, change.remove))


@router.delete("/{group}", status_code=status.HTTP_204_NO_CONTENT, responses=problem_responses(403, 404))
async def delete_group(group: str, drive: DriveDep, actor: ActorDep) -> None:
    """Delete a group, named by id or name, with all access that it was given; for administrators."""
    await drive.groups.delete(actor, group)
