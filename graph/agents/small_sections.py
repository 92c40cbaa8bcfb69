"""The place, the listing and results as small models get them: paths alone, which they copy whole, and no ids.

A hand-over is left out: a small model talks about it instead of acting.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeGuard, cast

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from graph.messages.compact_results import one_line
from graph.prompts import section
from graph.routing.handover import TRANSFER

_SECTION: Final = re.compile(r"<(place|listing)>\n(.*)\n</\1>", re.DOTALL)

_FENCE: Final = "\n~~~"
"""Begins the text of a file in a result."""
_ID_OF_ITEM: Final = re.compile(r" \((?:file|folder), id [^)]*\)|(?<=^- )[0-9a-f]{6,32} (?=/)", re.MULTILINE)
_FOR_LARGE_MODELS: Final = re.compile(r"^(?:id|item_id): [0-9a-f]+\n?|\s*Tell the person\b[^.]*\.", re.MULTILINE)


def results_by_path(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Return the messages with results that name items by their paths; small models repeat an id to the person."""
    left_out = {call["id"] for message in messages if is_handover(message) for call in message.tool_calls}
    return [
        _result_by_path(message) if isinstance(message, ToolMessage) else message
        for message in messages
        if not is_handover(message) and not (isinstance(message, ToolMessage) and message.tool_call_id in left_out)
    ]


def is_handover(message: AnyMessage) -> TypeGuard[AIMessage]:
    """Say whether a message does nothing but hand the request over."""
    if not isinstance(message, AIMessage) or not message.tool_calls or message.invalid_tool_calls:
        return False
    return all(call["name"] == TRANSFER for call in message.tool_calls)


def _result_by_path(message: ToolMessage) -> ToolMessage:
    if not isinstance(message.content, str):
        return message
    said, fence, text = message.content.partition(_FENCE)
    said = _FOR_LARGE_MODELS.sub("", _ID_OF_ITEM.sub("", said))
    return message.model_copy(update={"content": f"{said}{fence}{text}"})


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
