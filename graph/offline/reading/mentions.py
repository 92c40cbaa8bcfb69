"""Items that came up in a conversation: what "it", "there" and "them" may mean."""

from collections.abc import Iterator, Mapping

from graph.offline.reading.conversation import Call, Conversation, Item
from graph.offline.reading.results import Result, is_item


def items_in(result: Result) -> list[Item]:
    """Return all items that a result names, in its order."""
    single = [result.data, result.data.get("file"), result.data.get("item")]
    return [*filter(is_item, single), *result.items, *_once([hit["file"] for hit in result.hits])]


def _once(items: list[Item]) -> list[Item]:
    return list({item["id"]: item for item in items}.values())


def known_items(conversation: Conversation) -> dict[str, Item]:
    """Return every item that the conversation names, by id, as it was seen last."""
    sections = conversation.sections
    known = {str(item["id"]): item for item in (*sections.listing, sections.folder, sections.file) if item}
    for made in conversation.calls:
        if made.result:
            known |= {str(item["id"]): item for item in items_in(made.result)}
    return known


def changed_items(conversation: Conversation, *, finished: bool = False) -> list[Item]:
    """Return the items that this turn made or changed, newest first; with `finished` only those of earlier steps."""
    calls = [made for made in conversation.calls if made.turn == conversation.turn and not made.reads]
    calls = [made for made in calls if not finished or made.segment < conversation.segment]
    return [item for made in reversed(calls) if made.result and made.result.worked for item in items_in(made.result)]


def focus(conversation: Conversation) -> list[Item]:
    """Return what was talked about last before the running step: one item, or several that were listed."""
    known = known_items(conversation)
    for made in _before(conversation):
        items = _subject(made, known)
        if items:
            return items
    return []


def last_folder(conversation: Conversation) -> Item | None:
    """Return the folder that was talked about last before the running step."""
    known = known_items(conversation)
    for made in _before(conversation):
        folder = _folder_of(made, known)
        if folder:
            return folder
    return None


def _before(conversation: Conversation) -> Iterator[Call]:
    here = (conversation.turn, conversation.segment)
    for made in reversed(conversation.calls):
        if (made.turn, made.segment) < here and made.result and made.result.worked:
            yield made


def _subject(made: Call, known: Mapping[str, Item]) -> list[Item]:
    result = made.result
    if result is None or made.name == "undo_changes":
        return []
    if made.name in {"search_files", "semantic_search_files"}:
        return items_in(result)
    if made.name in {"list_folder", "get_folder_tree"}:
        return _argument(made, known, "folder_id")
    own = items_in(result)[:1]
    return own or _argument(made, known, "item_id", "file_id")


def _argument(made: Call, known: Mapping[str, Item], *names: str) -> list[Item]:
    ids = [str(made.args[name]) for name in names if made.args.get(name)]
    return [known[item_id] for item_id in ids if item_id in known]


def _folder_of(made: Call, known: Mapping[str, Item]) -> Item | None:
    if made.result is None:
        return None
    folders = [item for item in items_in(made.result)[:1] if item.get("kind") == "folder"]
    if made.name in {"create_folder", "get_file_info", "rename_item", "move_item"} and folders:
        return folders[0]
    given = _argument(made, known, "folder_id", "parent_id")
    return given[0] if given else None
