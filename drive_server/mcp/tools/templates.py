"""The tool for templates: a file with placeholders, filled into a new one."""

from typing import Annotated

from mcp.types import CallToolResult
from pydantic import BaseModel, ConfigDict, Field

from drive_server.kernel.access import Scope
from drive_server.mcp import icons
from drive_server.mcp.calls.call import Call, changed
from drive_server.mcp.tools.definition.arguments import AS_LIST, FileRef, FolderConflict, Name, OptionalFolderRef
from drive_server.mcp.tools.definition.spec import ADDS, ToolGroup, ToolSpec, records
from drive_server.mcp.tools.definition.texts import reference
from drive_server.models.items import Item

MAX_VALUES = 200
MAX_PLACEHOLDER_CHARACTERS = 100
MAX_VALUE_CHARACTERS = 20_000


class ValueArgument(BaseModel):
    """The value of one placeholder."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(max_length=MAX_PLACEHOLDER_CHARACTERS, description="Its name, without the braces.")]
    value: Annotated[str, Field(max_length=MAX_VALUE_CHARACTERS, description="The text that comes for it.")]


Values = Annotated[
    list[ValueArgument], AS_LIST, Field(max_length=MAX_VALUES, description="A text for each placeholder.")
]


class TemplateTools(ToolGroup):
    """Fill in templates."""

    icon = icons.DOCUMENT
    label = "templates"

    @records("create")
    @ToolSpec(Scope.WRITE, "write", "low", ADDS, action="create")
    async def fill_template(
        self,
        call: Call,
        template_id: FileRef,
        values: Values,
        name: Name,
        folder_id: OptionalFolderRef = None,
        on_conflict: FolderConflict = "fail",
    ) -> Annotated[CallToolResult, Item]:
        """Make a new file of a text or docx file with placeholders such as {{client}}, with values in their place.

        Use when: the person wants a letter, contract or form made from a template of theirs.
        Not for: changing the template (patch_file); files without such placeholders (copy_item).
        Notes: placeholders without a value, and values without a placeholder, are named before anything is written, so
        a call with empty `values` lists the template's placeholders. Without `folder_id` the file lies beside the
        template.
        """
        actor = await call.actor()
        filled = {entry.name: entry.value for entry in values}

        outcome = await call.agreed(
            actor,
            lambda agreed: self._drive.templates.fill(
                agreed, template_id, filled, folder_id, name, on_conflict=on_conflict
            ),
        )
        return changed(actor, outcome, f"Created {reference(outcome.value)}.", outcome.value)
