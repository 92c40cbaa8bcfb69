"""What the assistant remembers, for those who ask over HTTP: facts, long results, what models saw."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.store.memory import InMemoryStore

from api.drive import Principal
from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.memory.facts import Facts
from graph.memory.source_files import visible_facts
from graph.memory.view import rebuild_view, view_record_of
from graph.messages.stored_results import ResultStore
from graph.tools.results import WHOLE

ROLES: Final = {"system": "system", "human": "user", "ai": "assistant", "tool": "tool"}


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request to a model in a run: the answer's id, and what was sent, put together from what was noted of it.

    `tokens` is what that was estimated to take; `reported` is what the service said, None if it said nothing.
    """

    message_id: str
    messages: tuple[Mapping[str, Any], ...]
    tokens: int
    reported: int | None


class AssistantMemory:
    """Memory over the store of the graph."""

    def __init__(self, deps: GraphDependencies, graph: Any) -> None:
        self._deps = deps
        self._graph = graph
        self._store = deps.store or InMemoryStore()

    async def facts(self, caller: Principal) -> Sequence[Mapping[str, Any]]:
        """Return the caller's facts, the newest first, without those of files in the trash.

        Raises `DriveUnavailableError` if the drive can't be asked about the files.
        """
        who = RunContext(caller.user_id, caller.email, tuple(sorted(str(scope) for scope in caller.scopes)))
        return await visible_facts(self._facts(caller), await self._deps.connections.toolbox(who))

    async def fact(self, caller: Principal, fact_id: str) -> Mapping[str, Any] | None:
        """Return one of the caller's facts."""
        return next((fact for fact in await self.facts(caller) if fact["id"] == fact_id), None)

    async def edit(self, caller: Principal, fact_id: str, text: str) -> Mapping[str, Any] | None:
        """Give a fact of the caller another text; None if there is no such fact."""
        return await self._facts(caller).edit(fact_id, text, self._deps.clock())

    async def forget(self, caller: Principal, fact_id: str) -> bool:
        """Forget a fact of the caller for good; False if there is no such fact."""
        return await self._facts(caller).forget(fact_id)

    async def seen(self, user_id: str, thread_id: str, run_id: str) -> Sequence[ModelCall]:
        """Return what the models of a run were sent, in order."""
        snapshot = await self._graph.aget_state({"configurable": {"thread_id": thread_id}})
        messages: list[AnyMessage] = snapshot.values.get("messages", [])
        result_store = self._result_store(user_id, thread_id)
        answers = [message for message in _of_run(messages, run_id) if view_record_of(message)]
        return [await _call(messages, answer, result_store) for answer in answers]

    async def result(self, user_id: str, thread_id: str, reference: str) -> str | None:
        """Return a long result of the thread in full."""
        texts = await self._result_store(user_id, thread_id).texts([f"{reference}{WHOLE}", reference])
        return texts.get(f"{reference}{WHOLE}") or texts.get(reference)

    def _facts(self, caller: Principal) -> Facts:
        return Facts(self._store, caller.user_id)

    def _result_store(self, user_id: str, thread_id: str) -> ResultStore:
        return ResultStore(self._store, self._deps.result_cache, user_id, thread_id)


def _of_run(messages: Sequence[AnyMessage], run_id: str) -> list[AnyMessage]:
    begun = next((index for index, message in enumerate(messages) if message.id == run_id), len(messages))
    following = range(begun + 1, len(messages))
    end = next((index for index in following if isinstance(messages[index], HumanMessage)), len(messages))
    return list(messages[begun:end])


async def _call(messages: Sequence[AnyMessage], answer: AnyMessage, result_store: ResultStore) -> ModelCall:
    recorded = view_record_of(answer)
    assert recorded is not None  # noqa: S101 - only such answers are asked about
    sent = await rebuild_view(messages, recorded, result_store)
    usage = answer.usage_metadata if isinstance(answer, AIMessage) else None
    return ModelCall(
        message_id=str(answer.id),
        messages=tuple(_told(message) for message in sent),
        tokens=recorded["tokens"],
        reported=usage["input_tokens"] if usage else None,
    )


def _told(message: BaseMessage) -> dict[str, Any]:
    told: dict[str, Any] = {"id": message.id, "role": ROLES[message.type], "text": message.text}
    if isinstance(message, AIMessage):
        told["tool_calls"] = [
            {"tool_call_id": call["id"], "name": call["name"], "args": call["args"]} for call in message.tool_calls
        ]
    if isinstance(message, ToolMessage):
        told["tool_call_id"] = message.tool_call_id
    return told
