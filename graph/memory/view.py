"""What a specialist's model sees, put together before each call, and put together again when somebody asks.

With each answer stands what its model saw: the ids of the messages, and the references of the system message's
sections. No copy is kept of either: a section that stays the same is on the thread's shelf once.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from langchain_core.messages import AIMessage, AnyMessage, SystemMessage
from typing_extensions import TypedDict

from graph.messages.stored_results import Shelf
from graph.messages.tokens import context_of, corrected, tokens_of, tokens_of_messages
from graph.messages.window import Seen, choose, references_in, shown
from graph.prompts import is_prompt
from graph.settings import AgentSettings
from graph.state import State

VIEW: Final = "view"
"""Key in an answer's `additional_kwargs`."""
INLINE_CHARACTERS: Final = 200
LEAST_TOKENS: Final = 500
ANSWER_TOKENS: Final = 8_192
"""Kept free for the answer, or a quarter of what the model can take, if that is less."""
BETWEEN: Final = "\n\n"


class SectionSeen(TypedDict, total=False):
    """A section of the system message: its text if it is short, else where it is: on the shelf, or among prompts."""

    text: str
    reference: str
    prompt: str


class Recorded(TypedDict):
    """What a model saw: the sections, the messages, and the tokens of all that as they were estimated."""

    sections: list[SectionSeen]
    messages: Seen
    tokens: int


@dataclass(frozen=True, slots=True)
class View:
    """What a model is sent, and what is noted of it."""

    messages: list[AnyMessage]
    recorded: Recorded


def window_tokens(settings: AgentSettings) -> int:
    """Return how many tokens of messages a model is sent at most, by the settings and by what the model can take."""
    context = settings.context_tokens or context_of(settings.resolved_model)
    return max(LEAST_TOKENS, min(settings.window_tokens, context - min(context // 4, ANSWER_TOKENS)))


async def view_of(
    state: State, sections: Sequence[str], settings: AgentSettings, shelf: Shelf | None, tools: int = 0
) -> View:
    """Return what the model is sent: the system message, and as many messages as fit beside it and the tools' tokens.

    Without a shelf, what was seen whole is what the messages have.
    """
    scale = state.get("token_scale") or 1.0
    system = SystemMessage(BETWEEN.join(sections))
    beside = round(scale * (tokens_of_messages([system]) + tools))
    context = settings.context_tokens or context_of(settings.resolved_model)
    room = min(window_tokens(settings), context - min(context // 4, ANSWER_TOKENS) - beside)
    seen = choose(state["messages"], state.get("window_start"), max(LEAST_TOKENS, room), scale)
    texts = await shelf.texts(references_in(state["messages"], seen)) if shelf else {}
    messages = shown(state["messages"], seen, texts)
    tokens = tokens_of_messages([system, *messages]) + tools
    recorded: Recorded = {"sections": await _noted(sections, shelf), "messages": seen, "tokens": tokens}
    return View([system, *messages], recorded)


async def _noted(sections: Sequence[str], shelf: Shelf | None) -> list[SectionSeen]:
    if shelf is None:
        return []
    return list(await asyncio.gather(*(_note(section, shelf) for section in sections)))


async def _note(section: str, shelf: Shelf) -> SectionSeen:
    if len(section) <= INLINE_CHARACTERS:
        return {"text": section}
    if is_prompt(section):
        return {"prompt": await shelf.put_prompt(section)}
    return {"reference": await shelf.put_once(section)}


def with_view(answer: AIMessage, view: View) -> AIMessage:
    """Return the answer with what its model saw."""
    return answer.model_copy(update={"additional_kwargs": {**answer.additional_kwargs, VIEW: view.recorded}})


def recorded_of(answer: AnyMessage) -> Recorded | None:
    """Return what the model saw when it gave this answer; None if a model gave none, or it was not noted."""
    return answer.additional_kwargs.get(VIEW) if isinstance(answer, AIMessage) else None


async def rebuilt(messages: Sequence[AnyMessage], recorded: Recorded, shelf: Shelf) -> list[AnyMessage]:
    """Return the very messages that the model was sent. `messages` are those of the thread."""
    seen = recorded["messages"]
    wanted = [part["reference"] for part in recorded["sections"] if "reference" in part]
    texts = await shelf.texts([*wanted, *references_in(messages, seen)])
    prompts = await shelf.prompts([part["prompt"] for part in recorded["sections"] if "prompt" in part])
    known = {**texts, **prompts}
    sections = [
        part.get("text") or known.get(part.get("prompt") or part.get("reference", ""), "")
        for part in recorded["sections"]
    ]
    return [SystemMessage(BETWEEN.join(sections)), *shown(messages, seen, texts)]


def scale_after(state: State, view: View, answer: AIMessage) -> float:
    """Return by what estimates are multiplied from now on, by what the service said that it read."""
    reported = (answer.usage_metadata or {}).get("input_tokens", 0)
    return corrected(state.get("token_scale") or 1.0, view.recorded["tokens"], reported)


def tokens_of_tools(tools: Sequence[object]) -> int:
    """Estimate what the descriptions of the tools take."""
    described = (f"{getattr(tool, 'name', '')}{getattr(tool, 'description', '')}" for tool in tools)
    schemas = (str(getattr(tool, "args_schema", "")) for tool in tools)
    return sum(map(tokens_of, [*described, *schemas]))
