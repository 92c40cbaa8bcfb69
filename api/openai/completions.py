"""Chat completions: `POST /v1/chat/completions`, streamed or whole."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from itertools import groupby
from operator import attrgetter
from typing import Any, Final
from uuid import uuid4

import orjson
from fastapi import APIRouter, Request
from starlette.responses import Response

from api.events.frames import encode
from api.http.dependencies import CallerDep, ServiceDep
from api.http.sse import HEARTBEAT, EventStream
from api.openai.asking import Door, failure_of
from api.openai.errors import OpenAIRoute
from api.openai.messages import read_conversation
from api.openai.pieces import Piece
from api.openai.requests import ChatCompletionBody

router = APIRouter(prefix="/chat", tags=["openai"], route_class=OpenAIRoute, include_in_schema=False)

END: Final = b"data: [DONE]\n\n"
FIELDS: Final = {"text": "content", "thought": "reasoning_content"}
"""Where a chunk has the words of a piece."""


@router.post("/completions")
async def complete_chat(body: ChatCompletionBody, caller: CallerDep, service: ServiceDep, request: Request) -> Response:
    """Answer the last message of a conversation.

    Closing the connection stops no run. A stream stays open for two minutes where a call waits for a decision.
    """
    door, messages = Door(request, caller, service), [(one.role, one.content) for one in body.messages]
    choice = await door.choice(body, messages)
    if choice.is_text:
        name, created = uuid4().hex, int(service.clock.now().timestamp())
        pieces = await door.write(choice, body, messages)
    else:
        answer = await door.begin(choice, read_conversation(messages))
        name, created = answer.id, int(answer.run.created_at.timestamp())
        pieces = door.follow(answer, holds=bool(body.stream))
    head = {"id": f"chatcmpl-{name}", "created": created, "model": body.model}
    if not body.stream:
        return await _whole(head, pieces)
    with_usage = bool(body.stream_options and body.stream_options.include_usage)
    chunks = ChunkWriter({**head, "object": "chat.completion.chunk"}, with_usage=with_usage)
    return EventStream(chunks.write(pieces), encode=bytes)


class ChunkWriter:
    """Writes the pieces of an answer as chunks. All but the words of a chunk is the same, and encoded once."""

    def __init__(self, head: Mapping[str, Any], *, with_usage: bool) -> None:
        self._head = {**head, "system_fingerprint": None}
        self._with_usage = with_usage
        rest = b',"usage":null' if with_usage else b""
        begin = encode(self._head)[:-1] + b',"choices":[{"index":0,"delta":'
        self._begin, self._end = b"data: " + begin, b',"finish_reason":null,"logprobs":null}]' + rest + b"}\n\n"

    async def write(self, pieces: AsyncGenerator[list[Piece]]) -> AsyncGenerator[bytes]:
        """Yield the chunks, batch by batch; a comment in silence."""
        last: Piece | None = None
        begun = self._delta({"role": "assistant", "content": ""})
        async with aclosing(pieces):
            async for batch in pieces:
                last = batch[-1] if batch else last
                if chunks := begun + b"".join(self._deltas(batch)) if batch else begun + HEARTBEAT:
                    yield chunks
                begun = b""
        yield begun + self._last(last)

    def _deltas(self, batch: Sequence[Piece]) -> list[bytes]:
        words = [(kind, "".join(piece.text for piece in said)) for kind, said in groupby(batch, key=attrgetter("kind"))]
        return [self._delta({FIELDS[kind]: text}) for kind, text in words if kind in FIELDS]

    def _delta(self, delta: dict[str, Any]) -> bytes:
        return self._begin + encode(delta) + self._end

    def _last(self, last: Piece | None) -> bytes:
        """Return the end of a stream: the reason, and the usage."""
        if last is not None and (failure := failure_of(last)):
            return b"data: " + encode(failure[1]) + b"\n\n" + END
        choice = {"index": 0, "delta": {}, "finish_reason": "stop", "logprobs": None}
        chunks = [{**self._head, "choices": [choice], **({"usage": None} if self._with_usage else {})}]
        if self._with_usage:
            chunks.append({**self._head, "choices": [], "usage": usage_of(last)})
        return b"".join(b"data: " + encode(chunk) + b"\n\n" for chunk in chunks) + END


async def _whole(head: Mapping[str, Any], pieces: AsyncGenerator[list[Piece]]) -> Response:
    """Return an answer in one piece. A call that waits for a decision ends it: nobody sees the question before."""
    said, last = {"text": "", "thought": ""}, None
    async with aclosing(pieces):
        async for batch in pieces:
            for last in batch:
                if last.kind in said:
                    said[last.kind] += last.text
    if last is not None and (failure := failure_of(last)):
        return Response(orjson.dumps(failure[1]), failure[0], media_type="application/json")
    thoughts = {"reasoning_content": said["thought"]} if said["thought"] else {}
    message = {"role": "assistant", "content": said["text"], "refusal": None, **thoughts}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    body = {**head, "object": "chat.completion", "choices": [choice], "usage": usage_of(last)}
    return Response(encode(body), media_type="application/json")


def usage_of(last: Piece | None) -> dict[str, Any]:
    """Return the tokens of a run as chat completions count them; none are known while it goes on."""
    used: Mapping[str, int] = last.event.get("usage") or {} if last else {}
    read, written = used.get("input_tokens", 0), used.get("output_tokens", 0)
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": used.get("total_tokens", read + written),
        "prompt_tokens_details": {"cached_tokens": used.get("cached_tokens", 0)},
    }
