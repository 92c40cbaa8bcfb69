"""Errors of the service in the language of the request, with the same codes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import api
from api import errors
from api.approvals.decisions import DecisionCheck
from api.http.filtered_route import filter_error
from graph.links.allowlist import HostAllowlist
from graph.links.filter import LinkFilter
from tests.hostile import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drive_server.kernel.errors import DriveError
    from tests.e2e.person import Person

HAN = re.compile(r"[\u3400-\u9fff]")
ZH = {"accept-language": "zh-CN,zh;q=0.9,en;q=0.5"}
EN = {"accept-language": "en"}
EXAMPLES: list[errors.ApiError | errors.MissingScopeError] = [
    errors.ApiError(),
    errors.NotFoundError(),
    errors.InvalidRequestError("no_version"),
    errors.ModelNotAllowedError(model="gpt-5"),
    errors.InvalidDecisionError("undecided"),
    errors.InvalidGrantError("unusable_grant", said={"problem": "too long"}),
    errors.MissingScopeError("write"),
    errors.ThreadBusyError(run_id="r1"),
    errors.NotLastMessageError(message_id="m1"),
    errors.ApprovalPendingError(approval_id="a1", run_id="r1"),
    errors.PlanPausedError(thread_id="t1", run_id="r1"),
    errors.PlanOverError(status="done"),
    errors.PlanChangedError(3),
    errors.InvalidPlanError(["a plan has 8 steps at most"]),
    *(errors.ApprovalClosedError("a1", state, None) for state in ("decided", "expired", "cancelled")),
    errors.RunFinishedError(run_id="r1", status="success"),
    errors.RunActiveError(run_id="r1"),
    errors.NameTakenError(name="Tickets"),
    errors.TooManyError(limit="20"),
    errors.BuiltInAssistantError(),
    errors.ToolChangedError(name="search"),
    errors.ServerDownError(("It is down.", "它停机了。")),
    errors.SignInError("sign_in_gone", ("It is over.", "它已失效。")),
    errors.SecretsKeyError(),
    errors.ReadOnlyAssistantsError(),
    errors.NoSchedulesError(),
    errors.ThreadExistsError(),
    errors.NothingWaitsError(),
    errors.StaleCheckpointError(checkpoint_id="c1"),
    errors.ShuttingDownError(),
]
PAYLOAD: dict[str, Any] = {
    "actions": [{"tool_call_id": "c1", "name": "share_item", "args": {}, "risk": "share"}],
    "review_configs": [{"action_name": "share_item", "allowed_decisions": ["approve", "reject"]}],
}


def kinds(base: type[DriveError]) -> Iterator[type[DriveError]]:
    for kind in base.__subclasses__():
        yield kind
        yield from kinds(kind)


def test_every_text_is_said() -> None:
    """By its code, or by the code of an error whose hint it is."""
    sources = "\n".join(path.read_text("utf-8") for path in Path(api.__file__).parent.rglob("*.py"))
    known = {f"approval_{state}" for state in ("decided", "expired", "cancelled")} | {errors.ApiError.code}
    known |= {code for code in errors.TEXTS.codes if code.startswith("state.")}
    plain = {code.removesuffix(".hint") for code in errors.TEXTS.codes} - known
    assert sorted(code for code in plain if f'"{code}"' not in sources) == []


def test_every_error_of_the_service_is_among_the_examples() -> None:
    ours = {kind for kind in [*kinds(errors.ApiError), errors.MissingScopeError] if kind.__module__ == "api.errors"}
    assert ours <= {type(example) for example in EXAMPLES}


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: error.code)
def test_every_error_says_its_sentence_and_what_to_do_in_both_languages(error: DriveError) -> None:
    assert error.texts("en") == (error.message, error.hint)
    for english, chinese in zip(error.texts("en"), error.texts("zh"), strict=True):
        assert english
        assert not HAN.search(english)
        assert HAN.search(chinese)
        assert "{s" not in chinese + english


@pytest.mark.parametrize(
    "entries",
    [
        [{"tool_call_id": "c9", "type": "approve"}],
        [{"tool_call_id": "c1", "type": "approve"}] * 2,
        [],
        [{"tool_call_id": "c1", "type": "perhaps"}],
        [{"tool_call_id": "c1", "type": "edit", "args": {}}],
        [{"tool_call_id": "c1", "type": "edit"}],
        [{"tool_call_id": "c1", "type": "respond", "message": ""}],
        [{"tool_call_id": "c1", "type": "approve", "args": {"a": 1}}],
        [{"tool_call_id": "c1", "type": "reject", "grant": {"minutes": 5}}],
    ],
)
def test_a_decision_that_does_not_fit_is_told_in_both_languages(entries: list[dict[str, Any]]) -> None:
    def fits(*_: Any) -> None:
        return None

    caller: Any = None  # no decision here gets as far as its scopes
    with pytest.raises(errors.InvalidDecisionError) as refused:
        DecisionCheck(PAYLOAD, caller, ("read",), fits, fits).checked(entries)
    assert all(HAN.search(text) for text in refused.value.texts("zh"))
    assert not any(HAN.search(text) for text in refused.value.texts("en"))


def test_what_an_error_says_is_filtered_in_either_language() -> None:
    error = errors.InvalidDecisionError("unusable_args", said={"name": "share_item", "problem": HOSTILE})
    clean = LinkFilter(HostAllowlist()).clean
    filter_error(error, clean)
    for language in ("en", "zh"):
        sentence, _ = error.texts(language)
        assert clean(sentence) == sentence


def both(person: Person, method: str, path: str, **sent: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the problem of a request in English and in Chinese."""
    english, chinese = (person.http.request(method, path, headers=headers, **sent) for headers in (EN, ZH))
    assert (english.headers["content-language"], chinese.headers["content-language"]) == ("en", "zh-CN")
    assert english.status_code == chinese.status_code
    return english.json(), chinese.json()


