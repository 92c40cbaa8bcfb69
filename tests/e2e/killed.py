"""The whole service on a scripted model, which ends itself with SIGKILL at the n-th place where something is stored.

The places are before and after each batch of events, each checkpoint, each task's writes, and each change of the drive.
They count from the first message on, or from the start of the process, so that a recovery is killed too.
"""

from __future__ import annotations

import functools
import os
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from api.app import create_app
from api.events.log import EventLog
from api.runs.service import Runs
from api.storage.sqlite_threads import SqliteThreads
from drive_server.services.journal.service import Journal
from drive_server.settings import DriveSettings
from graph.settings import AgentSettings
from tests.api.serving import RunningApp
from tests.e2e.person import Person
from tests.forked import Forked

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

PLACES: Final = 110
"""About so many are passed in a round."""
FROM_START: Final = "start"


class RoundModel(BaseChatModel):
    """Makes a folder with three more in it, lists it, trashes one, and says so. The ids of its calls repeat."""

    @property
    def _llm_type(self) -> str:
        return "rounds"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        names = [getattr(tool, "name", None) or tool.__name__ for tool in tools]
        return self.bind(routes="RouteDecision" in names, **kwargs)

    def _generate(self, messages: list[BaseMessage], *_: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=answer_to(messages, routes=kwargs.get("routes", False)))])

    async def _astream(self, messages: list[BaseMessage], *_: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        answer = answer_to(messages, routes=kwargs.get("routes", False))
        for word in re.findall(r"\S+\s*", answer.text):
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_calls=answer.tool_calls))


def answer_to(messages: Sequence[BaseMessage], *, routes: bool) -> AIMessage:
    """Return the model's part of a conversation so far."""
    if routes:
        decision = {"agent": "drive_agent", "needs_plan": False, "confidence": 0.9, "reason": "It says so."}
        return AIMessage("", tool_calls=[_call("RouteDecision", 0, **decision)])
    begun = max(number for number, message in enumerate(messages) if isinstance(message, HumanMessage))
    name = messages[begun].text
    rounds: list[tuple[str, list[Any]]] = [
        (f"I begin {name}. ", [_call("create_folder", 0, name=name)]),
        ("Now what is in it. ", [_call("create_folder", n, name=f"part {n}", parent_id=f"/{name}") for n in (1, 2, 3)]),
        ("Let me look. ", [_call("list_folder", 4, folder_id=f"/{name}")]),
        ("One too many. ", [_call("trash_item", 5, item_id=f"/{name}/part 3")]),
        (f"All of {name} is done; see [it](", []),
    ]
    text, calls = rounds[sum(isinstance(message, AIMessage) for message in messages[begun:])]
    return AIMessage(text, tool_calls=calls)


def _call(name: str, number: int, /, **args: Any) -> Any:
    return {"name": name, "args": args, "id": f"call_{number}", "type": "tool_call"}


class Victim:
    """Such a process. Without `place` it lives until it is killed."""

    def __init__(self, data_dir: Path, place: int = 0, *, from_start: bool = False) -> None:
        self._data_dir = data_dir
        arguments = [str(data_dir), str(place), *([FROM_START] if from_start else [])]
        self._process = Forked("tests.e2e.killed", arguments, os.environ)
        self.url = self._process.stdout.readline().decode().strip()

    def person(self) -> Person:
        """Return the owner."""
        return Person(self.url, (self._data_dir / "token").read_text().strip(), "me@localhost")

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
            self.is_armed = True
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
    Runs.start = countdown.arming(Runs.start)
    model: Any = RoundModel()
    settings = DriveSettings(data_dir=Path(data_dir), embedding_model="none")
    app = create_app(
        settings, AgentSettings(model="offline"), models={"router": model, "planner": model, "agent": model}
    )
    running = RunningApp(app).start()
    sys.stdout.write(f"{running.url}\n")
    sys.stdout.flush()
    running.wait()
