"""The node that all specialists share: read the surroundings, ask the model, and hand on its calls."""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final, Protocol, cast
from uuid import uuid4
from weakref import WeakKeyDictionary

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.messages.tool import tool_call
from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime

from drive_server.kernel.telemetry.conventions import AGENT_NAME, INVOKE_AGENT, OPERATION
from drive_server.kernel.telemetry.traces import span
from drive_server.kernel.texts import Texts
from graph.agents.attachments import PICTURE_TOKENS, with_pictures
from graph.agents.authorship import foreign_sources
from graph.agents.looking import LookCheck, ask_to_look, with_mark
from graph.agents.outcomes import TurnOutcome
from graph.agents.person import read_moment
from graph.agents.small_sections import results_by_path, sections_by_path
from graph.agents.step_message import step_message
from graph.agents.surroundings import Surroundings, SurroundingsReader
from graph.agents.surroundings_cache import ReadCache, SurroundingsCache, query_of, turn_key
from graph.citations.sources import with_context
from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.drive.connections import Toolbox
from graph.errors import (
    AgentError,
    ModelContextError,
    ModelLengthError,
    ModelNotFoundError,
    ModelOutputError,
    ModelRequestError,
)
from graph.events.sending import delta_listener, emit
from graph.language import Language
from graph.limits.enforcement import without_long_arguments
from graph.limits.limits import limit_reached
from graph.links.filter import filter_answer
from graph.memory.facts import Fact
from graph.memory.last_turns import last_change_section, last_plan_section
from graph.memory.summaries import summary_section
from graph.memory.summarizer import Summarizer, compress
from graph.memory.view import Sections, View, read_room, scale_after, tokens_of_tools, view_of, with_view
from graph.messages.compact_view import with_full_ids
from graph.messages.grouping import AnyCall, call_ids, unanswered, used_call_ids
from graph.messages.incomplete import with_ending
from graph.messages.records import with_sources
from graph.messages.steps import STEP
from graph.messages.written import add_messages, link_filter_for, say, with_own_ids
from graph.models.asking import (
    ChatRunnable,
    ask,
    ask_for_call,
    cut_notice,
    expected_of,
    has_lost_call,
    reads_structure,
    steadied,
    was_cut,
)
from graph.models.overflow import cut_request_notice, narrow_context_notice, was_request_cut, with_cut_mark
from graph.models.profile import is_small
from graph.models.serving import serving
from graph.prompts import load_prompt, section
from graph.routing.route import UNSURE, announce_route, begins_turn, is_unsure
from graph.servers.offered import OfferedTools
from graph.state import (
    AgentName,
    State,
    Taint,
    Update,
    current_step,
    message_id_of,
    running_turn,
)
from graph.tools.box import LOCAL_NAMES, toolset
from graph.tools.core import CORE
from graph.tools.local import Toolset
from graph.tools.memory import CHANGING_TOOLS, relevant_facts, stored_facts
from graph.tools.more import MORE_TOOLS, offered_tools, requested_tools
from graph.tools.small import small_tools

logger = logging.getLogger(__name__)

ATTEMPTS: Final = 2
CALL_AGAIN: Final = (
    "Your tool call could not be read, so it was not made. Call one of your tools again, by its exact name, with its"
    " arguments as one whole JSON object."
)
NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""A valid name of a function (OpenAI API, "create chat completion")."""
NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_-]+")
NO_NAME: Final = "unknown"
MAX_NAME: Final = 64
MAX_BOUND: Final = 64


class ViewBuilder(Protocol):
    """Builds the view of a state, and its messages as they are sent; without `whole`, long results are excerpts."""

    async def __call__(self, state: State, *, whole: bool = True) -> tuple[View, Sequence[AnyMessage]]:
        """Return both."""
        ...


@dataclass(frozen=True, slots=True)
class Specialist:
    """A specialist: its role (beside the node, under its name), its tools, and the reader of its surroundings.

    All share one system text and are shown the same tools (`graph/tools/core.py`), of which a specialist may call its
    own; the role stands in the turn's message. A small model gets the `small_prompt` and the `small_tools` alone, and
    may use all the others of the specialist if it calls them.
    """

    name: AgentName
    role: str
    tools: frozenset[str]
    read_surroundings: SurroundingsReader
    small_prompt: str = ""
    small_tools: tuple[str, ...] = ()
    knows_last_run: bool = False


TEXTS: Final = Texts.beside(__file__)
SHARED_PROMPT: Final = load_prompt("agents/specialist")
BoundKey = tuple[str, tuple[str, ...], str, bool]
"""A model's name, the requested tools, those of other servers, and whether the model is small."""


