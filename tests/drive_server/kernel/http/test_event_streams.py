"""The open streams: their keys are looked up together, and each stream ends with its own."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import anyio
import pytest
from starlette.requests import Request

from drive_server.kernel.access import Principal, Scope
from drive_server.kernel.http.event_streams import OpenStream, OpenStreams

if TYPE_CHECKING:
    from collections.abc import Collection

PATIENCE = 30


class Keys:
    """Knows who holds which key, and what was asked for."""

    def __init__(self) -> None:
        self.looks: list[frozenset[str]] = []
        self.principals = {
            key: Principal(key, f"{key}@example.com", frozenset({Scope.READ}), "in_process") for key in ("one", "two")
        }

    async def holders(self, secrets: Collection[str]) -> dict[str, Principal]:
        """Return who holds the secrets."""
        self.looks.append(frozenset(secrets))
        return {key: self.principals[key] for key in secrets if key in self.principals}


def request_with(key: str) -> Request:
    return Request({"type": "http", "headers": [(b"authorization", f"Bearer {key}".encode())]})


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drive_server.kernel.http.event_streams.LOOK_SECONDS", 0.01)


async def test_a_thousand_streams_of_two_keys_are_looked_up_by_two_keys_in_one_step() -> None:
    keys = Keys()
    streams = OpenStreams(keys.holders)
    with ExitStack() as stack:
        opened = [
            stack.enter_context(streams.opened(request_with(key), key)) for _ in range(500) for key in ("one", "two")
        ]
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(streams.run)
                del keys.principals["two"]
                await _ended(opened[1])
                group.cancel_scope.cancel()
        assert keys.looks[0] == {"one", "two"}
        assert [stream.is_open for stream in opened] == [True, False] * 500


async def _ended(stream: OpenStream) -> None:
    with stream.waiting():
        await anyio.sleep_forever()


async def test_a_key_that_loses_the_scope_of_a_stream_ends_it_and_no_other() -> None:
    keys = Keys()
    streams = OpenStreams(keys.holders)
    with (
        streams.opened(request_with("one"), "one") as reading,
        streams.opened(request_with("one"), "one", None) as other,
    ):
        keys.principals["one"] = Principal("one", "one@example.com", frozenset(), "in_process")
        await streams.wake("one")
        assert (reading.is_open, other.is_open) == (False, True)
