"""A person with a key, as the end-to-end tests play them: everything goes over real HTTP."""

from __future__ import annotations

import json
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

import httpx

from tests.handshake import HEADERS, INITIALIZE

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

Event = dict[str, Any]
_numbers = count(1)


def read_events(lines: Iterator[str]) -> Iterator[Event]:
    """Yield the data of each server-sent event; its `id` is added as `_id`."""
    event_id, data = "", ""
    for line in lines:
        if line.startswith("id:"):
            event_id = line[3:].strip()
        elif line.startswith("data:"):
            data += line[5:].strip()
        elif not line and data:
            yield {**json.loads(data), "_id": event_id}
            data = ""


class Turn:
    """One chat turn: the events that came so far, read on until something is waited for."""

    def __init__(self, events: Iterator[Event]) -> None:
        self._events = events
        self.seen: list[Event] = []

    def until(self, *types: str) -> Event:
        """Read on to the next event of one of these types."""
        for event in self._events:
            self.seen.append(event)
            if event["type"] in types:
                return event
        found = [event["type"] for event in self.seen]
        raise AssertionError(f"the stream ended before {types}: {found}\n{self.text}")

    def finish(self) -> Event:
        """Read to the end; the turn has to end well."""
        last = self.until("done", "error")
        assert last["type"] == "done", last
        assert last["status"] == "success", last
        return last

    def of(self, event_type: str) -> list[Event]:
        """Return the events of a type that came so far."""
        return [event for event in self.seen if event["type"] == event_type]

    @property
    def text(self) -> str:
        """The answer so far, as a client shows it that takes back what is said anew."""
        texts = [""]
        for event in self.seen:
            if event["type"] == "content":
                texts[-1] = ("" if event.get("restarts") else texts[-1]) + event["text"]
            elif event["type"] != "reasoning":
                texts.append("")
        return "".join(texts)

    @property
    def tools(self) -> list[tuple[str, str]]:
        """The finished tool calls as (name, status)."""
        return [(event["name"], event["status"]) for event in self.of("tool_call_end")]


class Person:
    """Someone with an API key of the service at `url`."""

    def __init__(self, url: str, key: str, email: str) -> None:
        self.email = email
        self.token = key
        self.http = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=60)

    @classmethod
    def owner(cls, url: str, data_dir: Path) -> Person:
        """Return the local owner, who has the access token."""
        return cls(url, (data_dir / "token").read_text().strip(), "me@localhost")

    def add(self, email: str) -> Person:
        """Make an account and return its person."""
        made = self.http.post("/api/users", json={"email": email})
        assert made.is_success, made.text
        return Person(str(self.http.base_url), made.json()["key"], email)

    def add_new(self, name: str) -> Person:
        """Make an account whose address begins with the name and is nobody else's."""
        return self.add(f"{name}{next(_numbers)}@example.com")

    def with_key(self, name: str, *scopes: str) -> Person:
        """Return the same person with another key."""
        made = self.http.post("/api/auth/keys", json={"name": name, "scopes": [*scopes]}).json()
        return Person(str(self.http.base_url), made["key"], self.email)

    def close(self) -> None:
        """Close the connections."""
        self.http.close()

    def get(self, path: str, **params: str) -> Any:
        """GET some JSON."""
        response = self.http.get(path, params=params)
        assert response.is_success, response.text
        return response.json()

    def root(self) -> dict[str, Any]:
        """Return the root folder."""
        return self.get("/api/drive/items/root")

    def folder(self, name: str, parent_id: str = "root") -> dict[str, Any]:
        """Make a folder."""
        body = {"kind": "folder", "name": name, "parent_id": parent_id}
        response = self.http.post("/api/drive/items", json=body)
        assert response.is_success, response.text
        return response.json()

    def upload(self, name: str, content: str | bytes, parent_id: str = "root") -> dict[str, Any]:
        """Upload a file."""
        params = {"name": name, "parent_id": parent_id}
        response = self.http.post("/api/drive/files", params=params, content=content)
        assert response.is_success, response.text
        return response.json()

    def children(self, folder_id: str = "root") -> list[dict[str, Any]]:
        """List a folder."""
        return self.get(f"/api/drive/items/{folder_id}/children")["items"]

    def names(self, folder_id: str = "root") -> list[str]:
        """List the names in a folder."""
        return [item["name"] for item in self.children(folder_id)]

    def content(self, file_id: str) -> str:
        """Download a file as text."""
        response = self.http.get(f"/api/drive/files/{file_id}/content")
        assert response.is_success, response.text
        return response.content.decode()

    def mcp(self, tool: str, meta: dict[str, Any] | None = None, **args: Any) -> dict[str, Any]:
        """Call a tool as an outside host does, in a session of its own; return the result."""
        opened = self.http.post("/mcp", json=INITIALIZE, headers=HEADERS)
        headers = {**HEADERS, "Mcp-Session-Id": opened.headers["mcp-session-id"]}
        params = {"name": tool, "arguments": args, "_meta": meta or {}}
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
        answered = self.http.post("/mcp", json=call, headers=headers)
        data = [line[5:] for line in answered.text.splitlines() if line.startswith("data:")]
        return json.loads(data[-1] if data else answered.text)["result"]

    @contextmanager
    def chat(
        self,
        message: str,
        *,
        thread_id: str | None = None,
        file_id: str | None = None,
        folder_id: str | None = None,
        mode: str | None = None,
        model: str | None = None,
        attachments: list[dict[str, str]] | None = None,
        assistant_id: str | None = None,
    ) -> Generator[Turn]:
        """Say something; yields the turn while its stream is open."""
        body: dict[str, Any] = {"message": message}
        if thread_id:
            body["thread_id"] = thread_id
        if model:
            body["model"] = model
        if assistant_id:
            body["assistant_id"] = assistant_id
        if mode:
            body["mode"] = mode
        if attachments:
            body["attachments"] = attachments
        if file_id or folder_id:
            body["context"] = {"file_id": file_id, "folder_id": folder_id}
        with self.http.stream("POST", "/api/chat", json=body) as response:
            assert response.status_code == httpx.codes.OK, response.read()
            yield Turn(read_events(response.iter_lines()))

    @contextmanager
    def follow(self, run_id: str, after: str = "0") -> Generator[Turn]:
        """Read a run's events again, from after an event id on."""
        with self.http.stream("GET", f"/api/runs/{run_id}/events", headers={"Last-Event-ID": after}) as response:
            assert response.status_code == httpx.codes.OK, response.read()
            yield Turn(read_events(response.iter_lines()))

    def answer(self, approval: Event, kind: str, **fields: Any) -> httpx.Response:
        """Answer all actions of an approval the same way."""
        decisions = [{"tool_call_id": action["tool_call_id"], "type": kind, **fields} for action in approval["actions"]]
        return self.http.post(f"/api/approvals/{approval['approval_id']}", json={"decisions": decisions})
