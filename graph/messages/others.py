"""Withhold content of other people's items in a thread, once the person may not see them any more.

A result about somebody else's item lies beside the thread, which has a reference. Each message has the ids of the items
that it was made of, so that any reader can check first whether the person still sees them.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, TypeVar

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from typing_extensions import TypedDict

from drive_server.kernel.texts import Texts
from graph.language import Language
from graph.messages.stored_results import ResultStore
from graph.messages.written import OUTCOME, SOURCES

OF_OTHERS: Final = "of_others"
"""Key in the `additional_kwargs` of messages that were made of other people's items."""
ITEMS: Final = ":of-others"
"""Follows the reference of a stored result: the ids of the items of other people in it, one a line."""
TEXTS: Final = Texts.beside(__file__)


class OthersItems(TypedDict):
    """Other people's items by id: all that a message names, and those of which it has words of the content."""

    ids: list[str]
    read: list[str]


M = TypeVar("M", bound=BaseMessage)


def mark(message: M, ids: Iterable[str], read: Iterable[str]) -> M:
    """Return the message with the items of others that it was made of; as it is without any."""
    named, seen = sorted(set(ids)), sorted(set(read))
    if not named:
        return message
    made_of: OthersItems = {"ids": named, "read": seen}
    return message.model_copy(update={"additional_kwargs": {**message.additional_kwargs, OF_OTHERS: made_of}})


def others_items(messages: Iterable[AnyMessage]) -> set[str]:
    """Return the ids of all items of others that the messages were made of."""
    return {key for message in messages for key in message.additional_kwargs.get(OF_OTHERS, {}).get("ids", ())}


def read_items(messages: Iterable[AnyMessage]) -> set[str]:
    """Return the items of others of which the messages have words: an answer that follows may repeat them."""
    return {key for message in messages for key in message.additional_kwargs.get(OF_OTHERS, {}).get("read", ())}


def made_of(messages: Iterable[AnyMessage]) -> Iterator[tuple[AnyMessage, set[str]]]:
    """Yield each message with the items of others in it: an answer also with those that its turn read before it."""
    read: set[str] = set()
    for message in messages:
        read = set() if isinstance(message, HumanMessage) else read | read_items([message])
        yield message, others_items([message]) | (read if isinstance(message, AIMessage) else set())


def withhold(messages: Iterable[AnyMessage], hidden: Collection[str], language: Language) -> list[AnyMessage]:
    """Return the messages with a sentence in place of each that was made of a hidden item."""
    gone = set(hidden)
    return [_withheld(message, language) if ids & gone else message for message, ids in made_of(messages)]


async def store_items(result_store: ResultStore, reference: str, message: AnyMessage) -> None:
    """Store the items of others of a result beside its text."""
    await result_store.put(f"{reference}{ITEMS}", "\n".join(sorted(others_items([message]))))


async def stored_items(result_store: ResultStore, reference: str) -> set[str]:
    """Return the items of others that a stored result was made of."""
    return set(filter(None, (await result_store.get(f"{reference}{ITEMS}") or "").split("\n")))


def withheld_text(language: Language) -> str:
    """Return the sentence that stands in place of withheld content."""
    return TEXTS.say("withheld", language)


def _withheld(message: AnyMessage, language: Language) -> AnyMessage:
    update: dict[str, Any] = {"content": withheld_text(language), "additional_kwargs": {}}
    if isinstance(message, AIMessage):
        update["content"] = withheld_text(language) if message.text else ""
        update["additional_kwargs"] = {key: value for key, value in message.additional_kwargs.items() if key == SOURCES}
        update["tool_calls"] = [{**call, "args": {}} for call in message.tool_calls]
        update["invalid_tool_calls"] = [{**call, "args": ""} for call in message.invalid_tool_calls]
    elif isinstance(message, ToolMessage):
        update["additional_kwargs"] = {key: value for key, value in message.additional_kwargs.items() if key == OUTCOME}
    return message.model_copy(update=update)
