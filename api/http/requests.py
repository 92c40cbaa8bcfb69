"""The bodies that clients send. Limits are in characters."""

import unicodedata
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from graph.moment import is_time_zone
from graph.planning.editing import StepEdit

MAX_MESSAGE_CHARACTERS = 100_000
MAX_REF_CHARACTERS = 8_192
MAX_ATTACHMENTS = 20

Id = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Ref = Annotated[str, StringConstraints(min_length=1, max_length=MAX_REF_CHARACTERS)]


class Body(BaseModel):
    """Base of all bodies. Unknown fields are refused, so that a misspelt one is not silently ignored."""

    model_config = ConfigDict(extra="forbid")


class ChatContext(Body):
    """The person's place: ids (or paths) of the open file and folder."""

    file_id: Ref | None = Field(default=None, description="The file that is open: 'this document'.")
    folder_id: Ref | None = Field(default=None, description="The folder that is shown: 'here'.")


class AttachmentBody(Body):
    """A file or folder of the drive that goes with a message: one of the two, by id or path."""

    file_id: Ref | None = Field(default=None, description="A file: its text is read beside the message.")
    folder_id: Ref | None = Field(default=None, description="A folder: its listing is read beside the message.")

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if (self.file_id is None) == (self.folder_id is None):
            msg = "an attachment has a file_id or a folder_id"
            raise ValueError(msg)
        return self


class MessageOptions(Body):
    """How a message is answered."""

    time_zone: str | None = Field(
        default=None, max_length=64, description="The person's time zone, such as Asia/Shanghai; else the drive's."
    )
    mode: Literal["attended", "unattended"] = Field(
        default="attended", description="unattended: nobody watches, and calls that need an approval wait for days."
    )
    assistant_id: Id | None = Field(
        default=None,
        description="One of `GET /api/assistants`: the thread has it from now on; else a new one has the default.",
    )
    model: Annotated[str, StringConstraints(min_length=1, max_length=255)] | None = Field(
        default=None, description="A model of `GET /api/models`: the thread has it from now on."
    )

    @field_validator("time_zone")
    @classmethod
    def _is_a_time_zone(cls, name: str | None) -> str | None:
        if name and not is_time_zone(name):
            msg = "there is no such time zone: write it as Asia/Shanghai or Europe/Berlin"
            raise ValueError(msg)
        return name


class MessageBody(MessageOptions):
    """A message of the person."""

    message: Annotated[str, StringConstraints(min_length=1, max_length=MAX_MESSAGE_CHARACTERS)]
    context: ChatContext | None = None
    attachments: list[AttachmentBody] = Field(
        default=[], max_length=MAX_ATTACHMENTS, description="Files and folders that the message is about."
    )

    @field_validator("message")
    @classmethod
    def _has_text(cls, message: str) -> str:
        if not message.strip():
            msg = "a message needs some text"
            raise ValueError(msg)
        if "\x00" in message:
            msg = "a message can't have NUL characters"
            raise ValueError(msg)
        return message


class ChatRequest(MessageBody):
    """A message to the assistant."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"message": "Find the document about parental leave and summarise it"}]},
    )

    thread_id: Id | None = Field(default=None, description="The thread to continue; without it, a new one is made.")


class EditBody(MessageBody):
    """Another text for the last message. Without `context` and `attachments` it has those of the message before."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"message": "Summarise it in three sentences"}]}
    )


class RegenerateBody(MessageOptions):
    """How the last message is answered anew."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"mode": "attended"}]})


class EditedAction(Body):
    """An edited call as LangChain's clients write it."""

    name: str
    args: dict[str, Any]


class GrantBody(Body):
    """A grant: actions of the approved kind in that folder need no approval, for so long and for so many items."""

    folder_id: Ref = Field(description="A folder, and all that lies in it.")
    minutes: int = Field(default=60, ge=1, le=7 * 24 * 60)
    max_items: int = Field(default=50, ge=1, le=10_000)


