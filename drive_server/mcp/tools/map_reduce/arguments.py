"""The arguments of the tools that read many files, as annotated types."""

from typing import Annotated, Final

from pydantic import Field, Strict

from drive_server.mcp.tools.definition.arguments import AS_LIST, NOT_BOOLEAN
from drive_server.services.search.service import MAX_QUERY_CHARACTERS
from drive_server.services.tree.nodes import MAX_REF_CHARACTERS

MAX_FILES: Final = 500
MAX_INSTRUCTION_CHARACTERS: Final = 4_000
MAX_LANGUAGE_CHARACTERS: Final = 40
MAX_RESULT_ID_CHARACTERS: Final = 64
MAX_PAGE: Final = 100

FileRefs = Annotated[
    list[Annotated[str, Field(max_length=MAX_REF_CHARACTERS)]],
    AS_LIST,
    Field(max_length=MAX_FILES, description="The files, if they are known: the id or the path of each."),
]
Instruction = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_INSTRUCTION_CHARACTERS,
        description="What to find out of each file, written so that it makes sense for one file alone.",
    ),
]
ReduceInstruction = Annotated[
    str | None,
    Field(
        max_length=MAX_INSTRUCTION_CHARACTERS,
        description="What to make of all the answers, such as a table or a ranking; without it, a summary of them.",
    ),
]
Recursive = Annotated[bool, Strict(), Field(description="Also what is in the folder's folders.")]
OptionalQuery = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=MAX_QUERY_CHARACTERS,
        description="Only files with these words in their name or text, in the syntax of search_files.",
    ),
]
AnswerLanguage = Annotated[
    str | None,
    Field(
        max_length=MAX_LANGUAGE_CHARACTERS,
        pattern=r"^[^<>{}\r\n]*$",
        description="The language of the answers, as en or zh; without it, that of the instruction.",
    ),
]
MostFiles = Annotated[
    int,
    Field(ge=1, le=MAX_FILES, description=f"The most files to read, {MAX_FILES} at most; the answer counts the rest."),
    NOT_BOOLEAN,
]
ResultId = Annotated[
    str, Field(min_length=1, max_length=MAX_RESULT_ID_CHARACTERS, description="The `result_id` of the answer.")
]
FirstFinding = Annotated[
    int,
    Field(ge=0, le=MAX_FILES, description="The first file to show, from 0: `next` of the part before."),
    NOT_BOOLEAN,
]
FindingCount = Annotated[int, Field(ge=1, le=MAX_PAGE, description="The most files to show at once."), NOT_BOOLEAN]
