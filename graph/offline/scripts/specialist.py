"""A specialist's next words: the calls it wants made, or its answer."""

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Final

from graph.offline.reading.conversation import Conversation, items_in
from graph.offline.reading.results import Result
from graph.offline.replay import (
    LeftOutError,
    MissingToolError,
    OutOfRoundsError,
    Reply,
    Request,
    Script,
    UnresolvedError,
    replay,
)
from graph.offline.routing import language_of
from graph.offline.scripts import answering, changing, editing, finding, listing, many, organising, reading, remembering
from graph.offline.scripts.task import BoundTool, Task
from graph.offline.understanding.followup import follow_up
from graph.offline.understanding.requests import Wish, memory_wish, understand
from graph.offline.wording import path_of

TOOL_OF: Final = {
    "rename": "rename_item", "move": "move_item",
    "copy": "copy_item", "delete": "trash_item", "delete_for_good": "delete_item", "restore": "restore_item",
    "share": "share_item", "revoke": "revoke_share", "end_link": "revoke_share", "set_role": "update_share",
    "link": "create_share_link",
    "edit": "patch_file", "replace": "patch_file", "remove_text": "patch_file", "add": "append_to_file",
    "undo": "undo_changes", "redo": "redo_changes", "save": "create_file", "compile": "create_file",
}  # fmt: skip
"""The tool that carries out a change, where it has not its name."""


def _talk(task: Task, wish: Wish) -> Script:
    """Answer without any call."""
    yield from ()
    return task.say(wish.action, abilities=task.abilities())


def _explain(task: Task, wish: Wish) -> Script:
    """Say that nothing was done, and what would be used for it."""
    yield from ()
    tool = TOOL_OF.get(wish.topic, wish.topic)
    described = " ".join(task.tools.get(tool, BoundTool()).description.split("Use when:")[0].split())
    what = task.say("the_tool", title=task.title(tool), description=described) if described else ""
    return task.say(
        "explain_if" if wish.query == "supposed" and "would" not in wish.said.lower() else "explain", what=what
    )


SCRIPTS: Final[Mapping[str, Callable[[Task, Wish], Script]]] = {
    **dict.fromkeys(("help", "greet", "thanks", "confirm", "decline", "cannot"), _talk), "explain": _explain,
    "find": finding.find, "lookup": finding.lookup, "list": listing.folder,
    **dict.fromkeys(set(listing.LISTINGS) - {"list"}, listing.listed), "tree": listing.tree, "count": listing.count,
    "newest": listing.newest, "info": listing.info,
    **dict.fromkeys(("whoami", "quota", "get_index_status"), listing.whoami),
    "shared_out": listing.shared_out, "diff_versions": listing.diff,
    "list_changes": listing.changes, "ask": answering.ask, "compare": answering.compare,
    "read": reading.open_file, "summarise": reading.summarise, "map_files": many.map_files,
    "create_folder": organising.create_folder, "create_file": organising.create_file, "save": organising.save,
    "move": organising.move, "copy": organising.copy,
    "rename": changing.rename, "share": changing.share,
    **dict.fromkeys(("revoke", "set_role", "end_link"), changing.change_access), "link": changing.make_link,
    "download": changing.download, "delete": changing.trash, "delete_for_good": changing.delete_for_good,
    "empty_trash": changing.empty_trash, "restore": changing.restore, "restore_version": changing.restore_version,
    "undo": changing.undo, "redo": changing.undo, "replace": editing.replace_text,
    "remove_text": editing.replace_text, "add": editing.add_text, "remember": remembering.remember,
    "forget": remembering.forget, "list_memories": remembering.recall,
}  # fmt: skip
"""What carries out each action."""


def answer(conversation: Conversation, tools: Mapping[str, BoundTool]) -> Reply:
    """Return what the specialist with these tools says next."""
    task = Task(conversation, language_of(conversation), tools)
    remembered = memory_wish(conversation.asked)
    wishes = (remembered,) if remembered else follow_up(conversation, _requested(conversation))
    if not wishes:
        return Reply(text=task.say("unclear", abilities=task.abilities()))
    return replay(_all(task, wishes), conversation, tools)


def _requested(conversation: Conversation) -> Sequence[Wish]:
    """Return what is to be done: the step's instruction, else the person's message."""
    return understand(conversation.request, file_open=conversation.sections.file is not None)


def _all(task: Task, wishes: Sequence[Wish]) -> Script:
    told: list[str] = []
    for wish in wishes:
        try:
            told.append((yield from _one(task, wish)))
        except OutOfRoundsError:
            told.append(task.say("out_of_rounds", done=_done(task)))
            break
    text = "\n\n".join(dict.fromkeys(text.rstrip() for text in told if text))
    return f"{text}\n" if task.is_underway else text


def _one(task: Task, wish: Wish) -> Generator[Sequence[Request], Sequence[Result], str]:
    try:
        return (yield from SCRIPTS[wish.action](task, wish))
    except UnresolvedError as unresolved:
        return unresolved.text
    except LeftOutError:
        return task.say("left_out")
    except MissingToolError as missing:
        return task.say("no_tool", tool=f"`{missing.args[0]}`")


def _done(task: Task) -> str:
    changed = [
        made.result for made in task.conversation.running if made.result and made.result.worked and not made.reads
    ]
    lines = [f"- {path_of(item)}" for result in changed for item in items_in(result)[:1]]
    return task.say("done_so_far", list="\n".join(lines)) if lines else task.say("nothing_done")
