"""A data directory or settings that can't be used: a sentence in the person's language, no traceback, exit code 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from api.cli import main
from tests.api.cli.ordinary_user import as_ordinary_user, folder_for_all

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = [["ls"], ["mcp"], ["serve", "--port", "0"], ["chat", "hi"], ["get", "/a", "-"]]
SETTINGS = [
    (b"this is no setting\n", "Line 1 of {path} is not of the form NAME=value."),
    (b"\xff\xfe", "The configuration file {path} can't be read: it is no text in UTF-8."),
    (b"DRIVE_DATA_DIR=/elsewhere\n", "{path} can't name another data directory than the one that it lies in."),
    (None, "The configuration file {path} can't be read: Is a directory."),
]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("DRIVE_AGENT_URL", "DRIVE_AGENT_TOKEN", "LC_ALL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("DRIVE_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(("content", "sentence"), SETTINGS)
def test_a_broken_settings_file_is_a_sentence(
    data: Path, command: list[str], content: bytes | None, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data.mkdir()
    path = data / "drive-agent.env"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)

    assert main(command) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines()[0] == f"drive-agent: {sentence.format(path=path)}"
    assert len(shown.err.splitlines()) == 2


def test_the_sentence_is_in_the_language_of_the_terminal(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    data.mkdir()
    (data / "drive-agent.env").write_text("x y z\n")

    assert main(["ls"]) == 1
    assert capsys.readouterr().err.startswith(
        f"drive-agent: {data / 'drive-agent.env'} 的第 1 行不是 名称=值 的形式。\n请改正它"
    )


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_data_directory_that_can_not_be_made_is_a_sentence(
    data: Path, command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data.write_text("a file")
    monkeypatch.setenv("DRIVE_DATA_DIR", str(data / "below"))

    assert main(command) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"drive-agent: The data directory {data / 'below'} can't be used: Not a directory.\n")
    assert len(shown.err.splitlines()) == 2


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_data_directory_that_can_only_be_read_is_a_sentence(
    data: Path, command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    del data
    with folder_for_all() as folder:
        root = folder / "data"
        root.mkdir()
        (root / "drive.db").write_text("")
        root.chmod(0o555)
        monkeypatch.setenv("DRIVE_DATA_DIR", str(root))
        with as_ordinary_user():
            assert main(command) == 1

    shown = capsys.readouterr()
    assert shown.err.startswith(f"drive-agent: The data directory {root} can't be used: Permission denied.\n")


@pytest.mark.parametrize("command", [["ls"], ["mcp"], ["serve"]], ids=" ".join)
def test_a_settings_file_that_is_named_and_not_there_is_a_sentence(
    data: Path, command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del data
    missing = tmp_path / "no.env"

    assert main([*command, "--config", str(missing)]) == 1
    assert f"The configuration file {missing} can't be read: No such file" in capsys.readouterr().err
