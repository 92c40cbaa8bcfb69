from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest

from api.cli.service.serve import Start, doubt_about
from api.cli.terminal import Terminal
from drive_server.kernel.settings import DriveSettings
from graph.settings import AgentSettings
from tests.api.cli.command import drive_agent

if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT = Path("~/.drive-agent").expanduser()


@pytest.mark.parametrize(
    ("public", "doubtful"),
    [
        ("", False),
        ("http://127.0.0.1:8110", False),
        ("http://localhost:8110/", False),
        ("https://drive.example.com", False),
        ("http://127.0.0.1:8000", True),
        ("http://localhost", True),
        ("https://localhost:8110", True),
        ("http://[::1]:8000", True),
    ],
)
def test_a_public_address_where_nothing_answers_is_doubted(public: str, doubtful: bool) -> None:
    assert bool(doubt_about(public, "http://127.0.0.1:8110")) is doubtful


@pytest.mark.parametrize("url", ["drive.example.com", "ftp://drive.example.com", "https://drive.example.com/drive?a=b"])
def test_a_public_address_that_can_not_be_right_stops_the_start(tmp_path: Path, url: str) -> None:
    result = drive_agent("serve", "--port", "0", settings={"DRIVE_DATA_DIR": str(tmp_path), "DRIVE_PUBLIC_URL": url})

    assert (result.returncode, result.stdout) == (1, "")
    assert "DRIVE_PUBLIC_URL can't be used: write it as https://drive.example.com" in result.stderr


@pytest.fixture
def printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, Path, Path | None], str]:
    """Return what prints the line to try, where the command is on the PATH."""
    monkeypatch.setattr(shutil, "which", Mock(return_value="/bin/drive-agent"))

    def printed(url: str, root: Path, config: Path | None) -> str:
        drive = DriveSettings(data_dir=root).listening_at(url)
        start = Start(url, config, drive, AgentSettings(model="m"), Terminal())
        start.print_next_steps(f"{url}/login/x")
        found = re.search(r"Try:     (.*)", capsys.readouterr().out)
        assert found
        return found[1]

    return printed


@pytest.mark.parametrize(
    ("url", "root", "config", "line"),
    [
        ("http://127.0.0.1:8000", DEFAULT, None, "drive-agent chat"),
        ("http://127.0.0.1:8110", DEFAULT, None, "drive-agent chat --url http://127.0.0.1:8110"),
        ("http://127.0.0.1:8000", Path("/my data"), None, "DRIVE_DATA_DIR='/my data' drive-agent chat"),
        ("http://127.0.0.1:8000", DEFAULT, Path("/a/b.env"), "drive-agent chat --config /a/b.env"),
        # The local token is sent to this machine alone; the data directory leads to the service.
        ("http://192.168.1.5:8000", DEFAULT, None, "drive-agent chat"),
    ],
)
def test_the_line_to_try_names_what_is_not_the_default(
    printed: Callable[[str, Path, Path | None], str], url: str, root: Path, config: Path | None, line: str
) -> None:
    assert printed(url, root, config) == f'{line} "what can you do?"'


def test_a_chinese_terminal_is_told_in_chinese_what_to_do_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    drive = DriveSettings(data_dir=tmp_path).listening_at("http://127.0.0.1:8000")

    Start("http://127.0.0.1:8000", None, drive, AgentSettings(model="offline"), Terminal()).print_next_steps("LOGIN")

    first, *rest = capsys.readouterr().out.splitlines()
    assert first == "Drive Agent 已就绪。"
    assert [line[:5] for line in rest if line.startswith("  ") and line[2] != " "] == [
        "  打开：",
        "  试试：",
        "  模型：",
        "  数据：",
    ]
    assert "正在使用内置离线模型。" in "".join(rest)
    assert rest[-1] == "按 Ctrl-C 停止。"
