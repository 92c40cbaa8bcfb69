"""The arguments of the tools as annotated types: their limits, and the facts that a model needs to fill them in."""

from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict
from pydantic_core import PydanticCustomError

from drive_server.knowledge.formats import GROUPS
from drive_server.models.items import OnConflict
from drive_server.services.documents.citations import MAX_CITATIONS, MAX_QUOTE_CHARACTERS
from drive_server.services.documents.downloads import MAX_MINUTES
from drive_server.services.documents.edits import MAX_EDITS
from drive_server.services.files.moving import MAX_MOVED_AT_ONCE
from drive_server.services.files.service import MAX_TREE_DEPTH
from drive_server.services.journal.changes import MAX_MOMENT_CHARACTERS, ChangeKind
from drive_server.services.search.filters import MAX_TYPE_CHARACTERS, MAX_TYPES
from drive_server.services.search.service import MAX_QUERY_CHARACTERS
from drive_server.services.sharing.link_passwords import MAX_CHARACTERS, MIN_CHARACTERS
from drive_server.services.sharing.links import MAX_DOWNLOADS, MAX_HOURS, TERMS, Term
from drive_server.services.tree.items import MAX_CURSOR_CHARACTERS, MAX_LIMIT
from drive_server.services.tree.nodes import MAX_REF_CHARACTERS

# Far more than a name may have: the rules for names refuse a longer one with a better sentence.
MAX_NAME_CHARACTERS = 8192
MAX_TEXT_CHARACTERS = 10_000_000
MAX_EDIT_CHARACTERS = 1_000_000
MAX_ETAG_CHARACTERS = 128
MAX_RUN_ID_CHARACTERS = 64
MAX_EMAIL_CHARACTERS = 320
MAX_KEY_CHARACTERS = 256
MAX_LINK_ID_CHARACTERS = 64
MAX_TOOL_CHARACTERS = 64
MAX_HITS = 100
MAX_PLACE_CHARACTERS = 200
MAX_INTEGER = 2**53 - 1
MAX_VERSION = 2**31 - 1

_ANY_FORM = "its id, or its path from your root such as /Reports/plan.md"


