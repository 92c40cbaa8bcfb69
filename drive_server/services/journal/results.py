"""What a change returned, as JSON in the journal and back, so that a repeated call answers the same."""

from typing import Any

from pydantic import TypeAdapter

from drive_server.models import ApiKey, DeletedItems, Item, Link, MovedItems, RedoResult, Share, UndoResult, User

_ADAPTERS: dict[str, TypeAdapter[Any]] = {
    model.__name__: TypeAdapter(model)
    for model in (ApiKey, DeletedItems, Item, Link, MovedItems, RedoResult, Share, UndoResult, User)
}


def encode_result(value: object) -> dict[str, Any]:
    """Return the value as JSON that `decode_result` reads."""
    name = type(value).__name__
    return {"type": name, "value": _ADAPTERS[name].dump_python(value, mode="json")}


def decode_result(recorded: dict[str, Any]) -> Any:
    """Return the value that was recorded."""
    return _ADAPTERS[recorded["type"]].validate_python(recorded["value"])
