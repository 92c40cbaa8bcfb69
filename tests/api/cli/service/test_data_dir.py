from __future__ import annotations

import os
import subprocess
import sys
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from api.cli.failure import CommandError
from api.cli.service.data_dir import BusyError, attached, hold, publish, wait_for_peers, withdraw
from drive_server.storage.installation.service_record import ServiceRecord, is_held, read_record
from tests.fakes.file_locks import USE

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("file_locks")

HOLDER = f"""{USE}
import sys
from pathlib import Path
from api.cli.service.data_dir import hold, publish
from drive_server.storage.installation.service_record import ServiceRecord
root = Path(sys.argv[1])
with hold(root):
    publish(root, ServiceRecord("http://127.0.0.1:1", 1))
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path, file_locks: None) -> subprocess.Popen[str]:
    del file_locks
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    return process


def test_one_process_holds_a_data_directory_and_the_next_is_told_which(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    with holder:
        with pytest.raises(BusyError, match=rf"process {holder.pid}"), hold(tmp_path):
            pass
        assert read_record(tmp_path) == ServiceRecord("http://127.0.0.1:1", 1)
        holder.communicate()
    with hold(tmp_path):
        assert is_held(tmp_path)
    assert not is_held(tmp_path)


@pytest.mark.story
def test_the_record_of_a_killed_process_is_not_believed(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    with holder:
        holder.kill()
        holder.wait(30)
    assert (tmp_path / "service.json").exists()
    assert read_record(tmp_path) is None
    with hold(tmp_path):
        assert not (tmp_path / "service.json").exists()


def test_a_holder_that_ends_waits_for_those_who_use_it(tmp_path: Path) -> None:
    waited = Event()
    with attached(tmp_path):
        leaving = Thread(target=wait_for_peers, args=(tmp_path, waited.set))
        leaving.start()
        assert waited.wait(30)
        assert leaving.is_alive()
    leaving.join(10)
    assert not leaving.is_alive()
    wait_for_peers(tmp_path, lambda: pytest.fail("nobody is left"))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"url": "http://x"}', '{"url": "http://x", "pid": "many"}'])
def test_a_damaged_record_is_no_record(tmp_path: Path, text: str) -> None:
    with hold(tmp_path):
        (tmp_path / "service.json").write_text(text)
        assert read_record(tmp_path) is None


def test_a_record_is_seen_by_its_owner_alone_and_can_be_withdrawn(tmp_path: Path) -> None:
    with hold(tmp_path):
        publish(tmp_path, ServiceRecord("http://localhost", os.getpid(), "/tmp/s"))
        assert (tmp_path / "service.json").stat().st_mode & 0o777 == 0o600
        assert read_record(tmp_path) == ServiceRecord("http://localhost", os.getpid(), "/tmp/s")
        withdraw(tmp_path)
        assert read_record(tmp_path) is None


def test_a_new_data_directory_is_private(tmp_path: Path) -> None:
    with hold(tmp_path / "new" / "data"):
        assert (tmp_path / "new" / "data").stat().st_mode & 0o777 == 0o700


def test_a_data_directory_that_is_a_file_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(CommandError, match="can't be used"), hold(tmp_path / "data"):
        pass
