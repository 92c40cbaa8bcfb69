"""The view that a specialist's model gets: built before each call, and rebuilt when a person asks for it.

Each answer carries the record of its view: the ids of the messages, and references to the sections of the system
message. Neither is copied: a section that stays the same is stored once.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from langchain_core.messages import AIMessage, AnyMessage, SystemMessage
from langgraph.runtime import Runtime

from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.drive.connections import Toolbox
from graph.language import Language
from graph.limits.model_table import context_in
from graph.memory.facts import hidden_items
from graph.memory.view_record import (
    VIEW,
    SectionReference,
    ViewRecord,
    earlier_contexts,
    view_record_of,
    without_repeated,
)
from graph.messages.compact_view import compact_view
from graph.messages.others import mark, others_items, read_items, withhold
from graph.messages.short_ids import ShortIds
from graph.messages.steps import StepMessage, insert_step
from graph.messages.stored_results import ResultStore
from graph.messages.tokens import corrected_scale, tokens_of, tokens_of_messages
from graph.messages.turn_context import with_context
from graph.messages.window import choose_window, references_in, render_window
from graph.models.profile import WINDOW_TOKENS, is_small
from graph.models.serving import serving
from graph.prompts import is_prompt
from graph.settings import AgentSettings, ModelRole
from graph.state import Narrowed, State, message_id_of, running_turn

INLINE_CHARACTERS: Final = 200
__all__ = ["Sections", "View", "read_room", "rebuild_view", "room_in", "view_of", "view_record_of", "with_view"]

LEAST_TOKENS: Final = 500
ANSWER_TOKENS: Final = 8_192
"""Kept free for the answer, or a quarter of the model's context, if that is less."""
BETWEEN: Final = "\n\n"


class Sections(NamedTuple):
    """The sections of a prompt: those that stay the same in a conversation, and those that may move."""

    fixed: Sequence[str] = ()
    moving: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class View:
    """The messages for a model, the record of them, and the short ids in them.

    `others` are other people's items whose words are in them.
    """

    messages: list[AnyMessage]
    recorded: ViewRecord
    others: frozenset[str] = frozenset()
    ids: ShortIds = field(default_factory=ShortIds)


@dataclass(frozen=True, slots=True)
class Room:
    """The tokens that a model reads and writes together, and the most of them that may be messages."""

    context: int
    window: int

    def for_messages(self, beside: int = 0) -> int:
        """Return how many tokens of messages fit beside so many others, with an answer's room left free."""
        return max(LEAST_TOKENS, min(self.window, self.context - answer_tokens(self.context) - beside))


