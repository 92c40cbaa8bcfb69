"""Access: roles on items, scopes on keys. Pure; knows neither database nor protocol."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

from drive_server.kernel.errors import ForbiddenError, InvalidInputError, MissingScopeError, NotFoundError
from drive_server.kernel.messages import Message
from drive_server.kernel.settings import Tier

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession


class Role(IntEnum):
    """A person's rights on an item, inherited down the tree; the highest role on the way to the root wins."""

    VIEWER = 1
    EDITOR = 2
    OWNER = 3

    @property
    def label(self) -> str:
        """The word on the wire: viewer, editor, owner."""
        return self.name.lower()

    @property
    def title(self) -> Message:
        """The word in a message."""
        return Message.of(f"role.{self.label}")


class Scope(StrEnum):
    """The uses of an API key. A key never grants more than its user's roles.

    `purge` lets an MCP host that can't ask its person delete for good. It is given by name only: no other scope implies
    it, and people, who delete on the page or by the API, do not have it themselves.
    """

    READ = "read"
    WRITE = "write"
    SHARE = "share"
    DELETE = "delete"
    PURGE = "purge"


ALL_SCOPES = frozenset(Scope) - {Scope.PURGE}
"""The scopes of a person: all but those that are given to a key by name only."""


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller, as established by the transport. Never built from an argument that a model can see.

    `method` is how they proved it: `token` (the local access token), `api_key`, `session` (cookie), `jwt` (a token of
    the issuer in the settings; it has no `key_id`), `oauth` (a program's access token), `in_process`, `link`. By a link
    somebody acts in the name of the person who made it, sees only the item of the link `link_id` and those below it,
    and has no role but the link's. `expires_at` is when the key in use ends: a key made with it ends no later. `key_id`
    is that key, or the one that opened the session. Of a session, `proof` is the `method` by which it was opened,
    `proof_id` the passkey, and `proved_at` when the person last proved who they are; others prove it with each request.
    `name`, `time_zone` (an IANA name) and `language` are the person's profile; `tools` is how many tools an MCP host
    with this key is shown, None: as the settings say.
    """

    user_id: str
    email: str
    scopes: frozenset[Scope]
    method: str
    key_name: str | None = None
    is_admin: bool = False
    expires_at: datetime | None = None
    key_id: str | None = field(default=None, compare=False)
    link_id: str | None = None
    proof: str = field(default="", compare=False)
    proof_id: str | None = field(default=None, compare=False)
    proved_at: datetime | None = field(default=None, compare=False)
    name: str = field(default="", compare=False)
    time_zone: str = field(default="", compare=False)
    language: str = field(default="", compare=False)
    tools: Tier | None = field(default=None, compare=False)


Guard = Callable[["AsyncSession"], Awaitable[None]]
"""Raises, in the transaction of a change, if the call may not be made any more."""


@dataclass(frozen=True, slots=True)
class Actor:
    """One call: the principal and the facts for the journal.

    `idempotency_key` makes the call happen at most once per user; `if_match` is the etag that was approved; `dry_run`
    computes the effect and rolls everything back; `approved_by` is the email of the person who said yes, with the key
    `approved_key`, `approval_id` their approval, or `grant_id` the grant that covers it; `tool_call_id` is the model's
    call in the run; `time_zone` is where the person is, an IANA name; `whole_results` asks for every field of an
    answer. `guard` is called first in the transaction of a change: it raises if the call may not be made any more, as a
    body may have come for hours.
    """

    principal: Principal
    tool: str = ""
    run_id: str | None = None
    idempotency_key: str | None = None
    if_match: str | None = None
    dry_run: bool = False
    approved_by: str | None = None
    approved_key: str | None = None
    tool_call_id: str | None = None
    approval_id: str | None = None
    grant_id: str | None = None
    time_zone: str | None = None
    whole_results: bool = field(default=False, compare=False)
    guard: Guard | None = field(default=None, compare=False, repr=False)

    @property
    def user_id(self) -> str:
        """The id of the user who calls."""
        return self.principal.user_id


def require_scope(principal: Principal, scope: Scope) -> None:
    """Raise `MissingScopeError` unless the caller's key has the scope."""
    if scope not in principal.scopes:
        raise MissingScopeError(Message.of("missing_scope", scope=str(scope)), details={"scope": str(scope)})


def require_person(principal: Principal) -> None:
    """Raise `ForbiddenError` for who comes by a link: nothing they get may outlast the link, or reach beyond it."""
    if principal.link_id is not None:
        raise ForbiddenError(Message.of("not_by_link"))


def require_admin(principal: Principal) -> None:
    """Raise `ForbiddenError` for who is no administrator, `MissingScopeError` for a key without all scopes."""
    if not principal.is_admin:
        raise ForbiddenError(Message.of("administrators_only"))
    for scope in sorted(ALL_SCOPES):
        require_scope(principal, scope)


def require_role(role: Role | None, needed: Role, item_id: str) -> Role:
    """Return the role if it suffices; `NotFoundError` without any role, `ForbiddenError` with too low a one."""
    if role is None:
        raise NotFoundError(Message.of("no_item"), details={"id": item_id[:64]})
    if role < needed:
        raise ForbiddenError(
            Message.of("role_needed", needed=needed.title, role=role.title),
            details={"needed": needed.label, "role": role.label},
        )
    return role


def parse_role(word: str) -> Role:
    """Read viewer or editor, the roles that can be given. Raises `InvalidInputError` otherwise."""
    roles = {"viewer": Role.VIEWER, "editor": Role.EDITOR}
    if word not in roles:
        raise InvalidInputError(Message.of("role_to_give"))
    return roles[word]
