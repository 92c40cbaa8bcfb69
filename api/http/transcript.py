"""What was said in a thread, read from the graph's state."""

from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from api.http.schemas import MessageView
from api.storage.tables import RunRow
from graph.build import Graph

# Where the graph's own results say what became of the call: to LangChain a rejection is an error like any other.
OUTCOME = "outcome"
# Where the graph keeps what an answer quotes, checked.
CITATIONS = "citations"


@dataclass(frozen=True, slots=True)
class Transcript:
    """The newest messages of a thread, whether there are earlier ones, and the state of its last turn."""

    messages: list[MessageView]
    has_earlier: bool
    plan: Any
    route: Any


async def read_transcript(graph: Graph, thread_id: str, newest: RunRow | None, limit: int) -> Transcript:
    """Return a thread's last `limit` messages. The newest run's message is there even before the graph has seen it."""
    snapshot = await graph.aget_state({"configurable": {"thread_id": thread_id}})
    said: list[BaseMessage] = snapshot.values.get("messages", [])
    shown = [view for message in said if (view := _view(message))]
    if newest and all(view.id != newest.id for view in shown):
        shown.append(MessageView(id=newest.id, role="user", text=newest.message))
    earlier = len(shown) > limit
    return Transcript(shown[-limit:], earlier, snapshot.values.get("plan"), snapshot.values.get("route"))


def _view(message: BaseMessage) -> MessageView | None:
    text = str(message.text)
    if isinstance(message, HumanMessage):
        return MessageView(id=message.id, role="user", text=text)
    if isinstance(message, AIMessage):
        calls = message.tool_calls
        views = [{"tool_call_id": call["id"], "name": call["name"], "args": call["args"]} for call in calls]
        citations = message.additional_kwargs.get(CITATIONS, [])
        return MessageView(id=message.id, role="assistant", text=text, tool_calls=views, citations=citations)
    if isinstance(message, ToolMessage):
        return _tool_view(message, text)
    return None


def _tool_view(message: ToolMessage, text: str) -> MessageView:
    role: Literal["tool"] = "tool"
    return MessageView(
        id=message.id,
        role=role,
        text=text,
        tool_call_id=message.tool_call_id,
        name=message.name,
        status=message.additional_kwargs.get(OUTCOME) or ("done" if message.status == "success" else "error"),
    )
