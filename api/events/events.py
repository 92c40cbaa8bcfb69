"""Events as the log keeps them: numbered within their run, and encoded once for every reader."""

from dataclasses import dataclass
from typing import Any

import orjson

FINAL_TYPES = frozenset({"done", "error"})

# No line ends in an event stream, but in Python's `splitlines`, with which many clients read one.
LINE_SEPARATORS = [(character.encode(), b"\\u%04x" % ord(character)) for character in "\x85\u2028\u2029"]

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Frame:
    """One event of a run. `seq` counts from 1 within the run; `data` is its JSON."""

    seq: int
    type: str
    data: bytes

    @property
    def is_final(self) -> bool:
        """Whether the run has no event after this one."""
        return self.type in FINAL_TYPES


def encode(event: Event) -> bytes:
    """Return the event as JSON. Text that is not valid Unicode is repaired, as far as it can be.

    Some model servers split a surrogate pair over two deltas; joined, it is one character again.
    """
    try:
        data = orjson.dumps(event, default=str)
    except TypeError:
        data = orjson.dumps(_repaired(event), default=str)
    for separator, escaped in LINE_SEPARATORS:
        data = data.replace(separator, escaped)
    return data


def _repaired(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {str(_repaired(key)): _repaired(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_repaired(item) for item in value]
    return value
