"""The bodies of requests about threads. Clients send more than these fields; the rest counts for nothing."""

from typing import Any, Literal

from pydantic import BaseModel, Field

MAX_IDS = 1_000


class NewThread(BaseModel):
    """A thread to make. `supersteps` would be states that somebody made up."""

    thread_id: str | None = Field(default=None, max_length=64)
    metadata: dict[str, Any] | None = None
    if_exists: Literal["raise", "do_nothing"] | None = None
    supersteps: list[Any] | None = None


class ThreadSearch(BaseModel):
    """The body of a search; all fields narrow it but the last ones."""

    metadata: dict[str, Any] | None = None
    values: dict[str, Any] | None = None
    status: Literal["idle", "busy", "interrupted", "error"] | None = None
    ids: list[str] | None = Field(default=None, max_length=MAX_IDS)
    limit: int = Field(default=10, ge=1, le=1000)
    offset: int = Field(default=0, ge=0)
    sort_by: Literal["thread_id", "status", "created_at", "updated_at", "state_updated_at"] | None = None
    sort_order: Literal["asc", "desc"] | None = None
    select: list[str] | None = None


class ThreadChange(BaseModel):
    """The changes of a thread."""

    metadata: dict[str, Any] | None = None
    config: dict[str, Any] | None = None


class Pruning(BaseModel):
    """Threads to remove."""

    thread_ids: list[str] = Field(max_length=MAX_IDS)
    strategy: Literal["delete", "keep_latest"] = "delete"


class CheckpointPlace(BaseModel):
    """A checkpoint, in the form that a state has it."""

    checkpoint_id: str | None = Field(default=None, max_length=64)
    checkpoint_ns: str | None = Field(default=None, max_length=256)


class StateQuery(BaseModel):
    """The state at a checkpoint."""

    checkpoint: CheckpointPlace


class StateUpdate(BaseModel):
    """An update of the state."""

    values: Any = None
    checkpoint: CheckpointPlace | None = None
    checkpoint_id: str | None = Field(default=None, max_length=64)


class HistoryQuery(BaseModel):
    """The states of a thread."""

    limit: int = Field(default=10, ge=1, le=1000)
    before: CheckpointPlace | dict[str, Any] | str | None = None
    metadata: dict[str, Any] | None = None
    checkpoint: CheckpointPlace | None = None

    def before_id(self) -> str | None:
        """Return the id of the checkpoint before which the states were, in whichever shape it came."""
        if isinstance(self.before, CheckpointPlace) and self.before.checkpoint_id:
            return self.before.checkpoint_id
        if isinstance(self.before, str):
            return self.before
        given = self.before if isinstance(self.before, dict) else {}
        found = given.get("configurable", given).get("checkpoint_id")
        return found if isinstance(found, str) else None
