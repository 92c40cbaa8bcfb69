"""What people do all the while: errands, each brought to its end however often a service or the database goes away."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from threading import Event as Flag
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import httpx

from tests.api.command_model import command
from tests.e2e.pair.services import AwayError, Pair, pause
from tests.e2e.waiting import wait_until_indexed
from tests.forked import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from tests.e2e.person import Event, Person

WORKERS: Final = 3
TRIES: Final = 300
"""Limit for one step, of tries while both services were there all the time: seconds would measure the machine."""
IMPORT_SECONDS: Final = 600
"""An import that takes longer hangs."""
INDEX_SECONDS: Final = 300
"""The index of a service that was killed is another one's after 25 s; then that has much to read."""
PAUSE_SECONDS: Final = 0.3
"""Before the same is asked again: a transaction of who was killed has ended by then."""
TUS: Final = {"Tus-Resumable": "1.0.0"}
HALF: Final = 40_000
PARTS: Final = ("part 1", "part 2", "part 3")
IMPORTED: Final = ("a.txt", "b.txt")

T = TypeVar("T")


class Errand:
    """A folder; in it three folders by chat, an upload, an import, and a file that an approval puts into the trash."""

    def __init__(self, pair: Pair, number: int) -> None:
        self._pair = pair
        self.name = f"Errand {number}"
        self._ids: dict[str, str] = {}
        self._upload = ""
        self._text = f"{self.name} " * (2 * HALF // (len(self.name) + 1))

    def run(self) -> None:
        """Do all of it; whatever service is there serves each step."""
        for step in (self._make_folder, self._put, self._begin_upload, self._upload_half):
            self._until_answered(step)
        asked = self._until_answered(self._ask)
        for step in (self._make_parts, self._upload_rest, self._import):
            self._until_answered(step)
        self._until_answered(lambda person: self._approve(person, asked))

    def _until_answered(self, step: Callable[[Person], T]) -> T:
        """Try a step at one service after the other until it is answered."""
        tries = 0
        while True:
            lives = self._pair.lives
            try:
                with self._pair.person() as person:
                    return step(person)
            except httpx.TransportError:
                pause(PAUSE_SECONDS)
                tries += all(lives) and self._pair.lives == lives
                if tries == TRIES:
                    raise

    def _make_folder(self, person: Person) -> None:
        self._ids = {item["name"]: item["id"] for item in person.children()}
        if self.name not in self._ids:
            self._ids[self.name] = person.folder(self.name)["id"]

    def _put(self, person: Person) -> None:
        headers = {"Authorization": f"Bearer {person.token}"}
        put = person.http.put(f"/dav/{self.name}/old.txt", content="old", headers=headers)
        assert put.is_success, put.text
        self._ids["old.txt"] = next(item["id"] for item in person.children(self._ids[self.name]))

    def _begin_upload(self, person: Person) -> None:
        named = {"filename": "upload.bin", "parent_id": self._ids[self.name]}
        metadata = ",".join(f"{key} {b64encode(value.encode()).decode()}" for key, value in named.items())
        headers = {**TUS, "Upload-Length": str(len(self._text)), "Upload-Metadata": metadata}
        begun = person.http.post("/api/drive/uploads", headers=headers)
        assert begun.is_success, begun.text
        self._upload = f"/api/drive/uploads/{begun.headers['location'].rpartition('/')[2]}"

    def _upload_half(self, person: Person) -> None:
        self._send(person, HALF)

    def _upload_rest(self, person: Person) -> None:
        self._send(person, len(self._text))

    def _send(self, person: Person, end: int) -> None:
        head = person.http.head(self._upload, headers=TUS)
        assert head.is_success, (head.status_code, head.text)
        offset = int(head.headers["Upload-Offset"])
        if offset < end:
            headers = {**TUS, "Upload-Offset": str(offset), "Content-Type": "application/offset+octet-stream"}
            sent = person.http.patch(self._upload, headers=headers, content=self._text[offset:end])
            if sent.status_code in {httpx.codes.CONFLICT, httpx.codes.LOCKED}:
                raise AwayError(sent.text)  # what was sent before is still being stored
            assert sent.is_success, (sent.status_code, sent.text)

    def _import(self, person: Person) -> None:
        folder = self._pair.folder / self.name
        folder.mkdir(exist_ok=True)
        for name in IMPORTED:
            (folder / name).write_text(f"{name} of {self.name}")
        words = ["import", str(folder), "--into", f"/{self.name}", "--no-wait"]
        address = ["--url", str(person.http.base_url), "--token", person.token]
        done = run("tests.e2e.command", [*words, *address], os.environ, "", IMPORT_SECONDS)
        if done.returncode:
            raise AwayError(done.stdout + done.stderr)

    def _make_parts(self, person: Person) -> None:
        self._say(person, self._parts, "done")

    @property
    def _parts(self) -> str:
        return "\n".join(command("create_folder", name=part, folder_id=f"/{self.name}") for part in PARTS)

    def _ask(self, person: Person) -> Event:
        return self._say(person, self._trash, "approval_needed")

    @property
    def _trash(self) -> str:
        return command("trash_item", item_id=self._ids["old.txt"])

    def _approve(self, person: Person, asked: Event) -> None:
        answered = person.answer(asked, "approve")
        assert answered.status_code in {200, 409}, answered.text
        self._say(person, self._trash, "done")

    def _say(self, person: Person, message: str, until: str) -> Event:
        """Send a message once, and return the event of its run that is waited for."""
        run_id = self._run_of(message)
        if not run_id:
            with person.chat(message) as turn:
                run_id = turn.until("run")["run_id"]
        with person.follow(run_id) as turn:
            try:
                found = turn.until(until, "error")
            except AssertionError as error:
                raise AwayError(str(error)) from error  # the service ended, and its streams with it
        assert found["type"] == until, found
        return found

    def _run_of(self, message: str) -> str:
        runs = self._pair.query("SELECT id FROM runs WHERE message = %s", message)
        assert len(runs) < 2, f"{message} has begun {len(runs)} runs"
        return runs[0][0] if runs else ""

    def check(self, person: Person) -> None:
        """Assert that each item is there once and whole, and that the log holds each answer."""
        items = {item["name"]: item for item in person.children(self._ids[self.name])}
        found = sorted(item["name"] for item in person.children(self._ids[self.name]))
        assert found == sorted([*PARTS, *IMPORTED, "upload.bin"]), (self.name, found)
        assert [items[name].get("version") for name in (*IMPORTED, "upload.bin")] == [1, 1, 1]
        assert person.content(items["upload.bin"]["id"]) == self._text
        assert person.content(items["a.txt"]["id"]) == f"a.txt of {self.name}"
        self._check_run(person, self._parts, ["create_folder"] * len(PARTS))
        self._check_run(person, self._trash, ["trash_item"])

    def _check_run(self, person: Person, message: str, tools: list[str]) -> None:
        run_id = self._run_of(message)
        rows = self._pair.query("SELECT seq, type, data FROM run_events WHERE run_id = %s ORDER BY seq", run_id)
        assert [row[0] for row in rows] == [*range(1, len(rows) + 1)]
        assert [row[1] for row in rows if row[1] in {"done", "error"}] == ["done"]
        assert rows[-1][1] == "done"
        done = json.loads(rows[-1][2])
        assert (done["status"], [change["tool"] for change in done["changes"]]) == ("success", tools), done
        journal = self._pair.query("SELECT tool FROM changes WHERE run_id = %s", run_id)
        assert [row[0] for row in journal] == tools
        with person.follow(run_id) as turn:
            turn.finish()
        assert turn.text.strip().endswith(self._answer(person, run_id)), (turn.text, run_id)

    def _answer(self, person: Person, run_id: str) -> str:
        """Return the last message of the run's thread, which is what was said in the end."""
        ((thread_id,),) = self._pair.query("SELECT thread_id FROM runs WHERE id = %s", run_id)
        last: dict[str, Any] = person.get(f"/api/threads/{thread_id}")["messages"][-1]
        assert last["text"].startswith("Done: "), last
        return last["text"].strip()


class Load:
    """Workers that do one errand after the other till the end of the block, which checks them all."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._ended = Flag()
        self._numbers = count(1)
        self._pool = ThreadPoolExecutor(WORKERS)
        self._workers: list[Future[list[Errand]]] = []

    def __enter__(self) -> Self:
        self._workers = [self._pool.submit(self._work) for _ in range(WORKERS)]
        return self

    def _work(self) -> list[Errand]:
        done: list[Errand] = []
        while not (done and self._ended.is_set()):
            errand = Errand(self._pair, next(self._numbers))
            errand.run()
            done.append(errand)
        return done

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._pool.shutdown()
        if error is None:
            self.check([errand for worker in self._workers for errand in worker.result()])

    @property
    def done(self) -> int:
        """The number of errands that were done, after the end of the block."""
        return sum(len(worker.result()) for worker in self._workers)

    def check(self, errands: list[Errand]) -> None:
        """Compare what is there with what was done, and see that each run has its end."""
        for errand in errands:
            with self._pair.person() as person:
                errand.check(person)
        with self._pair.person() as person:
            names = Counter(item["name"] for item in person.children())
        assert [names[errand.name] for errand in errands] == [1] * len(errands)
        assert self._pair.query("SELECT id, status FROM runs WHERE finished_at IS NULL") == []
        with self._pair.person() as person:
            wait_until_indexed(person, INDEX_SECONDS)
