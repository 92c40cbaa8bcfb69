"""The items that each step of a plan found and changed, by the results of its calls: later steps act on them.

The sentence with which a step ended need not name them. Items of other people are left out: a step's message would
outlive their shares.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from langchain_core.messages import AnyMessage, ToolMessage

from graph.messages.compact_results import data_of
from graph.messages.others import others_items
from graph.messages.written import outcome_of
from graph.state import Step

MAX_ITEMS: Final = 10
FACTS: Final = ("id", "kind", "name", "path")
Items = dict[str, dict[str, Any]]


def step_items(
    messages: Sequence[AnyMessage], steps: Sequence[Step], changes: Callable[[str], bool]
) -> list[dict[str, list[dict[str, Any]]]]:
    """Return for each step but the last, which is running, the items it `changed` and `found`: id, kind, name and path.

    `changes` says whether the tool of that name changes items. Prefer the found items that the step's result names.
    """
    begun = [_place(messages, step) for step in steps]
    ends = [min([place for place in begun if place > start], default=len(messages)) for start in begun]
    shown: list[dict[str, list[dict[str, Any]]]] = []
    for step, start, end in zip(steps[:-1], begun, ends, strict=False):
        changed, found = _items(messages[start:end] if step["attempts"] else (), changes)
        named = {key: item for key, item in found.items() if _is_named(item, step["result"] or "")}
        lists = {"changed": changed, "found": named or found}
        shown.append({name: [*items.values()][:MAX_ITEMS] for name, items in lists.items() if items})
    return shown


def _place(messages: Sequence[AnyMessage], step: Step) -> int:
    """Return where the newest attempt of a step begins."""
    return next((index + 1 for index, message in enumerate(messages) if message.id == step["after"]), 0)


def _items(messages: Sequence[AnyMessage], changes: Callable[[str], bool]) -> tuple[Items, Items]:
    changed, found = Items(), Items()
    for message in messages:
        if isinstance(message, ToolMessage) and outcome_of(message) == "done" and not others_items([message]):
            items = {str(item["id"]): item for item in _named_in(data_of(message.text) or {})}
            (changed if changes(message.name or "") else found).update(items)
    return changed, {key: item for key, item in found.items() if key not in changed}


def _named_in(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    hits = [hit.get("file") for hit in _objects(data.get("hits"))]
    for item in _objects([data, data.get("file"), data.get("item"), *_objects(data.get("items")), *hits]):
        if item.get("id") and item.get("path"):
            yield {name: item[name] for name in FACTS if name in item}


def _objects(value: Any) -> list[Mapping[str, Any]]:
    listed = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("Mapping[str, Any]", one) for one in listed if isinstance(one, Mapping)]


def _is_named(item: Mapping[str, Any], said: str) -> bool:
    return bool(said) and (str(item["path"]) in said or str(item.get("name") or item["path"]) in said)
