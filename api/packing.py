"""Makes checkpoints that nobody goes on from small: the same names stand in each of their messages."""

import zlib
from typing import Any, Final

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from typing_extensions import override

PACKED: Final = "zlib:"
"""Begins the type of what is packed; the type that it had follows."""
LEVEL: Final = 6


class PackingSerializer(JsonPlusSerializer):
    """Writes as the library's own does, and reads what is packed as well."""

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
