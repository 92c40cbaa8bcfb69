"""The arguments of the tools for many items at once, as annotated types."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, Strict

from drive_server.mcp.tools.arguments import AS_LIST, MAX_NAME_CHARACTERS, NOT_BOOLEAN
from drive_server.services.files.batches import MAX_AT_ONCE, MAX_FIND_CHARACTERS
from drive_server.services.files.patterns import IN_FOLDERS, IN_NAMES, MAX_PATTERN_CHARACTERS, DateOf
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
    DateOf, Field(description="The day meant by {date}, {year}, {month}, {day}, in UTC: last changed, or added.")
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
