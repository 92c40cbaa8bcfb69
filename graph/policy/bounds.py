"""Bounds of calls that run without a question, for grants and contracts: only of changes that can be undone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal, cast, get_args

from typing_extensions import TypedDict

ActionKind = Literal["create", "write", "rename", "move", "copy", "trash"]

ACTION_KINDS: Final[tuple[ActionKind, ...]] = get_args(ActionKind)
"""All of them can be undone."""

MAX_ITEMS: Final = 10_000
MAX_FOLDERS: Final = 100


class BoundsData(TypedDict):
    """Bounds as JSON, for the state and the store. `until` is ISO 8601 with its offset from UTC."""

    folders: list[str]
    kinds: list[ActionKind]
    max_items: int
    until: str
    used: int


@dataclass(frozen=True, slots=True)
class Target:
    """Something that a call touches, as the drive knows it.

    `inside` are the ids of the folders it lies in, the nearest first (of a folder that something is put into: also its
    own); None if they can't be established. `mine`: None if the owner is unknown. `items` is how many items
    change with it, itself included; 0 for a folder that something is only put into.
    """

    item_id: str
    name: str = ""
    path: str = ""
    inside: tuple[str, ...] | None = None
    mine: bool | None = None
    items: int = 1


@dataclass(frozen=True, slots=True)
class Bounds:
    """Folders by id, all that lies in them included; the kinds of action there; how often, in items; and until when.

    `until` is the moment from which on they cover nothing; `used` is how many of `max_items` are used. Raises
    `ValueError` for bounds that make no sense.
    """

    folders: frozenset[str]
    kinds: frozenset[ActionKind]
    max_items: int
    until: datetime
    used: int = 0

    def __post_init__(self) -> None:
        """Refuse bounds that would mean nothing, or more than anybody can oversee."""
        if not 1 <= len(self.folders) <= MAX_FOLDERS or not all(self.folders):
            raise ValueError(f"name 1 to {MAX_FOLDERS} folders by their ids")
        if not self.kinds or not self.kinds <= set(ACTION_KINDS):
            raise ValueError(f"the kinds of action are some of {', '.join(ACTION_KINDS)}")
        if not 1 <= self.max_items <= MAX_ITEMS:
            raise ValueError(f"allow 1 to {MAX_ITEMS} items")
        if self.until.tzinfo is None:
            raise ValueError("the end needs its offset from UTC")
        if self.used < 0:
            raise ValueError("a negative number of items can't be used")

    @property
    def left(self) -> int:
        """Return the number of items that the bounds still cover."""
        return max(0, self.max_items - self.used)


def covers(bounds: Bounds, kind: ActionKind | None, targets: Sequence[Target], now: datetime) -> bool:
    """Say whether an action of that kind on all these targets lies inside: in time, in number, and in the folders.

    False without targets, for actions without a kind (they can't be undone, or reach outside), and as soon as it can't
    be established where one target lies. A bounded folder itself is not inside itself: it can be filled, not moved.
    """
    if kind not in bounds.kinds or not targets or now >= bounds.until:
        return False
    if count_items(targets) > bounds.left:
        return False
    return all(target.inside is not None and not bounds.folders.isdisjoint(target.inside) for target in targets)


def count_items(targets: Sequence[Target]) -> int:
    """Return how many items an action on these targets uses up; at least 1, as each action counts."""
    return max(1, sum(target.items for target in targets))


def with_used(bounds: Bounds, items: int) -> Bounds:
    """Return the bounds after that many more items."""
    return replace(bounds, used=bounds.used + items)


def to_data(bounds: Bounds) -> BoundsData:
    """Return the bounds as JSON."""
    return {
        "folders": sorted(bounds.folders),
        "kinds": sorted(bounds.kinds),
        "max_items": bounds.max_items,
        "until": bounds.until.isoformat(),
        "used": bounds.used,
    }


def from_data(data: Mapping[str, Any]) -> Bounds:
    """Return the bounds from JSON, also of people and other programs. Raises `ValueError` if it is none."""
    folders, kinds, until = data.get("folders"), data.get("kinds"), data.get("until")
    if not (_is_texts(folders) and _is_texts(kinds) and isinstance(until, str)):
        raise ValueError("bounds have folders, kinds and until")
    return Bounds(
        frozenset(cast("list[str]", folders)),
        frozenset(cast("list[ActionKind]", kinds)),
        _number(data.get("max_items")),
        datetime.fromisoformat(until),
        _number(data.get("used", 0)),
    )


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in cast("list[object]", value))


def _number(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError("the numbers of items are whole numbers")


@dataclass(frozen=True, slots=True)
class Touched:
    """`targets` are the items, and the folders that some of them come into.

    `others`: somebody besides the person sees one of them, or owns it. `gains`: somebody comes to see one who did not.
    `names` are those of the items, before and after, and of the folders that they come into; empty for a root.
    """

    targets: tuple[Target, ...]
    others: bool
    gains: bool
    names: tuple[str, ...] = ()

    @property
    def all_mine(self) -> bool:
        """Say whether all items are certainly the person's."""
        return all(target.mine for target in self.targets)


def touched_by(effect: Mapping[str, Any] | None) -> Touched | None:
    """Return the items that the dry run's effect states; None if it states none, or none that can be relied on."""
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
    names = dict.fromkeys(name for entry in entries for name in _names(entry))
    return Touched((first, *targets[1:]), any(entry["others"] for entry in entries), gains, tuple(names))


def _names(entry: Mapping[str, Any]) -> Iterator[str]:
    yield str(entry.get("name", ""))
    if entry.get("was_named"):
        yield str(entry["was_named"])
    if entry.get("was_inside") != entry["inside"]:
        yield str(entry.get("path", "")).rpartition("/")[0].rpartition("/")[2]


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
