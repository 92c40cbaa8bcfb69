"""Rows and results as the schemas that clients get."""

from collections.abc import Sequence
from typing import Any, Final, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from api.approvals.contents import without_contents
from api.drive import ChatPlace, Kind, Principal, RunUndo, undo_to_view
from api.http.requests import AttachmentBody, ChatContext
from api.http.schemas import ApprovalView, MessageView, OutsideCallView, RunView, UndoView, VersionOfMessage
from api.service import Service
from api.storage.tables import ApprovalRow, RunRow
from api.withholding import withhold_texts
from drive_server.kernel.texts import Texts
from graph.citations.cite import CITATIONS
from graph.events.calls import ToolCallRecord
from graph.language import Language, language_of
from graph.messages.incomplete import ending_of
from graph.messages.written import OUTCOME

TEXTS: Final = Texts.beside(__file__)


def place_of(context: ChatContext | None, attachments: Sequence[AttachmentBody]) -> ChatPlace:
    """Return the place of a message."""
    here = context or ChatContext()
    attached: list[tuple[str, Kind]] = [(one.file_id or one.folder_id or "", _kind(one)) for one in attachments]
    return ChatPlace(here.file_id, here.folder_id, tuple(attached))


def _kind(attachment: AttachmentBody) -> Kind:
    return "file" if attachment.file_id is not None else "folder"


def run_view(run: RunRow) -> RunView:
    """Return a run as clients see it."""
    return RunView(
        run_id=run.id,
        thread_id=run.thread_id,
        status=run.status,  # pyright: ignore[reportArgumentType] - the model checks the word
        created_at=run.created_at,
        finished_at=run.finished_at,
        replaces=run.replaces,
    )


def version_view(run: RunRow) -> VersionOfMessage:
    """Return a version of a message as clients see it."""
    return VersionOfMessage(
        message_id=run.id,
        text=run.message,
        created_at=run.created_at,
        status=run.status,  # pyright: ignore[reportArgumentType] - the model checks the word
        is_current=run.head_checkpoint is None,
    )


def approval_view(row: ApprovalRow) -> ApprovalView:
    """Return an approval as clients see it."""
    return ApprovalView(
        approval_id=row.id,
        thread_id=row.thread_id,
        run_id=row.run_id,
        status=row.status,  # pyright: ignore[reportArgumentType] - the model checks the word
        created_at=row.created_at,
        expires_at=row.expires_at,
        actions=row.payload["actions"],
        args_schemas={one["action_name"]: one.get("args_schema", {}) for one in row.payload.get("review_configs", ())},
        decisions=without_contents(row.payload, row.decisions),
        decided_by=row.decided_by,
        decided_key=row.decided_key,
        decided_at=row.decided_at,
    )


async def shown_approval(row: ApprovalRow, caller: Principal, service: Service) -> ApprovalView:
    """Return an approval as its person may see it now."""
    view = approval_view(row)
    run = await service.runs.get(caller, row.run_id)
    if not await service.withholding.hidden(caller, run):
        return view
    language = language_of(run.message)
    texts = {"actions": withhold_texts(view.actions, language), "decisions": withhold_texts(view.decisions, language)}
    return view.model_copy(update=texts)


def undo_view(run: RunRow, undo: RunUndo) -> UndoView:
    """Return the result of an undo as clients see it, in the language of the run's message."""
    return UndoView.model_validate(undo_to_view(undo, language_of(run.message)))


def message_view(message: BaseMessage, records: Sequence[ToolCallRecord] = ()) -> MessageView | None:
    """Return a message of the graph's state as clients see it; None for one that they don't see.

    `records` are the calls of the person's own servers that stand in it.
    """
    text = str(message.text)
    if isinstance(message, HumanMessage):
        return MessageView(id=message.id, role="user", text=text)
    if isinstance(message, AIMessage):
        citations = message.additional_kwargs.get(CITATIONS, [])
        return MessageView(
            id=message.id,
            role="assistant",
            text=text,
            tool_calls=tool_call_views(message),
            citations=citations,
            records=[dict(record) for record in records],
            incomplete=ending_of(message),
        )
    return _tool_view(message, text) if isinstance(message, ToolMessage) else None


def outside_call_view(record: dict[str, Any], language: Language) -> OutsideCallView:
    """Return a call of the person's own server in the list of a run."""
    return OutsideCallView(record=record, text=TEXTS.say("views.not_undone", language, name=record["serverName"]))


def tool_call_views(message: AIMessage) -> list[dict[str, Any]]:
    """Return the tool calls of a message as clients see them."""
    return [{"tool_call_id": call["id"], "name": call["name"], "args": call["args"]} for call in message.tool_calls]


def _tool_view(message: ToolMessage, text: str) -> MessageView:
    role: Literal["tool"] = "tool"
    # To LangChain a rejection is an error like any other.
    status = message.additional_kwargs.get(OUTCOME) or ("done" if message.status == "success" else "error")
    return MessageView(
        id=message.id, role=role, text=text, tool_call_id=message.tool_call_id, name=message.name, status=status
    )
