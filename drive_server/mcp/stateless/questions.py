"""Questions as results: a signed state goes to the client with the question, and comes back with the answer, once.

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

from mcp.types import (
    INVALID_PARAMS,
    CreateMessageRequest,
    CreateMessageResult,
    ElicitRequest,
    ElicitResult,
    ListRootsRequest,
    ListRootsResult,
)
from pydantic import BaseModel, ValidationError

from drive_server.kernel.access import Principal
from drive_server.kernel.context import META_IDEMPOTENCY_KEY, META_IF_MATCH
from drive_server.kernel.errors import DeclinedError, InvalidInputError, RateLimitError
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.database import Database
from drive_server.mcp.calls.questions import InputRequiredError, Question
from drive_server.mcp.stateless.envelope import refused
from drive_server.services.throttles.windows import window_of

KEY: Final = "confirm"
"""The name of the one question among a result's requests for input."""
STATE: Final = "requestState"
RESPONSES: Final = "inputResponses"
PURPOSE: Final = "answer to a question"
MAX_STATE_CHARACTERS: Final = 100_000
MARGIN_SECONDS: Final = 60.0
BOUND_META: Final = (META_IDEMPOTENCY_KEY, META_IF_MATCH)
InputRequest = ElicitRequest | CreateMessageRequest | ListRootsRequest
FORMS: Final[Mapping[type[Any], type[BaseModel]]] = {
    ElicitRequest: ElicitResult,
    CreateMessageRequest: CreateMessageResult,
    ListRootsRequest: ListRootsResult,
}


@dataclass(frozen=True, slots=True)
class State:
    """The content of a question's state: the call that it is about, its end, and digests of the text that was shown."""

    nonce: str
    ends: float
    call: str
    text: str
    etag: str | None
    given: dict[str, Any]
    """The inputs that the client sent in earlier rounds of the call."""


class Questions:
    """Signs states, and takes each once. `clock` gives POSIX seconds."""

    def __init__(self, database: Database, answer_seconds: float, clock: Callable[[], float] = time) -> None:
        self._signer = database.signer
        # Memory of a process ends with it; so its states end with it.
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
        return CallQuestions(self, call, state, responses if state and isinstance(responses, dict) else {})

    def sign(self, call: str, question: Question, given: Mapping[str, Any]) -> str:
        """Return the state of a question about the call."""
        ends = self._clock() + self._answer_seconds
        payload = [token_hex(16), ends, call, _digest(question.text), question.etag, given]
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
        if not isinstance(given, str) or len(given) > MAX_STATE_CHARACTERS:
            return None
        payload = self._signer.verify(self._purpose, given)
        return None if payload is None else State(*json.loads(payload))


class CallQuestions:
    """The questions of one call. `asked`: those to be answered before it is made again."""

    def __init__(self, questions: Questions, call: str, state: State | None, responses: Mapping[str, Any]) -> None:
        self._questions = questions
        self._call = call
        self._state = state
        self._responses = responses
        self._given: dict[str, Any] = {}
        self.asked: dict[str, Any] | None = None

    async def answer_to(self, question: Question, form: dict[str, Any]) -> tuple[ElicitResult, Question]:
        """Return the answer that came with the call, and the question as the person saw it; see `AsksInResults`."""
        state, params = self._state, {"mode": "form", "message": question.text, "requestedSchema": form}
        wanted = {KEY: {"method": "elicitation/create", "params": params}}
        if state is None or KEY not in self._responses:
            raise self._ask(wanted, question)
        await self._questions.use(state)
        if state.text != _digest(question.text) and state.etag == question.etag:
            # The effect would be another one now, and no etag keeps it from happening.
            raise self._ask(wanted, question)
        try:
            return ElicitResult.model_validate(self._responses[KEY]), Question(question.text, state.etag)
        except ValidationError as error:
            raise DeclinedError(Message.of("could_not_ask")) from error

    async def inputs(self, wanted: Mapping[str, InputRequest]) -> dict[str, Any]:
        """Return the inputs of these names, which the client sent in this round of the call or an earlier one.

        Raises `InputRequiredError` as long as one of them is missing, or is of another form.
        """
        given = self._given
        if self._state is not None:
            await self._questions.use(self._state)
            given.update(self._state.given)
            self._state = None
        for key, request in wanted.items():
            if key in self._responses and _fits(request, self._responses[key]):
                given[key] = self._responses[key]
        missing = {
            key: request.model_dump(mode="json", by_alias=True, exclude_none=True)
            for key, request in wanted.items()
            if key not in given
        }
        if missing:
            raise self._ask(missing, Question("", None), given)
        return {key: given[key] for key in wanted}

    def _ask(
        self, wanted: dict[str, Any], question: Question, given: Mapping[str, Any] | None = None
    ) -> InputRequiredError:
        self.asked = {"inputRequests": wanted, STATE: self._questions.sign(self._call, question, given or {})}
        return InputRequiredError()


def _fits(request: InputRequest, response: Any) -> bool:
    try:
        FORMS[type(request)].model_validate(response)
    except ValidationError:
        return False
    return True


def _bound(params: Mapping[str, Any]) -> Any:
    """Return the parts of a call that may not change while the person thinks."""
    meta = params.get("_meta")
    stated: Mapping[str, Any] = meta if isinstance(meta, dict) else {}
    return [params.get("name"), params.get("arguments"), [stated.get(key) for key in BOUND_META]]


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()