def _parsed(value: Any) -> Any:
    """Parse a list that a host sent as JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value


def _number(value: Any) -> Any:
    """Reject booleans, which are numbers to Python but not in JSON."""
    if isinstance(value, bool):
        raise PydanticCustomError("int_type", "Input should be a valid integer")
    return value


NOT_BOOLEAN = BeforeValidator(_number)
AS_LIST = BeforeValidator(_parsed)


class EditArgument(BaseModel):
    """One replacement in a text."""

    model_config = ConfigDict(extra="forbid")

    find: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_EDIT_CHARACTERS,
            description="The text as it stands in the file, with its spaces and line breaks; it has to occur once.",
        ),
    ]
    replace: Annotated[str, Field(max_length=MAX_EDIT_CHARACTERS, description="What stands there afterwards.")]


ItemRef = Annotated[str, Field(max_length=MAX_REF_CHARACTERS, description=f"The file or folder: {_ANY_FORM}.")]
FileRef = Annotated[str, Field(max_length=MAX_REF_CHARACTERS, description=f"The file: {_ANY_FORM}.")]
FolderRef = Annotated[
    str, Field(max_length=MAX_REF_CHARACTERS, description="The folder: its id, its path from your root, or `root`.")
]
PlaceRef = Annotated[
    str,
    Field(
        max_length=MAX_REF_CHARACTERS,
        description="The folder: its id, its path from your root, or `root`. Also `trash` for what can be restored "
        "and `shared` for what other people shared with you.",
    ),
]
OptionalFolderRef = Annotated[
    str | None, Field(max_length=MAX_REF_CHARACTERS, description="The folder: its id or its path from your root.")
]
OptionalItemRef = Annotated[
    str | None, Field(max_length=MAX_REF_CHARACTERS, description=f"The file or folder: {_ANY_FORM}.")
]
Name = Annotated[
    str, Field(max_length=MAX_NAME_CHARACTERS, description="The name: no slash, 255 bytes of UTF-8 at most.")
]
OptionalName = Annotated[
    str | None, Field(max_length=MAX_NAME_CHARACTERS, description="The name there; without it the name stays.")
]
ItemRefs = Annotated[
    list[Annotated[str, Field(max_length=MAX_REF_CHARACTERS)]],
    BeforeValidator(_parsed),
    Field(min_length=1, max_length=MAX_MOVED_AT_ONCE, description="The files and folders: the id or the path of each."),
]
Conflict = Annotated[
    OnConflict,
    Field(
        description="If the name is taken there: `fail` refuses and suggests a free name, `rename` takes the next free "
        "one, `replace` moves the item that is there to the trash (a file for a file, a folder for a folder)."
    ),
]
FolderConflict = Annotated[
    Literal["fail", "rename"],
    Field(
        description="If the name is taken: `fail` refuses and suggests a free name, `rename` takes the next free one."
    ),
]
Text = Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS, description="The whole text of the file.")]
Edits = Annotated[
    list[EditArgument],
    BeforeValidator(_parsed),
    Field(
        min_length=1,
        max_length=MAX_EDITS,
        description="Replacements, made in this order, each in the text that the ones before left.",
    ),
]
Etag = Annotated[
    str | None,
    Field(
        max_length=MAX_ETAG_CHARACTERS,
        description="The etag you read it with; if it changed since, nothing is done and the answer says what changed.",
    ),
]
Depth = Annotated[int, Field(ge=0, le=MAX_TREE_DEPTH, description="How many levels down to go."), NOT_BOOLEAN]
PageSize = Annotated[int, Field(ge=1, le=MAX_LIMIT, description="The most entries to answer at once."), NOT_BOOLEAN]
HitCount = Annotated[int, Field(ge=1, le=MAX_HITS, description="The most hits to answer at once."), NOT_BOOLEAN]
Cursor = Annotated[
    str | None,
    Field(max_length=MAX_CURSOR_CHARACTERS, description="The `cursor` of the page before, to go on after it."),
]
Offset = Annotated[int | None, Field(ge=0, le=MAX_INTEGER, description="An offset in characters, from 0."), NOT_BOOLEAN]
Line = Annotated[int | None, Field(ge=1, le=MAX_INTEGER, description="A line number, from 1."), NOT_BOOLEAN]
LaterVersion = Annotated[
    int | None,
    Field(ge=1, le=MAX_VERSION, description="The number of the version to compare with; without it, the newest."),
    NOT_BOOLEAN,
]
OptionalVersion = Annotated[
    int | None,
    Field(ge=1, le=MAX_VERSION, description="The number of a version; without it, what the file is when fetched."),
    NOT_BOOLEAN,
]
OptionalPlace = Annotated[
    str,
    Field(
        max_length=MAX_PLACE_CHARACTERS,
        description="A place as hits have it: page=2, slide=3, sheet=Budget!A2:D15, part=4, line=10-20.",
    ),
]
Minutes = Annotated[
    int, Field(ge=1, le=MAX_MINUTES, description="How many minutes the address holds, 1,440 at most."), NOT_BOOLEAN
]
AddedText = Annotated[
    str, Field(min_length=1, max_length=MAX_TEXT_CHARACTERS, description="The text to put at the end of the file.")
]
FileConflict = Annotated[
    OnConflict,
    Field(
        description="If the name is taken: `fail` refuses and suggests a free name, `rename` takes the next free one, "
        "`replace` makes the content the newest version of the file that is there."
    ),
]
VersionNumber = Annotated[int, Field(ge=1, le=MAX_VERSION, description="The number of the version."), NOT_BOOLEAN]
Query = Annotated[str, Field(min_length=1, max_length=MAX_QUERY_CHARACTERS, description="What to look for.")]
OptionalQuery = Annotated[
    str,
    Field(
        max_length=MAX_QUERY_CHARACTERS,
        description="What to look for. Without it, all that the other arguments leave, last changed first.",
    ),
]
KindFilter = Annotated[Literal["file", "folder"] | None, Field(description="Restrict the hits to files or folders.")]
FileTypes = Annotated[
    list[Annotated[str, Field(max_length=MAX_TYPE_CHARACTERS)]],
    BeforeValidator(_parsed),
    Field(
        max_length=MAX_TYPES,
        description=f"Only files of one of these types: {', '.join(GROUPS)}, or a suffix as .docx.",
    ),
]
ModifiedAfter = Annotated[
    str | None,
    Field(
        max_length=MAX_MOMENT_CHARACTERS,
        description="Only what was changed from this time on: ISO 8601, as 2026-11-05 or 2026-11-05T14:30:00+01:00 "
        "(without a zone, the person's), or words as `last month` and `上周`.",
    ),
]
ModifiedBefore = Annotated[
    str | None,
    Field(
        max_length=MAX_MOMENT_CHARACTERS,
        description="Only what was changed before this time, like `modified_after`; with words, up to their end.",
    ),
]
BelongsTo = Annotated[
    str | None,
    Field(
        max_length=MAX_EMAIL_CHARACTERS,
        description="Only what belongs to them: `me`, `shared` for all that others share, or a person's email address.",
    ),
]
Email = Annotated[
    str, Field(min_length=3, max_length=MAX_EMAIL_CHARACTERS, description="The person's email address, or group:NAME.")
]
GivenRole = Annotated[
    Literal["viewer", "editor"], Field(description="viewer: may read; editor: may also change and add.")
]
OptionalEmail = Annotated[
    str | None,
    Field(min_length=3, max_length=MAX_EMAIL_CHARACTERS, description="The person's email address, or group:NAME."),
]
OptionalRole = Annotated[
    Literal["viewer", "editor"] | None,
    Field(description="viewer: may read; editor: may also change and add. Without it the role stays."),
]
LinkId = Annotated[
    str | None,
    Field(min_length=1, max_length=MAX_LINK_ID_CHARACTERS, description="The link's id, as list_shares has it."),
]
LinkHours = Annotated[
    int | None,
    Field(ge=1, le=MAX_HOURS, description="The link ends so many hours from now: 24 for a day, 168 for a week."),
    NOT_BOOLEAN,
]
LinkPassword = Annotated[
    str | None,
    Field(
        min_length=MIN_CHARACTERS,
        max_length=MAX_CHARACTERS,
        description="A password that the link asks for; the person has to pass it on themselves.",
    ),
]
MostDownloads = Annotated[
    int | None,
    Field(ge=1, le=MAX_DOWNLOADS, description="How many files can be fetched by the link in all, from its beginning."),
    NOT_BOOLEAN,
]
TermsToRemove = Annotated[
    list[Term],
    BeforeValidator(_parsed),
    Field(max_length=len(TERMS), description="Terms that the link shall have no more: expiry, password, limit."),
]
RunId = Annotated[str | None, Field(max_length=MAX_RUN_ID_CHARACTERS, description="A run of the assistant, by its id.")]
ChangeId = Annotated[
    int | None, Field(ge=1, le=MAX_INTEGER, description="A single change, by its number."), NOT_BOOLEAN
]
Preview = Annotated[bool, Strict(), Field(description="Tell what would be taken back, and change nothing.")]
RedoPreview = Annotated[bool, Strict(), Field(description="Tell what would be done again, and change nothing.")]
Since = Annotated[
    str | None,
    Field(
        max_length=MAX_MOMENT_CHARACTERS,
        description="From this time on: ISO 8601, as 2026-11-05 or 2026-11-05T14:30:00+01:00 (without a zone, the "
        "person's), or words as `last month` and `上周`.",
    ),
]
Until = Annotated[
    str | None,
    Field(
        max_length=MAX_MOMENT_CHARACTERS,
        description="Before this time, written like `since`; with words, up to their end.",
    ),
]
ToolName = Annotated[
    str | None, Field(max_length=MAX_TOOL_CHARACTERS, description="Changes made with this tool, by its name.")
]
ByWhom = Annotated[
    str | None,
    Field(
        max_length=MAX_EMAIL_CHARACTERS,
        description="What the person with this email address did, to the item or in your own folders.",
    ),
]
KindOfChange = Annotated[
    ChangeKind | None,
    Field(
        description="create; edit: contents; organise: names and places; trash: to, from and out of the trash; share; "
        "undo: undo and redo."
    ),
]
ApiKeySecret = Annotated[str, Field(min_length=1, max_length=MAX_KEY_CHARACTERS, description="The API key, dak_...")]


class CitationArgument(BaseModel):
    """One quotation, and where it is said to stand."""

    model_config = ConfigDict(extra="forbid")

    file_id: FileRef
    quote: Annotated[
        str,
        Field(
            max_length=MAX_QUOTE_CHARACTERS,
            description="The words as they stand in the file's text; `...` stands for words that were left out.",
        ),
    ]
    version: OptionalVersion = None
    place: OptionalPlace = ""


CitationArguments = Annotated[
    list[CitationArgument],
    BeforeValidator(_parsed),
    Field(min_length=1, max_length=MAX_CITATIONS, description="The quotations, 200 at most."),
]
