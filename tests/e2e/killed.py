"""The whole service on a scripted model, which ends itself with SIGKILL at the n-th place where something is stored.

The places are before and after each batch of events, each checkpoint, each task's writes, and each change of the drive;
with `doors` each transaction, each stored content and each write of the index too.
They count from the first message on, from the start of the process, so that a recovery is killed too, or from `arm` on.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from sqlalchemy.ext.asyncio import AsyncSession

from api.events.log import EventLog
from api.runs.service import Runs
from api.storage.sqlite_threads import SqliteThreads
from drive_server.kernel.sql.engine import Transactions
from drive_server.knowledge.index_process.proxy import IndexProcess
from drive_server.services.journal.service import Journal
from drive_server.storage.blobs import BlobStore
from graph.settings import AgentSettings
from tests.api.command_model import CommandModel
from tests.api.real_service import RealService
from tests.e2e.person import Person
from tests.fakes.chat_model import FakeChatModel, route_to, tool_call, tool_calls, words_of
from tests.forked import Forked

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

PLACES: Final = 110
"""About so many are passed in a round."""
FROM_START: Final = "start"
COMMANDS: Final = "commands"
DOORS: Final = "doors"


class RoundModel(FakeChatModel):
    """Makes a folder with three more in it, lists it, trashes one, and says so. The ids of its calls repeat."""

    def _answer(self, messages: Sequence[BaseMessage], offered: Sequence[str]) -> AIMessage:
        if "RouteDecision" in offered:
            return route_to("drive_agent")
        begun = max(number for number, message in enumerate(messages) if isinstance(message, HumanMessage))
        name = words_of(messages[begun])
        parts = (tool_call("create_folder", f"call_{n}", name=f"part {n}", folder_id=f"/{name}") for n in (1, 2, 3))
        rounds = [
            (f"I begin {name}. ", tool_call("create_folder", "call_0", name=name)),
            ("Now what is in it. ", tool_calls(*parts)),
            ("Let me look. ", tool_call("list_folder", "call_4", folder_id=f"/{name}")),
            ("One too many. ", tool_call("trash_item", "call_5", item_id=f"/{name}/part 3")),
            (f"All of {name} is done; see [it](", AIMessage("")),
        ]
        text, calls = rounds[sum(isinstance(message, AIMessage) for message in messages[begun:])]
        return AIMessage(text, tool_calls=calls.tool_calls)


class Victim:
    """The whole service in a process of its own. Without `place` it lives until `kill`.

    With `commands` its model does what it is told, and people's own servers may be on this machine.
    """

    def __init__(
        self, data_dir: Path, place: int = 0, *, from_start: bool = False, commands: bool = False, doors: bool = False
    ) -> None:
        self._data_dir = data_dir
        arguments = [str(data_dir), str(place)]
        options = ((FROM_START, from_start), (COMMANDS, commands), (DOORS, doors))
        arguments += [option for option, is_on in options if is_on]
        self._process = Forked("tests.e2e.killed", arguments, os.environ)
        self.url = self._process.stdout.readline().decode().strip()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def person(self) -> Person:
        """Return the owner."""
        return Person.owner(self.url, self._data_dir)

    def arm(self) -> None:
        """Have the places count from now on."""
        with suppress(BrokenPipeError):
            self._process.stdin.write(b"arm\n")
            self._process.stdin.flush()
        self._process.stdout.readline()

    def kill(self) -> None:
        """Kill -9, unless it has done so itself."""
        with suppress(ProcessLookupError):
            self._process.kill()
        with self._process:
            assert self._process.wait(20) == -signal.SIGKILL


class Countdown:
    """Kills this process at its n-th `pass_by`, once it is armed."""

    def __init__(self, place: int) -> None:
        self.left = place
        self.is_armed = False

    def arm(self) -> None:
        """Count from now on."""
        self.is_armed = True

    def pass_by(self) -> None:
        """Come to one of the places."""
        if self.is_armed:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def around(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with a place before and after it."""

        @functools.wraps(work)
        def passing(*args: Any, **options: Any) -> Any:
            self.pass_by()
            result = work(*args, **options)
            self.pass_by()
            return result

        return passing

    def around_async(self, work: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        """Return the coroutine function with a place before and after it."""

        @functools.wraps(work)
        async def passing(*args: Any, **options: Any) -> Any:
            self.pass_by()
            result = await work(*args, **options)
            self.pass_by()
            return result

        return passing

    def arming(self, work: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        """Return the coroutine function, which arms this."""

        @functools.wraps(work)
        async def armed(*args: Any, **options: Any) -> Any:
            self.arm()
            return await work(*args, **options)

        return armed


def main(arguments: list[str]) -> None:
    """Serve, and print where."""
    data_dir, place, *options = arguments
    countdown: Any = Countdown(int(place))
    countdown.is_armed = FROM_START in options
    classes: dict[Any, tuple[str, ...]] = {SqliteThreads: ("put", "put_writes")}
    for owner, names in classes.items():
        for name in names:
            setattr(owner, name, countdown.around(getattr(owner, name)))
    EventLog._store = countdown.around_async(EventLog._store)  # pyright: ignore[reportPrivateUsage] - a place to die at
    Journal.change = countdown.around_async(Journal.change)
    if DOORS in options:
        more: tuple[tuple[Any, str], ...] = (
            (AsyncSession, "commit"),
            (Transactions, "read"),
            (Transactions, "look"),
            (Transactions, "change"),
            (Transactions, "write"),
            (BlobStore, "put_stream"),
            (IndexProcess, "replace"),
        )
        for owner, name in more:
            setattr(owner, name, countdown.around_async(getattr(owner, name)))
    Runs.start = countdown.arming(Runs.start)
    model = CommandModel() if COMMANDS in options else RoundModel()
    agent = AgentSettings(model="offline", mcp_private_hosts="127.0.0.1")
    running = RealService(Path(data_dir), model, agent=agent).start()
    say(running.url)
    for _ in sys.stdin:
        countdown.arm()
        say("armed")
    running.wait()


def say(line: str) -> None:
    """Tell the test."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
