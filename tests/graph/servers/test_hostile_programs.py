"""Programs that misbehave: each fails for itself, with a reason, and nothing of it stays."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph.servers import intake
from graph.servers import pool as pools
from graph.servers.connections import stdio as programs
from graph.servers.connections import supervisor
from graph.servers.connections.stdio import AllowedCommands
from graph.servers.definition import ServerDefinition
from graph.servers.pins import hash_of
from graph.servers.pool import ServerPool
from graph.servers.reasons import ReasonCode, ServerUnavailableError
from tests.graph.servers import hostile_program
from tests.graph.servers.conftest import PoolMaker
from tests.graph.servers.real import allowed, stdio
from tests.graph.servers.test_real_servers import text_of


def hostile(behaviour: str = "", **fields: Any) -> ServerDefinition:
    return stdio([sys.executable, "-I", "-S", str(hostile_program.__file__), behaviour], **fields)


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "EXIT_SECONDS", 0.1)


@pytest.fixture(autouse=True)
def low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "MAX_MESSAGES", 500)
    monkeypatch.setattr(intake, "MAX_LINES", 5_000)


@pytest.fixture
def pool(make_pool: PoolMaker) -> ServerPool:
    return make_pool(stdio_commands=allowed(["TOKEN=", sys.executable, "-I", "-S", str(hostile_program.__file__), "*"]))


async def failure(pool: ServerPool, definition: ServerDefinition, tool: str = "search") -> ServerUnavailableError:
    with pytest.raises(ServerUnavailableError) as raised:
        await pool.call(definition, tool, {})
    return raised.value


def alive(process_id: int) -> bool:
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def test_one_that_hangs_in_initialize_is_given_up(pool: ServerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool._sessions, "_open_seconds", 0.3)  # pyright: ignore[reportPrivateUsage] - 30 s are too long

    error = await failure(pool, hostile("hang_at_once"))

    assert error.reason.code == "timeout"
    assert pool.status("u1", "s1").status == "error"


async def test_one_that_hangs_in_a_call_is_given_up_and_comes_back(
    pool: ServerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "PING_SECONDS", 0.2)
    definition = hostile(timeout=0.3)

    error = await failure(pool, definition, "hang")

    assert error.reason.code == "timeout"
    assert text_of(await pool.call(replace(definition, timeout=20.0), "print_rubbish", {})) == "done"


@pytest.mark.parametrize("tool", ["huge", "flood", "babble"])
async def test_one_that_sends_too_much_is_cut_off(pool: ServerPool, tool: str) -> None:
    codes: dict[str, ReasonCode] = {"huge": "too_large", "flood": "flood", "babble": "flood"}

    error = await failure(pool, hostile(), tool)

    assert error.reason.code == codes[tool]
    assert pool.status("u1", "s1").reason == error.reason


async def test_one_that_dies_mid_call_is_not_called_again_and_its_last_words_have_no_secret(pool: ServerPool) -> None:
    definition = hostile(env={"TOKEN": "tok-123456"})

    error = await failure(pool, definition, "die")

    assert error.reason.code == "crashed"
    assert error.outcome_unknown
    assert error.sentence.startswith("The server real can't be used: The program ended (3). Whether the call")
    assert pool.status("u1", "s1").sentence == "The program ended (3). fatal: wrong token ***"
    assert text_of(await pool.call(definition, "print_rubbish", {})) == "done"


async def test_one_that_dies_at_once_is_not_started_again_for_each_call(pool: ServerPool) -> None:
    first = await failure(pool, hostile("die_at_once"))
    second = await failure(pool, hostile("die_at_once"))

    assert first.reason.code == "crashed"
    assert second.reason.code == "backoff"
    assert second.reason.params["last"] == first.reason


async def test_all_children_end_with_it_also_those_that_left(pool: ServerPool) -> None:
    definition = hostile("stays")
    children = json.loads(text_of(await pool.call(definition, "breed", {})))
    assert all(map(alive, children))

    await pool.close("u1", "s1")

    assert not any(map(alive, children))


@pytest.mark.story
def test_its_children_end_also_when_the_service_is_killed(tmp_path: Path) -> None:
    """The service is a process that only starts the supervisor, and is killed."""
    line = [sys.executable, "-I", "-S", str(supervisor.__file__)]
    program = [sys.executable, "-I", "-S", str(hostile_program.__file__), "stays"]
    service = (
        "import os, subprocess, time; ends, control = os.pipe();"
        f"subprocess.Popen({line!r} + [str(ends), '1000000000', '20'] + {program!r}, pass_fds=(ends,)); time.sleep(600)"
    )
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "breed"}}
    pipes: dict[str, Any] = dict.fromkeys(["stdin", "stdout", "stderr"], subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", service], cwd=tmp_path, text=True, **pipes) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(json.dumps(call) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        children = json.loads(answer["result"]["content"][0]["text"])
        assert all(map(alive, children))

        process.kill()

        assert json.loads(process.stderr.read())["why"] == "closed"  # the last thing that the supervisor does
    assert not any(map(alive, children))


@pytest.mark.parametrize(("tool", "code"), [("multiply", "processes"), ("eat", "memory")])
async def test_one_that_takes_too_much_is_ended(
    pool: ServerPool, monkeypatch: pytest.MonkeyPatch, tool: str, code: ReasonCode
) -> None:
    monkeypatch.setattr(programs, "MEMORY_BYTES", 150_000_000)
    monkeypatch.setattr(programs, "MAX_PROCESSES", 10)

    assert (await failure(pool, hostile(timeout=30.0), tool)).reason.code == code


async def test_what_does_not_belong_on_standard_output_is_passed_over(pool: ServerPool) -> None:
    assert text_of(await pool.call(hostile(), "print_rubbish", {})) == "done"


async def test_answers_that_nobody_waits_for_and_nonsense_are_not_logged(
    pool: ServerPool, caplog: pytest.LogCaptureFixture
) -> None:
    assert text_of(await pool.call(hostile(), "lie", {})) == "done"
    assert not [record for record in caplog.records if len(record.getMessage()) > 500]


async def test_a_description_that_changes_shows_in_the_tools_at_once(pool: ServerPool) -> None:
    (seen,) = await pool.tools(hostile())

    await pool.call(hostile(), "change", {})
    (changed,) = await pool.tools(hostile())

    assert hash_of(changed) != hash_of(seen)


async def test_a_list_without_an_end_is_cut(make_pool: PoolMaker) -> None:
    definition = hostile("endless")
    pool = make_pool(stdio_commands=allowed([definition.command, *definition.args]), mcp_tools_per_server=7)

    assert [tool.name for tool in await pool.tools(definition)] == [f"t{number}" for number in range(7)]


@pytest.mark.parametrize("behaviour", ["newer", "another_version"])
async def test_a_server_of_another_protocol_version_gets_a_clear_status(pool: ServerPool, behaviour: str) -> None:
    versions = {"newer": "2026-07-28", "another_version": "2099-01-01"}

    error = await failure(pool, hostile(behaviour))

    assert error.reason.code == "protocol"
    assert error.reason.params["versions"] == versions[behaviour]


async def test_it_may_use_neither_the_model_nor_learn_of_folders_nor_ask_a_person_who_is_not_there(
    pool: ServerPool,
) -> None:
    answers = json.loads(text_of(await pool.call(hostile(), "ask", {})))

    assert answers == ["Sampling not supported", "List roots not supported", {"action": "decline"}]


@pytest.mark.parametrize(
    ("listed", "args", "runs"),
    [
        ("", ["x"], False),
        ("other,prog x", ["x"], True),
        ("prog x", ["x", "y"], False),
        ("prog x", [], False),
        ("prog", ["x"], False),
        ("prog x *", ["x", "y"], True),
        ("prog x *", ["x"], True),
        ("prog x *", ["y", "x"], False),
        ("prog 'a b'", ["a b"], True),
        ("prog *", ["*"], True),
        ("*", ["x"], False),
        ("A= B_2= prog x", ["x"], True),
        ("A= B_2= prog x", [], False),
        ("A=", ["x"], False),
    ],
)
def test_only_commands_that_the_operator_lists_may_run(listed: str, args: list[str], *, runs: bool) -> None:
    assert AllowedCommands(listed.split(",")).allows("prog", args) is runs


async def test_a_command_that_is_not_allowed_or_not_installed_is_not_run(make_pool: PoolMaker) -> None:
    refused = await failure(make_pool(), hostile())
    missing = await failure(make_pool(stdio_commands="no-such-program"), stdio(["no-such-program"]))

    assert (refused.reason.code, missing.reason.code) == ("command_refused", "command_missing")


@pytest.mark.parametrize(
    "name", ["PATH", "LD_PRELOAD", "NODE_OPTIONS", "npm_config_x", "SHELLOPTS", "KUBECONFIG", "token", "A=B", ""]
)
async def test_only_variables_that_the_operator_names_with_the_command_may_be_set(pool: ServerPool, name: str) -> None:
    error = await failure(pool, hostile(env={"TOKEN": "x", name: "secret-value"}))

    assert error.reason.code == "environment_refused"
    assert "secret-value" not in error.sentence


def test_variables_of_one_command_are_not_anothers() -> None:
    commands = AllowedCommands(["A= prog *", "B= prog x", "C= other x", "prog x y"])

    assert commands.variables("prog", ["x"]) == {"A", "B"}
    assert commands.variables("prog", ["x", "y"]) == {"A"}
    assert commands.variables("other", []) is None


async def test_a_program_by_a_relative_path_is_not_one_that_it_put_into_its_folder(
    make_pool: PoolMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path is that of the operator, from where the service runs."""
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S {hostile_program.__file__} x\n")
    program.chmod(0o700)

    pool = make_pool(stdio_commands="./program")

    assert text_of(await pool.call(stdio(["./program"]), "print_rubbish", {})) == "done"


async def test_it_can_not_multiply_without_end_and_has_no_file_of_the_service(pool: ServerPool) -> None:
    soft, hard, files = json.loads(text_of(await pool.call(hostile(), "count", {})))

    assert soft == hard == supervisor.USER_PROCESSES
    assert files == ["0", "1", "2"]


async def test_its_folder_is_deleted_with_it(pool: ServerPool, tmp_path: Path) -> None:
    await pool.call(hostile(), "print_rubbish", {})
    (folder,) = (tmp_path / "servers").iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700

    await pool.remove("u1", "s1")

    assert not folder.exists()


@pytest.mark.parametrize("tool", ["say_half", "say_bytes"])
async def test_half_an_emoji_and_bytes_that_are_no_text_are_answers_at_once(pool: ServerPool, tool: str) -> None:
    answer = await pool.call(hostile(timeout=300.0), tool, {})
    assert text_of(answer) == {"say_half": "half � emoji 😀 \\ud83d", "say_bytes": "raw �"}[tool]
