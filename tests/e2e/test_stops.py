"""The service is stopped for a while, and its clock steps forward and back, while everything is in use.

Nothing is lost and nothing is done twice; what has expired stays expired; locks and approvals end no earlier than by
the time that went by. `make soak` stops it for 20 seconds; SOAK_STOP_SECONDS is the number.
"""

from __future__ import annotations

import os
import time
from base64 import b64encode
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.api.command_model import command
from tests.drive_server.knowledge.samples import scanned_pdf
from tests.e2e.stopped import WAIT, Stoppable
from tests.e2e.waiting import wait_until_indexed

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

    import httpx

    from tests.e2e.person import Event, Person, Turn

pytestmark = pytest.mark.story

STOP_SECONDS: Final = float(os.environ.get("SOAK_STOP_SECONDS", "2"))
TUS: Final = {"Tus-Resumable": "1.0.0"}
PIECE: Final = b"0123456789" * 4_000
PIECES: Final = 4
OCR_SECONDS: Final = 300
LOCK: Final = (
    '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>'
    "<D:locktype><D:write/></D:locktype></D:lockinfo>"
)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Stoppable]:
    with Stoppable(tmp_path) as service:
        yield service


class Everything:
    """An upload, a lock, an approval, a chat and files that are being indexed, all begun and none at its end."""

    def __init__(self, service: Stoppable, stack: ExitStack) -> None:
        self.service = service
        self.person = service.person()
        stack.callback(self.person.close)
        self._stack = stack
        self.asked, self.approval = self._ask("asked.txt")
        self.chat = stack.enter_context(self.person.chat(f"{command('create_folder', name='By chat')}\n{WAIT}"))
        self.chat.until("run")
        self.locked = self.lock("locked.txt", 2 * 3600)
        self.scan = self.person.upload("scan.pdf", scanned_pdf())
        self.texts = [self.person.upload(f"{n}.txt", f"Zebra number {n}.") for n in range(20)]

    def _ask(self, name: str) -> tuple[Turn, Event]:
        item = self.person.upload(name, "x")
        turn = self._stack.enter_context(self.person.chat(command("trash_item", item_id=item["id"])))
        return turn, turn.until("approval_needed")

    def lock(self, name: str, seconds: int) -> str:
        """Lock a new file by WebDAV and return the lock's token."""
        assert self.dav("PUT", name, content="before").status_code == 201
        locked = self.dav("LOCK", name, content=LOCK, headers={"Timeout": f"Second-{seconds}"})
        assert locked.status_code == 200, locked.text
        return locked.headers["lock-token"]

    def dav(self, method: str, name: str, content: str = "", headers: dict[str, str] | None = None) -> httpx.Response:
        """Ask WebDAV, without the lock's token unless it is in the headers."""
        return self.person.http.request(method, f"/dav/{name}", content=content, headers=headers)

    def upload(self, between: Callable[[], None]) -> None:
        """Upload a file in one request; `between` is called in the middle of it."""
        metadata = f"filename {b64encode(b'upload.bin').decode()}"
        headers = {**TUS, "Upload-Length": str(len(PIECE) * PIECES), "Upload-Metadata": metadata}
        begun = self.person.http.post("/api/drive/uploads", headers=headers)
        headers = {**TUS, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
        url = f"/api/drive/{begun.headers['location']}"
        sent = self.person.http.patch(url, headers=headers, content=self._pieces(between))
        assert sent.status_code == 204, sent.text

    def _pieces(self, between: Callable[[], None]) -> Generator[bytes]:
        for number in range(PIECES):
            if number == PIECES // 2:
                between()
            yield PIECE

    def finish(self) -> None:
        """Bring all to its end: the lock holds, the approval is open, and each change is made once."""
        self.service.open_gate()
        assert self.person.answer(self.approval, "approve").status_code == 200
        assert len(self.asked.finish()["changes"]) == 1
        assert len(self.chat.finish()["changes"]) == 1
        assert self.dav("PUT", "locked.txt", "by another").status_code == 423
        assert self.dav("PUT", "locked.txt", "after", {"If": f"({self.locked})"}).status_code == 204
        wait_until_indexed(self.person)

    def check(self) -> None:
        """Count what is there: everything once, whole."""
        items = {item["name"]: item for item in self.person.children()}
        texts = [item["name"] for item in self.texts]
        assert sorted(items) == sorted([*texts, "By chat", "locked.txt", "scan.pdf", "upload.bin"])
        assert len(self.person.children()) == len(items)
        assert self.person.content(items["upload.bin"]["id"]).encode() == PIECE * PIECES
        assert items["upload.bin"]["version"] == 1
        assert self.person.content(items["locked.txt"]["id"]) == "after"
        assert self.person.names("trash") == ["asked.txt"]
        found = self.person.get("/api/drive/search", q="zebra", limit="50", mode="text")["hits"]
        assert sorted(hit["file"]["name"] for hit in found) == sorted(texts)

    def wait_for_ocr(self) -> None:
        """Wait until the scan is read, which comes after all other files."""
        deadline = time.monotonic() + OCR_SECONDS
        while (found := self.person.get(f"/api/drive/items/{self.scan['id']}/index"))["state"] != "indexed":
            assert time.monotonic() < deadline, found
            self.person.get("/api/drive/index", wait_seconds="1")


@pytest.mark.timeout(600)
def test_a_stop_of_the_process_loses_and_doubles_nothing(service: Stoppable) -> None:
    with ExitStack() as stack:
        all_of_it = Everything(service, stack)
        all_of_it.upload(lambda: service.stop_for(STOP_SECONDS))
        service.stop_for(STOP_SECONDS)
        all_of_it.finish()
        service.stop_for(STOP_SECONDS)
        all_of_it.wait_for_ocr()
        all_of_it.check()


@pytest.mark.timeout(600)
def test_a_clock_that_steps_forward_and_back_loses_and_doubles_nothing(service: Stoppable) -> None:
    with ExitStack() as stack:
        all_of_it = Everything(service, stack)
        steps = iter([1.5, -3.0, 0.5, -0.25, 1.5])

        def step() -> None:
            service.step(next(steps))
            assert all_of_it.person.get("/readyz")["status"] == "ready"

        all_of_it.upload(step)
        for _ in range(4):
            step()
            assert all_of_it.dav("PUT", "locked.txt", "by another").status_code == 423
        all_of_it.finish()
        service.step(-1)
        all_of_it.wait_for_ocr()
        all_of_it.check()


@pytest.mark.timeout(600)
def test_a_clock_that_steps_back_revives_nothing_also_over_a_kill(service: Stoppable) -> None:
    with ExitStack() as stack:
        all_of_it = Everything(service, stack)
        shared = all_of_it.person.upload("shared.txt", "x")
        link = link_to(all_of_it.person, shared["id"], 1)
        all_of_it.upload(lambda: None)
        service.open_gate()
        all_of_it.chat.finish()
        service.step(5)
        expired(all_of_it, link)
        for hours in (-5, 5, -10):
            service.step(hours)
            expired(all_of_it, link)
        stack.close()
        service.kill()
        service.start()
        all_of_it.person = service.person()
        expired(all_of_it, link)
        all_of_it.person.close()


def link_to(person: Person, item_id: str, hours: int) -> str:
    """Make a link that ends, and return its token."""
    terms = {"role": "viewer", "expires_in_hours": hours}
    made = person.http.post(f"/api/drive/items/{item_id}/shares", json=terms).json()
    token = made["url"].rpartition("/")[2]
    assert person.http.get(f"/api/links/{token}").status_code == 200, made
    return token


def expired(all_of_it: Everything, link: str) -> None:
    """The link, the lock and the approval have ended, and what they guarded is as it was."""
    person: Any = all_of_it.person
    assert person.http.get(f"/api/links/{link}").status_code in {404, 410}
    late = person.answer(all_of_it.approval, "approve")
    assert (late.status_code, late.json()["code"]) == (409, "approval_expired")
    assert "asked.txt" in person.names()
    assert all_of_it.dav("PUT", "locked.txt", "after the lock").status_code == 204
