"""A file of 300 MB, made on the fly, through the real service in a process of its own: that may not grow by it."""

from __future__ import annotations

import shutil
import threading
from base64 import b64encode
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.drive_server.http.process import Running, serving

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

MEBIBYTE = 1 << 20
SIZE = 300_000_000
HALF = SIZE // 2
MAX_GROWTH_KIBIBYTES = 100 * 1024
LEAST_ANSWERS = 10
PAUSE_SECONDS = 0.1
FILLER = bytes(range(256)) * (MEBIBYTE // 256 - 1) + bytes(248)
TUS = {"Tus-Resumable": "1.0.0"}
BYTES = {**TUS, "Content-Type": "application/offset+octet-stream"}


def pieces(start: int = 0, end: int = SIZE) -> Iterator[bytes]:
    """Yield the content from `start` to `end`: no two of its pieces are the same."""
    position = start - start % MEBIBYTE
    while position < end:
        piece = position.to_bytes(8, "big") + FILLER
        yield piece[max(start - position, 0) : end - position]
        position += MEBIBYTE


def send(service: Running, url: str, start: int, end: int) -> str | None:
    """Send a part of the content to an upload; return what it became by that."""
    headers = {**BYTES, "Upload-Offset": str(start), "Content-Length": str(end - start)}
    with service.answer("PATCH", url, pieces(start, end), headers) as response:
        assert response.status == 204, response.read()
        return response.headers["Upload-Item-Id"]


@contextmanager
def in_use_by_another(service: Running) -> Generator[list[int]]:
    """Have somebody else ask for little things meanwhile; the list gets the status of each answer."""
    answers: list[int] = []
    done = threading.Event()

    def ask() -> None:
        while not done.wait(PAUSE_SECONDS):
            with service.answer("GET", "/api/drive/items/root") as response:
                answers.append(response.status)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield answers
    finally:
        done.set()
        thread.join()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    """A service that has done a little of everything, and is idle again: what it loads for that is loaded."""
    try:
        with serving(tmp_path / "data") as service:
            small = service.json("POST", "/api/drive/files?name=small.txt", b"x")
            with service.answer("GET", f"/api/drive/files/{small['id']}/content") as response:
                response.read()
            url = begin(service, "small.bin", 1)
            with service.answer("PATCH", url, b"x", {**BYTES, "Upload-Offset": "0"}) as response:
                response.read()
            while service.json("GET", "/api/drive/index?wait_seconds=10")["counts"].get("ready", 0) == 0:
                pass
            yield service
    finally:
        shutil.rmtree(tmp_path / "data", ignore_errors=True)


def begin(service: Running, name: str, size: int) -> str:
    metadata = f"filename {b64encode(name.encode()).decode()}"
    headers = {**TUS, "Upload-Length": str(size), "Upload-Metadata": metadata}
    with service.answer("POST", "/api/drive/uploads", headers=headers) as response:
        assert response.status == 201, response.read()
        return f"/api/drive/{response.headers['Location']}"


def require_content(service: Running, item_id: str, start: int, end: int) -> None:
    """Download a part of the file and compare it with what was sent."""
    path = f"/api/drive/files/{item_id}/content"
    with service.answer("GET", path, headers={"Range": f"bytes={start}-{end - 1}"}) as response:
        assert response.status == 206
        assert response.headers["Content-Range"] == f"bytes {start}-{end - 1}/{SIZE}"
        for piece in pieces(start, end):
            assert response.read(len(piece)) == piece
        assert response.read() == b""


@pytest.mark.timeout(300)
def test_300_megabytes_pass_in_both_directions_through_little_memory(service: Running) -> None:
    idle = service.peak()

    with in_use_by_another(service) as answers:
        raw = service.json("POST", "/api/drive/files?name=raw.bin", pieces(), {"Content-Length": str(SIZE)})
        assert raw["size"] == SIZE
        require_content(service, raw["id"], 0, HALF + 7)
        require_content(service, raw["id"], HALF + 7, SIZE)
        url = begin(service, "resumed.bin", SIZE)
        assert send(service, url, 0, HALF + 1) is None
        resumed = send(service, url, HALF + 1, SIZE)

        with service.answer("PUT", "/dav/by%20webdav.bin", pieces(), {"Content-Length": str(SIZE)}) as response:
            assert response.status == 201
        with service.answer("GET", "/dav/by%20webdav.bin") as response:
            assert all(response.read(len(piece)) == piece for piece in pieces())

    assert resumed is not None
    # The same content in the same drive: its hash was the same, so it is kept once.
    assert service.json("GET", "/api/auth/me")["used_bytes"] == SIZE + 1
    assert service.peak() - idle < MAX_GROWTH_KIBIBYTES
    assert len(answers) >= LEAST_ANSWERS
    assert set(answers) == {200}
