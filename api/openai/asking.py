"""A request, whichever of the two protocols it has: the model, the question, and the source of the answer's pieces."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Final

from fastapi import Request

from api.drive import Principal
from api.errors import InvalidRequestError
from api.openai.errors import error_body
from api.openai.following import HOLD_SECONDS, Answer, follow
from api.openai.messages import Conversation, text_of
from api.openai.models import Choice, find_model
from api.openai.pieces import Piece
from api.openai.plain import is_housekeeping, write
from api.openai.requests import Content, ToolBody
from api.openai.turns import Named, Turns
from api.service import Service
from graph.language import language_of

RETRIES: Final = "x-stainless-retry-count"
"""The header in which OpenAI's own clients count how often they lost the answer to this request."""
MAX_NAME: Final = 200
UNNAMED: Final = frozenset({"new", "null", "undefined"})
"""The name that LibreChat and others send for a conversation that has none yet; or the placeholder itself."""
FAILED: Final = {
    "model_rate_limited": 429,
    "model_quota": 429,
    "drive_unavailable": 503,
    "model_unavailable": 503,
    "model_timeout": 503,
}
"""The status of a run that failed, by its code, where it is not 500."""

Messages = Sequence[tuple[str, Content]]


@dataclass(frozen=True, slots=True)
class Door:
    """One request of one caller."""

    request: Request
    caller: Principal
    service: Service

    async def choice(self, body: ToolBody, messages: Messages) -> Choice:
        """Return the model that the request is for. Raises `NotFoundError` and `InvalidRequestError`."""
        said = next((content for role, content in reversed(messages) if role == "user"), None)
        self.request.state.language = language_of(text_of(said))
        if body.requires_tool:
            raise InvalidRequestError("tool_required")
        found = await find_model(self.service, self.caller, body.model)
        if is_housekeeping(messages, streams=bool(body.stream)):
            found = Choice(found.name, found.assistant, is_text=True)
        if not found.is_text and body.format and body.format.type != "text":
            raise InvalidRequestError("only_words")
        return found

    async def write(self, choice: Choice, body: ToolBody, messages: Messages) -> AsyncGenerator[list[Piece]]:
        """Return the pieces of the assistant's model alone. Raises `InvalidRequestError`."""
        return await write(self.service, choice.assistant.model, messages, body.format)

    async def begin(self, choice: Choice, conversation: Conversation, at: Named | None = None) -> Answer:
        """Return the answer of the assistant, which has begun."""
        turns = Turns(self.service, self.caller, choice.assistant.id)
        return await turns.begin(conversation, at or Named(name=self._name(), is_retry=self._is_retry()))

    def follow(self, answer: Answer, *, holds: bool) -> AsyncGenerator[list[Piece]]:
        """Return the pieces of an answer. One that `holds` waits a while for decisions."""
        return follow(answer, self.caller, self.service, self.request, HOLD_SECONDS if holds else 0.0)

    def _name(self) -> str:
        """Return the client's own name for the conversation; empty without any."""
        for header in self.service.graph.conversation_headers:
            value = self.request.headers.get(header, "").strip()
            if value and "{{" not in value and value not in UNNAMED:
                return f"{header.lower()} {value[:MAX_NAME]}"
        return ""

    def _is_retry(self) -> bool:
        return self.request.headers.get(RETRIES, "0") not in {"", "0"}


def failure_of(piece: Piece) -> tuple[int, dict[str, object]] | None:
    """Return the status and the body for a run that failed; None for one that did not."""
    event = piece.event
    if event.get("type") != "error":
        return None
    status = FAILED.get(event["code"], 500)
    return status, error_body(event["message"], event["code"], status)
