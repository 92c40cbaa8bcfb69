"""`python -m drive_server`, mostly as a process of its own."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import anyio
import httpx
import pytest
from anyio.streams.text import TextReceiveStream
from mcp import StdioServerParameters

from drive_server.__main__ import main
from drive_server.kernel.files.file_locks import try_lock
from drive_server.storage.installation.service_record import LOCK_NAME, RECORD_NAME
from tests.drive_server.actors import local_token
from tests.drive_server.hosts import Host, session_over_stdio

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from pathlib import Path

    from mcp.client.session import SamplingFnT

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.kernel.settings import DriveSettings

COMMAND = (sys.executable, "-m", "drive_server")
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


def environment(settings: DriveSettings, **variables: str) -> dict[str, str]:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("DRIVE_")}
    own = {"DRIVE_DATA_DIR": str(settings.root), "DRIVE_DATABASE_URL": settings.database_url}
    return {**inherited, **own, "DRIVE_EMBEDDING_MODEL": "none", **variables}


@asynccontextmanager
async def over_stdio(
    settings: DriveSettings, *, sampling: SamplingFnT | None = None, **variables: str
) -> AsyncGenerator[Host]:
    """Start the server as a host does. Enter and leave it within one test."""
    command = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:]], env=environment(settings, **variables))
    limit = timedelta(seconds=60)
    async with session_over_stdio(command, read_timeout_seconds=limit, sampling_callback=sampling) as session:
        yield Host(session)


@contextmanager
def service_at(root: Path, url: str) -> Generator[None]:
    """Hold the data directory as a service at this address does."""
    root.mkdir(parents=True, exist_ok=True)
    (root / RECORD_NAME).write_text(json.dumps({"url": url, "pid": os.getpid()}))
    with (root / LOCK_NAME).open("w") as lock:
        assert try_lock(lock)
        yield


@pytest.mark.parametrize(
    ("language", "said"), [("en_GB", "The service runs at {url}."), ("zh_CN", "服务正在 {url} 运行。")]
)
def test_a_command_says_where_the_service_of_the_data_directory_runs(
    in_environment: DriveSettings,
    language: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LC_ALL", language)
    url = "http://127.0.0.1:8123"
    with service_at(in_environment.root, url):
        assert main(["migrate"]) == 0
    assert said.format(url=url) in capsys.readouterr().err
    assert main(["migrate"]) == 0
    assert url not in capsys.readouterr().err


async def test_addresses_over_stdio_lead_to_the_service_of_the_data_directory(drive: Drive, alice: Actor) -> None:
    _, secret = await drive.identity.create_key(alice, "desktop", ["read", "write"])
    item = (await drive.documents.create(alice, "root", "a.md", "x")).value
    with service_at(drive.settings.root, "http://127.0.0.1:8123"):
        async with over_stdio(drive.settings, DRIVE_API_KEY=secret) as host:
            read = await host.call("read_file", file_id=item.id)
    assert read["address"].startswith("http://127.0.0.1:8123/")


async def test_a_host_works_over_stdio_with_the_key_in_the_environment(drive: Drive, alice: Actor) -> None:
    key, secret = await drive.identity.create_key(alice, "desktop", ["read", "write"])
    async with over_stdio(drive.settings, DRIVE_API_KEY=secret) as host:
        await host.call("create_file", name="计划.md", content="你好 🌍")
        read = await host.call("read_file", file_id="/计划.md")
        me = await host.call("whoami")
        lacking = await host.refused("trash_item", item_id="/计划.md")
        await drive.identity.revoke_key(alice, key.id)
        revoked = await host.refused("whoami")

    assert read["text"] == "你好 🌍"
    assert (me["email"], me["key_name"]) == ("alice@example.com", "desktop")
    assert (lacking["code"], revoked["code"]) == ("missing_scope", "unauthenticated")


async def test_a_host_without_a_key_signs_in(drive: Drive, alice: Actor) -> None:
    _, secret = await drive.identity.create_key(alice, "desktop", ["read"])
    async with over_stdio(drive.settings) as host:
        assert (await host.session.list_tools()).tools
        before = await host.refused("list_folder")
        await host.call("authenticate", api_key=secret)
        after = await host.call("list_folder")

    assert before["code"] == "unauthenticated"
    assert after["items"] == []


async def test_nonsense_on_stdin_is_survived_and_nothing_but_the_protocol_is_on_stdout(
    drive_settings: DriveSettings,
) -> None:
    ping = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
    async with await anyio.open_process(COMMAND, env=environment(drive_settings), stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        await process.stdin.send(b"hello\n\xff\xfe\n[]\n{}\nnull\n\n" + ping)
        printed = ""
        async for text in TextReceiveStream(process.stdout):
            printed += text
            if '"id":1,' in printed:
                break
        await process.stdin.aclose()

        assert await process.wait() == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in printed.splitlines())


async def test_the_drive_alone_is_served_over_http(drive_settings: DriveSettings) -> None:
    command = (*COMMAND, "http", "--port", "0")
    async with await anyio.open_process(
        command, env=environment(drive_settings), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        said = ""
        async for text in TextReceiveStream(process.stderr):
            said += text
            if found := ADDRESS.search(said):
                break
        else:
            raise AssertionError(said)
        token = await local_token(drive_settings)
        async with httpx.AsyncClient(base_url=found.group(0), headers={"Authorization": f"Bearer {token}"}) as client:
            me = await client.get("/api/auth/me")
        process.terminate()
        await process.wait()

    assert me.json()["email"] == "me@localhost"


@pytest.fixture
def in_environment(drive_settings: DriveSettings, monkeypatch: pytest.MonkeyPatch) -> DriveSettings:
    monkeypatch.setenv("DRIVE_DATA_DIR", str(drive_settings.root))
    monkeypatch.setenv("DRIVE_EMBEDDING_MODEL", "none")
    return drive_settings


def test_migrate_makes_the_database(in_environment: DriveSettings) -> None:
    assert main(["migrate"]) == 0

    with sqlite3.connect(in_environment.root / "drive.db") as database:
        assert database.execute("select count(*) from nodes").fetchone() == (0,)
    database.close()


def test_reindex_works_on_an_empty_drive(in_environment: DriveSettings) -> None:
    assert main(["reindex"]) == 0
    assert in_environment.root.exists()


def test_collect_says_what_it_removed(in_environment: DriveSettings, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collect"]) == 0
    name = "0" * 64
    folder = in_environment.root / "blobs" / "00" / "00"
    folder.mkdir(parents=True)
    for path in (folder / name, in_environment.root / "blobs" / ".incoming" / "half"):
        path.write_bytes(b"nobody's")
        os.utime(path, (0, 0))
    (folder / ("1" * 64)).write_bytes(b"just stored")

    assert main(["collect"]) == 0
    assert "Set aside 0 contents (0 bytes)" in (kept := capsys.readouterr().out)
    assert "1 that the database does not know stay." in kept
    assert main(["collect", "--unknown"]) == 0
    assert "Set aside 1 contents (8 bytes)" in capsys.readouterr().out
    assert [path.name for path in folder.iterdir()] == ["1" * 64]
    assert in_environment.root.stat().st_mode & 0o077 == 0


def test_what_can_not_be_used_is_said_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("no directory")
    monkeypatch.setenv("DRIVE_DATA_DIR", str(tmp_path / "file"))

    assert main(["migrate"]) == 1

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err
    assert "Traceback" not in printed.err


@pytest.mark.parametrize("arguments", [["serve-everything"], ["http", "--port", "many"], ["stdio", "now"]])
def test_wrong_usage_is_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(arguments)

    assert refused.value.code == 2