def answer_tokens(context: int) -> int:
    """Return how many of the tokens are left free for the answer."""
    return min(context // 4, ANSWER_TOKENS)


def room_in(settings: AgentSettings, model: str, narrowed: Narrowed | None = None, served: int = 0) -> Room:
    """Return a model's room by the settings, the model's context, and the lengths it has refused in the thread.

    `served` is the context that its server has for it, in tokens, if that is known: no setting makes it larger.
    """
    own = narrowed["tokens"] if narrowed and narrowed["model"] == model else settings.window_tokens
    context = context_in(settings, model)
    return Room(min(context, served or context), min(own, settings.window_tokens))


async def read_room(
    deps: GraphDependencies, role: ModelRole, runtime: Runtime[RunContext], narrowed: Narrowed | None = None
) -> Room:
    """Return the room of a role's model in this run; a local server is asked for its context."""
    served, name = await serving(deps.model(role, runtime)), deps.model_name(role, runtime)
    room = room_in(deps.settings, name, narrowed, served.context)
    if not is_small(deps.settings, name, served):
        return room
    return Room(room.context, min(room.window, WINDOW_TOKENS))


async def view_of(
    state: State,
    sections: Sections,
    room: Room,
    result_store: ResultStore | None,
    tools: int = 0,
    toolbox: Toolbox | None = None,
    *,
    step: StepMessage | None = None,
    whole: bool = True,
    compact: bool = True,
    time_zone: str = "",
) -> View:
    """Return the messages for the model: the system message, and as many others as fit beside it and the tools.

    Sections that change stand in the turn's own message, so that services find the rest in their caches; a model
    that reads sections as data has all in the system message.

    The `step` that is carried out is a message among them. Without `whole`, long results are excerpts with a
    reference, wherever there is room for more. The messages are `compact` but for a model that reads the structured
    form of sections and results.
    """
    scale = state.get("token_scale") or 1.0
    fixed, moving = (sections.fixed, sections.moving) if compact else ([*sections.fixed, *sections.moving], ())
    system, turn = SystemMessage(BETWEEN.join(fixed)), message_id_of(running_turn(state))
    own = tokens_of_messages(_around(system, moving, compact=compact)) + tools + (tokens_of(step.text) if step else 0)
    earlier = await earlier_contexts(state["messages"], turn, result_store) if compact and result_store else {}
    beside = round(scale * (own + sum(map(tokens_of, earlier.values()))))
    budget = room.for_messages(beside)
    seen = choose_window(state["messages"], state.get("window_start"), budget, scale, whole=whole)
    texts = await result_store.texts(references_in(state["messages"], seen)) if result_store else {}
    rendered = render_window(state["messages"], seen, texts)
    others = others_items(rendered)
    hidden = await hidden_items(toolbox, others) if toolbox else frozenset(others)
    messages = withhold(rendered, hidden, running_turn(state)["language"])
    others = frozenset(read_items(messages))
    moving = without_repeated(moving, [earlier[key] for one in messages if (key := str(one.id)) in earlier])
    messages = insert_step(messages, state["messages"], step) if step else messages
    messages = with_context(_with_earlier(messages, earlier), BETWEEN.join(moving), turn)
    sent, ids = _as_sent([system, *messages], time_zone, compact=compact)
    recorded: ViewRecord = {
        "sections": await _store_sections([*fixed, *moving], result_store),
        "messages": seen,
        "tokens": tokens_of_messages(sent) + tools,
        "compact": compact,
    }
    if time_zone:
        recorded["time_zone"] = time_zone
    if moving:
        recorded["fixed"], recorded["turn"] = len(fixed), turn
    if step and result_store:
        recorded["step"] = {"after": step.after, **(await _note(step.text, result_store))}
    return View(sent, recorded, others, ids)


def _with_earlier(messages: Sequence[AnyMessage], contexts: Mapping[str, str]) -> list[AnyMessage]:
    """Return the messages with the contexts of earlier turns before their words, as a service's cache has them."""
    shown = [*messages]
    for at, message in enumerate(shown):
        if text := contexts.get(str(message.id)):
            shown[at : at + 1] = with_context([message], text, str(message.id))
    return shown


def _around(system: SystemMessage, moving: Sequence[str], *, compact: bool) -> list[AnyMessage]:
    """Return the messages of a view beside those of the thread, as they are sent."""
    return _as_sent(with_context([system], BETWEEN.join(moving), ""), "", compact=compact)[0]


def _as_sent(messages: Sequence[AnyMessage], time_zone: str, *, compact: bool) -> tuple[list[AnyMessage], ShortIds]:
    return compact_view(messages, time_zone) if compact else ([*messages], ShortIds())


async def _store_sections(sections: Sequence[str], result_store: ResultStore | None) -> list[SectionReference]:
    if result_store is None:
        return []
    return list(await asyncio.gather(*(_note(section, result_store) for section in sections)))


async def _note(section: str, result_store: ResultStore) -> SectionReference:
    if len(section) <= INLINE_CHARACTERS:
        return {"text": section}
    if is_prompt(section):
        return {"prompt": await result_store.put_prompt(section)}
    return {"reference": await result_store.put_once(section)}


def with_view(answer: AIMessage, view: View, others: Iterable[str] = ()) -> AIMessage:
    """Return the answer with the record of its view, and the items of others in it or in its sections (`others`)."""
    seen = answer.model_copy(update={"additional_kwargs": {**answer.additional_kwargs, VIEW: view.recorded}})
    read = view.others | set(others)
    return mark(seen, read, read)


async def rebuild_view(
    messages: Sequence[AnyMessage],
    recorded: ViewRecord,
    result_store: ResultStore,
    hidden: Collection[str] = (),
    language: Language = "en",
) -> list[AnyMessage]:
    """Return the exact messages that the model was sent, without the content of `hidden` items of others.

    `messages` are those of the thread.
    """
    seen = recorded["messages"]
    step = recorded.get("step")
    parts: list[SectionReference] = [*recorded["sections"], *([step] if step else [])]
    wanted = [part["reference"] for part in parts if "reference" in part]
    texts = await result_store.texts([*wanted, *references_in(messages, seen)])
    prompts = await result_store.prompts([part["prompt"] for part in parts if "prompt" in part])
    contents = {**texts, **prompts}

    def text_of(part: SectionReference) -> str:
        return part.get("text") or contents.get(part.get("prompt") or part.get("reference", ""), "")

    shown = withhold(render_window(messages, seen, texts), hidden, language)
    if step:
        shown = insert_step(shown, messages, StepMessage(step.get("after", ""), text_of(step)))
    texts_of = [*map(text_of, recorded["sections"])]
    fixed = recorded.get("fixed", len(texts_of))
    system = SystemMessage(BETWEEN.join(texts_of[:fixed]))
    if turn := recorded.get("turn", ""):
        end = next((at for at, message in enumerate(messages) if message.id == seen["last"]), len(messages))
        shown = _with_earlier(shown, await earlier_contexts(messages[: end + 1], turn, result_store))
    shown = with_context(shown, BETWEEN.join(texts_of[fixed:]), turn)
    return _as_sent([system, *shown], recorded.get("time_zone", ""), compact=recorded.get("compact", False))[0]


def scale_after(state: State, view: View, answer: AIMessage) -> float:
    """Return the factor for estimates from now on, from the tokens that the service reported."""
    reported = (answer.usage_metadata or {}).get("input_tokens", 0)
    return corrected_scale(state.get("token_scale") or 1.0, view.recorded["tokens"], reported)


def tokens_of_tools(tools: Sequence[object]) -> int:
    """Estimate the tokens of the tools' descriptions."""
    described = (f"{getattr(tool, 'name', '')}{getattr(tool, 'description', '')}" for tool in tools)
    schemas = (str(getattr(tool, "args_schema", "")) for tool in tools)
    return sum(map(tokens_of, [*described, *schemas]))
