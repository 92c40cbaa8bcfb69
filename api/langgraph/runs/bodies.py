"""The bodies of requests about runs. Clients send more than these fields; the rest counts for nothing."""

from typing import Any, Final, Literal

from pydantic import BaseModel, Field, field_validator

from api.langgraph.threads.bodies import CheckpointPlace
from graph.moment import is_time_zone

Strategy = Literal["reject", "enqueue", "interrupt", "rollback"]
MAX_IDS: Final = 1_000


class CommandBody(BaseModel):
    """The wish of a client about a thread that waits: an answer, an end, or messages."""

    resume: Any = None
    goto: Any = None
    update: Any = None

    @property
    def is_empty(self) -> bool:
        """Say whether it wants nothing."""
        return self.resume is None and not self.goto and not self.update


class ContextBody(BaseModel):
    """Where the person is, and which model answers from now on."""

    file_id: str | None = Field(default=None, max_length=8_192)
    folder_id: str | None = Field(default=None, max_length=8_192)
    time_zone: str | None = Field(default=None, max_length=64)
    model: str | None = Field(default=None, max_length=255)

    @field_validator("time_zone")
    @classmethod
    def _is_a_time_zone(cls, name: str | None) -> str | None:
        if name and not is_time_zone(name):
            msg = "there is no such time zone: write it as Asia/Shanghai or Europe/Berlin"
            raise ValueError(msg)
        return name


class Configurable(ContextBody):
    """The context, and the checkpoint from which a client of the second protocol forks."""

    checkpoint_id: str | None = Field(default=None, max_length=64)


class RunConfig(BaseModel):
    """The part of a config that counts: older clients have the context in it."""

    configurable: Configurable | None = None


class RunBody(BaseModel):
    """A run to begin."""

    assistant_id: str = Field(default="drive_agent", max_length=64)
    input: Any = None
    command: CommandBody | None = None
    stream_mode: str | list[str] | None = None
    stream_resumable: bool | None = None
    on_disconnect: Literal["cancel", "continue"] | None = None
    multitask_strategy: Strategy | None = None
    config: RunConfig | None = None
    context: ContextBody | None = None
    metadata: dict[str, Any] | None = None
    checkpoint: CheckpointPlace | None = None
    checkpoint_id: str | None = Field(default=None, max_length=64)
    if_not_exists: Literal["create", "reject"] | None = None
    interrupt_before: Literal["*"] | list[str] | None = None
    interrupt_after: Literal["*"] | list[str] | None = None
    webhook: str | None = Field(default=None, max_length=2_048)
    after_seconds: float | None = None
    on_completion: Literal["delete", "keep"] | None = None

    def place(self) -> ContextBody:
        """Return where the person is, by whichever field says it."""
        older = self.config.configurable if self.config else None
        return self.context or older or ContextBody()

    def checkpoint_wanted(self) -> str | None:
        """Return the checkpoint from which the run is to go on, None: the newest one."""
        configured = self.config.configurable if self.config else None
        named = self.checkpoint.checkpoint_id if self.checkpoint else None
        return self.checkpoint_id or named or (configured.checkpoint_id if configured else None)
