"""The questions of one call: what is taken for an answer, and what is asked anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from mcp.types import ElicitRequest, ElicitRequestFormParams

from drive_server.kernel.access import ALL_SCOPES, Principal
from drive_server.kernel.errors import InvalidInputError
from drive_server.mcp.calls.questions import InputRequiredError, Question
from drive_server.mcp.stateless.envelope import RequestRefusedError
from drive_server.mcp.stateless.questions import CallQuestions, Questions

if TYPE_CHECKING:
    from drive_server.drive import Drive

ALICE = Principal("alice", "alice@example.com", ALL_SCOPES, "api_key")
CALL: dict[str, Any] = {"name": "create_file", "arguments": {"name": "a.txt"}}
YES = {"confirm": {"action": "accept", "content": {}}}


@pytest.fixture
def questions(drive: Drive) -> Questions:
    return Questions(drive.database, 60)


def name_form() -> ElicitRequest:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    return ElicitRequest(params=ElicitRequestFormParams(message="Your name?", requestedSchema=schema))


async def asked(call: CallQuestions, question: Question) -> dict[str, Any]:
    with pytest.raises(InputRequiredError):
        await call.answer_to(question, {})
    assert call.asked is not None
    return call.asked


async def test_another_question_without_an_etag_is_asked_anew_and_the_earlier_answer_is_used_up(
    questions: Questions,
) -> None:
    first = await asked(
        questions.of_call(ALICE, "tools/call", CALL), Question("Make 'a.txt'. One person sees it.", None)
    )
    answered = {**CALL, "requestState": first["requestState"], "inputResponses": YES}
    now = Question("Make 'a.txt'. Two people see it.", None)

    again = await asked(questions.of_call(ALICE, "tools/call", answered), now)

    assert again["inputRequests"]["confirm"]["params"]["message"] == now.text
    with pytest.raises(InvalidInputError, match="used before"):
        await questions.of_call(ALICE, "tools/call", answered).answer_to(now, {})
    agreed = {**CALL, "requestState": again["requestState"], "inputResponses": YES}
    answer, _ = await questions.of_call(ALICE, "tools/call", agreed).answer_to(now, {})
    assert answer.action == "accept"


async def test_the_same_key_under_another_method_is_another_call(questions: Questions) -> None:
    first = await asked(questions.of_call(ALICE, "tools/call", CALL), Question("Do it.", None))
    with pytest.raises(RequestRefusedError):
        questions.of_call(ALICE, "prompts/get", {**CALL, "requestState": first["requestState"]})


async def test_what_was_given_in_an_earlier_round_is_kept_and_what_does_not_fit_is_wanted_again(
    questions: Questions,
) -> None:
    wanted = {"first": name_form(), "second": name_form()}
    call = questions.of_call(ALICE, "tools/call", CALL)
    with pytest.raises(InputRequiredError):
        await call.inputs(wanted)
    assert call.asked is not None
    half = {"first": {"action": "accept", "content": {"name": "A"}}, "second": 7}

    call = questions.of_call(
        ALICE, "tools/call", {**CALL, "requestState": call.asked["requestState"], "inputResponses": half}
    )
    with pytest.raises(InputRequiredError):
        await call.inputs(wanted)
    assert call.asked is not None
    assert set(call.asked["inputRequests"]) == {"second"}
    rest = {"second": {"action": "decline"}}

    call = questions.of_call(
        ALICE, "tools/call", {**CALL, "requestState": call.asked["requestState"], "inputResponses": rest}
    )
    given = await call.inputs(wanted)

    assert (given["first"]["content"]["name"], given["second"]["action"]) == ("A", "decline")
