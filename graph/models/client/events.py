"""The data of server-sent events, put together from any pieces the network delivers (WHATWG HTML, 9.2.6)."""

import json
from typing import Any, Final

import orjson

END: Final = b"[DONE]"
DATA: Final = b"data"
MAX_BYTES: Final = 16 * 1024 * 1024
"""The longest event."""
PROGRESS: Final = "prompt_progress"
"""The field of a chunk with which llama.cpp tells how far it has read the request (llama.cpp, "return_progress")."""
DONE: Final = {"done": True}
"""Stands for `[DONE]` among the values of a stream, by identity."""


class EventReader:
    """Takes pieces of a stream and gives the JSON of its whole events, up to `[DONE]`, which is given as `DONE`."""

    def __init__(self) -> None:
        self.ended = False
        self._line_size = self._data_size = 0
        self._pieces: list[bytes] = []
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[Any]:
        """Return the events that the piece completes. Raises ValueError for data that is no JSON, or too long."""
        if b"\n" not in piece and b"\r" not in piece:
            self._pieces.append(piece)
            self._line_size += len(piece)
            self._require_short()
            return []
        self._line_size = 0
        text = b"".join([*self._pieces, piece])
        if b"\r" in text:
            text, partial = _with_line_feeds(text)
        else:
            partial = b""
        *lines, rest = text.split(b"\n")
        self._pieces = [rest + partial] if rest or partial else []
        return self._read(lines)

    def close(self) -> list[Any]:
        """Return the last event at the end of the stream: some services leave the last blank line out."""
        rest, self._pieces = b"".join(self._pieces).strip(b"\r\n"), []
        return self._read([rest, b""])

    def _read(self, lines: list[bytes]) -> list[Any]:
        found: list[Any] = []
        for line in lines:
            if not line:
                found += self._dispatched()
            elif not self.ended:
                name, _, value = line.partition(b":")
                if name == DATA:
                    self._data.append(value.removeprefix(b" "))
                    self._data_size += len(line)
                    self._require_short()
        return found

    def _require_short(self) -> None:
        if self._line_size + self._data_size > MAX_BYTES:
            raise ValueError("an event of the answer is too long")

    def _dispatched(self) -> list[Any]:
        data, self._data, self._data_size = b"\n".join(self._data), [], 0
        if data.strip() == END:
            self.ended = True
            return [DONE]
        return [read_json(data)] if data else []


def read_json(data: bytes) -> Any:
    """Return the value. Half a surrogate pair, which some services send, is no error. Raises ValueError."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.loads(data)


def _with_line_feeds(text: bytes) -> tuple[bytes, bytes]:
    """Return the text with every line end as one character, and a last return whose line feed may still come."""
    partial = b"\r" if text.endswith(b"\r") else b""
    return text.removesuffix(partial).replace(b"\r\n", b"\n").replace(b"\r", b"\n"), partial
