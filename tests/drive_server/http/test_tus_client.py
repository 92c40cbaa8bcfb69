"""A tus client that others wrote (tuspy), killed and resumed; and a service that is killed under it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.drive_server.http.process import Running, serving

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

pytestmark = pytest.mark.story

CHUNK = 1 << 20
CONTENT = b"".join(number.to_bytes(8, "big") * (CHUNK // 8) for number in range(12)) + b"the rest"
TUS = {"Tus-Resumable": "1.0.0"}

UPLOADS = """
import json, sys
from pathlib import Path
from tusclient.client import TusClient
from tusclient.storage.interface import Storage

class Kept(Storage):
    def __init__(self, path):
        self.path = path
    def get_item(self, key):
        return self.path.read_text() if self.path.exists() else None
    def set_item(self, key, value):
        if value:
            self.path.write_text(value)
    def remove_item(self, key):
        self.path.unlink()

address, key, file, kept, checksum, chunk = json.loads(sys.argv[1])
client = TusClient(address, headers={"Authorization": f"Bearer {key}"})
metadata = {"filename": Path(file).name, "filetype": "application/x-numbers"}
uploader = client.uploader(file, chunk_size=chunk, store_url=True, url_storage=Kept(Path(kept)), metadata=metadata,
                           upload_checksum=checksum)
print("from", uploader.offset, flush=True)
if not uploader.url:
    uploader.set_url(uploader.create_url())
while uploader.offset < uploader.stop_at:
    uploader.upload_chunk()
    print("at", uploader.offset, flush=True)
print("done", flush=True)
"""


@contextmanager
def uploading(
    service: Running, file: Path, *, checksum: bool = False, chunk: int = CHUNK
) -> Generator[subprocess.Popen[str]]:
    """Run the client; it says how far it is, a line each. What it knows of the upload is kept beside the file."""
    kept = file.with_suffix(".url")
    arguments = [f"{service.url}/api/drive/uploads", service.token, str(file), str(kept), checksum, chunk]
    command = [sys.executable, "-c", UPLOADS, json.dumps(arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as client:
        try:
            yield client
        finally:
            client.kill()


def upload(service: Running, file: Path, *, checksum: bool = False, chunk: int = CHUNK) -> list[str]:
    """Run the client to its end and return what it said."""
    with uploading(service, file, checksum=checksum, chunk=chunk) as client:
        said, complaint = client.communicate(timeout=60)
    assert client.returncode == 0, complaint
    return said.splitlines()


def files(service: Running) -> list[dict[str, str]]:
    return service.json("GET", "/api/drive/items/root/children")["items"]


def content_of(service: Running, item_id: str) -> bytes:
    with service.answer("GET", f"/api/drive/files/{item_id}/content") as response:
        return response.read()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "numbers 数.bin"
    path.write_bytes(CONTENT)
    return path


@pytest.mark.parametrize("checksum", [False, True])
def test_a_client_that_is_killed_half_way_goes_on_where_it_was(file: Path, tmp_path: Path, checksum: bool) -> None:
    with serving(tmp_path / "data") as service:
        with uploading(service, file, checksum=checksum) as client:
            assert client.stdout is not None
            assert next(client.stdout) == "from 0\n"
            while next(client.stdout) != f"at {5 * CHUNK}\n":
                pass
            client.send_signal(signal.SIGKILL)
        assert files(service) == []

        said = upload(service, file, checksum=checksum)

        assert int(said[0].removeprefix("from ")) >= 5 * CHUNK
        assert said[-2:] == [f"at {len(CONTENT)}", "done"]
        (item,) = files(service)
        assert (item["name"], item["media_type"]) == (file.name, "application/x-numbers")
        assert content_of(service, item["id"]) == CONTENT


def test_a_service_that_is_killed_half_way_goes_on_where_it_was(file: Path, tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service, uploading(service, file) as client:
        assert client.stdout is not None
        while next(client.stdout) != f"at {5 * CHUNK}\n":
            pass
        service.process.kill()
        assert client.wait(60) != 0

    with serving(tmp_path / "data") as service:
        kept = file.with_suffix(".url")
        kept.write_text(service.url + kept.read_text().partition("/api")[1] + kept.read_text().partition("/api")[2])
        said = upload(service, file)

        assert int(said[0].removeprefix("from ")) >= 5 * CHUNK
        (item,) = files(service)
        assert content_of(service, item["id"]) == CONTENT


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_service_that_is_killed_after_the_last_byte_makes_one_file(file: Path, tmp_path: Path, moment: str) -> None:
    with (
        serving(tmp_path / "data", ("tests.drive_server.http.killed", moment, "http")) as service,
        uploading(service, file) as client,
    ):
        assert client.wait(60) != 0
        assert service.process.wait(60) == -signal.SIGKILL

    path = "/api" + file.with_suffix(".url").read_text().partition("/api")[2]
    with serving(tmp_path / "data") as service:
        ids: list[str | None] = []
        for _ in range(2):
            with service.answer("HEAD", path, headers=TUS) as response:
                assert response.headers["Upload-Offset"] == str(len(CONTENT))
                ids.append(response.headers["Upload-Item-Id"])
        (item,) = files(service)
        assert ids == [item["id"], item["id"]]
        assert content_of(service, item["id"]) == CONTENT
        assert service.json("GET", "/api/auth/me")["used_bytes"] == len(CONTENT)


def test_a_whole_file_in_one_request(file: Path, tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        assert upload(service, file, chunk=1 << 30) == ["from 0", f"at {len(CONTENT)}", "done"]
        (item,) = files(service)
        assert content_of(service, item["id"]) == CONTENT
