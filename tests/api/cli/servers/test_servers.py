"""`drive-agent servers` and `assistants` as a person uses them, on a running service and without one."""

from __future__ import annotations

import json
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest

from api.cli import main
from api.cli.arguments import build_parser
from api.cli.servers.stdio_permission import ask_permission
from api.cli.terminal import Terminal
from graph.settings import AgentSettings
from tests.api.command_model import CommandModel
from tests.api.real_service import RealService
from tests.fakes.oauth_server import oauth_server
from tests.fakes.small_mcp import ECHO, program, small_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.fakes.small_mcp import SmallServer

TOOL = "read_file"
SECRET = "s3cret-of-the-terminal"
COMMENTED = """{
  // VS Code writes comments, and commas at the end.
  "servers": {
    "Web": {"type": "http", "url": "URL", "headers": {"X-Key": "${env:WEB_KEY}", "X-Own": "${input:own}"},},
    "Broken": {"url": "//"}, /* no address */
  },
}"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealService]:
    """The service of an operator who lets people reach this machine."""
    agent = AgentSettings(model="offline", mcp_private_hosts="127.0.0.1")
    running = RealService(tmp_path_factory.mktemp("cli"), CommandModel(), agent=agent).start()
    yield running
    running.stop()


@pytest.fixture
def remote() -> Iterator[SmallServer]:
    with small_server() as server:
        yield server


@pytest.fixture
def run(service: RealService, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command in this process and return what it printed."""
    owner = service.owner()
    monkeypatch.setenv("DRIVE_AGENT_URL", service.url)
    monkeypatch.setenv("DRIVE_AGENT_TOKEN", owner.token)
    owner.close()

    def run(*arguments: str, code: int = 0, stdin: str = "") -> str:
        monkeypatch.setattr("sys.stdin", StringIO(stdin))
        ended = main(arguments)
        printed = "".join(capsys.readouterr())
        assert ended == code, printed
        return printed

    return run


def test_a_server_is_added_tested_switched_and_removed(run: Any, remote: SmallServer) -> None:
    added = run("servers", "add", "Small", remote.url, "--header", "X-Key", "--header", "X-Other=o", stdin=SECRET)
    assert "Connected: small 1" in added
    assert SECRET not in added
    assert {headers["X-Key"] for headers in remote.seen} == {SECRET}
    (server,) = json.loads(run("servers", "list", "--json"))
    assert server["headers"] == {"X-Key": True, "X-Other": True}
    assert "connected" in run("servers", "list")
    assert "Connected" in run("servers", "test", "Small")
    assert "echo  (asks)" in run("servers", "tools", server["id"])
    assert "Disabled: echo." in run("servers", "disable", "Small", "echo")
    assert "echo  (disabled)" in run("servers", "tools", "Small")
    run("servers", "enable", "Small", "echo")
    assert "echo  (without asking)" in run("servers", "tools", "Small", "--auto-approve", "echo")
    assert "echo  (asks)" in run("servers", "tools", "Small", "--ask", "echo")
    remote.tools = [{**ECHO, "description": "Send it away."}]
    run("servers", "disable", "Small")
    assert "switched off" in run("servers", "list")
    run("servers", "enable", "Small")
    changed = run("servers", "tools", "Small")
    assert "description was: Say it back." in changed
    assert "description is:  Send it away." in changed
    assert "changed" not in run("servers", "tools", "Small", "--accept", "echo")
    assert "Changed Large." in run(
        "servers", "edit", "Small", "--name", "Large", "--header", "X-Key=k", "--timeout", "9"
    )
    run("servers", "test", "Large")
    assert (remote.seen[-1]["X-Key"], remote.seen[-1]["X-Other"]) == ("k", "o")
    run("servers", "edit", "Large", "--name", "Small")
    assert "Removed Small." in run("servers", "remove", "Small")
    assert "There is no MCP server" in run("servers", "test", "Small", code=1)


def test_a_server_that_does_not_answer_is_added_and_says_why(run: Any) -> None:
    failed = run("servers", "add", "Far", "http://127.0.0.1:9/mcp", code=1)
    assert "Added Far" in failed
    assert "can't be reached" in failed
    run("servers", "remove", "Far")


def test_the_list_of_another_program_is_imported(
    run: Any, tmp_path: Path, remote: SmallServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(COMMENTED.replace("URL", remote.url))
    monkeypatch.setenv("WEB_KEY", SECRET)
    done = run("servers", "import", str(file), code=1)
    assert "Values of your environment are taken over: WEB_KEY" in done
    assert "Imported: Web" in done
    assert "It still needs: X-Own" in done
    assert "Left out: Broken." in done
    assert SECRET not in done
    run("servers", "test", "Web")
    assert {headers["X-Key"] for headers in remote.seen} == {SECRET}
    run("servers", "remove", "Web")
    assert "is no JSON" in run("servers", "import", "-", stdin="{", code=1)


def test_an_assistant_is_created_chatted_with_and_deleted(run: Any, remote: SmallServer) -> None:
    run("servers", "add", "Chosen", remote.url)
    run(
        "assistants",
        "create",
        "Research",
        "--instructions",
        "Be brief.",
        "--server",
        "Chosen",
        "--drive-tools",
        "whoami",
    )
    shown = run("assistants", "list")
    assert "drive_agent  drive_agent  (default)" in shown
    assert "Research  Chosen" in shown
    said = run("chat", "--assistant", "Research", "hello", "--json")
    thread_id = json.loads(said.splitlines()[0])["thread_id"]
    assert thread_id
    run("assistants", "edit", "Research", "--name", "Reader", "--no-servers", "--default", "--drive-tools", "all")
    listed = json.loads(run("assistants", "list", "--json"))
    reader = next(one for one in listed if one["name"] == "Reader")
    assert (reader["is_default"], reader["server_ids"], reader["drive_tools"]) == (True, [], None)
    assert "Deleted Reader." in run("assistants", "delete", "Reader")
    assert "There is no assistant" in run("chat", "--assistant", "Reader", "hello", code=1)
    run("servers", "remove", "Chosen")


def test_a_program_of_this_computer_is_allowed_once_by_its_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "small").mkdir()
    monkeypatch.setenv("DRIVE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("AGENT_MODEL", "offline")
    line = program(tmp_path / "small")
    add = ("servers", "add", "Here", "--env", f"TOKEN={SECRET}", "--stdio", *line)
    monkeypatch.setattr("sys.stdin", StringIO("n\n"))
    assert main(add) == 1
    assert "nothing was added" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", StringIO("y\n"))
    assert main(add) == 0
    assert "Connected: small 1" in capsys.readouterr().out
    assert json.loads((tmp_path / "small" / "environment.json").read_text())["TOKEN"] == SECRET
    assert line[-1] in (tmp_path / "data" / "drive-agent.env").read_text()
    ask_permission(build_parser().parse_args(add), line, ["TOKEN"], Terminal())
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("sys.stdin", StringIO("n\n"))
    assert main(["servers", "edit", "Here", "--env", "NODE_OPTIONS=--require=/tmp/x"]) == 1
    assert "TOKEN= NODE_OPTIONS= " in capsys.readouterr().out


def test_a_person_signs_in_with_the_address_that_is_printed_and_out_again(run: Any) -> None:
    with oauth_server() as locked:
        assert "sign in" in run("servers", "add", "Locked", locked.mcp_url, code=1)
        printed = run("servers", "sign-in", "Locked").splitlines()
        address = next(line for line in printed if line.startswith("http"))
        assert "code" in locked.agree(address)
        assert "Signed out" in run("servers", "sign-out", "Locked")
    run("servers", "remove", "Locked")