@pytest.mark.parametrize(
    ("method", "path", "body", "code"),
    [
        ("GET", "/api/threads/none", None, "not_found"),
        ("GET", "/api/nowhere", None, "not_found"),
        ("PUT", "/api/chat", None, "method_not_allowed"),
        ("POST", "/api/chat", {}, "invalid_argument"),
        ("POST", "/api/chat", {"message": "hi", "time_zone": "Mars"}, "invalid_argument"),
        ("POST", "/api/chat", {"message": "say hi", "assistant_id": "x"}, "not_found"),
        ("POST", "/api/chat", {"message": "say hi", "thread_id": "none"}, "not_found"),
        ("GET", "/api/threads?cursor=x", None, "invalid_cursor"),
    ],
)
def test_a_problem_is_in_the_language_that_the_request_asks_for(
    alice: Person, method: str, path: str, body: dict[str, Any] | None, code: str
) -> None:
    english, chinese = both(alice, method, path, **({} if body is None else {"json": body}))
    assert english["code"] == chinese["code"] == code
    assert english["details"] == chinese["details"]
    for field in ("detail", "hint"):
        assert not HAN.search(english[field])
        assert HAN.search(chinese[field])


def test_a_run_that_is_over_is_named_so_in_both_languages(alice: Person) -> None:
    with alice.chat("say hi") as turn:
        turn.finish()
    english, chinese = both(alice, "POST", f"/api/runs/{turn.seen[0]['run_id']}/cancel")
    assert english["code"] == chinese["code"] == "run_finished"
    assert "成功" in chinese["detail"]


def test_without_a_wish_for_a_language_it_is_that_of_the_message(alice: Person) -> None:
    sent = {"message": "在当前目录中创建文件", "thread_id": "none"}
    assert HAN.search(alice.http.post("/api/chat", json=sent).json()["detail"])
    assert not HAN.search(alice.http.post("/api/chat", json=sent, headers=EN).json()["detail"])
    assert not HAN.search(alice.http.post("/api/chat", json={**sent, "message": "create a file"}).json()["detail"])