class DecisionBody(Body):
    """The person's decision on one proposed call."""

    tool_call_id: str = Field(max_length=256)
    type: Literal["approve", "edit", "reject", "respond"]
    args: dict[str, Any] | None = Field(default=None, description="With edit: all arguments of the call.")
    message: str | None = Field(default=None, max_length=10_000, description="Why, or what to do instead.")
    name: str | None = Field(default=None, max_length=256, description="The tool; it can't be another one.")
    edited_action: EditedAction | None = Field(default=None, description="The same as name and args.")
    modified_args: dict[str, Any] | None = Field(
        default=None, alias="modifiedArgs", description="The changed arguments alone, in the place of args."
    )
    grant: GrantBody | None = Field(default=None, description="With approve: need no approval for calls like this.")


class DecisionsBody(Body):
    """One decision for every action of the approval; or `approve_all`, which approves each of them as it is."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"decisions": [{"tool_call_id": "call_1", "type": "approve"}]}]},
    )

    decisions: list[DecisionBody] = Field(default=[], max_length=1000)
    approve_all: bool = Field(default=False, strict=True)

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if self.approve_all == bool(self.decisions):
            msg = "send either decisions, or approve_all as true"
            raise ValueError(msg)
        return self


class ThreadPatch(Body):
    """A thread's new title."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"title": "Parental leave"}]})

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]

    @field_validator("title")
    @classmethod
    def _is_plain(cls, title: str) -> str:
        if any(unicodedata.category(char) == "Cc" and not char.isspace() for char in title):
            msg = "a title can't have control characters"
            raise ValueError(msg)
        return title


class StepPatch(Body):
    """A step as it should be; fields that are left out stay as they are. A new one needs agent and instruction."""

    id: Id | None = Field(default=None, description="Of a step of the plan; anything else is a new step's own name.")
    title: Annotated[str, StringConstraints(min_length=1, max_length=1_000)] | None = None
    agent: Literal["document_agent", "drive_agent", "search_agent"] | None = None
    instruction: Annotated[str, StringConstraints(min_length=1, max_length=10_000)] | None = None
    depends_on: Annotated[list[Id], Field(max_length=20)] | None = None
    kind: Literal["act", "map"] | None = None
    folder: Annotated[str, StringConstraints(max_length=1_000)] | None = None

    def to_edit(self) -> StepEdit:
        """Return the fields that were sent."""
        return cast("StepEdit", self.model_dump(exclude_none=True))


class PlanPatch(Body):
    """The new list of the steps that have not begun."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "version": 1,
                    "steps": [
                        {"id": "2", "title": "Compare both drafts"},
                        {
                            "title": "Write a summary",
                            "agent": "document_agent",
                            "instruction": "Write a summary of the differences",
                        },
                    ],
                }
            ]
        },
    )

    version: int | None = Field(default=None, ge=0, description="The version that was seen; or the header If-Match.")
    steps: list[StepPatch] = Field(max_length=20)


class MemoryPatch(Body):
    """Another text for a fact."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"text": "Reports are written in English."}]}
    )

    text: Annotated[str, Field(min_length=1, max_length=500, pattern=r"\S")]


class UndoBody(Body):
    """The options of an undo."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"preview": True}, {"change_id": 42}]})

    preview: bool = Field(default=False, strict=True, description="Say what would be undone, and undo nothing.")
    change_id: int | None = Field(default=None, ge=0, description="Only this change of the run.")


class RedoBody(Body):
    """The options of a redo."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"preview": True}]})

    preview: bool = Field(default=False, strict=True, description="Say what would be done again, and do nothing.")


class ThreadUndoBody(Body):
    """The options of an undo of a thread's runs."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"preview": True, "since_run": "5f0c7d0e-6c3a-4f0e-9a55-2f3f0f1d6a11"}]},
    )

    preview: bool = Field(default=False, strict=True, description="Say what would be undone, and undo nothing.")
    since_run: Id | None = Field(default=None, description="Only this run of the thread and those after it.")
