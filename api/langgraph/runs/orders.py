"""The order in a request to run: to say something, to answer a question, or to end it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from api.errors import InvalidRequestError, NoSchedulesError
from api.http.requests import MAX_MESSAGE_CHARACTERS
from api.langgraph.runs.bodies import CommandBody, RunBody
from api.langgraph.threads.message_ids import usable_id
from api.langgraph.threads.messages import GAP, human_messages

END: Final = "__end__"


@dataclass(frozen=True, slots=True)
class Say:
    """Say something; nothing, to have the last message answered anew at a checkpoint."""

    message: str
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer what waits, in any dialect; or end it, so that nothing of it is done."""

    answer: Any
    ends: bool = False


def read_order(body: RunBody, drafts: Sequence[Mapping[str, Any]] = (), known: Collection[str] = ()) -> Say | Answer:
    """Return what a request wants. A command goes before an input, which clients send empty beside it.

    Clients may send the whole conversation: of messages before the last one, those whose ids are `known` were said.
    Raises `InvalidRequestError` for what is none of it, and `NoSchedulesError` for a run that should begin later.
    """
    if body.after_seconds:
        raise NoSchedulesError
    if body.interrupt_before or body.interrupt_after:
        raise InvalidRequestError("no_breakpoints")
    if body.webhook:
        raise InvalidRequestError("webhook_not_allowed")
    if body.command and (found := _of_command(body.command)):
        return found
    said = _messages_in(body.command.update) if body.command else []
    listed = [*drafts, *said, *_messages_in(body.input)]
    new = [one for one in listed if one["content"].strip() and (one is listed[-1] or one["id"] not in known)]
    message = GAP.join(one["content"] for one in new)
    if len(message) > MAX_MESSAGE_CHARACTERS:
        raise InvalidRequestError("message_too_long", most=str(MAX_MESSAGE_CHARACTERS))
    if "\x00" in message:
        raise InvalidRequestError("nul_in_message")
    return Say(message, usable_id(new[-1]["id"]) if new else None)


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
        return human_messages(said) if said else []
    return human_messages(given) if isinstance(given, list | str) and given else []
