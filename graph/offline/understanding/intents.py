"""What a person wants, as data."""

from dataclasses import dataclass
from typing import Final, Literal

from graph.offline.understanding.references import Ref
from graph.state import AgentName

Kind = Literal[
    "find",
    "summarise",
    "ask",
    "read",
    "map_files",
    "list_folder",
    "tree",
    "info",
    "create_folder",
    "create_file",
    "save_summary",
    "rename",
    "move",
    "share",
    "list_shares",
    "revoke",
    "trash",
    "restore",
    "list_versions",
    "restore_version",
    "replace",
    "insert",
    "undo",
    "list_changes",
    "whoami",
    "identity",
    "help",
    "greet",
    "thanks",
    "confirm",
    "decline",
    "choose",
    "address",
    "role_hint",
    "beyond",
]
Position = Literal["start", "end", "after"]
Role = Literal["viewer", "editor"]

PREVIOUS: Final = -1
SURE: Final = 0.92
LIKELY: Final = 0.65
GUESS: Final = 0.45


@dataclass(frozen=True, slots=True)
class Intent:
    """One request. What a kind has no use for stays empty.

    `version` counts from 1, `PREVIOUS` is the one before the current. `person` is someone named without an address.
    `edits` are (find, replace). `topic` says which sort of thing is beyond this model. `confidence` is 0 to 1.
    """

    kind: Kind
    said: str = ""
    target: Ref | None = None
    destination: Ref | None = None
    names: tuple[str, ...] = ()
    content: str = ""
    edits: tuple[tuple[str, str], ...] = ()
    emails: tuple[str, ...] = ()
    person: str = ""
    role: Role = "viewer"
    version: int = 0
    query: str = ""
    position: Position = "end"
    anchor: str = ""
    topic: str = ""
    confidence: float = SURE


AGENTS: Final[dict[Kind, AgentName]] = {
    "find": "search_agent",
    "summarise": "search_agent",
    "ask": "search_agent",
    "read": "search_agent",
    "map_files": "search_agent",
    "list_folder": "drive_agent",
    "tree": "drive_agent",
    "info": "drive_agent",
    "create_folder": "drive_agent",
    "create_file": "drive_agent",
    "save_summary": "drive_agent",
    "rename": "drive_agent",
    "move": "drive_agent",
    "share": "drive_agent",
    "list_shares": "drive_agent",
    "revoke": "drive_agent",
    "trash": "drive_agent",
    "restore": "drive_agent",
    "undo": "drive_agent",
    "list_changes": "drive_agent",
    "whoami": "drive_agent",
    "list_versions": "document_agent",
    "restore_version": "document_agent",
    "replace": "document_agent",
    "insert": "document_agent",
}
ABOUT_CONTENT: Final[frozenset[Kind]] = frozenset({"summarise", "ask", "read"})
CHANGING: Final[frozenset[Kind]] = frozenset(
    {
        "create_folder",
        "create_file",
        "save_summary",
        "rename",
        "move",
        "share",
        "revoke",
        "trash",
        "restore",
        "restore_version",
        "replace",
        "insert",
        "undo",
    }
)
TALK: Final[frozenset[Kind]] = frozenset({"identity", "help", "greet", "thanks", "confirm", "decline", "beyond"})


def agent_for(intent: Intent) -> AgentName:
    """Return the specialist for an intent: what is about the open document is the Document agent's."""
    if intent.kind in ABOUT_CONTENT and intent.target and intent.target.form == "current file":
        return "document_agent"
    return AGENTS.get(intent.kind, "drive_agent")
