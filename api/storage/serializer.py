"""How what threads are kept as is written: as LangGraph does, long values in less room."""

import zlib
from typing import Any, Final

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from typing_extensions import override

PACKED: Final = "zlib:"
"""Begins the type of what is packed; the type that it had follows."""
LEVEL: Final = 6
LONG: Final = 512
"""Bytes from which on a value is packed."""


class PackingSerializer(JsonPlusSerializer):
    """Packs long values, in which the same names stand again and again, and reads both forms."""

    @override
    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Return the type of a value, and its content."""
        kind, content = super().dumps_typed(obj)
        return (f"{PACKED}{kind}", zlib.compress(content, LEVEL)) if len(content) >= LONG else (kind, content)

    @override
    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Return what was stored, packed or not."""
        kind, content = data
        if kind.startswith(PACKED):
            return super().loads_typed((kind.removeprefix(PACKED), zlib.decompress(content)))
        return super().loads_typed(data)
