"""What happens when an item comes to a folder that has one of its name: refused, renamed, or put in its place."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from drive_server.access import Scope, require_scope
from drive_server.errors import InvalidInputError, NameConflictError
from drive_server.messages import Message
from drive_server.models import OnConflict
from drive_server.services.files.operations import free_name, require_free_name, trash_tree
from drive_server.services.journal.recorder import Writing
from drive_server.services.tree.items import etag_of
from drive_server.services.tree.names import display_name
from drive_server.services.tree.nodes import Located, count_below, item_message, live_child
from drive_server.storage.tables import NodeRow

CHOICES: tuple[OnConflict, ...] = ("fail", "rename", "replace")


@dataclass(frozen=True, slots=True)
class Place:
    """The name that an item gets in a folder, and what went to the trash to make it free."""

    name: str
    wanted: str
    replaced: NodeRow | None = None

    @property
    def ending(self) -> Message | Literal[""]:
        """The end of the sentence that says where the item went; empty if there is nothing special to it."""
        if self.replaced:
            return Message.of("replacing", kind=Message.of(self.replaced.kind))
        return Message.of("named", name=display_name(self.name)) if self.name != self.wanted else ""


def check_choice(on_conflict: str, choices: Collection[str] = CHOICES) -> None:
    """Raise `InvalidInputError` unless it is one of the choices."""
    if on_conflict not in choices:
        raise InvalidInputError(
            f"on_conflict must be one of: {', '.join(choices)}.",
            hint="Use one of these.",
            details={"choices": [*choices]},
        )


async def make_way(
    writing: Writing,
    folder: Located,
    name: str,
    kind: str,
    on_conflict: OnConflict,
    *,
    comes: NodeRow | None = None,
    stays: Collection[str] = (),
) -> Place:
    """Return the name under which an item can come to the folder, by the choice that the caller made.

    `fail` raises `NameConflictError` if the name is taken; `rename` takes the next free one; `replace` moves the item
    that is there to the trash, for which the key needs the scope `delete`. A file takes the place of a file only, a
    folder that of a folder, as a whole. `comes` is the item itself if there is one already; what is in `stays` (what
    comes, what it comes from) is not replaced.
    """
    session = writing.session
    own_id = comes.id if comes else None
    if on_conflict == "rename":
        return Place(await free_name(session, folder.id, name, except_id=own_id), name)
    taken = await live_child(session, folder.id, name)
    if on_conflict == "fail" or taken is None or taken.id == own_id:
        await require_free_name(session, folder.id, name, except_id=own_id)
        taken = None
    if on_conflict == "replace":
        writing.replaces.append(etag_of(taken) if taken else "")
    if taken is None:
        return Place(name, name)
    _require_replaceable(taken, kind, stays)
    await _put_away(writing, taken, f"{folder.path.rstrip('/')}/{taken.name}")
    return Place(name, name, taken)


def _require_replaceable(taken: NodeRow, kind: str, stays: Collection[str]) -> None:
    item = item_message(taken.name)
    details = {"existing_id": taken.id, "existing_kind": taken.kind}
    if taken.kind != kind:
        raise NameConflictError(
            Message.of("kind_differs", item=item, kind=Message.of(taken.kind), other=Message.of(kind)),
            details=details,
        )
    if taken.id in stays:
        raise NameConflictError(
            Message.of("in_use_here", item=item),
            details=details,
        )


async def _put_away(writing: Writing, taken: NodeRow, path: str) -> None:
    require_scope(writing.actor.principal, Scope.DELETE)
    writing.count += 1 + await count_below(writing.session, taken.id)
    writing.show(taken, path, Message.of("goes_to_trash"))
    writing.touch(taken)
    await trash_tree(writing, taken)
