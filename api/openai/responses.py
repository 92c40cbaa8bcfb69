"""Responses: `POST /v1/responses`, streamed or whole, and `GET /v1/responses/{id}`."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any, Final
from uuid import uuid4

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from api.errors import InvalidRequestError, NotFoundError
from api.events.frames import encode, newest_number
from api.http.dependencies import CallerDep, ServiceDep
from api.http.sse import HEARTBEAT, EventStream
from api.openai.asking import Door, Messages, failure_of
from api.openai.decisions import ANSWER, decide
from api.openai.errors import OpenAIRoute
from api.openai.following import Answer
from api.openai.history import Spot
from api.openai.items import Output
from api.openai.messages import read_conversation
from api.openai.models import Choice
from api.openai.pieces import Piece
from api.openai.requests import InputItem, ResponseBody
from api.openai.turns import Named, answer_of

router = APIRouter(prefix="/responses", tags=["openai"], route_class=OpenAIRoute, include_in_schema=False)

RESPONSE: Final = "resp_"
CONVERSATION: Final = "conv_"
MAX_ID: Final = 200


@dataclass(frozen=True, slots=True)
class Head:
    """All of a response that is known before its output."""

    answer_id: str
    created_at: int
    model: str
    conversation: str | None = None
    previous: str | None = None
    instructions: str | None = None

    def object(self, status: str, output: Output, last: Piece | None = None) -> dict[str, Any]:
        """Return the response with the output so far."""
        failure = failure_of(last) if last else None
        error = failure[1]["error"] if failure else None
        return {
            "id": f"{RESPONSE}{self.answer_id}",
            "object": "response",
            "created_at": self.created_at,
            "status": status,
            "error": {"code": "server_error", "message": error["message"]} if isinstance(error, dict) else None,
            "incomplete_details": None,
            "instructions": self.instructions,
            "model": self.model,
            "output": output.items,
            "parallel_tool_calls": True,
            "previous_response_id": self.previous,
            "conversation": {"id": f"{CONVERSATION}{self.conversation}"} if self.conversation else None,
            "tool_choice": "auto",
            "tools": [],
            "temperature": None,
            "top_p": None,
            "metadata": {},
            "usage": _usage(last) if last and last.kind == "end" else None,
        }


@router.post("")
async def create_response(body: ResponseBody, caller: CallerDep, service: ServiceDep, request: Request) -> Response:
    """Answer a message, or take answers to approvals and go on. A call that waits for a decision ends the response."""
    door, messages = Door(request, caller, service), _messages(body)
    choice = await door.choice(body, messages)
    if choice.is_text:
        briefed = [("system", body.instructions), *messages] if body.instructions else messages
        head = Head(uuid4().hex, int(service.clock.now().timestamp()), body.model, instructions=body.instructions)
        pieces = await door.write(choice, body, briefed)
    else:
        answer = await _answer(door, choice, body, messages)
        head = _head(answer, body)
        pieces = door.follow(answer, holds=False)
    if body.stream:
        return EventStream(EventWriter(head).write(pieces), encode=bytes)
    return _json(await _whole(head, pieces))


@router.get("/{response_id}")
async def get_response(
    response_id: Annotated[str, Path(max_length=MAX_ID)], caller: CallerDep, service: ServiceDep, request: Request
) -> Response:
    """Return a response as far as it has come."""
    run_id, after = answer_of(response_id.removeprefix(RESPONSE))
    try:
        answer = Answer(await service.runs.get(caller, run_id), after)
    except NotFoundError:
        raise NotFoundError("no_response") from None
    if after > await newest_number(service.database, run_id):
        raise NotFoundError("no_response")
    assistants = {row.id: row.name for row in await service.assistants.of(caller)}
    head = _head(answer, model=assistants.get(answer.run.assistant_id, answer.run.assistant_id))
    return _json(await _whole(head, Door(request, caller, service).follow(answer, holds=False)))


async def _answer(door: Door, choice: Choice, body: ResponseBody, messages: Messages) -> Answer:
    decided = [item for item in _items(body) if item.type == ANSWER]
    if decided:
        if any(role == "user" for role, _ in messages):
            raise InvalidRequestError("only_decisions")
        return await decide(door.service, door.caller, decided)
    conversation = read_conversation(messages, body.instructions)
    return await door.begin(choice, conversation, await _named(door, body))


async def _named(door: Door, body: ResponseBody) -> Named | None:
    """Return where the request says that it goes on.

    Raises `NotFoundError`, also for an answer or a thread of another person.
    """
    if body.previous_response_id and body.conversation_id:
        raise InvalidRequestError("both_places")
    try:
        if body.previous_response_id:
            run_id, _ = answer_of(body.previous_response_id.removeprefix(RESPONSE))
            run = await door.service.runs.get(door.caller, run_id)
            return Named(answer=Spot(run.thread_id, run.id))
        if body.conversation_id:
            thread_id, _ = answer_of(f"{body.conversation_id.removeprefix(CONVERSATION)}_0")
            return Named(thread_id=(await door.service.threads.get(door.caller, thread_id)).id)
    except NotFoundError:
        raise NotFoundError("no_response") from None
    return None


def _items(body: ResponseBody) -> Sequence[InputItem]:
    return () if isinstance(body.input, str) else body.input


def _messages(body: ResponseBody) -> Messages:
    if isinstance(body.input, str):
        return [("user", body.input)]
    return [(item.role, item.content) for item in body.input if item.type == "message" and item.role]


def _head(answer: Answer, body: ResponseBody | None = None, model: str = "") -> Head:
    created = int(answer.run.created_at.timestamp())
    named = body.model if body else model
    previous, instructions = (body.previous_response_id, body.instructions) if body else (None, None)
    return Head(answer.id, created, named, answer.run.thread_id.replace("-", ""), previous, instructions)


class EventWriter:
    """Writes the pieces of an answer as the events of a response."""

    def __init__(self, head: Head) -> None:
        self._head = head
        self._output = Output(head.answer_id)
        self._number = 0

    async def write(self, pieces: AsyncGenerator[list[Piece]]) -> AsyncGenerator[bytes]:
        """Yield the events, batch by batch; a comment in silence."""
        last: Piece | None = None
        begun = self._head.object("in_progress", self._output)
        yield self._encoded([{"type": f"response.{kind}", "response": begun} for kind in ("created", "in_progress")])
        async with aclosing(pieces):
            async for batch in pieces:
                last = batch[-1] if batch else last
                events = [event for piece in batch for event in self._output.take(piece)]
                yield self._encoded(events) or HEARTBEAT
        status = status_of(last)
        ended = [*self._output.close()]
        whole = self._head.object(status, self._output, last)
        yield self._encoded([*ended, {"type": f"response.{status}", "response": whole}])

    def _encoded(self, events: Sequence[dict[str, Any]]) -> bytes:
        written: list[bytes] = []
        for event in events:
            data = encode({**event, "sequence_number": self._number})
            written.append(b"event: %s\ndata: %s\n\n" % (event["type"].encode(), data))
            self._number += 1
        return b"".join(written)


def status_of(last: Piece | None) -> str:
    """Return the status of a response that ends with this piece; a question for a person completes it, too."""
    if last is None or last.kind not in {"end", "approval"}:
        return "incomplete"
    if failure_of(last):
        return "failed"
    return "incomplete" if last.event.get("status") == "cancelled" else "completed"


async def _whole(head: Head, pieces: AsyncGenerator[list[Piece]]) -> dict[str, Any]:
    output, last = Output(head.answer_id), None
    async with aclosing(pieces):
        async for batch in pieces:
            for last in batch:
                output.take(last)
    output.close()
    return head.object(status_of(last), output, last)


def _json(body: dict[str, Any]) -> Response:
    return Response(encode(body), media_type="application/json")


def _usage(last: Piece) -> dict[str, Any]:
    used: dict[str, int] = dict(last.event.get("usage") or {})
    read, written = used.get("input_tokens", 0), used.get("output_tokens", 0)
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": used.get("cached_tokens", 0)},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": used.get("total_tokens", read + written),
    }
