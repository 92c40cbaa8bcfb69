"""Streams that nothing happens on: their keys are looked up together, not by each heartbeat of each stream."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.api.serving import RunningService, SmallService

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from starlette.requests import Request

    from tests.api.fakes import Someone

BEATS = 20


@pytest.fixture
def parts(tmp_path: Path) -> SmallService:
    return SmallService(tmp_path, heartbeat_seconds=0.02)


@pytest.fixture
def service(parts: SmallService) -> Generator[RunningService]:
    running = RunningService(parts).start()
    yield running
    running.stop()


@pytest.mark.parametrize("stream", ["/api/approvals/events", "/api/mcp-servers/events", "run"])
def test_heartbeats_do_not_look_up_the_key(
    stream: str, parts: SmallService, service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(service.person()) as alice, alice.chat("share it") as turn:
        path = f"/api/runs/{turn.until('run')['run_id']}/events" if stream == "run" else stream
        turn.until("approval_needed")
        looks = 0
        authenticate = parts.drive.authenticate

        async def counted(request: Request) -> Someone:
            nonlocal looks
            looks += request.url.path == path
            return await authenticate(request)

        monkeypatch.setattr(parts.drive, "authenticate", counted)
        with alice.http.stream("GET", path) as response:
            beats = (line for line in response.iter_lines() if line == ": heartbeat")
            for _ in range(BEATS):
                next(beats)
        # As it is opened, and before its first event.
        assert looks <= 2
