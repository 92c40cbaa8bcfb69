"""The short texts beside the structured results, and the longer ones for hosts that show their model only texts."""

from collections.abc import Iterable, Iterator
from typing import Any

from drive_server.knowledge.text.omissions import missing_things
from drive_server.models.base import Page
from drive_server.models.items import Item, TreeNode
from drive_server.models.search import Hit
from drive_server.services.tree.names import display_name

MAX_LINES = 100
MAX_PASSAGE_CHARACTERS = 1_000


def counted(number: int, noun: str) -> str:
    """Return `1 item`, `2 items`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def page_text(page: Page[Any], noun: str) -> str:
    """Return the short text of a page of a list: how much it holds, and how to get the next one."""
    of_all = f" of {page.total:,}" if page.cursor and page.total else ""
    more = f" For more, pass cursor {page.cursor}." if page.cursor else ""
    return f"{counted(len(page.items), noun)}{of_all}.{more}"


def shown_path(item: Item) -> str:
    """Return the item's path as it may stand in a message: misleading characters are escaped."""
    return display_name(item.path)


def reference(item: Item) -> str:
    """Return how an item is named so that the next call can use it, by its id if not by its path."""
    return f"{shown_path(item)} ({item.kind}, id {item.id}, etag {item.etag})"


def described(item: Item) -> str:
    """Return how an item of a list is named, with the facts by which lists are compared: its size and its date."""
    facts = f"{item.kind}, {counted(item.size, 'byte')}" if item.kind == "file" else item.kind
    if item.role != "owner":
        facts += f", {item.role} of {item.owner}"
    date = f"trashed {item.trashed_at:%Y-%m-%d %H:%M}" if item.trashed_at else f"{item.modified_at:%Y-%m-%d %H:%M}"
    return f"{shown_path(item)} ({facts}, {date} UTC, id {item.id}, etag {item.etag})"


def item_facts(item: Item) -> str:
    """Return the facts about one item besides its name, id and etag."""
    state = f", index {item.index_state}" if item.index_state else ""
    size = f"{counted(item.size, 'byte')}, version {item.version}{state}"
    holds = size if item.kind == "file" else counted(item.child_count or 0, "item")
    media = f"{item.media_type}, " if item.media_type else ""
    shared = ", shared" if item.shared else ""
    times = (
        f"created {item.created_at:%Y-%m-%d %H:%M}, changed {item.updated_at:%Y-%m-%d %H:%M}, "
        f"own date {item.modified_at:%Y-%m-%d %H:%M} UTC"
    )
    trashed = f", in the trash since {item.trashed_at:%Y-%m-%d %H:%M} UTC" if item.trashed_at else ""
    return f"{media}{holds}; owner {item.owner}, your role {item.role}{shared}; {times}{trashed}."


def item_lines(items: Iterable[Item]) -> str:
    """Return one line for each item."""
    return cut_lines(f"- {described(item)}" for item in items)


def item_references(items: Iterable[Item]) -> str:
    """Return one line for each item, without the facts by which lists are compared."""
    return cut_lines(f"- {reference(item)}" for item in items)


def tree_lines(node: TreeNode) -> str:
    """Return the tree as an indented list."""
    return cut_lines(_branch(node, 0))


def hit_lines(hits: Iterable[Hit]) -> str:
    """Return each hit with its passage."""
    return cut_lines(f"- {described(hit.item)}" + (_found(hit) if hit.end else "") for hit in hits)


def _branch(node: TreeNode, depth: int) -> Iterator[str]:
    yield f"{'  ' * depth}- {described(node.item)}{' …' if node.truncated else ''}"
    for child in node.children:
        yield from _branch(child, depth + 1)


def _found(hit: Hit) -> str:
    return f", {_location(hit)}: {_passage(hit)}{_unread(hit)}"


def _location(hit: Hit) -> str:
    place = f", {display_name(hit.place)}" if hit.place else ""
    return f"version {hit.version}{place}, characters {hit.start}-{hit.end}"


def _unread(hit: Hit) -> str:
    missing = missing_things(hit.omissions)
    return f" (not read of this file: {missing})" if missing else ""


def _passage(hit: Hit) -> str:
    return " ".join(hit.text[:MAX_PASSAGE_CHARACTERS].split())


def cut_lines(lines: Iterable[str]) -> str:
    """Return the first 100 lines, and how many more there are."""
    shown = list(lines)
    more = len(shown) - MAX_LINES
    return "\n".join(shown[:MAX_LINES] + ([f"- and {more:,} more"] if more > 0 else []))
