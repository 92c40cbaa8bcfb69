"""Makes checkpoints that nobody goes on from small: the same names stand in each of their messages."""

import zlib
from dataclasses import dataclass
from typing import Any, Final

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from typing_extensions import override

PACKED: Final = "zlib:"
"""Begins the type of what is packed; the type that it had follows."""
LEVEL: Final = 6
LONG: Final = 4_096
"""Bytes from which on a value of `Kept` is packed at once."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A value that nobody will write again, stored as what it holds."""

    value: Any


class PackingSerializer(JsonPlusSerializer):
    """Writes as the library's own does, but for what is kept as it is, and reads what is packed as well."""

    @override
    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Return the type of a value, and its content."""
        if not isinstance(obj, Kept):
            return super().dumps_typed(obj)
        kind, content = super().dumps_typed(obj.value)
        return packed(kind, content) if len(content) >= LONG else (kind, content)

    @override
    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Return what was stored, packed or not."""
        kind, content = data
        if kind.startswith(PACKED):
            return super().loads_typed((kind.removeprefix(PACKED), zlib.decompress(content)))
        return super().loads_typed(data)


def packed(kind: str, content: bytes) -> tuple[str, bytes]:
    """Return the type and the content in less room; what is packed already stays as it is."""
    return (kind, content) if kind.startswith(PACKED) else (f"{PACKED}{kind}", zlib.compress(content, LEVEL))
