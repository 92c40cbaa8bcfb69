"""The service is killed while things come in and go out by every door: nothing is lost, doubled or half there."""

from __future__ import annotations

import sqlite3
import sys
from base64 import b64encode
from collections import Counter
from contextlib import closing
from random import Random
from typing import TYPE_CHECKING, Any, Final

import httpx
import pytest

from api.cli import main
from tests.api.command_model import command
from tests.e2e.killed import Victim
from tests.e2e.soaking import SECONDS_A_KILL, SEED, Soak, kills
from tests.fakes.notes_server import NotesServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.e2e.person import Event, Person

pytestmark = pytest.mark.story

KILLS: Final = kills(4)
PLACES: Final = 60
"""A round of all doors passes more."""
PLACES_OF_A_DOOR: Final = 8
"""Some doors pass fewer: every other kill is at the first."""
MANY: Final = 200
"""So many kills have met each door."""
START: Final = "start"
DOORS: Final = ("WebDAV", "tus", "import", "undo", "rebuild", "chat", "own server", "export")
TUS: Final = {"Tus-Resumable": "1.0.0"}
HALF: Final = 40_000


class Aim:
    """The door at which the service is to be killed next."""

    def __init__(self) -> None:
        self.door = START
        self.victim: Victim | None = None

    def begin(self, door: str) -> None:
        """Have the places count if it is this door's turn."""
        if self.victim is not None and door == self.door:
            self.victim.arm()
            self.victim = None


