"""Servers that run as a program of this machine: only commands that the operator allows, limited, and ended with all
their children. `supervisor.py` is the parent of each.

The SDK's and the adapters' own way is not used: it gives the program values of the service's environment, reads lines
of any length, and leaves children behind.
"""

import asyncio
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import Any, Final

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage
from pydantic import ValidationError

from drive_server.kernel.lenient.json_text import with_whole_characters
from graph.servers.definition import ServerDefinition
from graph.servers.intake import Intake
from graph.servers.reasons import FaultError, Reason, ReasonCode

SUPERVISOR: Final = Path(__file__).with_name("supervisor.py")
ANY_ARGUMENTS: Final = "*"
OWN_FOLDER: Final = "${HOME}"
"""In a value of the environment, the program's working directory; no other variable is replaced."""
EXIT_SECONDS: Final = 2.0
"""A program ends by itself when its input ends, or is ended after so long (MCP 2025-11-25, basic/lifecycle)."""
END_SECONDS: Final = 2.0
MEMORY_BYTES: Final = 2 << 30
MAX_PROCESSES: Final = 64
"""Of a program with all its children."""
SHORTEST_SECRET: Final = 4
SECRET_NAME: Final = re.compile(r"token|key|secret|passw|auth|credential", re.IGNORECASE)
REPORT_BYTES: Final = 65_536
VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")

Streams = tuple[ObjectReceiveStream[SessionMessage | Exception], ObjectSendStream[SessionMessage]]


class AllowedCommands:
    """The commands that people's servers may be: whole command lines; ` *` at the end allows any further arguments.

    `NAME=` before a command lets people set that variable for it, and no others: many make a program run another one.
    """

    def __init__(self, lines: Iterable[str] = ()) -> None:
        self._commands = [words for line in lines if (words := shlex.split(line))]

    def allows(self, command: str, args: Iterable[str]) -> bool:
        """Say whether a command with these arguments may run."""
        return self.variables(command, args) is not None

    def variables(self, command: str, args: Iterable[str]) -> frozenset[str] | None:
        """Return the variables that people may set for a command with these arguments; None if it may not run."""
        wanted, found = [command, *args], [*map(_named, self._commands)]
        fitting = [names for names, allowed in found if _fits(wanted, allowed)]
        return frozenset[str]().union(*fitting) if fitting else None


def _named(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the variables at the beginning of a command line, and the rest."""
    named = [*takewhile(VARIABLE.fullmatch, words)]
    return [name.rstrip("=") for name in named], words[len(named) :]


def _fits(wanted: list[str], allowed: list[str]) -> bool:
    if len(allowed) > 1 and allowed[-1] == ANY_ARGUMENTS:
        return wanted[: len(allowed) - 1] == allowed[:-1]
    return wanted == allowed


def folder_of(root: Path, user_id: str, server_id: str) -> Path:
    """Return the working directory of one person's server."""
    return root / sha256(f"{user_id}\0{server_id}".encode()).hexdigest()[:32]


@asynccontextmanager
async def stdio_streams(
    definition: ServerDefinition, commands: AllowedCommands, folder: Path, intake: Intake
) -> AsyncGenerator[Streams]:
    """Run the server's program while the streams are in use. Raises `FaultError`."""
    if not hasattr(os, "setsid"):  # the supervisor limits and ends programs by POSIX's own means
        raise FaultError(Reason("no_posix"))
    program = _program(definition, commands)
    own = {name: value.replace(OWN_FOLDER, str(folder)) for name, value in definition.env.items()}
    definition = replace(definition, env=own)
    process, control = await _start(program, definition, folder, intake.message_bytes)
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    report = asyncio.create_task(_report(process))
    report.add_done_callback(lambda done: intake.fail(_crash(done, definition)))
    async with incoming, read, write, outgoing:
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_read, process, incoming, intake)
                group.start_soon(_write, process, outgoing)
                yield read, write
                group.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process, control)
                await asyncio.wait({report})


def _program(definition: ServerDefinition, commands: AllowedCommands) -> str:
    """Return the program's path. Raises `FaultError` if it may not run, or not with these variables."""
    allowed = commands.variables(definition.command, definition.args)
    if allowed is None:
        raise FaultError(Reason("command_refused"))
    for name, value in definition.env.items():
        if name not in allowed:
            raise FaultError(Reason("environment_refused", {"name": name}))
        if "\0" in value:
            raise FaultError(Reason("definition", {"detail": f"env {name!r}"}))
    program = shutil.which(definition.command)
    if program is None:
        raise FaultError(Reason("command_missing", {"command": definition.command}))
    return os.path.abspath(program)  # noqa: PTH100 - from here; the program runs in a folder that it may write to


