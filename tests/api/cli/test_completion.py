from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from api.cli import main
from api.cli.arguments import build_parser
from api.cli.completion import commands_of
from tests.api.cli.completing import completed

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = {command.path: command for command in commands_of(build_parser(), ())}


def require(shell: str) -> None:
    """Skip the test where the shell is not installed; `make test` installs all of them."""
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["tra"], ["trash"]),
        (["trash", ""], ["delete", "empty", "list", "restore"]),
        (["trash", "re"], ["restore"]),
        (["get", "/a.txt", "--on-conflict", "r"], ["rename", "replace"]),
        (["get", "--on-"], ["--on-conflict"]),
        (["chat", "--con"], ["--config", "--continue"]),
        (["completion", ""], ["bash", "fish", "zsh"]),
        (["put", "here"], ["here it is.txt"]),
        (["--config", "here"], ["here it is.txt"]),
        (["ls", "here"], []),
        (["share", "/trash", "a@b.c", "--ro"], ["--role"]),
    ],
)
def test_bash_completes_what_the_parser_knows(
    words: list[str], found: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "here it is.txt").write_text("")
    (tmp_path / "script").write_text(script("bash", capsys))
    offered = completed("bash", tmp_path, words)

    assert sorted(word for word in offered if word not in {"", "-h", "--help"}) == found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["versi"], "versions"),
        (["trash", "re"], "restore"),
        (["get", "/a.txt", "--on-conflict", "ren"], "rename"),
        (["put", "her"], "here.txt"),
    ],
)
def test_each_shell_itself_completes_a_command_a_value_and_the_name_of_a_file(
    shell: str, words: list[str], found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    require(shell)
    (tmp_path / "here.txt").write_text("")
    (tmp_path / "script").write_text(script(shell, capsys))

    assert completed(shell, tmp_path, words) == [found]


def test_every_command_and_option_is_in_each_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert ("versions", "diff") in COMMANDS
    bash, zsh, fish = (script(shell, capsys) for shell in ("bash", "zsh", "fish"))

    assert bash in zsh
    assert zsh.startswith("#compdef drive-agent\n")
    for command in COMMANDS.values():
        assert f"'{command.key}') echo '{command.words}'" in bash
        for name in command.subcommands:
            assert f'__drive_agent_at "{command.key}"\' -a {name}' in fish
        for option in command.options:
            assert (
                f'__drive_agent_at "{command.key}"\' -{"l" if option[:2] == "--" else "s"} {option.lstrip("-")}' in fish
            )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_of_its_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    require(shell)
    subprocess.run([shell, "-n"], input=script(shell, capsys), text=True, check=True)