class _BoundModels:
    """A run's model with the tools, once for each session, model, and the further tools that were requested.

    All specialists are shown the tools of `everyone`; a small model, and one that reads the structured form, has those
    of its specialist.
    """

    def __init__(self, specialist: Specialist, everyone: frozenset[str], deps: GraphDependencies) -> None:
        self._specialist = specialist
        self._everyone = everyone
        self._deps = deps
        self._bound = WeakKeyDictionary[Toolbox, dict[BoundKey, tuple[ChatRunnable, int]]]()

    def of(
        self, tools: Toolset, requested: tuple[str, ...], runtime: Runtime[RunContext], *, small: bool
    ) -> tuple[ChatRunnable, int]:
        """Return the model with the tools, and how many tokens their descriptions take."""
        model, wanted = self._deps.model("agent", runtime), tuple(name for name in requested if name not in CORE)
        variants, name = self._bound.setdefault(tools.context.toolbox, {}), self._deps.model_name("agent", runtime)
        key = name, wanted, tools.outside.key, small
        if key not in variants:
            offered = self._offered(tools, wanted, compact=not reads_structure(model), small=small)
            if len(variants) >= MAX_BOUND:
                variants.clear()
            bound = model.bind_tools(offered)
            variants[key] = steadied(bound) if small else bound, tokens_of_tools(offered)
        return variants[key]

    def _offered(self, tools: Toolset, wanted: tuple[str, ...], *, compact: bool, small: bool) -> list[BaseTool]:
        if small:
            return [*small_tools(tools.tools, self._specialist.small_tools), *tools.outside.tools.values()]
        if compact:
            return offered_tools(tools, tools.allowed(self._everyone) | LOCAL_NAMES, wanted)
        allowed = tools.allowed(self._specialist.tools) | LOCAL_NAMES
        return [tool for name, tool in tools.tools.items() if name in allowed - {MORE_TOOLS.name}]


def make_specialist(
    specialist: Specialist, everyone: frozenset[str], deps: GraphDependencies, surroundings: SurroundingsCache
) -> Any:
    """Return the specialist's node; `everyone` are the tools of all specialists, which each is shown."""
    seen_facts = ReadCache[list[Fact]](deps.clock)
    models = _BoundModels(specialist, everyone, deps)

    async def consult(state: State, runtime: Runtime[RunContext], *, unseen: bool = False) -> Update:
        user, tools = deps.user(runtime), await toolset(deps, runtime)
        seen = await surroundings.with_attachments(specialist.read_surroundings, state, runtime)
        key = (user, *turn_key(state), _facts_touched(state))
        stored = await seen_facts.get(key, lambda: stored_facts(tools.context))
        facts = await relevant_facts(tools.context, stored, query_of(state))
        chat_model, name = deps.model("agent", runtime), deps.model_name("agent", runtime)
        small = is_small(deps.settings, name, await serving(chat_model)) and not reads_structure(chat_model)
        model, size = models.of(tools, requested_tools(state["messages"]), runtime, small=small)
        moment = await read_moment(state, tools.context.toolbox, user, deps.clock)
        unsure = is_unsure(state, deps.settings.route_confidence)
        spending, toolbox = deps.spending("agent", runtime), tools.context.toolbox
        compact = not reads_structure(deps.model("agent", runtime))
        pictures = await surroundings.pictures(state, runtime)
        beside = size + PICTURE_TOKENS * len(pictures)

        async def view_for(state: State, *, whole: bool = True) -> tuple[View, Sequence[AnyMessage]]:
            sections = _sections(specialist, seen, state, facts, moment, tools.outside, unsure=unsure, small=small)
            room, shelf = (
                await read_room(deps, "agent", runtime, state.get("narrowed")),
                deps.result_store(runtime),
            )
            view = await view_of(
                state,
                sections,
                room,
                shelf,
                beside,
                toolbox,
                step=step_message(state, toolbox),
                whole=whole,
                compact=compact,
                time_zone=tools.context.time_zone,
            )
            shown = results_by_path(view.messages) if small else view.messages
            return view, with_pictures(shown, pictures)

        try:
            check = LookCheck(state, seen, toolbox) if compact else None
            outcome = TurnOutcome(state, toolbox)
            answering = _Answering(model, Summarizer(deps, runtime, spending), outcome, check, small=small)
            answer, view, shorter = await _ask(answering, state, view_for)
        except (ModelRequestError, ModelNotFoundError) as refused:
            if not (pictures and surroundings.learn_blindness(refused, runtime)):
                raise
            return await consult(state, runtime, unseen=True)
        state = cast("State", {**state, **shorter})
        scale = _scale_after(state, view, answer)
        answer = without_long_arguments(
            with_full_ids(answer, view.ids, state["messages"]), deps.settings.max_argument_characters
        )
        answer = filter_answer(answer, link_filter_for(state, deps.hosts))
        served, language, messages = await serving(chat_model), running_turn(state)["language"], state["messages"]
        cut = cut_request_notice(answer, view.recorded["tokens"], served.program, messages, language)
        cut = cut or narrow_context_notice(served, messages, language)
        answer = _with_notice(answer, language, unseen=unseen, cut=cut)
        answer = with_own_ids(answer, used_call_ids(state["messages"], call_ids(answer)))
        answer = with_context(with_sources(answer, tools.outside.all_facts), seen.sources)  # notes calls by their ids
        taints = await foreign_sources(seen.reads, user, runtime.store)
        return {
            **_update(with_view(answer, view, _of_others(taints)), dict(spending.usage), state, taints),
            "calls": [],
            "limit": None,
            "token_scale": scale,
            **shorter,
        }

    async def run(state: State, runtime: Runtime[RunContext]) -> Update:
        if unanswered(state["messages"]):
            return {}
        _announce(state)
        if reached := limit_reached(state, deps.settings):
            return {"limit": reached}
        try:
            with span(f"{INVOKE_AGENT} {specialist.name}", {OPERATION: INVOKE_AGENT, AGENT_NAME: specialist.name}):
                return await consult(state, runtime)
        except AgentError as failure:
            error = failure.in_language(running_turn(state)["language"])
            if not (error.retryable and current_step(state)):
                raise error from failure
            return {"failure": error.sentence}

    return run


