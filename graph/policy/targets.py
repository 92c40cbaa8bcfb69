"""The items that a call touches, read from the effect of its dry run and never from its arguments.

Arguments may name items by id, by path, in lists, or (an undo) not at all; the drive resolves them as it will when the
call runs, and tells of every item that changes where it is, whose it is and who sees it there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from graph.policy.bounds import Target


@dataclass(frozen=True, slots=True)
class Touched:
    """`targets` are the items, and the folders that some of them come into.

    `others`: somebody besides the person sees one of them, or owns it. `gains`: somebody comes to see one who did not.
    """

    targets: tuple[Target, ...]
    others: bool
    gains: bool

    @property
    def all_mine(self) -> bool:
        """Say whether all items are known to be the person's."""
        return all(target.mine for target in self.targets)


def touched_by(effect: Mapping[str, Any] | None) -> Touched | None:
    """Return what the dry run's effect says; None if it says nothing, or nothing that can be relied on."""
    touches = effect.get("touches") if effect else None
    if effect is None or not isinstance(touches, Sequence) or not touches:
        return None
    entries = cast("Sequence[Any]", touches)
    if not all(_is_readable(entry) for entry in entries):
        return None
    targets = [target for entry in entries for target in _targets(entry)]
    missing = int(effect.get("count") or 0) - sum(target.items for target in targets)
    first = replace(targets[0], items=targets[0].items + max(0, missing))
    gains = bool(effect.get("gains_access")) or any(entry["gains"] for entry in entries)
    return Touched((first, *targets[1:]), any(entry["others"] for entry in entries), gains)


def _is_readable(entry: Any) -> bool:
    if not isinstance(entry, Mapping):
        return False
    flags = all(isinstance(entry.get(key), bool) for key in ("mine", "others", "gains"))
    before = entry.get("was_inside")
    return (
        flags
        and isinstance(entry.get("id"), str)
        and _are_ids(entry.get("inside"))
        and (before is None or _are_ids(before))
    )


def _are_ids(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(entry, str) for entry in cast("Sequence[Any]", value))


def _targets(entry: Mapping[str, Any]) -> list[Target]:
    """Return the item where it was, and where it comes to if that is another place. A root is inside of nothing."""
    inside: tuple[str, ...] = tuple(entry["inside"])
    before: tuple[str, ...] = tuple(entry["was_inside"]) if entry.get("was_inside") is not None else inside
    items = entry.get("items")
    count = items if isinstance(items, int) and items > 0 else 1
    item = Target(
        entry["id"],
        str(entry.get("name", "")),
        str(entry.get("path", "")),
        inside=before,
        mine=entry["mine"],
        items=count,
    )
    if before == inside or not inside:
        return [item]
    return [item, replace(item, item_id=inside[0], inside=inside, items=0)]
