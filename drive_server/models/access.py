"""People, their keys, and the access that others have."""

from dataclasses import dataclass
from datetime import datetime

from drive_server.kernel.settings import Tier
from drive_server.models.base import Model


@dataclass(frozen=True, slots=True)
class Share:
    """A role given to a person on an item. `inherited_from` is the path of the folder above that carries it, if so.

    `has_account` is only said when it is given, to who gives it: without an account it waits for one.
    """

    id: str
    item_id: str
    email: str
    role: str
    created_at: datetime
    created_by: str
    inherited_from: str | None = None
    has_account: bool | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """Access to an item, with a role, for anyone who has the link's address.

    `url` is that address; only the owner sees it, and it is never recorded. `downloads` counts up to `max_downloads`
    (None: no limit). `inherited_from` is the path of the folder above that the link leads to, if so.
    """

    id: str
    item_id: str
    role: str
    has_password: bool
    expires_at: datetime | None
    max_downloads: int | None
    downloads: int
    created_at: datetime
    created_by: str
    inherited_from: str | None = None
    url: str | None = None


class ApiKey(Model):
    """An API key without its secret. `tools` are those that an MCP host with it is shown, null: as the settings say."""

    id: str
    name: str
    prefix: str
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    tools: Tier | None = None


@dataclass(frozen=True, slots=True)
class User:
    """A person who has a drive here. Nobody acts as them since `disabled_at`; the rest is their profile."""

    id: str
    email: str
    root_id: str
    is_admin: bool
    created_at: datetime
    disabled_at: datetime | None = None
    name: str = ""
    time_zone: str = ""
    language: str = ""