class Round:
    """A folder, and each door once. Each step is tried until it is answered, and may be made twice without harm."""

    def __init__(self, number: int, folder: Path, notes: NotesServer, killed: Counter[str], aim: Aim) -> None:
        self._killed = killed
        self._aim = aim
        self.name = f"Round {number}"
        self._folder = folder / self.name
        self._notes = notes
        self._upload = ""
        self._export = folder / f"export {number}"
        self._change = 0
        self._is_crashed = False
        self._runs: dict[str, str] = {}
        self._left = list(self._steps())

    def _steps(self) -> Iterator[tuple[str, Callable[[Person], None]]]:
        """Yield the doors in order, each with what is done by it."""
        yield "WebDAV", self._make_folder
        yield "WebDAV", self._put
        yield "WebDAV", self._move
        yield "tus", self._begin_upload
        yield "tus", self._upload_first_half
        yield "tus", self._upload_rest
        yield "import", self._import
        yield "undo", self._trash
        yield "undo", self._undo
        yield "rebuild", self._rebuild
        yield "chat", self._chat
        yield "own server", self._call_server
        yield "export", self._export_all

    def go_on(self, person: Person) -> None:
        """Do the steps that are left. Raises `httpx.TransportError` when the service is killed."""
        while self._left:
            door, step = self._left[0]
            self._aim.begin(door)
            try:
                step(person)
            except httpx.TransportError:
                self._killed[door] += 1
                raise
            self._left.pop(0)

    def check(self, person: Person) -> None:
        """Count what is there: everything once, whole."""
        folder = next(item for item in person.children() if item["name"] == self.name)
        items = {item["name"]: item for item in person.children(folder["id"])}
        by_chat = {"by chat"} if not self._is_crashed or "by chat" in items else set[str]()
        assert items.keys() == by_chat | {"a.txt", "b.txt", "moved.txt", "undone.txt", "upload.bin"}
        assert len(person.children(folder["id"])) == len(items)
        assert person.content(items["moved.txt"]["id"]) == f"by WebDAV {self.name}"
        assert person.content(items["upload.bin"]["id"]) == self._text
        assert items["upload.bin"]["version"] == 1
        assert items["moved.txt"]["version"] == 1
        assert person.content(items["a.txt"]["id"]) == f"a.txt of {self.name}"
        assert main(["export", "--verify", str(self._export)]) == 0
        assert sum(call == ("note", {"text": self.name}) for call in self._notes.calls) <= 1

    @property
    def _text(self) -> str:
        return f"{self.name} " * (2 * HALF // (len(self.name) + 1))

    def _make_folder(self, person: Person) -> None:
        if self.name not in person.names():
            person.folder(self.name)

    def _dav(self, person: Person, method: str, name: str, **options: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {person.token}", **options.pop("headers", {})}
        return person.http.request(method, f"/dav/{self.name}/{name}", headers=headers, **options)

    def _put(self, person: Person) -> None:
        for name, text in (("put.txt", f"by WebDAV {self.name}"), ("undone.txt", "not for long")):
            assert self._dav(person, "PUT", name, content=text).status_code in {201, 204}

    def _move(self, person: Person) -> None:
        target = {"Destination": f"{person.http.base_url}/dav/{self.name}/moved.txt", "Overwrite": "F"}
        moved = self._dav(person, "MOVE", "put.txt", headers=target)
        assert moved.status_code in {201, 404}, moved.text
        assert self._dav(person, "GET", "moved.txt").status_code == 200

    def _begin_upload(self, person: Person) -> None:
        folder = next(item["id"] for item in person.children() if item["name"] == self.name)
        named = {"filename": "upload.bin", "parent_id": folder}
        metadata = ",".join(f"{key} {b64encode(value.encode()).decode()}" for key, value in named.items())
        headers = {**TUS, "Upload-Length": str(len(self._text)), "Upload-Metadata": metadata}
        begun = person.http.post("/api/drive/uploads", headers=headers)
        begun.raise_for_status()
        self._upload = f"/api/drive/uploads/{begun.headers['location'].rpartition('/')[2]}"

    def _upload_first_half(self, person: Person) -> None:
        self._send(person, HALF)

    def _upload_rest(self, person: Person) -> None:
        self._send(person, len(self._text))

    def _send(self, person: Person, end: int) -> None:
        head = person.http.head(self._upload, headers=TUS)
        assert head.is_success, (head.status_code, self._upload)
        offset = int(head.headers["Upload-Offset"])
        if offset < end:
            headers = {**TUS, "Upload-Offset": str(offset), "Content-Type": "application/offset+octet-stream"}
            person.http.patch(self._upload, headers=headers, content=self._text[offset:end]).raise_for_status()

    def _import(self, person: Person) -> None:
        self._folder.mkdir(exist_ok=True)
        for name in ("a.txt", "b.txt"):
            (self._folder / name).write_text(f"{name} of {self.name}")
        self._run_cli(person, "import", str(self._folder), "--into", f"/{self.name}")

    def _trash(self, person: Person) -> None:
        folder = next(item["id"] for item in person.children() if item["name"] == self.name)
        found = [item for item in person.children(folder) if item["name"] == "undone.txt"]
        if found:
            person.http.post(f"/api/drive/items/{found[0]['id']}/trash").raise_for_status()

    def _undo(self, person: Person) -> None:
        changes = person.get("/api/drive/changes", limit="20")["changes"]
        self._change = self._change or next(one["id"] for one in changes if one["action"] == "trash")
        answer = person.http.post(f"/api/drive/changes/{self._change}/undo")
        assert answer.status_code in {200, 409}, answer.text

    def _rebuild(self, person: Person) -> None:
        person.http.post("/api/drive/index/rebuild").raise_for_status()

    def _chat(self, person: Person) -> None:
        """Have a folder made, once: a run that five starts in a row did not survive may end before that."""
        end = self._say(person, command("create_folder", name="by chat", folder_id=f"/{self.name}"))
        self._is_crashed = end["type"] == "error"
        assert end.get("code") == "crashed" if self._is_crashed else end["status"] == "success", end

    def _call_server(self, person: Person) -> None:
        """Have the server called, once: whether it was, its run can't always know."""
        self._say(person, command("mcp__notes__note", text=self.name))

    def _say(self, person: Person, message: str) -> Event:
        """Send a message, once, and return the last event of its run: one that was begun is followed to its end."""
        if message not in self._runs:
            found = person.get("/api/threads", limit="20")["items"]
            views = [person.get(f"/api/threads/{thread['thread_id']}") for thread in found]
            known = [view["run"]["run_id"] for view in views if view["messages"][0]["text"] == message]
            if known:
                self._runs[message] = known[0]
            else:
                with person.chat(message) as turn:
                    self._runs[message] = turn.until("run")["run_id"]
        with person.follow(self._runs[message]) as turn:
            return turn.until("done", "error")

    def _export_all(self, person: Person) -> None:
        self._run_cli(person, "export", str(self._export))

    def _run_cli(self, person: Person, *words: str) -> None:
        address = ["--url", str(person.http.base_url), "--token", person.token]
        if main([*words, *address]) != 0:
            person.get("/healthz")
            raise httpx.ReadError("the service went away while a command used it")


def connect_server(person: Person, notes: NotesServer) -> None:
    """Let the person's assistant use the server of notes without asking."""
    body = {"name": "notes", "base_url": f"http://127.0.0.1:{notes.port}/mcp"}
    server_id = person.http.post("/api/mcp-servers", json=body).json()["id"]
    assert person.http.post(f"/api/mcp-servers/{server_id}/connect").json()["status"] == "connected"
    tools = {"tools": [{"name": "note", "isAutoApprove": True}]}
    person.http.put(f"/api/mcp-servers/{server_id}/tools", json=tools).raise_for_status()
    choice = {"server_ids": [server_id]}
    person.http.put("/api/assistants/drive_agent/mcp-servers", json=choice).raise_for_status()


def place_after(beginning: str, random: Random) -> int:
    """Return at which place after the start, or after the beginning of a door, to die."""
    if beginning == START:
        return random.randint(1, PLACES)
    return random.choice((1, random.randint(1, PLACES_OF_A_DOOR)))


@pytest.mark.timeout(300 + SECONDS_A_KILL * KILLS)
def test_whatever_door_is_in_use_when_it_is_killed_nothing_is_lost_doubled_or_half(tmp_path: Path) -> None:
    random, notes, data, aim = Random(SEED), NotesServer().start(), tmp_path / "data", Aim()
    killed = Counter[str]()
    soak = Soak(lambda number: Round(number, tmp_path, notes, killed, aim))
    with Victim(data, commands=True) as victim:
        person = victim.person()
        with person.http:
            connect_server(person, notes)
    for kill in range(KILLS + 1):
        aim.door = random.choice((START, *DOORS)) if kill < KILLS else ""
        place = place_after(aim.door, random) if aim.door else 0
        aim.victim = Victim(data, place, from_start=aim.door == START, commands=True, doors=True)
        soak.serve(aim.victim, place)
    notes.stop()
    sys.stdout.write(f"{KILLS} kills in {soak.rounds} rounds; by the door that was in use: {dict(killed)}\n")
    assert soak.rounds >= 1
    assert KILLS < MANY or killed.keys() >= set(DOORS), killed
    for name in ("drive.db", "api.db", "graph.db", "store.db"):
        with closing(sqlite3.connect(data / name)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
