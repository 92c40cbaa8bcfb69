"""The assistant as the service uses it: the compiled graph with its storage, its models and its connections."""

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.types import StateSnapshot

from api.branching import BranchPoint, find_branch_point, state_at, store_root
from api.clock import Clock
from api.drive import Principal
from api.storage.cached_saver import CachedSaver, NewestCheckpoint
from api.storage.installation import threads_url
from api.storage.tables import BUILT_IN
from api.storage.threads import ThreadStorage, open_threads
from graph.approvals.payload import check_edit, expired_answer
from graph.build import build_graph
from graph.context import RunContext
from graph.dependencies import GraphDependencies, PlanControl, model_in
from graph.drive.connections import ALL_SCOPES, ConnectionPool, SessionOpener
from graph.errors import explain
from graph.language import language_of
from graph.limits.model_table import context_in, prices_of
from graph.links.allowlist import host_allowlist
from graph.links.filter import LinkFilter
from graph.memory.facts import Fact, Facts, Restored, visible_facts
from graph.memory.view import rebuild_view, view_record_of
from graph.messages.others import others_items, stored_items, withheld_text
from graph.messages.stored_results import ResultStore, delete_results
from graph.messages.window import stored_result_of
from graph.messages.written import add_messages
from graph.model_factory import ModelSet, open_models
from graph.policy.grant_offers import check_grant
from graph.policy.grants import Grant, forget_person, list_grants, withdraw
from graph.servers.choices import ServerChoices
from graph.servers.pool import ServerPool
from graph.settings import AgentSettings
from graph.state import Mode
from graph.tools.results import WHOLE

LAST_NODE: Final = "cite"
"""The last node of a turn: messages that the service adds to a thread get a checkpoint as if this node wrote them."""


FORGOTTEN_AT_ONCE: Final = 100


def client_prefix(user_id: str) -> tuple[str, str]:
    """Return the namespace of the store below which programs of a person keep things."""
    return "clients", user_id


