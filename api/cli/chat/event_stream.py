"""Read the events of a run, and resume after a lost connection."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from api.cli.client import Reconnection, is_transient
from api.cli.failure import CommandError, LostConnectionError, ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from contextlib import AbstractContextManager

    import httpx

    from api.cli.client import ServiceClient

Event = dict[str, Any]

FINAL = frozenset({"done", "error"})


def read_events(lines: Iterator[str]) -> Iterator[tuple[str, Event]]:
    """Yield (id, data) of each server-sent event (WHATWG HTML, section 9.2); comments and unknown fields are left out.

    Raises `CommandError` for data that is not a JSON object with a type.
    """
    event_id, data = "", list[str]()
    for line in lines:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "id":
            event_id = value
        elif field == "data":
            data.append(value)
        elif not line and data:
            yield event_id, _parse("\n".join(data))
            data = []


def _parse(data: str) -> Event:
    try:
        event: Any = json.loads(data)
    except ValueError as error:
        raise CommandError.of("event_no_json") from error
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise CommandError.of("event_no_type")
    return event


class EventStream:
    """The events of one run. `run_id` and `thread_id` are known from the first event on."""

    def __init__(self, client: ServiceClient, reconnection: Reconnection) -> None:
        self._client = client
        self._reconnection = reconnection
        self._last_id = ""
        self.run_id = ""
        self.thread_id = ""

    def start(self, body: dict[str, Any]) -> Generator[Event]:
        """Start a run with a chat message and yield its events to the last one."""
        return self._follow(lambda: self._client.stream("POST", "/api/chat", json=body))

    def join(self, run_id: str) -> Generator[Event]:
        """Yield the events of a run that exists, from its first one on."""
        self.run_id = run_id
        return self._follow(self._open_run)

    def resume(self) -> Generator[Event]:
        """Yield the events after the last one that was read."""
        return self._follow(self._open_run)

    def _open_run(self) -> AbstractContextManager[httpx.Response]:
        headers = {"Last-Event-ID": self._last_id} if self._last_id else {}
        return self._client.stream("GET", f"/api/runs/{self.run_id}/events", headers=headers)

    def _follow(self, opening: Callable[[], AbstractContextManager[httpx.Response]]) -> Generator[Event]:
        failures = 0
        while True:
            before = self._last_id
            try:
                with opening() as response:
                    for event in self._read(response):
                        yield event
                        if event["type"] in FINAL:
                            return
            except (LostConnectionError, ServiceError) as error:
                if not self.run_id or not is_transient(error):
                    raise
            if not self.run_id:
                raise CommandError.of("stream_ended")
            failures = failures + 1 if self._last_id == before else 1
            self._reconnection.wait(failures)
            opening = self._open_run

    def _read(self, response: httpx.Response) -> Iterator[Event]:
        for event_id, event in read_events(response.iter_lines()):
            self._last_id = event_id or self._last_id
            if event["type"] == "run":
                self.run_id, self.thread_id = str(event["run_id"]), str(event["thread_id"])
            yield event
