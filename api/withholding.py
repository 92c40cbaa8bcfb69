"""Withhold content in a run or a thread, when it is shown, of items that are not shared with the person any more."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, cast

import orjson
from langchain_core.messages import AnyMessage

from api.assistant import Assistant
from api.drive import DriveForService, Principal
from api.events.frames import Frame, encode
from api.storage.tables import RunRow
from graph.language import Language
from graph.messages.others import others_items, withheld_text, withhold

_PLAIN: Final = """\
type id run_id thread_id tool_call_id approval_id message_id step_id plan_id item_id file_id grant_id change_id digest
status tool name agent kind code method mode risk origin at created_at updated_at expires_at finished_at decided_at
asked_at etag decided_by decided_key approved_by approved_key started_by scopes covered_by decision message action
grant_kind depends_on tool_call_ids undo messageId serverId serverName toolName toolTitle displayName"""
PLAIN: Final = frozenset(_PLAIN.split())
"""Keys whose texts tell nothing of a content. A key added later counts as content until it stands here."""

CONTENT: Final = frozenset({"args", "arguments", "citations", "effect", "passage", "sources"})
"""Keys of objects in which every text counts as content, also a name."""


class Withholding:
    """Looks whether a person still sees the items of others that their thread was made of."""

    def __init__(self, graph: Assistant, drive: DriveForService) -> None:
        self._graph = graph
        self._drive = drive

    async def messages(self, caller: Principal, thread_id: str, state: Mapping[str, Any]) -> list[AnyMessage]:
        """Return the messages of a thread as the caller may see them now; results of others are looked up."""
        messages: list[AnyMessage] = list(state.get("messages", ()))
        others = others_items(messages)
        if not others:
            return messages
        shown = withhold(messages, await self._drive.hidden(caller, others), _language(state))
        return await self._graph.memory.with_results(caller.user_id, thread_id, shown)

    async def hidden(self, caller: Principal, run: RunRow) -> bool:
        """Say whether a run was made of something that the caller does not see any more."""
        others = await self._graph.items_of_others(run.thread_id, run.id, run.head_checkpoint)
        return bool(await self._drive.hidden(caller, others))

    async def hidden_in(self, caller: Principal, state: Mapping[str, Any]) -> frozenset[str]:
        """Return the items of others in a state of a thread that the caller does not see any more."""
        return await self._drive.hidden(caller, others_items(state.get("messages", ())))

    async def hidden_items(self, caller: Principal, thread_id: str, at: str | None = None) -> frozenset[str]:
        """Return the items of others in a thread (at a checkpoint) that the caller does not see any more."""
        return await self._drive.hidden(caller, await self._graph.items_of_others(thread_id, at=at))


def withhold_frames(frames: Sequence[Frame], language: Language) -> list[Frame]:
    """Return the events with a sentence in place of every text; numbers and order stay."""
    return [
        Frame(frame.seq, frame.type, encode(withhold_texts(orjson.loads(frame.data), language))) for frame in frames
    ]


def withhold_texts(value: Any, language: Language, key: str = "type", plain: Collection[str] = PLAIN) -> Any:
    """Return a JSON value with a sentence in place of every text that may tell something of a content."""
    if isinstance(value, Mapping):
        inside = () if key in CONTENT else plain
        found = cast("Mapping[str, Any]", value)
        return {name: withhold_texts(one, language, name, inside) for name, one in found.items()}
    if isinstance(value, list):
        return [withhold_texts(one, language, key, plain) for one in cast("list[Any]", value)]
    return withheld_text(language) if isinstance(value, str) and key not in plain else value


def _language(state: Mapping[str, Any]) -> Language:
    turn: Mapping[str, Any] = state.get("turn") or {}
    return turn.get("language", "en")
