"""The tool calls of a streamed answer, put together from their pieces and read strictly.

The library would complete cut JSON by guessing, and takes for ever over long garbage.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from langchain_core.messages import InvalidToolCall, ToolCall
from langchain_core.messages.tool import invalid_tool_call, tool_call

KEPT_OF_INVALID: Final = 4_000
"""Characters of arguments that are no JSON."""
KEPT_OF_ERROR: Final = 200
CUT: Final = "…"


@dataclass(slots=True)
class _Call:
    """A call as far as it has come."""

    id: str | None = None
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])

    def take(self, key: str | None, function: Mapping[str, Any]) -> int:
        """Add what a delta says, and return how long its arguments are."""
        self.id = self.id or key
        self.name = self.name or function.get("name") or ""
        arguments = function.get("arguments") or ""
        piece = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        self.pieces.append(piece)
        return len(piece)


class Calls:
    """Takes the `tool_calls` of deltas. Calls are told apart by their numbers; some services give none, or all one."""

    def __init__(self) -> None:
        self._by_slot: dict[int, _Call] = {}

    def add(self, deltas: Sequence[Mapping[str, Any]]) -> int:
        """Return the characters of arguments that came."""
        length = 0
        for place, delta in enumerate(deltas):
            key: str | None = delta.get("id") or None
            call = self._by_slot.setdefault(self._slot(delta.get("index"), key, place), _Call())
            length += call.take(key, delta.get("function") or {})
        return length

    def read(self) -> tuple[list[ToolCall], list[InvalidToolCall]]:
        """Return the calls, and those whose arguments are no JSON object."""
        calls: list[ToolCall] = []
        invalid: list[InvalidToolCall] = []
        for call in self._by_slot.values():
            text = "".join(call.pieces)
            args, error = _object_in(text or "{}")
            if args is None:
                # The mark is no JSON: what is cut off after a whole object must not make a call of it.
                kept = text if len(text) <= KEPT_OF_INVALID else text[:KEPT_OF_INVALID] + CUT
                invalid.append(invalid_tool_call(name=call.name, args=kept, id=call.id, error=error))
            else:
                calls.append(tool_call(name=call.name, args=args, id=call.id))
        return calls, invalid

    def _slot(self, index: object, key: str | None, place: int) -> int:
        if isinstance(index, int) and index not in self._by_slot:
            return index  # a number of its own is a call of its own, also where ids are given twice
        known = self._slot_of(key)
        if known is not None:
            return known
        if isinstance(index, int) and (key is None or self._is_free(index)):
            return index
        if key is not None or not self._by_slot:
            return max(self._by_slot, default=-1) + 1
        return max(self._by_slot) if place == 0 else place

    def _slot_of(self, key: str | None) -> int | None:
        return next((slot for slot, call in self._by_slot.items() if key and call.id == key), None)

    def _is_free(self, slot: int) -> bool:
        return slot not in self._by_slot or self._by_slot[slot].id is None


def _object_in(text: str) -> tuple[dict[str, Any] | None, str]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return None, f"{type(error).__name__}: {error}"[:KEPT_OF_ERROR]
    return (cast("dict[str, Any]", value), "") if isinstance(value, dict) else (None, "not an object")
