from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.errors import LockedError
from drive_server.storage.partials.files import PartialFile, PartialFiles
from tests.fakes.file_locks import USE

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("file_locks")

KILLED = f"""{USE}
import os, signal, sys
from pathlib import Path
from drive_server.storage.partials.files import PartialFiles
file = PartialFiles(Path(sys.argv[1])).open("a")
file.append(b"sure ")
file.distrust()
file.append(b"unsure")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def files(tmp_path: Path) -> PartialFiles:
    files = PartialFiles(tmp_path / "uploads")
    files.create("a")
    return files


def opened(files: PartialFiles) -> PartialFile:
    file = files.open("a")
    assert file is not None
    return file


def test_what_is_appended_is_there_afterwards(files: PartialFiles, tmp_path: Path) -> None:
    for data in (b"one ", b"", bytearray(b"two")):
        file = opened(files)
        file.append(data)
        file.sync()
        file.close()

    assert files.size("a") == 7
    assert (tmp_path / "uploads" / "a").read_bytes() == b"one two"


def test_files_and_their_folder_are_private(files: PartialFiles, tmp_path: Path) -> None:
    assert files.size("a") == 0
    assert (tmp_path / "uploads").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "uploads" / "a").stat().st_mode & 0o777 == 0o600


def test_a_file_has_one_writer(files: PartialFiles) -> None:
    file = opened(files)
    with pytest.raises(LockedError):
        files.open("a")
    file.close()
    opened(files).close()


def test_what_does_not_exist_has_no_size_and_no_writer(files: PartialFiles, tmp_path: Path) -> None:
    assert files.size("b") is None
    assert files.open("b") is None
    with pytest.raises(FileExistsError):
        files.create("a")
    assert PartialFiles(tmp_path / "nowhere").untouched_since(1e12) == []


def test_what_does_not_count_is_cut_off(files: PartialFiles) -> None:
    file = opened(files)
    file.append(b"sure")
    file.distrust()
    file.append(b"unsure")
    assert (file.size(), files.size("a")) == (10, 4)
    file.discard_untrusted()
    file.discard_untrusted()
    assert (file.size(), files.size("a")) == (4, 4)

    file.distrust()
    file.append(b"!")
    file.trust()
    file.close()
    assert files.size("a") == 5


@pytest.mark.story
def test_what_a_killed_writer_did_not_vouch_for_is_cut_off(files: PartialFiles, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "uploads")], check=False)

    assert files.size("a") == len(b"sure ")
    file = opened(files)
    assert file.size() == len(b"sure ")
    file.append(b"now")
    file.close()
    assert (tmp_path / "uploads" / "a").read_bytes() == b"sure now"


def test_removing_leaves_nothing(files: PartialFiles, tmp_path: Path) -> None:
    file = opened(files)
    file.distrust()
    assert files.untouched_since(1e12) == ["a"]
    file.remove()
    file.close()

    assert list((tmp_path / "uploads").iterdir()) == []
    assert files.untouched_since(1e12) == []
