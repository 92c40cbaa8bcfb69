"""A real graph on a real checkpointer, with all that a client would see of its turns."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args
from uuid import uuid4

import anyio
import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import Command

from drive_server.connect import Actor, Drive
from graph.build import Graph, build_graph
from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.drive.connections import ConnectionPool
from graph.events.definitions import GraphEvent
from graph.events.sending import Delta, ReadingDelta, ReasoningDelta, TextDelta, TextWithdrawn, listening
from graph.settings import AgentSettings, ModelRole

WHO = RunContext("u1", "me@example.com", ("read", "write", "share", "delete"))


@dataclass
class Seen:
    """All that one call of the graph sent out, and the state where it stopped."""

    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    text: str = ""
    reasoning: str = ""
    asked: dict[str, Any] | None = None
    state: dict[str, Any] = field(default_factory=dict[str, Any])

    def hear(self, said: GraphEvent | Delta) -> None:
        """Keep an event, or a piece of an answer."""
        if isinstance(said, TextWithdrawn):
            self.text = ""
            return
        if isinstance(said, TextDelta):
            self.text += said.text
            return
        if isinstance(said, ReadingDelta):
            return
        if isinstance(said, ReasoningDelta):
            self.reasoning += said.text
            return
        self.events.append(dict(said))
        self.text += said["text"] if said["type"] == "content" else ""

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Return the events of a type."""
        return [event for event in self.events if event["type"] == kind]

    @property
    def ends(self) -> list[tuple[str, str]]:
        """(tool, status) of each call that ended."""
        return [(event["name"], event["status"]) for event in self.of("tool_call_end")]

    @property
    def results(self) -> dict[str, str]:
        """The results that the model got, by tool_call_id."""
        messages = self.state["messages"]
        return {message.tool_call_id: message.text for message in messages if isinstance(message, ToolMessage)}


@dataclass
class Assistant:
    """A person's thread with the graph."""

    graph: Graph
    who: RunContext = WHO
    thread_id: str = field(default_factory=lambda: str(uuid4()))

    @property
    def config(self) -> Any:
        """The run configuration of the thread."""
        return {"configurable": {"thread_id": self.thread_id}}

    async def say(self, text: str, *, key: str | None = None, also: Sequence[AnyMessage] = (), **place: Any) -> Seen:
        """Send a message; `also` is what a client slips in before it."""
        message = HumanMessage(text, id=key or str(uuid4()))
        self.who = replace(self.who, run_id=str(message.id))
        return await self.run({"messages": [*also, message], "place": place})

    async def answer(self, answer: Any) -> Seen:
        """Answer the approval that waits."""
        return await self.run(Command(resume=answer))

    async def run(self, step: Any) -> Seen:
        """Run the graph as the service does."""
        seen = Seen()
        with listening(seen.hear):
            await self.graph.ainvoke(step, self.config, context=self.who, durability="sync", version="v2")
        snapshot = await self.graph.aget_state(self.config)
        interrupts = [interrupt for task in snapshot.tasks for interrupt in task.interrupts]
        seen.asked = interrupts[0].value if interrupts else None
        seen.state = snapshot.values
        return seen


def assemble(
    models: BaseChatModel | Mapping[ModelRole, BaseChatModel],
    pool: ConnectionPool,
    saver: BaseCheckpointSaver[Any],
    who: RunContext = WHO,
    *,
    settings: AgentSettings | None = None,
    **others: Any,
) -> Assistant:
    """Return an assistant on these parts; one model takes all roles, `others` are further parts of the graph."""
    deps = GraphDependencies(
        models=models if isinstance(models, Mapping) else dict.fromkeys(get_args(ModelRole), models),
        connections=pool,
        settings=settings or AgentSettings(),
        checkpointer=saver,
        **others,
    )
    return Assistant(build_graph(deps), who)


def approve(*keys: str) -> dict[str, Any]:
    """Return an answer that approves each call."""
    return {"decisions": [{"tool_call_id": key, "type": "approve"} for key in keys]}


def reject(*keys: str, message: str = "") -> dict[str, Any]:
    """Return an answer that rejects each call."""
    return {"decisions": [{"tool_call_id": key, "type": "reject", "message": message} for key in keys]}


def person(actor: Actor) -> RunContext:
    """Return the run context of a person of the real drive."""
    principal = actor.principal
    return RunContext(principal.user_id, principal.email, tuple(principal.scopes))


async def cancelled(run: "asyncio.Task[object]", when: anyio.Event) -> None:
    """Cancel a run as soon as something happens in it, and wait until it has ended."""
    with anyio.fail_after(10):
        await when.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run


async def names(drive: Drive, actor: Actor, folder: str) -> list[str]:
    """Return the names in a folder of the real drive."""
    return [item.name for item in (await drive.files.list_folder(actor, folder)).items]
