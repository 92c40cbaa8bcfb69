"""The order in a request to run: to say something, to answer a question, or to end it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from api.errors import InvalidRequestError, NoSchedulesError
from api.http.requests import MAX_MESSAGE_CHARACTERS
from api.langgraph.runs.bodies import CommandBody, RunBody
from api.langgraph.threads.message_ids import NOTHING_SAID, Said, usable_id
from api.langgraph.threads.messages import GAP, human_messages, unanswered

END: Final = "__end__"


@dataclass(frozen=True, slots=True)
class Say:
    """Say something; nothing, to have the last message answered anew at a checkpoint.

    `ids` are those that the client gave to its messages. `repeats` is the client run that said all of them before.
    """

    message: str
    ids: Sequence[str] = ()
    repeats: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer the waiting approval, in any dialect; or end it, so that nothing of it is done."""

    answer: Any
    ends: bool = False


def read_order(body: RunBody, drafts: Sequence[Mapping[str, Any]] = (), said: Said = NOTHING_SAID) -> Say | Answer:
    """Return the command of a request, or its input. A command goes before an input, which clients send empty.

    Clients may send the whole conversation: messages that were `said` on the thread before are not said again. The last
    one is, at a checkpoint: that asks for another version of it.

    Raises `InvalidRequestError` for a request with neither, and `NoSchedulesError` for a run that should begin later.
    """
    if body.after_seconds:
        raise NoSchedulesError
    if body.interrupt_before or body.interrupt_after:
        raise InvalidRequestError("no_breakpoints")
    if body.command and (found := _of_command(body.command)):
        return found
    given = [*(_messages_in(body.command.update) if body.command else ()), *_messages_in(body.input)]
    before = [said.client_run(one) for one in given]
    if before and body.checkpoint_wanted() is not None:
        before[-1] = None
    new = [one for one, client_run in zip(given, before, strict=True) if client_run is None]
    words = [one for one in (*drafts, *new) if one["content"].strip()]
    message = GAP.join(one["content"] for one in words)
    if len(message) > MAX_MESSAGE_CHARACTERS:
        raise InvalidRequestError("message_too_long", most=str(MAX_MESSAGE_CHARACTERS))
    if "\x00" in message:
        raise InvalidRequestError("nul_in_message")
    repeated = before[-1] if before and not message else None
    return Say(message, [one["id"] for one in words if usable_id(one["id"])], repeated)


def _of_command(command: CommandBody) -> Answer | None:
    if command.resume is not None:
        return Answer(command.resume)
    if not command.goto:
        return None
    if _nodes(command.goto) != {END}:
        raise InvalidRequestError("no_goto")
    return Answer(None, ends=True)


def _nodes(goto: Any) -> set[str]:
    """Return the names of nodes to go to, in any shape: a name, a `Send`, or a list of these."""
    listed = cast("list[Any]", goto if isinstance(goto, list) else [goto])
    return {str(one.get("node")) if isinstance(one, dict) else str(one) for one in listed}


def _messages_in(given: Any) -> list[dict[str, str]]:
    """Return the human messages of an input: all else in it counts for nothing."""
    if isinstance(given, Mapping):
        said = cast("Mapping[str, Any]", given).get("messages")
        return human_messages(unanswered(said)) if said else []
    return human_messages(unanswered(given)) if isinstance(given, list | str) and given else []
