"""Frames that show the state of a thread: read from its checkpoints when an event says that something has changed."""

from collections.abc import Collection, Iterator
from typing import Any, Final

from api.drive import Principal
from api.langgraph.entrance import Json
from api.langgraph.streams.frames import encode_frame
from api.langgraph.streams.modes import Mode
from api.langgraph.threads.interrupts import interrupts_of, waiting_tasks
from api.langgraph.threads.rows import ClientThreads
from api.langgraph.threads.states import newest_state, newest_values
from api.service import Service

CHANGES_STATE: Final = frozenset(
    {
        "run",
        "task_plan",
        "task_step_update",
        "plan_paused",
        "tool_call_end",
        "approval_needed",
        "citations",
        "done",
        "error",
    }
)
SHOWS_STATE: Final[frozenset[Mode]] = frozenset({"values", "updates", "messages", "tasks", "checkpoints"})
ACT: Final = "act"
INTERRUPT: Final = "__interrupt__"


class StateFrames:
    """Reads a thread's state, and returns frames of the new part: the messages after `begun_at`.

    That is the id of the person's message, or those of the calls that they have decided about.
    """

    def __init__(
        self,
        service: Service,
        caller: Principal,
        thread_id: str,
        modes: frozenset[Mode],
        begun_at: Collection[str] = (),
    ) -> None:
        self._begun_at = frozenset(begun_at)
        self._service = service
        self._caller = caller
        self._thread_id = thread_id
        self._modes = modes
        self._values: Json | None = None
        self._known: set[str] | None = None
        self._asked: set[str] = set()
        self._checkpoint: str | None = None

    async def read(self, node: str) -> bytes:
        """Return the frames of the changes since the last time; `node` is the specialist at work."""
        if SHOWS_STATE.isdisjoint(self._modes):
            return b""
        thread = await ClientThreads(self._service).get(self._caller, self._thread_id)
        values = await newest_values(self._service, self._caller, thread)
        tasks = await waiting_tasks(self._service, self._caller, thread.run)
        shown = b"".join(self._of_values(values, tasks, node))
        if "checkpoints" in self._modes:
            shown += self._of_checkpoint(await newest_state(self._service, self._caller, thread))
        return shown

    async def final(self) -> Json:
        """Return the values at the end of a run, with its questions."""
        thread = await ClientThreads(self._service).get(self._caller, self._thread_id)
        values = await newest_values(self._service, self._caller, thread)
        tasks = await waiting_tasks(self._service, self._caller, thread.run)
        return _with_interrupts(values, tasks)

    async def checkpoint(self, step: int) -> Json:
        """Return the newest checkpoint as the second protocol has it.

        The `step` has to grow over the thread: clients take a smaller one, as the graph counts after a fork, for late.
        """
        thread = await ClientThreads(self._service).get(self._caller, self._thread_id)
        state = await newest_state(self._service, self._caller, thread)
        parent = state["parent_checkpoint"]
        before = {"parent_id": parent["checkpoint_id"]} if parent else {}
        source = state["metadata"].get("source", "loop")
        return {"id": state["checkpoint"]["checkpoint_id"], **before, "step": step, "source": source}

    def _of_values(self, values: Json, tasks: list[Json], node: str) -> Iterator[bytes]:
        messages: list[Json] = values.get("messages", [])
        known = self._before(messages) if self._known is None else self._known
        new = [message for message in messages if message["id"] not in known]
        self._known = {message["id"] for message in messages}
        asked = {interrupt["id"] for interrupt in interrupts_of(tasks)}
        is_asking = bool(asked - self._asked)
        self._asked |= asked
        if "messages" in self._modes:
            yield from (encode_frame("messages", [_whole(one), _about(one, node)]) for one in new if _is_step(one))
        if "updates" in self._modes:
            yield from (encode_frame("updates", update) for update in _updates(new, node))
            if is_asking:
                yield encode_frame("updates", {INTERRUPT: interrupts_of(tasks)})
        if "tasks" in self._modes and is_asking:
            yield from (encode_frame("tasks", task) for task in tasks)
        if "values" in self._modes and (shown := _with_interrupts(values, tasks)) != self._values:
            self._values = shown
            yield encode_frame("values", shown)

    def _before(self, messages: list[Json]) -> set[str]:
        """Return the ids of the messages that were there before; those that are new may be there at the first look."""
        begun = [index for index, one in enumerate(messages) if not self._begun_at.isdisjoint(_ids_in(one))]
        return {message["id"] for message in (messages[: begun[0] + 1] if begun else messages)}

    def _of_checkpoint(self, state: Json) -> bytes:
        key = state["checkpoint"]["checkpoint_id"]
        if key is None or key == self._checkpoint:
            return b""
        self._checkpoint = key
        config = {"configurable": state["checkpoint"]}
        parent = {"configurable": state["parent_checkpoint"]} if state["parent_checkpoint"] else None
        return encode_frame("checkpoints", {**state, "config": config, "parent_config": parent})


def _ids_in(message: Json) -> set[str]:
    return {message["id"], *(call["id"] for call in message.get("tool_calls", ()))}


def _with_interrupts(values: Json, tasks: list[Json]) -> Json:
    return {**values, INTERRUPT: interrupts_of(tasks)} if tasks else values


def _is_step(message: Json) -> bool:
    """Say whether a message tells of calls: the text of an answer comes piece by piece."""
    return message["type"] == "tool" or bool(message.get("tool_calls"))


def _whole(message: Json) -> Json:
    """Return a message for a client that joins pieces: the text of one with calls has come already."""
    return message if message["type"] == "tool" else {**message, "content": ""}


def _about(message: Json, node: str) -> Json:
    return {"langgraph_node": ACT if message["type"] == "tool" else node}


def _updates(messages: list[Json], node: str) -> Iterator[dict[str, Any]]:
    """Yield the messages that each node added, in order."""
    written: list[tuple[str, list[Json]]] = []
    for message in messages:
        by = "__start__" if message["type"] == "human" else _about(message, node)["langgraph_node"]
        if written and written[-1][0] == by:
            written[-1][1].append(message)
        else:
            written.append((by, [message]))
    yield from ({by: {"messages": added}} for by, added in written)
