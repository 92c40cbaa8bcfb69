from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from api.cli import main
from api.cli.arguments import build_parser
from api.cli.completion.grammar import commands_of
from tests.api.cli.completing import completed_by_bash, typing_in

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.person import Person
    from tests.e2e.service import Service

COMMANDS = {command.path: command for command in commands_of(build_parser())}
SHELLS = ("bash", "zsh", "fish")
FOLDER = "/My folder $(touch pwned)/"
TYPED = {
    "/it": "/it's.txt",
    "/\\$": "/$(touch pwned)",
    "'/`": "/`touch pwned`; touch pwned.txt",
    "/报": "/报告 一.txt",
    "/😀": "/😀",
    "/-": "/-dash",
    "/a:": "/a:b.txt",
    "'/a:": "/a:b.txt",
    "/a\\:": "/a:b.txt",
    "/at@": "/at@b",
    "/x": "/x!y",
    '"/x': "/x!y",
    '/x"': "/x!y",
    "/it'": "/it's.txt",
    "/~": "/~{a,b}*#&|>",
    "/q": '/q"q',
    "/on": "/only: 'a\" $HOME $(touch pwned) `touch pwned`!1",
    "'/on": "/only: 'a\" $HOME $(touch pwned) `touch pwned`!1",
    '"/on': "/only: 'a\" $HOME $(touch pwned) `touch pwned`!1",
}
"""The words to type, each with the path that it must complete to."""
PATHS = {*TYPED.values(), FOLDER, f"{FOLDER}in it's.txt"}


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
        (["get", "/a.txt", "here"], ["here it is.txt"]),
        (["versions", "get", "/a:b.txt", "1", "here"], ["here it is.txt"]),
        (["share", "/trash", "a@b.c", "--ro"], ["--role"]),
    ],
)
def test_bash_completes_what_the_parser_knows(
    words: list[str], found: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "here it is.txt").write_text("")
    (tmp_path / "script").write_text(script("bash", capsys))
    offered = completed_by_bash(tmp_path, words)

    assert sorted(word for word in offered if word not in {"", "-h", "--help"}) == found


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_completes_a_command_a_value_and_the_name_of_a_file(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    require(shell)
    (tmp_path / "here it is.txt").write_text("")
    with typing_in(shell, tmp_path, script(shell, capsys)) as typist:
        assert typist.type("versi\t") == ["versions"]
        assert typist.type("--config trash trash re\t") == ["--config", "trash", "trash", "restore"]
        assert typist.type("get /a.txt --on-conflict ren\t") == ["get", "/a.txt", "--on-conflict", "rename"]
        assert typist.type("put her\t") == ["put", "here it is.txt"]


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_passes_on_exactly_the_path_that_it_completed(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    require(shell)
    (tmp_path / "paths").write_text("".join(f"{path}\n" for path in PATHS))
    with typing_in(shell, tmp_path, script(shell, capsys)) as typist:
        for typed, path in TYPED.items():
            assert typist.type(f"cat {typed}\tnext") == ["cat", path, "next"], typist.shown.decode()
        assert typist.type("cat /My\tin\tnext") == ["cat", f"{FOLDER}in it's.txt", "next"]
        assert typist.type("cat '/My\tin\tnext") == ["cat", f"{FOLDER}in it's.txt", "next"]
        assert typist.type('cat "/My\tin\tnext') == ["cat", f"{FOLDER}in it's.txt", "next"]
        assert typist.type("ls --url http://a:1 /My\t") == ["ls", "--url", "http://a:1", FOLDER]
        assert typist.asked() == ["drive-agent", "ls", "--url", "http://a:1", "/My"]
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_offers_local_files_and_the_drive_where_an_argument_may_be_either(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    require(shell)
    (tmp_path / "here it is.txt").write_text("")
    (tmp_path / "paths").write_text("/Reports/\n")
    with typing_in(shell, tmp_path, script(shell, capsys)) as typist:
        assert typist.type("put her\t /Re\t") == ["put", "here it is.txt", "/Reports/"]
        assert typist.type("get /Re\t her\t") == ["get", "/Reports/", "here it is.txt"]
        assert typist.type("get /x /Re\t") == ["get", "/x", "/Reports/"]
        assert typist.type("put /Re\t") == ["put", "/Re"]
        assert typist.type("chat --folder /Re\t") == ["chat", "--folder", "/Reports/"]


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_asks_the_service_that_the_line_names(
    shell: str, service: Service, alice: Person, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    require(shell)
    alice.folder("My $(touch pwned) 报告")
    address = ["--url", service.url, "--token", alice.token]
    with typing_in(shell, tmp_path, script(shell, capsys)) as typist:
        assert typist.type(f"tree {' '.join(address)} /M\t") == ["tree", *address, "/My $(touch pwned) 报告/"]


def test_the_arguments_that_are_paths_of_the_drive_are_completed_from_it() -> None:
    arguments = {key for key, command in COMMANDS.items() if any("@items" in one.kinds for one in command.arguments)}
    options = {(*key, option) for key, command in COMMANDS.items() for option in command.values}
    asking = {(*key, option) for *key, option in options if COMMANDS[tuple(key)].values[option] == ("@items",)}

    assert {" ".join(key) for key in arguments} == {
        *("cat", "cp", "du", "get", "link", "ls", "mkdir", "mv", "open", "put", "rm", "share", "tree"),
        *("versions diff", "versions get", "versions list", "versions restore"),
    }
    assert {" ".join(key) for key in asking} == {
        *("chat --file", "chat --folder", "import --into", "trash restore --to"),
    }


def test_every_command_and_option_is_in_each_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert ("versions", "diff") in COMMANDS
    bash, zsh, fish = (script(shell, capsys) for shell in SHELLS)

    assert zsh.startswith("#compdef drive-agent\n")
    for command in COMMANDS.values():
        assert f"'{command.key}') echo '{command.words}'" in bash
        assert f"'{command.key}') echo '{command.words}'" in zsh
        for name in command.subcommands:
            assert f'__drive_agent_at "{command.key}"\' -a {name}' in fish
        for option in command.options:
            assert (
                f'__drive_agent_at "{command.key}"\' -{"l" if option[:2] == "--" else "s"} {option.lstrip("-")}' in fish
            )


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_one_of_its_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    require(shell)
    subprocess.run([shell, "-n"], input=script(shell, capsys), text=True, check=True)
