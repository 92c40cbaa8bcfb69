"""Frames that show the state of a thread.

While a run works in this process its states are those of the run itself, each behind the events that led to it. They
are read from the checkpoints where it asks, and while another process works on it, when an event says that something
has changed.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from api.drive import Principal
from api.events.frames import Frame
from api.langgraph.entrance import Json
from api.langgraph.streams.frames import FrameEncoder, encode_frame
from api.langgraph.streams.modes import Mode
from api.langgraph.threads.interrupts import interrupts_of, waiting_tasks
from api.langgraph.threads.rows import ClientThreads
from api.langgraph.threads.states import newest_state, newest_values
from api.langgraph.threads.values import ThreadValues
from api.runs.live_states import LiveState
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
ASKS: Final = frozenset({"approval_needed", "plan_paused"})
ENDS: Final = frozenset({*ASKS, "done", "error"})
"""The events behind which a run of a client is over: ours may go on when it is answered."""
SHOWS_STATE: Final[frozenset[Mode]] = frozenset({"values", "updates", "messages", "tasks", "checkpoints"})
ACT: Final = "act"
INTERRUPT: Final = "__interrupt__"


class RunStates:
    """The states of the thread of a run, one after the other."""

    def __init__(
        self,
        service: Service,
        caller: Principal,
        thread_id: str,
        run_id: str | None,
        own_ids: Mapping[str, str] | None = None,
    ) -> None:
        self._service = service
        self._caller = caller
        self._thread_id = thread_id
        self._run_id = run_id
        self._shown = ThreadValues(service, caller, thread_id, own_ids)
        self._live: LiveState | None = None
        self._taken: Mapping[str, Any] | None = None
        self._seq = 0

    def place(self, frames: Sequence[Frame]) -> int | None:
        """Return behind how many of the next events another state comes; None: none does.

        The state at the end of a run, or at its question, comes before the event that tells of that.
        """
        self._seq = frames[-1].seq if frames else self._seq
        ends = next((index for index, frame in enumerate(frames) if frame.type in ENDS), None)
        live = self._found()
        if live is None or (ends is not None and frames[ends].type in ASKS):
            changed = [index for index, frame in enumerate(frames, 1) if frame.type in CHANGES_STATE]
            return ends if ends is not None else max(changed, default=None)
        if live.values is self._taken or live.seq > self._seq:
            return None
        behind = sum(frame.seq <= live.seq for frame in frames)
        return behind if ends is None else min(behind, ends)

    def _found(self) -> LiveState | None:
        """Return the run's own state; None while it has none here."""
        if self._run_id:
            self._live = self._service.runs.live_state(self._run_id) or self._live
        return self._live if self._live and self._live.values is not None else None

    async def newest(self, *, asks: bool) -> tuple[Json, list[Json]]:
        """Return the values now, and the tasks with questions if the run `asks`."""
        live = None if asks else self._found()
        if live and live.values is not None:
            self._taken = live.values
            return await self._shown.show(live.values), []
        thread = await ClientThreads(self._service).get(self._caller, self._thread_id)
        values = await newest_values(self._service, self._caller, thread, self._shown)
        return values, await waiting_tasks(self._service, self._caller, thread.run)

    async def final(self) -> Json:
        """Return the values at the end of a run, with its questions."""
        return with_interrupts(*await self.newest(asks=True))

    async def state(self) -> Json:
        """Return the newest state with its checkpoint."""
        thread = await ClientThreads(self._service).get(self._caller, self._thread_id)
        return await newest_state(self._service, self._caller, thread, self._shown)

    async def step(self, step: int, *, asks: bool) -> tuple[Json, Json, list[Json]]:
        """Return the newest checkpoint as the second protocol has it, and its values and tasks as `newest` does.

        The `step` has to grow over the thread: clients take a smaller one, as the graph counts after a fork, for late.
        """
        live = None if asks else self._found()
        if live and (newest := live.checkpoint):
            before = {"parent_id": newest.parent} if newest.parent else {}
            checkpoint = {"id": newest.id, **before, "step": step, "source": newest.source}
            return checkpoint, *await self.newest(asks=asks)
        state = await self.state()
        parent = state["parent_checkpoint"]
        before = {"parent_id": parent["checkpoint_id"]} if parent else {}
        source = state["metadata"].get("source", "loop")
        checkpoint = {"id": state["checkpoint"]["checkpoint_id"], **before, "step": step, "source": source}
        return checkpoint, state["values"], state["tasks"]


class StateFrames:
    """Returns frames of the states of a run's thread, as far as they are new: the messages after `begun_at`.

    That is the id of the person's message, or those of the calls that they have decided about.
    """

    def __init__(self, states: RunStates, modes: frozenset[Mode], begun_at: Collection[str] = ()) -> None:
        self._begun_at = frozenset(begun_at)
        self._states = states
        self._modes = modes
        self._values: Json | None = None
        self._known: set[str] | None = None
        self._asked: set[str] = set()
        self._checkpoint: str | None = None

    async def among(self, frames: Sequence[Frame], encoder: FrameEncoder) -> bytes:
        """Return the frames of events, with those of the state where it is another one.

        Not behind them all: clients drop a message that has begun, and is not in the values yet, until its next piece.
        """
        at = None if SHOWS_STATE.isdisjoint(self._modes) else self._states.place(frames)
        if at is None:
            return b"".join(map(encoder.encode, frames))
        shown = b"".join(map(encoder.encode, frames[:at]))
        shown += await self.read(encoder.node, asks=any(frame.type in ASKS for frame in frames))
        return shown + b"".join(map(encoder.encode, frames[at:]))

    async def read(self, node: str, *, asks: bool = True) -> bytes:
        """Return the frames of the changes since the last time; `node` is the specialist at work."""
        if SHOWS_STATE.isdisjoint(self._modes):
            return b""
        shown = b"".join(self._of_values(*await self._states.newest(asks=asks), node))
        if "checkpoints" in self._modes:
            shown += self._of_checkpoint(await self._states.state())
        return shown

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
        if "values" in self._modes and (shown := with_interrupts(values, tasks)) != self._values:
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


def with_interrupts(values: Json, tasks: list[Json]) -> Json:
    """Return values with the questions of the tasks."""
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