def _announce(state: State) -> None:
    if begins_turn(state):
        announce_route(state.get("route"))


@dataclass(frozen=True, slots=True)
class _Answering:
    """All that an answer of one specialist is asked with; its usage is counted in the summarizer's spending.

    The `outcome` of the turn's calls is the answer of a model that says nothing twice, and stands in for a `small`
    model's that a person can't read.
    """

    model: ChatRunnable
    summarizer: Summarizer
    outcome: TurnOutcome
    check: LookCheck | None
    small: bool


async def _ask(asking: _Answering, state: State, view_for: ViewBuilder) -> tuple[AIMessage, View, Update]:
    """Ask, once more with a shorter view if the service refuses the length of the first; the update says how short."""
    view, messages = await view_for(state)
    try:
        return await _answer(asking, messages), view, {}
    except ModelContextError as refused:
        logger.warning("The model refused the length of a request; it is asked once more with less: %s", refused)
        shorter = await compress(state, view, refused, asking.summarizer)
    view, messages = await view_for(cast("State", {**state, **shorter}), whole=False)
    return await _answer(asking, messages), view, shorter


async def _answer(asking: _Answering, messages: Sequence[AnyMessage]) -> AIMessage:
    """Ask, once more if the answer fails the check; mark it if it fails again."""
    asked = [sendable(with_ending(message)) for message in messages]

    async def ask_again(more: HumanMessage, *, has_to_call: bool = False) -> AIMessage:
        return await _ask_twice(asking, [*asked, more], has_outcome=False, has_to_call=has_to_call)

    answer = await _ask_twice(asking, asked)
    offered, check = expected_of(asking.model, ()).tools, asking.check
    failed = await check.of(answer, messages, offered) if check else None
    if check and failed:
        answer = await ask_to_look(answer, failed, lambda more: ask_again(more, has_to_call=True))
        return with_mark(answer, await check.of(answer, messages, offered))
    return await asking.outcome.fitting(answer, ask_again) if asking.small else answer


async def _ask_twice(
    asking: _Answering, messages: Sequence[AnyMessage], *, has_outcome: bool = True, has_to_call: bool = False
) -> AIMessage:
    """Ask, once more if the answer is empty or a call that can't be read; count the usage of both.

    A call that can't be read is asked for again by the grammar of the server, as is one that the model `has_to_call`.
    A model that is silent after its calls is asked for the answer: a server that draws no lots says the same again.
    """
    asked, outcome, spending = messages, asking.outcome, asking.summarizer.spending
    for attempt in range(1, ATTEMPTS + 1):
        asks = ask_for_call if has_to_call else ask
        answer = await asks(asking.model, asked, said=delta_listener())
        spending.add(answer, asked)
        if has_lost_call(answer) and attempt < ATTEMPTS and not answer.text.strip():
            asked, has_to_call = [*asked, HumanMessage(CALL_AGAIN, additional_kwargs={STEP: True})], True
            continue
        if answer.text.strip() or call_ids(answer) or has_lost_call(answer):
            return answer
        if was_cut(answer):
            raise ModelLengthError("the limit was reached before the answer began")
        asked = [*messages, *([outcome.answer_now] if outcome.answer_now else ())]
    if has_outcome and (sentence := await outcome.sentence()):
        return say(sentence)
    raise ModelOutputError("the answer was empty twice")


