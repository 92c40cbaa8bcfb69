"""An assistant in LangGraph's shape, and the ids by which its clients name assistants."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID, uuid5

from api.langgraph.entrance import Json
from api.storage.tables import BUILT_IN, AssistantRow

GRAPH_ID: Final = "drive_agent"
NAMESPACE_GRAPH: Final = UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8")
"""LangGraph's server makes the ids of default assistants of their graphs' names in this one."""
BUILT_IN_ID: Final = str(uuid5(NAMESPACE_GRAPH, GRAPH_ID))
BEGINNING: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""The built-in assistant is no row, and was never made."""

MESSAGES: Final[Mapping[str, Any]] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"type": {"const": "human"}, "content": {"type": "string"}, "id": {"type": "string"}},
        "required": ["type", "content"],
    },
}
INPUT_SCHEMA: Final[Mapping[str, Any]] = {
    "title": "drive_agent_input",
    "type": "object",
    "properties": {"messages": MESSAGES},
    "required": ["messages"],
}
STATE_SCHEMA: Final[Mapping[str, Any]] = {
    "title": "drive_agent_state",
    "type": "object",
    "properties": {
        "messages": {"type": "array", "items": {"type": "object"}},
        "plan": {"anyOf": [{"type": "object"}, {"type": "null"}]},
        "route": {"anyOf": [{"type": "object"}, {"type": "null"}]},
    },
}
CONTEXT_SCHEMA: Final[Mapping[str, Any]] = {
    "title": "Context",
    "type": "object",
    "properties": {
        "file_id": {"type": "string", "description": "The file that is open."},
        "folder_id": {"type": "string", "description": "The folder that is open."},
        "time_zone": {"type": "string", "description": "The person's time zone, such as Europe/Berlin."},
        "model": {"type": "string", "description": "The model that answers from now on."},
    },
}


def public_id(assistant_id: str) -> str:
    """Return the id that clients see."""
    return BUILT_IN_ID if assistant_id == BUILT_IN else assistant_id


def own_id(assistant_id: str) -> str:
    """Return our id of an assistant that a client names by its id, or by the name of the graph."""
    return BUILT_IN if assistant_id in {BUILT_IN, GRAPH_ID, BUILT_IN_ID} else assistant_id


def assistant_view(row: AssistantRow) -> Json:
    """Return an assistant as LangGraph's clients see it."""
    is_built_in = row.id == BUILT_IN
    made = BEGINNING if is_built_in else row.created_at
    return {
        "assistant_id": public_id(row.id),
        "graph_id": GRAPH_ID,
        "name": GRAPH_ID if is_built_in else row.name,
        "description": row.description,
        "config": {},
        "context": {},
        "metadata": {"created_by": "system" if is_built_in else "user"},
        "version": 1,
        "created_at": made.isoformat(),
        "updated_at": (made if is_built_in else row.updated_at).isoformat(),
    }


def schemas_view() -> Json:
    """Return the schemas of the graph: the input that clients may send, and the state that they see."""
    return {
        "graph_id": GRAPH_ID,
        "input_schema": INPUT_SCHEMA,
        "output_schema": STATE_SCHEMA,
        "state_schema": STATE_SCHEMA,
        "config_schema": {"title": "Config", "type": "object", "properties": {}},
        "context_schema": CONTEXT_SCHEMA,
    }
