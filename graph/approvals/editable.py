"""The arguments of a waiting call that a person can mean something by: what an edit offers."""

import re
from collections.abc import Mapping
from typing import Any, Final, Literal

FieldKind = Literal["name", "names", "folder", "text", "edits", "person", "role", "hours", "choice", "number", "value"]

OF_THE_DRIVE: Final[Mapping[str, FieldKind]] = {
    "name": "name",
    "names": "names",
    "folder_id": "folder",
    "parent_id": "folder",
    "into_id": "folder",
    "content": "text",
    "fact": "text",
    "edits": "edits",
    "email": "person",
    "role": "role",
    "expires_in_hours": "hours",
    "max_downloads": "number",
    "password": "name",
    "on_conflict": "choice",
    "pattern": "name",
    "folders": "name",
    "find": "name",
    "replace": "name",
    "kinds": "choice",
    "max_items": "number",
}
"""By the argument's name. Ids, etags, versions and runs are not there: they say which thing the call is about."""
ABOUT: Final[Mapping[str, frozenset[str]]] = {
    "rename_items": frozenset({"folder_id"}),
    "organize_items": frozenset({"folder_id"}),
    "update_share": frozenset({"email"}),
    "revoke_share": frozenset({"email"}),
    "approve_plan": frozenset({"folders"}),
}
"""Arguments that say in a tool what the call is about, though they are targets elsewhere."""
_MACHINERY: Final = re.compile(r"(?:if_?(?:none_?)?match|e_?tag|idempotency_?key|request_?id|cursor)\Z", re.IGNORECASE)


def editable_of(tool: str, schema: Mapping[str, Any], *, is_outside: bool) -> dict[str, FieldKind]:
    """Return the arguments of a tool that an edit offers, with their kinds, in the order of its schema.

    A tool of the person's own server is known by its schema alone: all of it is offered but keys and etags.
    """
    names = [str(name) for name in schema.get("properties", {})]
    if is_outside:
        return {name: "value" for name in names if not _MACHINERY.search(name)}
    about = ABOUT.get(tool, frozenset())
    return {name: OF_THE_DRIVE[name] for name in names if name in OF_THE_DRIVE and name not in about}
