"""How each kind of request is carried out."""

from collections.abc import Callable, Mapping
from typing import Final

from graph.offline.replay import Script
from graph.offline.scripts import access, answering, editing, history, looking, many, organise, removing, talk
from graph.offline.task import Task
from graph.offline.understanding.intents import Intent, Kind

SCRIPTS: Final[Mapping[Kind, Callable[[Task, Intent], Script]]] = {
    "find": looking.find,
    "summarise": answering.summarise,
    "ask": answering.ask,
    "read": looking.read,
    "map_files": many.map_files,
    "list_folder": looking.list_folder,
    "tree": looking.tree,
    "info": looking.info,
    "create_folder": organise.create_folder,
    "create_file": organise.create_file,
    "save_summary": organise.save_summary,
    "rename": organise.rename,
    "move": organise.move,
    "share": access.share,
    "list_shares": access.list_shares,
    "revoke": access.revoke,
    "trash": removing.trash,
    "restore": removing.restore,
    "list_versions": history.list_versions,
    "restore_version": history.restore_version,
    "replace": editing.replace_text,
    "insert": editing.insert_text,
    "undo": history.undo,
    "list_changes": history.list_changes,
    "whoami": looking.whoami,
    "identity": talk.talk,
    "help": talk.talk,
    "greet": talk.talk,
    "thanks": talk.talk,
    "confirm": talk.talk,
    "decline": talk.talk,
    "beyond": talk.talk,
    "choose": talk.which_choice,
    "address": talk.which_choice,
    "role_hint": talk.which_choice,
}
