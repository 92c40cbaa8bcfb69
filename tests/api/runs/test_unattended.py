"""Runs that nobody watches: they wait for days, say so to another program, and never approve themselves."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import TYPE_CHECKING, Any

import pytest

from api.runs.webhook_target import WebhookTarget, signature, target_of
from api.runs.webhooks import RETRIES_AFTER_SECONDS
from tests.api.fakes import ManualClock
from tests.api.hooked import Delivery, Hooked
from tests.api.serving import RunningService, SmallService, execute, rest_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.person import Person, Turn

SECRET = b"a secret of thirty-two characters"


@pytest.fixture
def hooked() -> Iterator[Hooked]:
    server = Hooked()
    yield server
    server.close()


def serve(tmp_path: Path, clock: ManualClock, url: str) -> RunningService:
    return RunningService(SmallService(tmp_path, clock, webhook=WebhookTarget(url, SECRET))).start()


@pytest.fixture
def service(tmp_path: Path, clock: ManualClock, hooked: Hooked) -> Iterator[RunningService]:
    running = serve(tmp_path, clock, hooked.url)
    yield running
    running.stop()


def park(person: Person, message: str = "share it") -> Turn:
    """Start an unattended run and read its stream to where it ends."""
    with person.chat(message, mode="unattended") as turn:
        rest_of(turn)
    return turn


def stored(tmp_path: Path) -> list[Any]:
    """Return the attempts and the delivery flag of each notice."""
    return execute(tmp_path, "SELECT attempts, is_delivered FROM webhooks")


def verify(delivery: Delivery) -> None:
    """Check the signature as the specification says, with nothing of ours."""
    key, stamp = delivery.headers["webhook-id"], delivery.headers["webhook-timestamp"]
    signed = f"{key}.{stamp}.".encode() + delivery.body
    expected = base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest()).decode()
    assert delivery.headers["webhook-signature"].split(" ") == [f"v1,{expected}"]


def test_the_stream_ends_where_the_run_parks_and_goes_on_after_the_decision(
    service: RunningService, alice: Person
) -> None:
    turn = park(alice)
    assert [event["type"] for event in turn.seen][-2:] == ["approval_needed", "run_parked"]
    parked, approval = turn.seen[-1], turn.of("approval_needed")[0]
    assert parked["approval_id"] == approval["approval_id"]
    assert service.parts.drive.effects == []
    assert alice.answer(approval, "approve").status_code == 200
    with alice.follow(parked["run_id"], parked["_id"]) as after:
        after.finish()
    assert [effect["tool"] for effect in service.parts.drive.effects] == ["share_item"]


def test_a_run_that_is_watched_does_not_park(service: RunningService, alice: Person, hooked: Hooked) -> None:
    with alice.chat("share it") as turn:
        alice.answer(turn.until("approval_needed"), "reject")
        turn.finish()
    assert turn.of("run_parked") == []
    assert hooked.deliveries == []
    assert service.parts.drive.effects == []


def test_a_run_that_needs_nothing_does_not_park(alice: Person) -> None:
    assert park(alice, "say hello").seen[-1]["type"] == "done"


def test_another_program_is_told_with_a_signature_and_without_content(
    service: RunningService, alice: Person, hooked: Hooked
) -> None:
    turn = park(alice)
    delivery = hooked.wait()
    verify(delivery)
    told = json.loads(delivery.body)
    assert told["type"] == "approval.needed"
    assert told["data"]["approval_id"] == turn.seen[-1]["approval_id"]
    assert told["data"]["actions"] == [{"tool": "share_item", "risk": "share", "reversible": True}]
    assert set(told["data"]) == {"approval_id", "run_id", "thread_id", "expires_at", "actions"}
    assert delivery.headers["content-type"] == "application/json"
    assert service.parts.drive.effects == []


def test_what_is_not_taken_is_sent_again_later_with_the_same_id(tmp_path: Path, clock: ManualClock) -> None:
    hooked = Hooked(500, 302, 204)
    service = serve(tmp_path, clock, hooked.url)
    alice = service.person()
    park(alice)
    first = hooked.wait()
    clock.advance(RETRIES_AFTER_SECONDS[0])
    second = hooked.wait()
    clock.advance(RETRIES_AFTER_SECONDS[1])
    third = hooked.wait()
    for delivery in (first, second, third):
        verify(delivery)
    assert len({delivery.headers["webhook-id"] for delivery in hooked.deliveries}) == 1
    assert {delivery.path for delivery in hooked.deliveries} == {"/hook"}
    assert int(third.headers["webhook-timestamp"]) - int(first.headers["webhook-timestamp"]) == sum(
        RETRIES_AFTER_SECONDS[:2]
    )
    alice.close()
    service.stop()
    hooked.close()
    assert stored(tmp_path) == [(3, 1)]


def test_a_restart_loses_neither_the_approval_nor_the_news_of_it(tmp_path: Path, clock: ManualClock) -> None:
    hooked = Hooked(503, 204)
    first = serve(tmp_path, clock, hooked.url)
    alice = first.person()
    turn = park(alice)
    hooked.wait()
    alice.close()
    first.stop()
    later = ManualClock()
    later.advance(6 * 86_400)
    second = serve(tmp_path, later, hooked.url)
    alice = second.person()
    verify(hooked.wait())
    (waiting,) = alice.get("/api/approvals")["items"]
    assert waiting["approval_id"] == turn.seen[-1]["approval_id"]
    assert alice.answer(waiting, "approve").status_code == 200
    with alice.follow(waiting["run_id"], turn.seen[-1]["_id"]) as after:
        assert after.finish()["status"] == "success"
    assert len(second.parts.drive.effects) == 1
    alice.close()
    second.stop()
    hooked.close()


def test_who_is_gone_for_good_is_not_asked_again(tmp_path: Path, clock: ManualClock) -> None:
    hooked = Hooked(410)
    service = serve(tmp_path, clock, hooked.url)
    alice = service.person()
    park(alice)
    hooked.wait()
    alice.close()
    service.stop()
    hooked.close()
    assert stored(tmp_path) == [(1, 0)]


def test_nobody_answers_in_days_and_it_is_not_done(service: RunningService, alice: Person, clock: ManualClock) -> None:
    turn = park(alice)
    clock.advance(7 * 86_400)
    with alice.follow(turn.seen[-1]["run_id"], turn.seen[-1]["_id"]) as after:
        after.finish()
    assert service.parts.drive.effects == []
    assert after.tools == [("share_item", "rejected")]


def test_a_deleted_thread_leaves_no_news_of_it(
    service: RunningService, alice: Person, hooked: Hooked, tmp_path: Path
) -> None:
    turn = park(alice)
    hooked.wait()
    assert alice.http.delete(f"/api/threads/{turn.seen[0]['thread_id']}").is_success
    assert stored(tmp_path) == []
    assert service.parts.drive.effects == []


@pytest.mark.parametrize("mode", ["", "Unattended", "auto", True, None])
def test_there_are_two_modes(alice: Person, mode: Any) -> None:
    answer = alice.http.post("/api/chat", json={"message": "say a", "mode": mode})
    assert answer.status_code == 422


def test_the_signature_is_that_of_the_specification() -> None:
    """The example of the Standard Webhooks specification's reference libraries."""
    target = target_of("https://example.com/hook", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    assert target is not None
    signed = signature(target.secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize(
    ("url", "secret"),
    [("https://example.com", ""), ("ftp://example.com", "x"), ("example.com", "x"), ("https://example.com", "whsec_!")],
)
def test_a_target_that_can_not_be_meant_is_refused(url: str, secret: str) -> None:
    with pytest.raises(ValueError, match="AGENT_WEBHOOK"):
        target_of(url, secret)


def test_without_an_address_nothing_is_sent() -> None:
    assert target_of("", "x") is None