class Assistant:
    """The graph, and the functions of the graph that the service needs."""

    def __init__(self, deps: GraphDependencies, storage: ThreadStorage) -> None:
        self.graph: Any = build_graph(deps)
        self._storage = storage
        self._result_cache = deps.result_cache
        self.memory = AssistantMemory(deps, self.graph)
        self._connections = deps.connections
        self._server_pool = deps.server_pool
        self._hosts = deps.hosts
        self._settings = deps.settings
        self._clock = deps.clock
        self._store = deps.store or InMemoryStore()
        self._models = deps.models
        self._choices = deps.choices

    @property
    def conversation_headers(self) -> tuple[str, ...]:
        """The headers in which clients of OpenAI's API name a conversation."""
        return tuple(name.strip() for name in self._settings.conversation_headers.split(",") if name.strip())

    def plain_model(self, name: str) -> BaseChatModel:
        """Return the model of that name, or that of the settings, to be asked for a text alone."""
        return model_in(self._choices.get(name, self._models), "agent")

    def context(
        self,
        user_id: str,
        email: str,
        scopes: Sequence[str],
        mode: Mode,
        run_id: str,
        *,
        time_zone: str = "",
        model: str = "",
        assistant_id: str = BUILT_IN,
    ) -> RunContext:
        """Return the context of a run for a caller."""
        own = assistant_id if assistant_id != BUILT_IN else ""
        return RunContext(
            user_id, email, tuple(scopes), mode, run_id, time_zone=time_zone, model=model, assistant_id=own
        )

    async def drive_tools(self, caller: Principal) -> frozenset[str]:
        """Return the names of the drive's tools. Raises `DriveUnavailableError`."""
        toolbox = await self._connections.toolbox(RunContext(caller.user_id, caller.email, tuple(ALL_SCOPES)))
        return frozenset(toolbox.tools)

    def allows_model(self, name: str) -> bool:
        """Say whether a person may choose this model for a conversation."""
        return name in self._settings.allowed_models

    def model_choices(self) -> list[dict[str, Any]]:
        """Return the models that a person may choose, the default one first: size in tokens, and prices if known."""
        return [describe_model(self._settings, name) for name in self._settings.allowed_models]

    def link_filter(self, *messages: str) -> LinkFilter:
        """Return the link filter for texts to a person who wrote these messages."""
        return LinkFilter(self._hosts.with_addresses_in(*messages))

    def hand_over(self, run_id: str, tool_call_id: str, approval_id: str, content: Mapping[str, Any]) -> None:
        """Give the answer to a server's question to the call that waits for it: it is stored nowhere."""
        if self._server_pool and (call := self._server_pool.held.get(run_id, tool_call_id)):
            call.contents[approval_id] = content

    def end_calls(self, run_id: str) -> None:
        """Give up the calls of people's own servers that a run has under way: it is over."""
        if self._server_pool:
            self._server_pool.held.drop_run(run_id)

    def expired(self, payload: Mapping[str, Any]) -> Any:
        """Return the answer that resumes the interrupt when nobody decided in time."""
        return expired_answer(payload)

    def check_edit(self, payload: Mapping[str, Any], tool_call_id: str, args: Mapping[str, Any]) -> str | None:
        """Return the problem with edited arguments, None if they fit the tool."""
        return check_edit(payload, tool_call_id, args)

    def check_grant(self, payload: Mapping[str, Any], tool_call_id: str, grant: Mapping[str, Any]) -> str | None:
        """Return why a grant can't be given with an approval of that action, None if it can."""
        return check_grant(payload, tool_call_id, grant, self._clock())

    async def grants(self, user_id: str) -> list[Grant]:
        """Return the valid grants of the person, the newest first."""
        return await list_grants(self._store, user_id, self._clock())

    async def withdraw_grant(self, user_id: str, grant_id: str) -> bool:
        """End a grant of the person now; False if they have none of that id."""
        return await withdraw(self._store, user_id, grant_id)

    def failure(self, error: Exception) -> tuple[str, str, bool]:
        """Return an error as (code, sentence, whether trying again may help)."""
        return explain(error)

    async def state(self, thread_id: str, at: str | None = None) -> Mapping[str, Any]:
        """Return the state of a thread, now or at a checkpoint; nothing at an empty one."""
        return await state_at(self.graph, thread_id, at)

    async def items_of_others(self, thread_id: str, run_id: str | None = None, at: str | None = None) -> set[str]:
        """Return the items of others that the messages of a thread, or of one run in it, were made of."""
        messages = (await self.state(thread_id, at)).get("messages", [])
        return others_items(messages_of_run(messages, run_id) if run_id else messages)

    async def branch_point(self, thread_id: str, run_id: str) -> BranchPoint:
        """Return where the branch of a run, the newest of its thread, begins and where it is now."""
        return await find_branch_point(self._storage.saver, thread_id, run_id)

    def newest_checkpoint(self, thread_id: str) -> NewestCheckpoint | None:
        """Return the checkpoint of a thread that this process made last, None if that is not known."""
        saver = self._storage.saver
        return saver.newest(thread_id) if isinstance(saver, CachedSaver) else None

    async def new_root(self, thread_id: str) -> str:
        """Store a checkpoint at which nothing was said yet, and return its id."""
        return await store_root(self._storage.saver, thread_id)

    async def message_ids(self, thread_id: str, run_id: str) -> set[str]:
        """Return the ids of a run's messages: the person's and those that follow it, also in steps at work."""
        snapshot = await self.graph.aget_state({"configurable": {"thread_id": thread_id}}, subgraphs=True)
        found = {run_id, *(str(message.id) for message in messages_of_run(snapshot.values.get("messages", []), run_id))}
        inner = [task.state for task in snapshot.tasks if isinstance(task.state, StateSnapshot)]
        while inner:
            state = inner.pop()
            found |= {str(message.id) for message in state.values.get("messages", [])}
            inner += [task.state for task in state.tasks if isinstance(task.state, StateSnapshot)]
        return found

    async def keep_incomplete(self, thread_id: str, answers: Sequence[AIMessage]) -> None:
        """Add answers that did not become whole to a thread whose run is over."""
        config = {"configurable": {"thread_id": thread_id}}
        await self.graph.aupdate_state(config, add_messages(answers), as_node=LAST_NODE)

    async def forget(self, user_id: str, thread_id: str) -> None:
        """Delete all that is kept of a thread: checkpoints, long results, and where facts are from; the facts stay."""
        await self._storage.saver.adelete_thread(thread_id)
        await delete_results(self._store, self._result_cache, user_id, thread_id)
        await Facts(self._store, user_id).unlink(thread_id)
        await self._storage.erase()

    async def forget_person(self, user_id: str) -> None:
        """Delete a person's data beside their threads: facts, grants, texts of their own."""
        await Facts(self._store, user_id).forget_all()
        await forget_person(self._store, user_id)
        while found := await self._store.asearch(client_prefix(user_id), limit=FORGOTTEN_AT_ONCE):
            for item in found:
                await self._store.adelete(item.namespace, item.key)
        await self._storage.erase()

    @property
    def store(self) -> BaseStore:
        """The store, in which the data of a person's programs lies below `client_prefix`."""
        return self._store

    async def check(self) -> None:
        """Raise if the checkpoints can't be read, or a file of threads is known to be damaged."""
        self._storage.require_sound()
        await self._storage.saver.aget_tuple({"configurable": {"thread_id": "", "checkpoint_ns": ""}})


