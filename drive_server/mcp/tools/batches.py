"""Tools for many items at once: new names, and folders to put them into."""

from datetime import UTC, tzinfo
from typing import Annotated, Literal

from mcp.types import CallToolResult
from pydantic import BaseModel, ConfigDict, Field, Strict

from drive_server.kernel.access import Actor, Scope
from drive_server.mcp import icons
from drive_server.mcp.calls.call import Call, changed
from drive_server.mcp.tools.definition.arguments import (
    AS_LIST,
    MAX_NAME_CHARACTERS,
    NOT_BOOLEAN,
    FolderConflict,
    OptionalFolderRef,
)
from drive_server.mcp.tools.definition.spec import OVERWRITES, ToolGroup, ToolSpec, records
from drive_server.mcp.tools.definition.texts import counted, cut_lines
from drive_server.models.items import Rearranged
from drive_server.services.files.batches import MAX_AT_ONCE, MAX_FIND_CHARACTERS, Organizing, Renaming, Selection
from drive_server.services.files.patterns import IN_FOLDERS, IN_NAMES, MAX_PATTERN_CHARACTERS, DateOf
from drive_server.services.tree.names import display_name
from drive_server.services.tree.nodes import MAX_REF_CHARACTERS

MAX_START = 1_000_000


def _braced(names: tuple[str, ...]) -> str:
    return ", ".join(f"{{{name}}}" for name in names)


class NewNameArgument(BaseModel):
    """One item and its new name."""

    model_config = ConfigDict(extra="forbid")

    item_id: Annotated[str, Field(max_length=MAX_REF_CHARACTERS, description="The item: its id or path.")]
    name: Annotated[str, Field(max_length=MAX_NAME_CHARACTERS, description="Its new name, with its ending.")]


ItemsToChange = Annotated[
    list[Annotated[str, Field(max_length=MAX_REF_CHARACTERS)]],
    AS_LIST,
    Field(max_length=MAX_AT_ONCE, description="The items: the id or the path of each."),
]
NewNames = Annotated[
    list[NewNameArgument],
    AS_LIST,
    Field(max_length=MAX_AT_ONCE, description="Each item with its new name; they may swap names."),
]
Match = Annotated[
    str,
    Field(
        max_length=MAX_PATTERN_CHARACTERS, description="Only items whose name fits: `*.jpg`, `*invoice*`, `IMG_????`."
    ),
]
NamePatternText = Annotated[
    str,
    Field(
        max_length=MAX_PATTERN_CHARACTERS,
        description=f"The new name, with {_braced(IN_NAMES)}; {{number:3}} counts 001, 002, and so on.",
    ),
]
FolderPatternText = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_PATTERN_CHARACTERS,
        description=f"The folder for each item, with slashes for levels and {_braced(IN_FOLDERS)}.",
    ),
]
Find = Annotated[
    str,
    Field(max_length=MAX_FIND_CHARACTERS, description="A text in the names, letter by letter; `replace` comes for it."),
]
Replacement = Annotated[str, Field(max_length=MAX_FIND_CHARACTERS, description="What stands there afterwards.")]
StartNumber = Annotated[int, Field(ge=0, le=MAX_START, description="The first {number}."), NOT_BOOLEAN]
DateSource = Annotated[
    DateOf,
    Field(description="The day meant by {date}, {year}, {month}, {day}, where the person is: last changed, or added."),
]
WordsIn = Annotated[Literal["en", "zh"], Field(description="The language of {type}: Images or 图片.")]
IntoFolder = Annotated[
    str | None,
    Field(
        max_length=MAX_REF_CHARACTERS,
        description="The folder that holds the folders, by id or path; without it, the one that the items are in.",
    ),
]
BatchPreview = Annotated[bool, Strict(), Field(description="Tell what would become of each item; change nothing.")]