def _scale_after(state: State, view: View, answer: AIMessage) -> float:
    """Return the factor for estimates from now on; the count of a request that was cut teaches nothing."""
    is_cut = was_request_cut(answer, view.recorded["tokens"])
    return state.get("token_scale") or 1.0 if is_cut else scale_after(state, view, answer)


def _with_notice(answer: AIMessage, language: Language, *, unseen: bool, cut: str) -> AIMessage:
    """Tell the person if the answer was cut off, its pictures `unseen`, or its request `cut`, which says how.

    A call that was cut goes back as broken.
    """
    notice = f"\n\n{TEXTS.say('unseen', language)}" if unseen else ""
    if not call_ids(answer):
        notice += cut_notice(answer, language)
    if cut and not call_ids(answer):
        answer = with_cut_mark(answer)
        notice += f"\n\n{cut}"
    if not notice:
        return answer
    key = answer.id or str(uuid4())
    emit({"type": "content", "text": notice, "message_id": key})
    content = [*answer.content, {"type": "text", "text": notice}] if isinstance(answer.content, list) else ""
    return answer.model_copy(update={"id": key, "content": content or f"{answer.content}{notice}"})


def _update(answer: AIMessage, usage: dict[str, int], state: State, taints: Sequence[Taint]) -> Update:
    rounds = state.get("rounds", 0) + bool(call_ids(answer))
    update = add_messages([answer], usage=usage, tainted=bool(taints))
    named = {"taint": taints[0]} if taints else {}
    return {**update, **named, "rounds": rounds, "failure": None}


def _of_others(taints: Sequence[Taint]) -> set[str]:
    return {taint["file_id"] for taint in taints if taint["origin"] == "shared" and taint["file_id"]}


def _facts_touched(state: State) -> int:
    """Return how often the turn changed the memories so far, or tried to."""
    begun = message_id_of(running_turn(state))
    of_turn = takewhile(lambda message: message.id != begun, reversed(state["messages"]))
    return sum(isinstance(message, ToolMessage) and message.name in CHANGING_TOOLS for message in of_turn)


def _sections(
    specialist: Specialist,
    seen: Surroundings,
    state: State,
    facts: Sequence[str],
    moment: str,
    outside: OfferedTools,
    *,
    unsure: bool,
    small: bool,
) -> Sections:
    """Return the sections; those that stay the same in a conversation apart: services cache a request's beginning."""
    last_run, language = state.get("last_run_id"), running_turn(state)["language"]
    fixed = [
        specialist.small_prompt if small else SHARED_PROMPT,
        *outside.sections(language),
    ]
    moving = [
        "" if small else specialist.role,
        *facts,
        summary_section(state.get("summaries") or []),
        *(sections_by_path(seen.sections) if small else seen.sections),
        seen.beginning,
        last_plan_section(state),
        section("last_run", last_run) if last_run and specialist.knows_last_run else "",
        last_change_section(state) if (state.get("route") or {}).get("corrects") and not state.get("plan") else "",
        section("language", TEXTS.say("small_language", language) if small else language),
        moment,
        UNSURE if unsure else "",
    ]
    return Sections(*([part for part in parts if part] for parts in (fixed, moving)))


def sendable(message: AnyMessage) -> AnyMessage:
    """Return the message with every call well formed; a broken call goes out without arguments."""
    if not isinstance(message, AIMessage) or _is_sendable(message):
        return message
    calls = [_renamed(call) for call in message.tool_calls]
    emptied = [_renamed({**call, "args": {}}) for call in message.invalid_tool_calls]
    return message.model_copy(update={"tool_calls": [*calls, *emptied], "invalid_tool_calls": []})


def _is_sendable(message: AIMessage) -> bool:
    return not message.invalid_tool_calls and all(NAME.fullmatch(call["name"]) for call in message.tool_calls)


def _renamed(call: AnyCall | dict[str, object]) -> ToolCall:
    name = NOT_IN_A_NAME.sub("_", str(call["name"] or ""))[:MAX_NAME].strip("_") or NO_NAME
    args = call["args"]
    return tool_call(name=name, args=args if isinstance(args, dict) else {}, id=str(call["id"]))
