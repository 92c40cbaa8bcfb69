"""The cursors of lists: opaque, signed, and good for nothing but the list that gave them."""

import json
from hashlib import sha256
from typing import Any, cast

import orjson

from drive_server.kernel.errors import InvalidCursorError
from drive_server.kernel.messages import Message
from drive_server.kernel.signing import Signer


class Cursors:
    """The cursors of one list: signed, and bound to the person, the list and the arguments, not to the page's size."""

    def __init__(self, signer: Signer, user_id: str, name: str, *arguments: str | int | None) -> None:
        self._signer = signer
        asked = json.dumps([user_id, name, *arguments])
        self._purpose = f"cursor {sha256(asked.encode()).hexdigest()}"

    def seal(self, payload: bytes) -> str:
        """Return a cursor that holds the bytes."""
        return self._signer.sign(self._purpose, payload)

    def unseal(self, cursor: str) -> bytes:
        """Return the bytes in the cursor. Raises `InvalidCursorError` unless this list gave it."""
        payload = self._signer.verify(self._purpose, cursor)
        if payload is None:
            raise _foreign()
        return payload

    def encode(self, *key: Any) -> str:
        """Return the cursor to go on after the key, whose parts are JSON."""
        return self.seal(orjson.dumps(key))

    def decode(self, cursor: str, *types: type[str] | type[int] | type[list[Any]]) -> list[Any]:
        """Return the key in the cursor. Raises `InvalidCursorError` unless this list gave it, with such parts."""
        key = cast("list[Any]", orjson.loads(self.unseal(cursor)))
        if [type(part) for part in key] != list(types):
            raise _foreign()
        return key


def _foreign() -> InvalidCursorError:
    return InvalidCursorError(Message.of("bad_cursor"))
