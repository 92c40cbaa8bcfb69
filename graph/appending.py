"""Adds messages to a thread in a time that does not grow with it.

LangGraph's reducer looks at every message of the thread for each that comes, several times in a step. Here the places
of the ids are remembered, for lists that were just made; whatever is not simply added is left to LangGraph's reducer.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import AnyMessage, BaseMessage, RemoveMessage

from graph.langgraph_internals import MESSAGES_REDUCER

SHORT: Final = 64
MOST_LISTS: Final = 128

_Key = tuple[int, int, int]
_places: OrderedDict[_Key, tuple[BaseMessage, BaseMessage, dict[str, int]]] = OrderedDict()
"""By a list's length and the identity of its ends, which are held here so that no other object gets it."""


def appended(state: list[AnyMessage], writes: Sequence[Any]) -> list[AnyMessage]:
    """Return the messages with what was written, as LangGraph's reducer does: by id, in order, removals removed."""
    added = [message for write in writes for message in (write if isinstance(write, list) else [write])]
    if len(state) < SHORT or not all(map(_is_plain, added)):
        return MESSAGES_REDUCER(state, list(writes))
    places = _places_of(state)
    if len({message.id for message in added}) < len(added) or any(_is_in(state, places, m.id) for m in added):
        return MESSAGES_REDUCER(state, list(writes))
    # Shared with shorter lists: a place beyond their end, or of another message there, does not count for them.
    places.update((message.id, len(state) + offset) for offset, message in enumerate(added))
    result = [*state, *added]
    _remember(result, places)
    return result


def _is_plain(message: Any) -> bool:
    return isinstance(message, BaseMessage) and not isinstance(message, RemoveMessage) and message.id is not None


def _is_in(state: Sequence[AnyMessage], places: dict[str, int], key: str) -> bool:
    place = places.get(key)
    return place is not None and place < len(state) and state[place].id == key


def _places_of(state: Sequence[AnyMessage]) -> dict[str, int]:
    known = _places.get(_key(state))
    if known is not None:
        return known[2]
    places = {message.id: place for place, message in enumerate(state) if message.id is not None}
    _remember(state, places)
    return places


def _remember(state: Sequence[AnyMessage], places: dict[str, int]) -> None:
    _places[_key(state)] = (state[0], state[-1], places)
    while len(_places) > MOST_LISTS:
        _places.popitem(last=False)


def _key(state: Sequence[AnyMessage]) -> _Key:
    return len(state), id(state[0]), id(state[-1])
