"""The context of a run, as LangGraph hands it to every node."""

from dataclasses import dataclass

from graph.state import Mode


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
