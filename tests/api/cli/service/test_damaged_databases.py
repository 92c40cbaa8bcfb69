"""A damaged file of a database ends the start with one sentence and the way back; the newest backup brings all back."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from api.cli import main
from tests.drive_server.kernel.sql.test_sqlite_faults import overwrite_header, zero_pages

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILES = ("drive.db", "api.db", "graph.db", "store.db")
TRACES = ("Traceback", "sqlite3", "sqlalchemy", "full")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a data directory and a backup of it."""
    folder = tmp_path_factory.mktemp("damaged")
    with pytest.MonkeyPatch.context() as patch:
        settings(patch, folder)
        assert main(["mkdir", "/Kept"]) == 0
        assert main(["backup", str(folder / "backups")]) == 0
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made / "data", tmp_path / "data")
    settings(monkeypatch, tmp_path)
    return tmp_path


def settings(patch: pytest.MonkeyPatch, folder: Path) -> None:
    for name in ("DRIVE_AGENT_URL", "DRIVE_AGENT_TOKEN"):
        patch.delenv(name, raising=False)
    patch.setenv("LC_ALL", "C.UTF-8")
    patch.setenv("DRIVE_EMBEDDING_MODEL", "none")
    patch.setenv("DRIVE_DATA_DIR", str(folder / "data"))


@pytest.mark.parametrize("harm", [overwrite_header, zero_pages])
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_database_ends_the_start_and_its_backup_brings_it_back(
    folder: Path, made: Path, name: str, harm: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    harm(folder / "data" / name)
    damaged = (folder / "data" / name).read_bytes()
    assert main(["serve", "--port", "0"]) == 1
    shown = capsys.readouterr().err
    (sentence,) = [line for line in shown.splitlines() if line.startswith("drive-agent: ")]
    assert f" {name} is " in sentence
    assert not any(trace in sentence for trace in TRACES)
    assert "Traceback" not in shown
    assert "The newest backup is " in shown
    assert f"restore {made / 'backups'} --into {folder / 'data'} --force" in shown
    assert (folder / "data" / name).read_bytes() == damaged

    assert main(["restore", str(made / "backups"), "--into", str(folder / "data"), "--force"]) == 0
    assert main(["ls"]) == 0
    assert "Kept" in capsys.readouterr().out


def test_without_a_backup_it_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "data" / "last_backup.json").unlink()
    overwrite_header(folder / "data" / "drive.db")
    assert main(["ls"]) == 1
    assert "No backup of this data directory is known." in capsys.readouterr().err


@pytest.mark.parametrize("command", ["http", "stdio", "migrate", "collect"])
def test_the_drive_alone_says_it_too(folder: Path, command: str) -> None:
    overwrite_header(folder / "data" / "drive.db")
    ended = subprocess.run(
        [sys.executable, "-m", "drive_server", command, *(["--port", "0"] if command == "http" else [])],
        env={**os.environ, "DRIVE_DATA_DIR": str(folder / "data")},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 1
    assert "drive.db is not a database of this program" in ended.stderr
    assert "Traceback" not in ended.stderr
