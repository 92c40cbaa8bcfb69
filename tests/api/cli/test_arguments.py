from __future__ import annotations

import re
import subprocess
import sys
import time

import pytest

from api.cli import command, main
from api.cli.arguments import MAX_DAYS_OF_KEYS, build_parser
from drive_server.services.identity.keys import MAX_KEY_DAYS
from tests.api.cli.command import drive_agent

COMMAND_LINES = [
    ["serve"],
    ["serve", "--host", "::1", "--port", "0"],
    ["chat"],
    ["chat", "你好", "--thread", "t", "--folder", "/a", "--file", "/a/b", "--url", "http://x", "--yes-to", "write"],
    ["import", "folder", "--into", "/there"],
    ["ls"],
    ["ls", "/a", "--json"],
    ["search", "parental leave", "--json"],
    ["mcp"],
    ["mcp", "--tools", "all"],
    ["key", "create", "laptop", "--scope", "read,write,share,delete", "--days", "30"],
    ["key", "list", "--json"],
    ["key", "revoke", "id"],
    ["user", "add", "bob@example.com"],
    ["user", "list", "--json"],
    ["user", "disable", "bob@example.com"],
    ["user", "reset-password", "bob@example.com"],
    ["user", "remove", "bob@example.com", "--hand-over-to", "cara@example.com", "--yes"],
    ["group", "create", "Sales", "--member", "bob@example.com"],
    ["group", "change", "Sales", "--add", "bob@example.com", "--remove", "cara@example.com"],
    ["group", "delete", "Sales"],
    ["group", "list", "--json"],
    ["index", "--status", "--json"],
    ["index", "--rebuild"],
    ["undo", "run"],
    ["undo", "--thread", "t", "--since", "run", "--yes"],
    ["redo", "--change", "7"],
    ["doctor", "--json"],
    ["chat", "hi", "--assistant", "Support", "--model", "gpt-5"],
    ["servers", "list", "--json"],
    [
        "servers",
        "add",
        "Web",
        "https://x.example.com/mcp",
        "--type",
        "sse",
        "--header",
        "Authorization",
        "--timeout",
        "5",
    ],
    ["servers", "add", "Files", "--env", "TOKEN", "--stdio", "npx", "-y", "server", "--url", "x"],
    ["servers", "edit", "Web", "--name", "W"],
    ["servers", "test", "Web", "--json"],
    ["servers", "tools", "Web", "--accept", "a", "--auto-approve", "b", "--ask", "c", "--json"],
    ["servers", "enable", "Web"],
    ["servers", "disable", "Web", "a", "b"],
    ["servers", "remove", "Web"],
    ["servers", "import", "-"],
    ["assistants", "list", "--json"],
    ["assistants", "create", "Support", "--server", "Web", "--server", "Files", "--default"],
    ["assistants", "edit", "Support", "--name", "S", "--no-servers", "--drive-tools", "all"],
    ["assistants", "delete", "Support"],
]
WRONG_LINES = [
    [],
    ["fly"],
    ["serve", "--port", "65536"],
    ["serve", "--port", "http"],
    ["chat", ""],
    ["chat", "  "],
    ["chat", "a", "b"],
    ["chat", "hi", "--yes-to", "delete"],
    ["chat", "hi", "--yes-to", "share"],
    ["import"],
    ["share"],
    ["key"],
    ["key", "create", "laptop"],
    ["key", "create", "laptop", "--scope", "admin"],
    ["key", "create", "laptop", "--scope", ""],
    ["key", "create", "laptop", "--scope", "read", "--days", "0"],
    ["key", "create", "laptop", "--scope", "read", "--days", "1.5"],
    ["key", "create", "laptop", "--scope", "read", "--days", "3651"],
    ["key", "create", "laptop", "--scope", "read", "--days", "9" * 5000],
    ["user", "remove", "bob@example.com"],
    ["index"],
    ["index", "--status", "--rebuild"],
    ["undo"],
    ["undo", "run", "--change", "7"],
    ["undo", "--change", "seven"],
    ["redo"],
    ["redo", "--thread", "t"],
    ["ls", "--unknown"],
    ["ls", "--url"],
    ["ls", "--json=yes"],
    ["chat", "--f", "x"],
    ["mv", "/a"],
    ["versions", "get", "/a", "0"],
    ["servers", "edit", "Web", "--timeout", "soon"],
]
PHRASE = re.compile("[a-z]{2,} [a-z]{2,}")


@pytest.mark.parametrize("line", COMMAND_LINES, ids=" ".join)
def test_every_command_of_the_contract_is_understood_and_has_its_function(line: list[str]) -> None:
    arguments = build_parser().parse_args(line)
    assert callable(command(arguments.target))


@pytest.mark.parametrize("line", WRONG_LINES, ids=" ".join)
def test_wrong_usage_exits_with_2_and_says_how_it_goes(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(line)
    assert stopped.value.code == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("usage: drive-agent")


def test_wrong_usage_is_said_in_chinese_in_a_chinese_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    for line in WRONG_LINES:
        with pytest.raises(SystemExit) as stopped:
            main(line)
        *usage, error = capsys.readouterr().err.splitlines()
        assert stopped.value.code == 2
        assert usage[0].startswith("用法：drive-agent")
        assert re.match("drive-agent[a-z -]*：错误：", error)
        assert not PHRASE.search(error.partition("：错误：")[2]), error
    with pytest.raises(SystemExit):
        main(["serve", "--port", "http"])
    assert capsys.readouterr().err.endswith("错误：参数 --port：'http' 不是端口（0 到 65535）\n")


def test_a_key_may_last_as_long_as_the_service_lets_it() -> None:
    line = ["key", "create", "laptop", "--scope", "read", "--days"]

    assert build_parser().parse_args([*line, str(MAX_KEY_DAYS)]).days == MAX_KEY_DAYS
    assert MAX_DAYS_OF_KEYS == MAX_KEY_DAYS


def test_help_lists_the_commands_and_the_exit_codes() -> None:
    result = drive_agent("--help")
    assert result.returncode == 0
    for word in ("serve", "chat", "import", "ls", "search", "mcp", "key", "user", "index", "undo", "doctor"):
        assert f"\n    {word} " in result.stdout
    assert "Exit codes: 0 done, 1 failed (a sentence says why), 2 wrong usage." in result.stdout


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys, contextlib, io\n"
        "from api.cli import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()): main(['--help'])\n"
        "heavy = {'rich', 'httpx', 'pydantic', 'uvicorn', 'fastapi', 'sqlalchemy', 'lancedb', 'langgraph'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    started = time.monotonic()
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n", f"after {time.monotonic() - started:.1f} s"


def test_a_reader_that_has_gone_is_no_traceback() -> None:
    result = subprocess.run(
        ["bash", "-c", f"{sys.executable} -c 'from api.cli import main; main([\"--help\"])' | true"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in result.stderr
