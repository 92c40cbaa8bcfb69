"""Which of several items a name means."""

import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final

from graph.offline.reading.conversation import Item

EXACT, STEM, BEGINS, CONTAINS, WORDS = range(5)
NO_MATCH: Final = 9
ALIKE: Final = 0.72


def fold(text: str) -> str:
    """Return a name in the form in which names are compared."""
    return " ".join(unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).split())


def closeness(name: str, wanted: str) -> int:
    """Return how well a name fits: 0 is the same, `NO_MATCH` not at all."""
    held, sought = fold(name), fold(wanted)
    fits = (
        held == sought,
        held.rpartition(".")[0] == sought,
        held.startswith(sought),
        sought in held,
        bool(sought) and all(word in held for word in sought.split()),
    )
    return next((grade for grade, fit in enumerate(fits) if fit), NO_MATCH)


def best_matches(items: Iterable[Item], wanted: str, *, kind: str = "", exact: bool = False) -> list[Item]:
    """Return the items whose names fit best, all of them equally well; with `exact` only the same or without suffix."""
    graded: dict[int, list[Item]] = {}
    for item in _once(items):
        if item.get("trashed_at") or (kind and item.get("kind", kind) != kind):
            continue
        grade = closeness(str(item.get("name", "")), wanted)
        if grade <= (STEM if exact else WORDS):
            graded.setdefault(grade, []).append(item)
    return graded[min(graded)] if graded else []


def is_exact(item: Item, wanted: str) -> bool:
    """Say whether the item has that very name, perhaps without its suffix."""
    return closeness(str(item.get("name", "")), wanted) <= STEM


def prefer_folder(items: Sequence[Item], folder_id: str) -> Sequence[Item]:
    """Of items that fit equally well, prefer the only one that is in the person's folder."""
    near = [item for item in items if folder_id and item.get("parent_id") == folder_id]
    return near if len(near) == 1 else items


def nearest(items: Iterable[Item], wanted: str) -> Item | None:
    """Return the item whose name is most like a misspelt one."""
    by_name = {fold(str(item.get("name", ""))): item for item in items}
    stems = {name.rpartition(".")[0] or name: item for name, item in by_name.items()}
    for names in (by_name, stems):
        close = get_close_matches(fold(wanted), list(names), n=1, cutoff=ALIKE)
        if close:
            return names[close[0]]
    return None


def _once(items: Iterable[Item]) -> list[Item]:
    return list({str(item.get("id")): item for item in items}.values())
