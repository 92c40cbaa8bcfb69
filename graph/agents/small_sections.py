"""The place and the listing as small models get them: paths alone, which they copy whole, and no ids beside names."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from graph.messages.compact_results import one_line
from graph.prompts import section

_SECTION: Final = re.compile(r"<(place|listing)>\n(.*)\n</\1>", re.DOTALL)


def sections_by_path(sections: Sequence[str]) -> tuple[str, ...]:
    """Return the sections with those of the place and its listing as paths; any other as it is."""
    found = {match[1]: match[2] for one in sections if (match := _SECTION.fullmatch(one))}
    place = _mapping(found.get("place", "{}"))
    folder = str(_facts(place.get("folder")).get("path") or "")
    return tuple(_by_path(one, place, folder) for one in sections)


def _by_path(one: str, place: Mapping[str, Any], folder: str) -> str:
    match = _SECTION.fullmatch(one)
    if match is None or not folder:
        return one
    if match[1] == "listing":
        return section("listing", "\n".join(_path(folder, item) for item in _files_first(match[2])))
    paths = {kind: str(_facts(place.get(kind)).get("path") or "") for kind in ("file", "folder")}
    return section("place", "\n".join(f"{kind}: {one_line(path)}" for kind, path in paths.items() if path))


def _path(folder: str, item: Mapping[str, Any]) -> str:
    return one_line(f"{folder.rstrip('/')}/{item.get('name', '')}{'/' if item.get('kind') == 'folder' else ''}")


def _mapping(text: str) -> Mapping[str, Any]:
    return _facts(json.loads(text))


def _files_first(text: str) -> list[Mapping[str, Any]]:
    """Return the items, folders last: small models take files below a folder's line for files in it."""
    return sorted(cast("list[Mapping[str, Any]]", json.loads(text)), key=lambda item: item.get("kind") == "folder")


def _facts(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
