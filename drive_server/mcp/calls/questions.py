"""Questions to the person that a session can only ask by ending the call (MCP 2026-07-28, basic/patterns/mrtr)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from mcp.shared.exceptions import McpError
from mcp.types import INTERNAL_ERROR, ElicitResult, ErrorData


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the person sees it, and the etag of the state that it tells of, None if it has none."""

    text: str
    etag: str | None


class InputRequiredError(McpError):
    """Ends a call whose question has no answer yet; its session has the question. No client ever gets this error."""

    def __init__(self) -> None:
        super().__init__(ErrorData(code=INTERNAL_ERROR, message="The call waits for the person."))


class AsksInResults(ABC):
    """A session whose questions are results: the client makes the call again, with the answer."""

    @property
    @abstractmethod
    def asked(self) -> dict[str, Any] | None:
        """The questions to be answered before the call is made again, as a result has them; None if there are none."""

    @abstractmethod
    async def answer_to(self, question: Question, form: dict[str, Any]) -> tuple[ElicitResult, Question]:
        """Return the answer that came with the call, and the question as it was seen.

        Raises `InputRequiredError` if there is none yet, `DeclinedError` for one that came too late or can't be read,
        and `InvalidInputError` for one that was used before.
        """
