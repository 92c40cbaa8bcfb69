"""Questions as results: what a call waits for goes to the client, signed, and comes back with the answer, once.

Nothing of a question is kept but that it was answered: any process of the drive takes the answer (MCP 2026-07-28,
basic/patterns/mrtr).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_hex
from time import time
from typing import Any, Final

from mcp.types import INVALID_PARAMS, ElicitResult
from pydantic import ValidationError

from drive_server.access import Principal
from drive_server.context import META_IDEMPOTENCY_KEY, META_IF_MATCH
from drive_server.errors import DeclinedError, InvalidInputError, RateLimitError
from drive_server.mcp.calls.questions import InputRequiredError, Question
from drive_server.mcp.stateless.envelope import refused
from drive_server.messages import Message
from drive_server.services.throttles.windows import window_of
from drive_server.storage.database import Database

KEY: Final = "confirm"
"""The name of the one question among a result's requests for input."""
STATE: Final = "requestState"
RESPONSES: Final = "inputResponses"
PURPOSE: Final = "answer to a question"
MOST_STATE_CHARACTERS: Final = 2000
MARGIN_SECONDS: Final = 60.0
BOUND_META: Final = (META_IDEMPOTENCY_KEY, META_IF_MATCH)


@dataclass(frozen=True, slots=True)
class State:
    """What a question's state says: who was asked about which call, until when, and what they saw."""

    nonce: str
    ends: float
    call: str
    text: str
    etag: str | None


class Questions:
    """Signs states, and takes each once. `clock` gives POSIX seconds."""

    def __init__(self, database: Database, answer_seconds: float, clock: Callable[[], float] = time) -> None:
        self._signer = database.signer
        # What a process alone keeps in memory, it forgets at its end; so its states end with it.
        self._purpose = PURPOSE if database.takes_turns else f"{PURPOSE} {token_hex(8)}"
        self._used = window_of(database, PURPOSE, 1, Message.of("state_used"), answer_seconds + MARGIN_SECONDS)
        self._answer_seconds = answer_seconds
        self._clock = clock

    def of_call(self, caller: Principal, method: str, params: Mapping[str, Any]) -> "CallQuestions":
        """Return the questions of one call, with the answer that came with it.

        Raises `RequestRefusedError` for a state that was not given to this caller for this call.
        """
        call = _digest([caller.user_id, caller.key_id or caller.method, method, _bound(params)])
        given = params.get(STATE)
        state = None if given is None else self._read(given)
        if given is not None and (state is None or state.call != call):
            raise refused(400, INVALID_PARAMS, InvalidInputError(Message.of("state_not_ours")))
        responses = params.get(RESPONSES)
        answer = responses.get(KEY) if isinstance(responses, dict) else None
        return CallQuestions(self, call, state, answer)

    def sign(self, call: str, question: Question) -> str:
        """Return the state of a question about the call."""
        ends = self._clock() + self._answer_seconds
        payload = [token_hex(16), ends, call, _digest(question.text), question.etag]
        return self._signer.sign(self._purpose, json.dumps(payload, separators=(",", ":")).encode())

    async def use(self, state: State) -> None:
        """Use the state up. Raises `DeclinedError` if it comes too late, `InvalidInputError` if it was used before."""
        if state.ends <= self._clock():
            raise DeclinedError(Message.of("no_answer"))
        try:
            place = await self._used.take(state.nonce)
        except RateLimitError as error:
            raise InvalidInputError(Message.of("state_used")) from error
        await self._used.settle(state.nonce, place, counts=True)

    def _read(self, given: Any) -> State | None:
        if not isinstance(given, str) or len(given) > MOST_STATE_CHARACTERS:
            return None
        payload = self._signer.verify(self._purpose, given)
        return None if payload is None else State(*json.loads(payload))


class CallQuestions:
    """The questions of one call. `asked` is what its client has to answer before it makes the call again."""

    def __init__(self, questions: Questions, call: str, state: State | None, answer: Any) -> None:
        self._questions = questions
        self._call = call
        self._state = state
        self._answer = answer
        self.asked: dict[str, Any] | None = None

    async def answer_to(self, question: Question, form: dict[str, Any]) -> tuple[ElicitResult, Question]:
        """Return the answer that came with the call, and the question as the person saw it; see `AsksInResults`."""
        state = self._state
        if state is None or self._answer is None:
            raise self._ask(question, form)
        await self._questions.use(state)
        if state.text != _digest(question.text) and state.etag == question.etag:
            # What would happen is something else now, and no etag keeps it from happening.
            raise self._ask(question, form)
        try:
            return ElicitResult.model_validate(self._answer), Question(question.text, state.etag)
        except ValidationError as error:
            raise DeclinedError(Message.of("could_not_ask")) from error

    def _ask(self, question: Question, form: dict[str, Any]) -> InputRequiredError:
        params = {"mode": "form", "message": question.text, "requestedSchema": form}
        self.asked = {
            "inputRequests": {KEY: {"method": "elicitation/create", "params": params}},
            STATE: self._questions.sign(self._call, question),
        }
        return InputRequiredError()


def _bound(params: Mapping[str, Any]) -> Any:
    """Return what of a call may not change while the person thinks."""
    meta = params.get("_meta")
    stated: Mapping[str, Any] = meta if isinstance(meta, dict) else {}
    return [params.get("name"), params.get("arguments"), [stated.get(key) for key in BOUND_META]]


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()
