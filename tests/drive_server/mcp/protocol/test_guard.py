"""The guard lets requests in, or answers why not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from mcp.types import CallToolResult, ErrorData, JSONRPCError, JSONRPCMessage, JSONRPCRequest, JSONRPCResponse

from drive_server.mcp.protocol.guard import Admission, Guard

if TYPE_CHECKING:
    from drive_server.kernel.settings import DriveSettings

KEY = "key"


def request(number: int | str, method: str = "tools/list", **params: Any) -> JSONRPCRequest:
    return JSONRPCRequest(jsonrpc="2.0", id=number, method=method, params=params or None)


def error_of(answer: JSONRPCMessage | None) -> ErrorData:
    assert answer is not None
    assert isinstance(answer.root, JSONRPCError)
    return answer.root.error


def told(error: ErrorData) -> dict[str, Any]:
    assert error.data is not None
    return error.data


def answer(admission: Admission, number: int | str) -> None:
    admission.answered(JSONRPCResponse(jsonrpc="2.0", id=number, result={}))


@pytest.fixture
def guard(drive_settings: DriveSettings) -> Guard:
    limits = {"concurrent_calls": 2, "calls_per_minute": 10}
    return Guard(drive_settings.model_copy(update=limits), lambda: 0.0)


@pytest.fixture
def admission(guard: Guard) -> Admission:
    """A session that is initialized."""
    admission = guard.admission()
    assert admission.admit(request(0, "initialize"), KEY) is None
    answer(admission, 0)
    return admission


def test_nothing_but_a_ping_comes_before_initialize(guard: Guard) -> None:
    admission = guard.admission()

    error = error_of(admission.admit(request(1), KEY))

    assert (error.code, told(error)["code"]) == (-32600, "state_conflict")
    assert admission.admit(request(2, "ping"), KEY) is None
    assert admission.admit(request(3, "initialize"), KEY) is None
    assert admission.admit(request(4), KEY) is None, "a client that does not wait for the answer is served too"


def test_a_session_is_initialized_once_but_may_try_until_it_is(guard: Guard) -> None:
    admission = guard.admission()
    admission.admit(request(1, "initialize"), KEY)
    admission.answered(JSONRPCError(jsonrpc="2.0", id=1, error=ErrorData(code=-32602, message="no")))
    assert not admission.is_initialized

    assert admission.admit(request(2, "initialize"), KEY) is None
    answer(admission, 2)
    assert error_of(admission.admit(request(3, "initialize"), KEY)).code == -32600


@pytest.mark.parametrize(("first", "second"), [(8, 8), (8, "8"), ("8", 8), ("计划", "计划")])
def test_an_id_that_waits_for_its_answer_is_refused(admission: Admission, first: int | str, second: int | str) -> None:
    assert admission.admit(request(first), KEY) is None

    refused = admission.admit(request(second), KEY)

    assert error_of(refused).code == -32600
    assert refused is not None
    assert isinstance(refused.root, JSONRPCError)
    assert refused.root.id == second
    answer(admission, first)
    assert admission.admit(request(second), KEY) is None


def test_calls_beyond_the_limit_are_refused_at_once_until_one_has_ended(admission: Admission) -> None:
    assert admission.admit(request(1), KEY) is None
    assert admission.admit(request(2), KEY) is None

    error = error_of(admission.admit(request(3), KEY))

    assert told(error)["code"] == "rate_limited"
    assert told(error)["details"] == {"limit": 2, "unit": "calls at once", "retry_after_seconds": 1}
    assert told(error)["messages"]["hint"]["zh"] == "请等待其中一个完成，或取消一个。"
    assert admission.admit(request(4, "ping"), KEY) is None
    assert admission.admit(request(5, "tasks/cancel"), KEY) is None
    answer(admission, 1)
    assert admission.admit(request(3), KEY) is None


def test_a_refused_call_of_a_tool_is_the_tools_own_error_which_models_see(admission: Admission) -> None:
    for number in (1, 2):
        admission.admit(request(number), KEY)

    refused = admission.admit(request(3, "tools/call", name="whoami"), KEY)

    assert refused is not None
    assert isinstance(refused.root, JSONRPCResponse)
    result = CallToolResult.model_validate(refused.root.result)
    assert result.isError
    assert result.structuredContent is not None
    assert result.structuredContent["code"] == "rate_limited"
    assert result.structuredContent["details"]["retry_after_seconds"] == 1
    assert error_of(admission.admit(request(4, "tools/call", name="x", task={}), KEY)).code == -32000


def test_a_key_has_its_minute_over_all_sessions_and_pings_are_free(guard: Guard) -> None:
    first, second = guard.admission(), guard.admission()
    for admission in (first, second):
        admission.admit(request(0, "initialize"), KEY)
    for number in range(1, 9):
        admission = (first, second)[number % 2]
        assert admission.admit(request(number), KEY) is None
        answer(admission, number)

    error = error_of(second.admit(request(20), KEY))

    assert told(error)["details"] == {"limit": 10, "unit": "calls per minute", "retry_after_seconds": 60}
    assert told(error)["hint"] == "Try again in 60 seconds."
    assert told(error)["messages"]["message"]["zh"] == "此密钥每分钟最多可调用 10 次，现已用完。"
    assert told(error)["messages"]["hint"]["zh"] == "请在 60 秒后重试。"
    assert second.admit(request(21, "ping"), KEY) is None
    assert second.admit(request(22), "another key") is None


def test_refused_requests_leave_nothing_behind(admission: Admission) -> None:
    for number in (1, 2, 3, 4):
        admission.admit(request(number), KEY)
    for number in (1, 2):
        answer(admission, number)

    assert admission.is_idle


def test_while_the_process_ends_calls_are_refused_and_say_so(guard: Guard, admission: Admission) -> None:
    guard.is_ending = True

    error = error_of(admission.admit(request(1), KEY))

    assert (told(error)["code"], told(error)["details"]["retry_after_seconds"]) == ("unavailable", 1)
