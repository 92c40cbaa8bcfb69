"""The context of a run, as LangGraph hands it to every node."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal, get_args

from pydantic import BaseModel, Field

from graph.state import Mode

DevelopmentScope = Literal["read", "write", "share", "delete", "admin"]


@dataclass(frozen=True, slots=True)
class RunContext:
    """The run and its person, as the service established them. Never taken from a message or an argument.

    Without a `run_id`, each turn gets a fresh one where it begins. `time_zone` is an IANA name; empty: the drive's.
    `model` is the conversation's own, if it has one; `assistant_id` its assistant, empty: the built-in one.
    """

    user_id: str = ""
    email: str = ""
    scopes: tuple[str, ...] = ()
    mode: Mode = "attended"
    run_id: str = ""
    time_zone: str = ""
    model: str = ""
    assistant_id: str = ""

    def narrowed(self, wanted: "DevelopmentContext | None") -> "RunContext":
        """Return the context with no more than the wanted scopes, and with their other choices."""
        if wanted is None:
            return self
        scopes = tuple(scope for scope in self.scopes if scope in _names(wanted.scopes))
        return replace(self, scopes=scopes, time_zone=wanted.time_zone or self.time_zone)


class DevelopmentContext(BaseModel):
    """The choices under `langgraph dev`, which shows them as a form. Nobody chooses whose the drive is."""

    scopes: list[DevelopmentScope] = Field(
        default=[*get_args(DevelopmentScope)], description="What the assistant may do in the drive; none: nothing."
    )
    time_zone: str = Field(default="", description="As Europe/Berlin; empty: the drive's.")


def _names(scopes: Collection[str]) -> frozenset[str]:
    return frozenset(scopes)