@asynccontextmanager
async def open_assistant(
    root: Path,
    settings: AgentSettings,
    sessions: SessionOpener,
    clock: Clock,
    models: ModelSet | None = None,
    plans: PlanControl | None = None,
    public_url: str = "",
    servers: ServerChoices | None = None,
    server_pool: ServerPool | None = None,
) -> AsyncGenerator[Assistant]:
    """Open the assistant on its files below `root`; links may lead to `public_url` and where the settings say.

    `servers` reads people's choices for their assistants, `server_pool` has the connections to them.
    """
    async with AsyncExitStack() as stack:
        storage = await stack.enter_async_context(open_threads(threads_url(root, settings.threads_url)))
        connections = ConnectionPool.of(settings, sessions, clock.now)
        stack.push_async_callback(connections.aclose)
        built = models or await stack.enter_async_context(open_models(settings, root))
        deps = GraphDependencies(
            models=built.models,
            choices=built.choices,
            connections=connections,
            settings=settings,
            checkpointer=storage.saver,
            store=storage.store,
            plans=plans,
            servers=servers,
            server_pool=server_pool,
            clock=clock.now,
            hosts=host_allowlist(settings.link_hosts, public_url),
        )
        yield Assistant(deps, storage)


def describe_model(settings: AgentSettings, name: str) -> dict[str, Any]:
    """Return the facts of a model that people see."""
    prices = prices_of(settings, name)
    return {
        "name": name,
        "is_default": name == settings.resolved_model,
        "context_tokens": context_in(settings, name),
        "input_price": prices.input if prices else None,
        "output_price": prices.output if prices else None,
    }


SHOWN_CHARACTERS: Final = 2_000
"""The longest result of others that a thread shows in full."""
ROLES: Final = {"system": "system", "human": "user", "ai": "assistant", "tool": "tool"}


