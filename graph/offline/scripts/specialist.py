"""A specialist's next words: the calls it wants made, or its answer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from graph.offline.followup import follow_up
from graph.offline.reading.conversation import Conversation, items_in
from graph.offline.replay import Reply, Script, StoppedError, UnresolvedError, replay
from graph.offline.scripts import changing, finding, listing, organising, reading
from graph.offline.scripts.task import Task
from graph.offline.understanding.intent import Intent
from graph.offline.understanding.requests import memory_intent, understand
from graph.offline.wording import path_of


def _talk(task: Task, intent: Intent) -> Script:
    yield from ()
    return task.say(intent.action, abilities=task.abilities())


SCRIPTS: Final[Mapping[str, Callable[[Task, Intent], Script]]] = {
    **dict.fromkeys(("help", "greet", "thanks", "confirm", "decline", "cannot", "explain"), _talk),
    "find": finding.find, "lookup": finding.lookup, "list": listing.folder,
    **dict.fromkeys(set(listing.LISTINGS) - {"list"}, listing.listed), "count": listing.count,
    "newest": listing.newest, "info": listing.info, "now": listing.now,
    **dict.fromkeys(("who", "whoami"), listing.whoami),
    **dict.fromkeys(("shared_out", "list_changes"), listing.changes), "diff_versions": listing.diff,
    "ask": reading.ask, "read": reading.open_file, "summarise": reading.summarise, "map_files": finding.map_files,
    "create_folder": organising.create_folder, "create_file": organising.create_file,
    "save_summary": organising.save_summary, "add_summary": organising.add_summary,
    "move": organising.move, "copy": organising.copy, "rename": changing.rename, "share": changing.share,
    **dict.fromkeys(("revoke", "set_role", "end_link"), changing.change_access), "link": changing.make_link,
    "delete": changing.trash, "empty_trash": changing.empty_trash,
    "restore": changing.restore, "restore_version": changing.restore_version,
    "undo": changing.undo, "redo": changing.undo, "replace": organising.replace_text,
    "remove_text": organising.replace_text, "add": organising.add_text, "remember": changing.remember,
    "forget": changing.forget, "list_memories": changing.recall,
}  # fmt: skip
"""The script of each action."""


def answer(conversation: Conversation, tools: Mapping[str, str]) -> Reply:
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
            parts.append(_stopped(task, stopped))
            if stopped.code == "out_of_rounds":
                break
    text = "\n\n".join(dict.fromkeys(text.rstrip() for text in parts if text))
    return f"{text}\n" if task.is_underway else text


def _stopped(task: Task, stopped: StoppedError) -> str:
    result = stopped.result
    if result and result.failure != "error":
        return task.failed(result, task.deed(stopped.tool, ""))
    message = (result.message or result.text) if result else ""
    return task.say(stopped.code, tool=f"`{stopped.tool}`", done=_done(task), message=message)


def _done(task: Task) -> str:
    changed = [made.result for made in task.conversation.running if made.result and not made.reads]
    lines = [f"- {path_of(item)}" for result in changed if result.worked for item in items_in(result)[:1]]
    return task.say("done_so_far", list="\n".join(lines)) if lines else task.say("nothing_done")
