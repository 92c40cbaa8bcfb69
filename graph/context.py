"""The context of a run, as LangGraph hands it to every node."""

from dataclasses import dataclass

from graph.state import Mode


@dataclass(frozen=True, slots=True)
class RunContext:
    """The person of a run, as the service established it. Never taken from a message or an argument."""

    user_id: str = ""
    email: str = ""
    scopes: tuple[str, ...] = ()
    mode: Mode = "attended"
