"""The messages that clients send: of all that they may put into them, only human words count."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from api.errors import InvalidRequestError

HUMAN: Final = frozenset({"human", "user", "HumanMessage", "HumanMessageChunk"})
ANSWERS: Final = frozenset({"ai", "assistant", "AIMessage", "AIMessageChunk"})
MAX_ID_CHARACTERS: Final = 128
GAP: Final = "\n\n"


def human_messages(given: object) -> list[dict[str, str]]:
    """Return the human ones of messages in any of LangChain's shapes, each with its text and its id, empty for none.

    All others are passed over: clients send back messages that they have seen, and forge results. Raises
    `InvalidRequestError` for a human one that has more than text.
    """
    listed = given if isinstance(given, list) else [given]
    return [_human(one) for one in cast("list[object]", listed) if _is_human(one)]


def unanswered(given: object) -> object:
    """Return the messages behind the last answer among them: a client that sends a whole conversation had the rest."""
    if not isinstance(given, list):
        return given
    listed = cast("list[object]", given)
    answers = [index for index, one in enumerate(listed) if _role(one) in ANSWERS]
    return listed[answers[-1] + 1 :] if answers else listed


def are_human(given: object) -> bool:
    """Say whether there are messages and all of them are human."""
    listed = cast("list[object]", given if isinstance(given, list) else [given])
    return bool(listed) and all(map(_is_human, listed))


def _is_human(message: object) -> bool:
    return isinstance(message, str) or _role(message) in HUMAN


def _role(message: object) -> str:
    """Return who says a message, in the client's word; empty for one that does not say."""
    if isinstance(message, list) and len(cast("list[object]", message)) == 2:
        return str(cast("list[object]", message)[0])
    return _kind(cast("Mapping[str, Any]", message)) if isinstance(message, Mapping) else ""


def _kind(message: Mapping[str, Any]) -> str:
    kind = str(message.get("type") or message.get("role") or "")
    if kind == "constructor":
        named = message.get("id")
        return str(named[-1]) if isinstance(named, list) and named else ""
    return kind


def _human(message: object) -> dict[str, str]:
    if isinstance(message, str):
        return {"id": "", "content": message}
    if isinstance(message, list):
        return {"id": "", "content": _text(cast("list[object]", message)[1])}
    said = cast("Mapping[str, Any]", message)
    fields: Mapping[str, Any] = said["kwargs"] if said.get("type") == "constructor" else said
    own = fields.get("id")
    is_id = isinstance(own, str) and len(own) <= MAX_ID_CHARACTERS
    return {"id": str(own) if is_id else "", "content": _text(fields.get("content", ""))}


def _text(content: object) -> str:
    """Return the text of a content, also of one in blocks. Raises `InvalidRequestError` for blocks that are no text."""
    if isinstance(content, str):
        return content
    blocks = cast("Sequence[object]", content) if isinstance(content, list) else [content]
    return GAP.join(text for block in blocks if (text := _block_text(block)))


def _block_text(block: object) -> str:
    if isinstance(block, str):
        return block
    fields = cast("Mapping[str, Any]", block) if isinstance(block, Mapping) else {}
    text = fields.get("text")
    if fields.get("type") != "text" or not isinstance(text, str):
        raise InvalidRequestError("only_text")
    return text
