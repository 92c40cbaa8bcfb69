"""A specialist's next words: the calls it wants made, or its answer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from graph.offline.reading.conversation import Conversation, items_in
from graph.offline.replay import Reply, Script, StoppedError, UnresolvedError, replay
from graph.offline.scripts import changing, editing, finding, listing, organising, reading
from graph.offline.scripts.task import BoundTool, Task
from graph.offline.understanding.followup import follow_up
from graph.offline.understanding.intent import Intent
from graph.offline.understanding.requests import memory_intent, understand
from graph.offline.wording import path_of

TOOL_OF: Final = {
    "rename": "rename_item", "move": "move_item",
    "copy": "copy_item", "delete": "trash_item", "restore": "restore_item",
    "share": "share_item", "revoke": "revoke_share", "end_link": "revoke_share", "set_role": "update_share",
    "link": "create_share_link",
    "edit": "patch_file", "replace": "patch_file", "remove_text": "patch_file", "add": "append_to_file",
    "undo": "undo_changes", "redo": "redo_changes",
}  # fmt: skip
"""The tool that carries out a change, where it has not its name."""


def _talk(task: Task, intent: Intent) -> Script:
    yield from ()
    return task.say(intent.action, abilities=task.abilities())


def _explain(task: Task, intent: Intent) -> Script:
    yield from ()
    tool = TOOL_OF.get(intent.topic, intent.topic)
    described = " ".join(task.tools.get(tool, BoundTool()).description.split("Use when:")[0].split())
    if not described:
        return task.say("unclear", abilities=task.abilities())
    what = task.say("the_tool", title=task.title(tool), description=described)
    supposed = intent.query == "supposed" and "would" not in intent.said.lower()
    return task.say("explain_if" if supposed else "explain", what=what)


SCRIPTS: Final[Mapping[str, Callable[[Task, Intent], Script]]] = {
    **dict.fromkeys(("help", "greet", "thanks", "confirm", "decline", "cannot"), _talk), "explain": _explain,
    "find": finding.find, "lookup": finding.lookup, "list": listing.folder,
    **dict.fromkeys(set(listing.LISTINGS) - {"list"}, listing.listed), "count": listing.count,
    "newest": listing.newest, "info": listing.info,
    "whoami": listing.whoami,
    **dict.fromkeys(("shared_out", "list_changes"), listing.changes), "diff_versions": listing.diff,
    "ask": reading.ask,
    "read": reading.open_file, "summarise": reading.summarise, "map_files": finding.map_files,
    "create_folder": organising.create_folder, "create_file": organising.create_file,
    "move": organising.move, "copy": organising.copy,
    "rename": changing.rename, "share": changing.share,
    **dict.fromkeys(("revoke", "set_role", "end_link"), changing.change_access), "link": changing.make_link,
    "download": changing.download, "delete": changing.trash,
    "empty_trash": changing.empty_trash, "restore": changing.restore, "restore_version": changing.restore_version,
    "undo": changing.undo, "redo": changing.undo, "replace": editing.replace_text,
    "remove_text": editing.replace_text, "add": editing.add_text, "remember": changing.remember,
    "forget": changing.forget, "list_memories": changing.recall,
}  # fmt: skip
"""The script of each action."""


def answer(conversation: Conversation, tools: Mapping[str, BoundTool]) -> Reply:
    """Return what the specialist with these tools says next."""
    task = Task(conversation, conversation.language, tools)
    remembered = memory_intent(conversation.asked)
    requested = understand(conversation.request, file_open=conversation.sections.file is not None)
    intents = (remembered,) if remembered else follow_up(conversation, requested)
    if not intents:
        return Reply(text=task.say("unclear", abilities=task.abilities()))
    return replay(_all(task, intents), conversation, tools)


def _all(task: Task, intents: Sequence[Intent]) -> Script:
    parts: list[str] = []
    for intent in intents:
        try:
            parts.append((yield from SCRIPTS[intent.action](task, intent)))
        except UnresolvedError as unresolved:
            parts.append(unresolved.text)
        except StoppedError as stopped:
            parts.append(task.say(stopped.code, tool=f"`{stopped.tool}`", done=_done(task)))
            if stopped.code == "out_of_rounds":
                break
    text = "\n\n".join(dict.fromkeys(text.rstrip() for text in parts if text))
    return f"{text}\n" if task.is_underway else text


def _done(task: Task) -> str:
    changed = [made.result for made in task.conversation.running if made.result and not made.reads]
    lines = [f"- {path_of(item)}" for result in changed if result.worked for item in items_in(result)[:1]]
    return task.say("done_so_far", list="\n".join(lines)) if lines else task.say("nothing_done")
