"""Name conflicts: an item that comes to a folder with one of its name is refused, renamed, or replaces it."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from drive_server.kernel.access import Scope, require_scope
from drive_server.kernel.errors import InvalidInputError, NameConflictError
from drive_server.kernel.messages import Message
from drive_server.models.items import OnConflict
from drive_server.services.files.operations import free_name, require_free_name, trash_tree
from drive_server.services.journal.recorder import Recorder
from drive_server.services.tree.items import etag_of
from drive_server.services.tree.names import display_name
from drive_server.services.tree.nodes import NodeView, count_below, item_message, live_child
from drive_server.storage.tables.items import NodeRow

CHOICES: tuple[OnConflict, ...] = ("fail", "rename", "replace")


@dataclass(frozen=True, slots=True)
class Placement:
    """The name that an item gets in a folder, and the item that went to the trash to make it free."""

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


async def resolve_conflict(
    recorder: Recorder,
    folder: NodeView,
    name: str,
    kind: str | None,
    on_conflict: OnConflict,
    *,
    incoming: NodeRow | None = None,
    protected: Collection[str] = (),
) -> Placement:
    """Return the name under which an item can come to the folder, by the choice that the caller made.

    `fail` raises `NameConflictError` if the name is taken; `rename` takes the next free one; `replace` moves the item
    that is there to the trash, for which the key needs the scope `delete`. A file takes the place of a file only, a
    folder that of a folder, as a whole; without a `kind`, that of anything. `incoming` is the item itself if there is
    one already; items in `protected` (the item, the folders that it is in) are not replaced.
    """
    session = recorder.session
    own_id = incoming.id if incoming else None
    if on_conflict == "rename":
        return Placement(await free_name(session, folder.id, name, except_id=own_id), name)
    taken = await live_child(session, folder.id, name)
    if on_conflict == "fail" or taken is None or taken.id == own_id:
        await require_free_name(session, folder.id, name, except_id=own_id)
        taken = None
    if on_conflict == "replace":
        recorder.replaces.append(etag_of(taken) if taken else "")
    if taken is None:
        return Placement(name, name)
    _require_replaceable(taken, kind, protected)
    await _trash_replaced(recorder, taken, f"{folder.path.rstrip('/')}/{taken.name}")
    return Placement(name, name, taken)


def _require_replaceable(taken: NodeRow, kind: str | None, protected: Collection[str]) -> None:
    item = item_message(taken.name)
    details = {"existing_id": taken.id, "existing_kind": taken.kind}
    if kind is not None and taken.kind != kind:
        raise NameConflictError(
            Message.of("kind_differs", item=item, kind=Message.of(taken.kind), other=Message.of(kind)), details=details
        )
    if taken.id in protected:
        raise NameConflictError(Message.of("in_use_here", item=item), details=details)


async def _trash_replaced(recorder: Recorder, taken: NodeRow, path: str) -> None:
    require_scope(recorder.actor.principal, Scope.DELETE)
    recorder.count += 1 + await count_below(recorder.session, taken.id)
    recorder.show(taken, path, Message.of("goes_to_trash"))
    recorder.touch(taken)
    await trash_tree(recorder, taken)
