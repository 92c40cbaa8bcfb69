"""Threads of an export come in again."""

from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field
from starlette.status import HTTP_201_CREATED

from api.http.dependencies import ServiceDep, WriterDep
from api.http.requests import Body, Id
from api.thread_imports import ImportedMessage, ImportedThread, ThreadImports
from drive_server.kernel.http.problem import problem_responses

router = APIRouter(prefix="/threads", tags=["threads"])

MAX_TEXT_CHARACTERS = 1_000_000
MAX_MESSAGES = 1000


def _storable(value: dict[str, Any]) -> dict[str, Any]:
    """Return the value. Raises ValueError for half a surrogate pair, and for numbers beyond 64 bits."""
    try:
        orjson.dumps(value)
    except TypeError as error:
        raise ValueError(str(error)) from error
    return value


StorableObject = Annotated[dict[str, Any], AfterValidator(_storable)]


class CallBody(Body):
    """A call of a tool in an exported message."""

    tool_call_id: Annotated[str, Field(min_length=1, max_length=190)]
    name: Annotated[str, Field(min_length=1, max_length=190)]
    args: StorableObject = Field(default={})


class MessageBody(Body):
    """A message of an exported thread. A tool's has the id of its call, which a message before it made."""

    id: Annotated[str, Field(min_length=1, max_length=128)]
    role: Literal["user", "assistant", "tool"]
    text: Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS)]
    tool_calls: list[CallBody] = Field(default=[], max_length=1000)
    citations: list[StorableObject] = Field(default=[], max_length=1000)
    tool_call_id: Annotated[str, Field(max_length=190)] = ""
    name: Annotated[str, Field(max_length=190)] = ""
    status: Annotated[str, Field(max_length=32)] = ""


class ThreadImportBody(Body):
    """An exported thread, or a part of a long one; the thread is there with the part that `is_last`."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "export_id": "5d0c3c1e",
                    "thread_id": "0b8f2f0e-6c0c-4f0a-9f0b-0f4f6c1f7a10",
                    "title": "Parental leave",
                    "created_at": "2026-11-05T09:00:00Z",
                    "updated_at": "2026-11-05T09:01:00Z",
                    "messages": [{"id": "1", "role": "user", "text": "Find the document about parental leave"}],
                }
            ]
        },
    )

    export_id: Id
    thread_id: Id
    title: Annotated[str, Field(max_length=1000)]
    created_at: AwareDatetime
    updated_at: AwareDatetime
    messages: Annotated[list[MessageBody], Field(max_length=MAX_MESSAGES)]
    is_last: bool = True

    def to_part(self) -> ImportedThread:
        """Return the part for the service."""
        messages = [
            ImportedMessage(
                id=message.id,
                role=message.role,
                text=message.text,
                tool_calls=[call.model_dump() for call in message.tool_calls],
                citations=message.citations,
                tool_call_id=message.tool_call_id,
                name=message.name,
                status=message.status,
            )
            for message in self.messages
        ]
        return ImportedThread(
            self.export_id, self.thread_id, self.title, self.created_at, self.updated_at, messages, self.is_last
        )


class ThreadImportView(BaseModel):
    """The thread's id here. `is_new` is false if this import made it before."""

    thread_id: str
    is_new: bool


@router.post("/import", status_code=HTTP_201_CREATED, responses=problem_responses(403, 409))
async def import_thread(body: ThreadImportBody, caller: WriterDep, service: ServiceDep) -> ThreadImportView:
    """Take in a thread of an export, to be read and to be gone on with; one that is there already stays as it is.

    Its messages are by the author of the export: the assistant asks before it changes anything because of them.
    """
    imports = ThreadImports(service.database, service.graph, service.clock)
    thread_id, is_new = await imports.take(caller, body.to_part())
    return ThreadImportView(thread_id=thread_id, is_new=is_new)
