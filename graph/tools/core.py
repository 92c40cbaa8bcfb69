"""The core of tools: the same ones, in the same words and order, in every request of every specialist.

A service caches the beginning of a request, and tools stand there: with one core for all, a conversation that changes
its specialist is still served from the cache. A tool that is not the specialist's is refused when it is called
(`graph/approvals/review.py`). All other tools stand behind `more_tools`, which also tells the arguments left out here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from langchain_core.tools import BaseTool

from drive_server.kernel.lenient.short_schemas import short_schema

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Lean:
    """How a tool of the core is shown: a sentence, and its `arguments` by name with a few words, or none.

    `small` has those that a small model sees. Required arguments are always shown.
    """

    sentence: str
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    small: Mapping[str, str] = field(default_factory=dict[str, str])


_FILTERS: Final = {
    "types": "pdf, document, spreadsheet, image, mail, code, or a suffix as .docx",
    "modified_after": "ISO 8601, or words as `last month`, `上周`",
    "modified_before": "like `modified_after`",
    "belongs_to": "`me`, `shared`, or an owner's email address",
}
_ASKED: Final = {"filters": "", "group_by": "", "aggregates": "", "sort_by": "", "descending": ""}
CORE: Final[Mapping[str, Lean]] = {
    "list_folder": Lean("List a folder.", {"folder_id": "", "cursor": ""}, {"folder_id": ""}),
    "search_files": Lean(
        "Find items by name, and files by exact words.", {"query": "", "folder_id": ""}, {"query": ""}
    ),
    "semantic_search_files": Lean("Find passages that fit a question or topic.", {"folder_id": "", **_FILTERS}),
    "read_file": Lean("Read a file's text, or a part of it.", {"start": "", "place": "as hits have it"}),
    "query_table": Lean(
        "Ask a csv or xlsx table; first without arguments: its columns.", _ASKED, {"filters": "", "aggregates": ""}
    ),
    "create_folder": Lean("Make a folder.", {"folder_id": ""}, {"folder_id": ""}),
    "create_file": Lean(
        "Make a file (.docx, .xlsx: from Markdown).", {"folder_id": "", "on_conflict": ""}, {"folder_id": ""}
    ),
    "rename_item": Lean("Give an item another name."),
    "move_item": Lean("Put an item into another folder."),
    "trash_item": Lean("Move an item to the trash."),
    "share_item": Lean(
        "Give a person access.",
        {"role": ""},
        {"role": "`editor` only if the person says that they may edit; else leave it out."},
    ),
    "undo_changes": Lean("Take back a run, one change, or the last ones.", {"run_id": "", "change_id": ""}),
    "patch_file": Lean(
        "Replace passages of a text file.",
        {"edits": "each `find` occurs once", "if_match": "the etag you read; refused if changed since"},
    ),
    "write_file": Lean("Replace a file's whole content."),
    "append_to_file": Lean("Add a text at a text file's end."),
    "remember": Lean(
        "Keep a fact for later conversations, only if the person asks for it.",
        {"fact": "their words, copied exactly", "file_id": "the file that the fact is from, if any"},
    ),
    "transfer_to_agent": Lean("Hand over the request, or your step; alone, after your own part."),
    "make_plan": Lean("Have actions of several agents done step by step; alone, before any change."),
}
"""By name, in the order in which models see them."""
LEFT_OUT: Final = frozenset({"description", "default"})
MAX_CHOICES: Final = 6
"""A longer choice is left out: a call with a wrong word is answered with the right ones."""


def core_tools(tools: Mapping[str, BaseTool]) -> list[BaseTool]:
    """Return those of the core that there are, as models see them."""
    return [_lean_tool(tools[name], lean) for name, lean in CORE.items() if name in tools]


def _lean_tool(tool: BaseTool, lean: Lean) -> BaseTool:
    update: dict[str, Any] = {"description": lean.sentence}
    if isinstance(tool.args_schema, dict):
        update["args_schema"] = _lean_schema(short_schema(cast("Schema", tool.args_schema)), lean.arguments)
    return tool.model_copy(update=update)


def _lean_schema(schema: Schema, shown: Mapping[str, str]) -> dict[str, Any]:
    required = schema.get("required", ())
    fields: Mapping[str, Schema] = schema.get("properties", {})
    kept = {name: _argument(one, shown.get(name, "")) for name, one in fields.items() if name in {*required, *shown}}
    return {**schema, "properties": kept}


def _argument(schema: Schema, said: str = "") -> dict[str, Any]:
    """Return an argument with these words in place of all descriptions in it, without its default and a long choice."""
    kept = {key: _bare(value) if key == "items" else value for key, value in schema.items() if key not in LEFT_OUT}
    if len(kept.get("enum", ())) > MAX_CHOICES:
        del kept["enum"]
    return {**kept, "description": said} if said else kept


def _bare(schema: Schema) -> dict[str, Any]:
    shown = _argument(schema)
    fields: Mapping[str, Schema] = shown.get("properties", {})
    return {**shown, "properties": {name: _argument(one) for name, one in fields.items()}} if fields else shown