class BatchTools(ToolGroup):
    """Rename and organize many items, as one change."""

    icon = icons.FOLDER
    label = "batches"

    async def _zone(self, actor: Actor) -> tzinfo:
        return (await self.now(actor))[0].tzinfo or UTC

    @records("organise", "rename_many")
    @ToolSpec(
        Scope.WRITE,
        "write",
        "high",
        OVERWRITES,
        action="rename",
        has_preview=True,
        can_be_task=True,
    )
    async def rename_items(
        self,
        call: Call,
        item_ids: ItemsToChange = [],  # noqa: B006 - copied by pydantic, and never changed
        folder_id: OptionalFolderRef = None,
        match: Match = "",
        names: NewNames = [],  # noqa: B006 - likewise
        pattern: NamePatternText = "",
        find: Find = "",
        replace: Replacement = "",
        start: StartNumber = 1,
        date: DateSource = "modified",
        language: WordsIn = "en",
        on_conflict: FolderConflict = "fail",
        preview: BatchPreview = False,
    ) -> Annotated[CallToolResult, Rearranged]:
        """Give many files and folders other names at once, all of them or, if one can't have its name, none.

        Use when: several items are to be renamed: by a list (`names`), by a `pattern` such as `{date} {name}` or
        `Photo {number:3}`, or by replacing a text in their names (`find`, `replace`).
        Not for: a single item (rename_item); other folders (organize_items, move_items).
        Notes: `pattern` and `find` are for `item_ids`, in their order, or for the files directly in `folder_id`; files
        keep their endings. One change, which undo_changes takes back as a whole.
        """
        actor = await call.actor()
        selection = Selection(tuple(item_ids), folder_id, match)
        pairs = tuple((entry.item_id, entry.name) for entry in names)
        renaming = Renaming(pairs, pattern, find, replace, start, date, language, await self._zone(actor))

        outcome = await call.agreed(
            actor,
            lambda agreed: self._drive.batches.rename(
                agreed, selection, renaming, on_conflict=on_conflict, preview=preview, progress=call.progress
            ),
        )
        text = f"Renamed {counted(outcome.value.changed, 'item')}.{_unchanged(outcome.value)}"
        return changed(actor, outcome, text, outcome.value, lambda: _lines(outcome.value))

    @records("organise", "organize")
    @ToolSpec(
        Scope.WRITE,
        "write",
        "high",
        OVERWRITES,
        action="move",
        has_preview=True,
        can_be_task=True,
    )
    async def organize_items(
        self,
        call: Call,
        folders: FolderPatternText,
        item_ids: ItemsToChange = [],  # noqa: B006 - copied by pydantic, and never changed
        folder_id: OptionalFolderRef = None,
        match: Match = "",
        into_id: IntoFolder = None,
        date: DateSource = "modified",
        language: WordsIn = "en",
        on_conflict: FolderConflict = "fail",
        preview: BatchPreview = False,
    ) -> Annotated[CallToolResult, Rearranged]:
        """Put many files and folders into folders by date, by type or by a pattern; folders are made as needed.

        Use when: a folder is to be sorted: `{year}/{month}` by date, `{type}` by type, `Invoices {year}` with `match`
        `*invoice*` for some of them.
        Not for: one folder that is there already (move_items); other names (rename_items).
        Notes: for `item_ids`, or for the files directly in `folder_id`. All of them or none; one change, which
        undo_changes takes back as a whole, with the folders that it made.
        """
        actor = await call.actor()
        selection = Selection(tuple(item_ids), folder_id, match)
        organizing = Organizing(folders, into_id, date, language, await self._zone(actor))

        outcome = await call.agreed(
            actor,
            lambda agreed: self._drive.batches.organize(
                agreed, selection, organizing, on_conflict=on_conflict, preview=preview, progress=call.progress
            ),
        )
        made = f" Made {counted(len(outcome.value.folders), 'folder')}." if outcome.value.folders else ""
        text = f"Moved {counted(outcome.value.changed, 'item')}.{made}{_unchanged(outcome.value)}"
        return changed(actor, outcome, text, outcome.value, lambda: _lines(outcome.value))


def _unchanged(result: Rearranged) -> str:
    same = len(result.items) - result.changed
    return f" {counted(same, 'item')} stayed as before." if same else ""


def _lines(result: Rearranged) -> str:
    return cut_lines(f"- {display_name(one.was)} -> {display_name(one.path)} (id {one.id})" for one in result.items)