async def _start(
    program: str, definition: ServerDefinition, folder: Path, most_bytes: int
) -> tuple[asyncio.subprocess.Process, int]:
    """Start the program below its supervisor; return it with the pipe whose closing ends it."""
    await anyio.Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    ends, control = os.pipe()
    limits = [str(number) for number in (ends, MEMORY_BYTES, MAX_PROCESSES)]
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(SUPERVISOR), *limits, program, *definition.args),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=_environment(definition.env, folder),
            cwd=folder,
            pass_fds=(ends,),
            limit=most_bytes,
        )
    except BaseException:
        os.close(control)
        raise
    finally:
        os.close(ends)
    return process, control


def _environment(env: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the program's environment: nothing of the service's but where programs are."""
    return {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder), "LANG": "C.UTF-8", **env}


async def _read(
    process: asyncio.subprocess.Process, incoming: ObjectSendStream[SessionMessage | Exception], intake: Intake
) -> None:
    assert process.stdout  # noqa: S101 - it is a pipe
    with suppress(FaultError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        while True:
            try:
                line = await process.stdout.readline()
            except ValueError:  # longer than the reader's limit
                intake.take(0, intake.message_bytes + 1)
                return
            if not line:
                await anyio.sleep(END_SECONDS)  # meanwhile the report says why, if the program has ended
                intake.fail(FaultError(Reason("closed")))
                return
            intake.take(len(line))
            message = _message(line)
            if message is None:
                intake.take_message()  # programs print lines for a log to standard output
                continue
            await incoming.send(SessionMessage(message))


def _message(line: bytes) -> JSONRPCMessage | None:
    """Return the message, None if the line is none. Bytes that are no text don't let its call wait in vain."""
    try:
        return JSONRPCMessage.model_validate_json(line)
    except ValidationError:
        mended = with_whole_characters(line).decode(errors="replace").encode()
    try:
        return None if mended == line else JSONRPCMessage.model_validate_json(mended)
    except ValidationError:
        return None


async def _write(process: asyncio.subprocess.Process, outgoing: ObjectReceiveStream[SessionMessage]) -> None:
    assert process.stdin  # noqa: S101 - it is a pipe
    with suppress(ConnectionError, anyio.ClosedResourceError):
        async for sent in outgoing:
            process.stdin.write(sent.message.model_dump_json(by_alias=True, exclude_none=True).encode() + b"\n")
            await process.stdin.drain()


async def _report(process: asyncio.subprocess.Process) -> Mapping[str, Any]:
    """Return the supervisor's report, once it has ended all."""
    assert process.stderr  # noqa: S101 - it is a pipe
    text = await process.stderr.read(REPORT_BYTES)
    while piece := await process.stderr.read(REPORT_BYTES):
        text = (text + piece)[-REPORT_BYTES:]
    await process.wait()
    try:
        return json.loads(text)
    except ValueError:
        return {}


def _crash(done: "asyncio.Task[Mapping[str, Any]]", definition: ServerDefinition) -> FaultError:
    """Return the program's end as a fault; its last output is told, without the secrets in its settings."""
    report: Mapping[str, Any] = {} if done.cancelled() or done.exception() else done.result()
    limits: Mapping[str, tuple[ReasonCode, int]] = {
        "memory": ("memory", MEMORY_BYTES >> 20),
        "processes": ("processes", MAX_PROCESSES),
    }
    if report.get("why") in limits:
        code, limit = limits[report["why"]]
        return FaultError(Reason(code, {"limit": limit}))
    errors = str(report.get("errors", ""))
    for secret in sorted((*definition.env.values(), *_secret_arguments(definition.args)), key=len, reverse=True):
        errors = errors.replace(secret, "***") if len(secret) >= SHORTEST_SECRET else errors
    return FaultError(Reason("crashed", {"status": int(report.get("status") or 0)}, detail=errors.strip()))


def _secret_arguments(args: Sequence[str]) -> Iterator[str]:
    """Yield the values of arguments that are named like a secret: `--token=VALUE` and `--token VALUE`."""
    for argument, following in zip_longest(args, args[1:], fillvalue=""):
        name, _, value = argument.partition("=")
        if name.startswith("-") and SECRET_NAME.search(name):
            yield value or following


async def _end(process: asyncio.subprocess.Process, control: int) -> None:
    """End the program: its input ends, and after a while it is ended, with its children in any case."""
    assert process.stdin  # noqa: S101 - it is a pipe
    assert process.stdout  # noqa: S101 - it is a pipe
    process.stdin.close()
    with anyio.move_on_after(EXIT_SECONDS):
        await _drain(process.stdout)
    os.close(control)
    await _drain(process.stdout)
    await process.wait()


async def _drain(stream: asyncio.StreamReader) -> None:
    """Read to the end: asyncio takes a process for running while there is something in its pipes."""
    while await stream.read(REPORT_BYTES):
        pass