class AssistantMemory:
    """Memory over the store of the graph."""

    def __init__(self, deps: GraphDependencies, graph: Any) -> None:
        self._deps = deps
        self._graph = graph
        self._store = deps.store or InMemoryStore()

    async def facts(self, caller: Principal) -> Sequence[Mapping[str, Any]]:
        """Return the caller's facts, newest first, without trashed files' ones. Raises `DriveUnavailableError`."""
        who = RunContext(caller.user_id, caller.email, tuple(sorted(str(scope) for scope in caller.scopes)))
        return await visible_facts(self._facts(caller), await self._deps.connections.toolbox(who))

    async def fact(self, caller: Principal, fact_id: str) -> Mapping[str, Any] | None:
        """Return one of the caller's facts."""
        return next((fact for fact in await self.facts(caller) if fact["id"] == fact_id), None)

    async def edit(self, caller: Principal, fact_id: str, text: str) -> Mapping[str, Any] | None:
        """Give a fact of the caller another text; None if there is no such fact."""
        return await self._facts(caller).edit(fact_id, text, self._deps.clock())

    async def restore(self, caller: Principal, facts: Sequence[Fact]) -> list[Restored]:
        """Store facts of an export that the caller does not have; return the outcome for each."""
        return await self._facts(caller).restore(facts)

    async def forget(self, caller: Principal, fact_id: str) -> bool:
        """Forget a fact of the caller for good; False if there is no such fact."""
        return await self._facts(caller).forget(fact_id)

    async def with_results(self, user_id: str, thread_id: str, messages: Sequence[AnyMessage]) -> list[AnyMessage]:
        """Return the messages of a thread with the short results of others, which lie beside it."""
        stored = {
            kept["reference"]: message
            for message in messages
            if others_items([message])
            and (kept := stored_result_of(message))
            and kept["characters"] <= SHOWN_CHARACTERS
        }
        texts = await self._result_store(user_id, thread_id).texts(stored)
        shown = {message.id: texts[key] for key, message in stored.items() if key in texts}
        return [
            message.model_copy(update={"content": shown[message.id]}) if message.id in shown else message
            for message in messages
        ]

    async def items_of_result(self, user_id: str, thread_id: str, reference: str) -> set[str]:
        """Return the items of others that a long result was made of."""
        return await stored_items(self._result_store(user_id, thread_id), reference)

    async def model_calls(
        self, user_id: str, thread_id: str, run_id: str, hidden: Collection[str] = (), at: str | None = None
    ) -> list[dict[str, Any]]:
        """Return the requests of a run to its models, in order: each with its estimated and its reported tokens.

        Those that were made of `hidden` items of others are withheld.
        """
        messages: list[AnyMessage] = [*(await state_at(self._graph, thread_id, at)).get("messages", ())]
        result_store = self._result_store(user_id, thread_id)
        answers = [message for message in messages_of_run(messages, run_id) if view_record_of(message)]
        return [await _model_call(messages, answer, result_store, hidden) for answer in answers]

    async def result(self, user_id: str, thread_id: str, reference: str) -> str | None:
        """Return a long result of the thread in full."""
        texts = await self._result_store(user_id, thread_id).texts([f"{reference}{WHOLE}", reference])
        return texts.get(f"{reference}{WHOLE}") or texts.get(reference)

    def _facts(self, caller: Principal) -> Facts:
        return Facts(self._store, caller.user_id)

    def _result_store(self, user_id: str, thread_id: str) -> ResultStore:
        return ResultStore(self._store, self._deps.result_cache, user_id, thread_id)


def messages_of_run(messages: Sequence[AnyMessage], run_id: str) -> list[AnyMessage]:
    """Return the messages that follow the person's message of a run, up to their next one."""
    begun = next((index for index, message in enumerate(messages) if message.id == run_id), len(messages))
    following = range(begun + 1, len(messages))
    end = next((index for index in following if isinstance(messages[index], HumanMessage)), len(messages))
    return list(messages[begun:end])


async def _model_call(
    messages: Sequence[AnyMessage], answer: AnyMessage, result_store: ResultStore, hidden: Collection[str]
) -> dict[str, Any]:
    recorded = view_record_of(answer)
    assert recorded is not None  # noqa: S101 - the caller filters such answers
    language = language_of(next((one.text for one in reversed(messages) if isinstance(one, HumanMessage)), ""))
    if others_items([answer]) & set(hidden):
        sent: list[AnyMessage] = [SystemMessage(withheld_text(language))]
    else:
        sent = await rebuild_view(messages, recorded, result_store, hidden, language)
    usage = answer.usage_metadata if isinstance(answer, AIMessage) else None
    return {
        "message_id": str(answer.id),
        "messages": [_message_view(message) for message in sent],
        "estimated_tokens": recorded["tokens"],
        "input_tokens": usage["input_tokens"] if usage else None,
    }


def _message_view(message: BaseMessage) -> dict[str, Any]:
    view: dict[str, Any] = {"id": message.id, "role": ROLES[message.type], "text": message.text}
    if isinstance(message, AIMessage):
        view["tool_calls"] = [
            {"tool_call_id": call["id"], "name": call["name"], "args": call["args"]} for call in message.tool_calls
        ]
    if isinstance(message, ToolMessage):
        view["tool_call_id"] = message.tool_call_id
    return view
