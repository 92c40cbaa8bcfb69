"""A person sees, edits, pauses, resumes and stops a plan over HTTP, while the real graph works on it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from unittest.mock import AsyncMock

import pytest

from api.plans import Plans
from api.withholding import Withholding
from graph.messages.others import withheld_text
from tests.api.fakes import Gate
from tests.api.plan_model import PlanModel, folder, plan_message
from tests.api.real_service import RealService

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.person import Person, Turn


class PlanService:
    """The real service with a model that does as the plan says; it can be ended and started again."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self.gate = Gate()
        self.running: RealService
        self.owner: Person
        self.start()

    def start(self) -> None:
        """Start it over the same data."""
        self.running = RealService(self._data_dir, PlanModel(gate=self.gate)).start()
        self.owner = self.running.owner()

    def stop(self) -> None:
        """End it where it is."""
        self.owner.close()
        self.running.stop()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[PlanService]:
    service = PlanService(tmp_path)
    yield service
    service.gate.open()
    service.stop()


THREE = plan_message(
    {"instruction": folder("One", wait=True)}, {"instruction": folder("Two")}, {"instruction": folder("三 🗂️")}
)


class Planned:
    """A thread whose plan is in its first step, which waits at the gate."""

    def __init__(self, service: PlanService, turn: Turn) -> None:
        self.service = service
        self.turn = turn
        begun = turn.until("run")
        self.thread_id, self.run_id = begun["thread_id"], begun["run_id"]
        turn.until("task_step_update")
        assert service.gate.reached.wait(30)

    @property
    def path(self) -> str:
        return f"/api/threads/{self.thread_id}/plan"

    def plan(self) -> Any:
        return self.service.owner.get(self.path)

    def post(self, what: str) -> Any:
        return self.service.owner.http.post(f"{self.path}/{what}")

    def patch(self, *steps: dict[str, Any], version: int | None = None) -> Any:
        body = {"version": self.plan()["version"] if version is None else version, "steps": [*steps]}
        return self.service.owner.http.patch(self.path, json=body)

    def paused(self) -> Any:
        """Pause it, let the first step end, and return the plan that waits."""
        assert self.post("pause").status_code == 200
        self.service.gate.open()
        self.turn.until("plan_paused")
        return self.plan()


def pending(plan: Any) -> list[dict[str, Any]]:
    return [{"id": step["id"]} for step in plan["steps"] if step["status"] == "pending"]


def test_a_plan_is_seen_with_its_version_while_it_runs(service: PlanService) -> None:
    with service.owner.chat(THREE) as turn:
        planned = Planned(service, turn)
        response = service.owner.http.get(planned.path)
        plan = response.json()
        assert response.headers["etag"] == '"1"'
        assert (plan["version"], plan["status"], plan["wanted"], plan["run_id"]) == (
            1,
            "running",
            "run",
            planned.run_id,
        )
        assert [step["status"] for step in plan["steps"]] == ["in-progress", "pending", "pending"]
        service.gate.open()
        turn.finish()
        assert planned.plan()["status"] == "done"
        assert service.owner.names() == ["One", "Two", "三 🗂️"]
        refused = planned.post("pause")
        assert (refused.status_code, refused.json()["code"]) == (409, "plan_over")


def test_a_pause_holds_between_two_steps_over_a_restart_until_it_is_resumed(service: PlanService) -> None:
    with service.owner.chat(THREE) as turn:
        planned = Planned(service, turn)
        plan = planned.paused()
    assert plan["status"] == "paused"
    assert service.owner.names() == ["One"]
    assert service.owner.get(f"/api/runs/{planned.run_id}")["status"] == "waiting"
    busy = service.owner.http.post("/api/chat", json={"message": "create X", "thread_id": planned.thread_id})
    assert (busy.status_code, busy.json()["code"]) == (409, "plan_paused")

    service.stop()
    service.start()
    assert planned.plan()["status"] == "paused"
    assert service.owner.names() == ["One"]
    assert planned.post("resume").status_code == 200
    with service.owner.follow(planned.run_id) as turn:
        done = turn.finish()
    assert [event["type"] for event in turn.seen if event["type"].startswith("plan_")] == [
        "plan_paused",
        "plan_resumed",
    ]
    assert service.owner.names() == ["One", "Two", "三 🗂️"]
    assert len(done["changes"]) == 3


def test_what_is_edited_while_it_is_paused_is_told_and_done(service: PlanService) -> None:
    with service.owner.chat(THREE) as turn:
        planned = Planned(service, turn)
        plan = planned.paused()
        last = pending(plan)[1]
        new = {"agent": "drive_agent", "title": "新的", "instruction": folder("新 \u200fعربي")}
        new = {**new, "depends_on": [last["id"]]}
        edited = planned.patch({**last, "title": "the last one"}, new)
        assert edited.status_code == 200, edited.text
        told = turn.until("plan_edited")
        assert [step["title"] for step in told["steps"]][1:] == ["the last one", "新的"]
        assert told["version"] == edited.json()["version"]
        planned.post("resume")
        turn.finish()
    assert service.owner.names() == ["One", "三 🗂️", "新 \u200fعربي"]


class LatePlans:
    """Lets a run read its plan, and holds it there at the gate once a plan wants this."""

    def __init__(self, wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.gate, find = Gate(), Plans.find

        async def late(plans: Plans, run_id: str) -> Any:
            row = await find(plans, run_id)
            if row and row.plan["wanted"] == wanted:
                await self.gate.wait()
            return row

        monkeypatch.setattr(Plans, "find", late)


def test_an_edit_that_comes_while_the_run_parks_is_told(service: PlanService, monkeypatch: pytest.MonkeyPatch) -> None:
    late = LatePlans("pause", monkeypatch)
    with service.owner.chat(THREE) as turn:
        planned = Planned(service, turn)
        plan = planned.paused()
        assert late.gate.reached.wait(30)
        second, third = pending(plan)
        assert planned.patch({**second, "title": "another"}, third).status_code == 200
        late.gate.open()
        assert turn.until("plan_edited")["steps"][1]["title"] == "another"
        planned.post("stop")
        turn.finish()


def test_a_resumed_run_goes_on_after_a_stop_that_came_at_once(
    service: PlanService, monkeypatch: pytest.MonkeyPatch
) -> None:
    with service.owner.chat(THREE) as turn:
        planned = Planned(service, turn)
        planned.paused()
    with monkeypatch.context() as patched:
        late = LatePlans("run", patched)
        assert planned.post("resume").status_code == 200
        assert late.gate.reached.wait(30)
        service.stop()
    service.start()
    with service.owner.follow(planned.run_id) as turn:
        turn.finish()
    assert service.owner.names() == ["One", "Two", "三 🗂️"]


def test_what_is_edited_while_a_step_runs_counts_for_the_steps_after_it(service: PlanService) -> None:
    with service.owner.chat(THREE) as turn:
        planned = Planned(service, turn)
        first, second, third = planned.plan()["steps"]
        begun = planned.patch({"id": first["id"], "title": "x"}, {"id": second["id"]})
        assert (begun.status_code, begun.json()["code"]) == (409, "plan_changed")
        assert begun.json()["details"]["begun"] == [first["id"]]
        assert planned.patch({"id": third["id"]}, {"id": second["id"]}).status_code == 200
        service.gate.open()
        turn.finish()
        order = [event["step_id"] for event in turn.of("task_step_update") if event["status"] == "completed"]
    assert order == [first["id"], third["id"], second["id"]]


def test_of_two_tabs_that_edit_at_once_one_is_heard(service: PlanService) -> None:
    with service.owner.chat(THREE) as turn:
        planned = Planned(service, turn)
        plan = planned.paused()
        second, third = pending(plan)
        barrier = threading.Barrier(2)

        def edit(title: str) -> int:
            barrier.wait()
            return planned.patch({**second, "title": title}, third, version=plan["version"]).status_code

        with ThreadPoolExecutor(2) as pool:
            assert sorted(pool.map(edit, ["left", "right"])) == [200, 409]
        assert planned.plan()["steps"][1]["title"] in {"left", "right"}
        assert planned.plan()["version"] == plan["version"] + 1
        stale = service.owner.http.patch(planned.path, json={"steps": [third]}, headers={"If-Match": '"1"'})
        assert (stale.status_code, stale.json()["code"]) == (409, "plan_changed")
        planned.post("stop")
        turn.finish()


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([{"agent": "document_agent", "instruction": "delete plan.md"}], "drive_agent can"),
        ([{"agent": "search_agent", "instruction": "把计划.md移到归档"}], "can't do this (move)"),
        ([{"agent": "drive_agent", "instruction": "x", "depends_on": ["nowhere"]}], "no step"),
        ([{"instruction": "x"}], "needs an agent"),
    ],
)
def test_an_edit_is_held_to_the_rules_of_a_plan(service: PlanService, steps: list[dict[str, Any]], words: str) -> None:
    with service.owner.chat(THREE) as turn:
        planned = Planned(service, turn)
        refused = planned.patch(*steps)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_plan")
        assert words in "; ".join(refused.json()["details"]["problems"])
        assert len(planned.plan()["steps"]) == 3
        service.gate.open()
        turn.finish()


def test_a_stop_ends_the_run_well_and_keeps_what_was_done(service: PlanService) -> None:
    with service.owner.chat(THREE) as turn:
        planned = Planned(service, turn)
        assert planned.post("stop").json()["wanted"] == "stop"
        service.gate.open()
        done = turn.finish()
    assert len(done["changes"]) == 1
    assert [step["status"] for step in planned.plan()["steps"]] == ["completed", "skipped", "skipped"]
    assert planned.plan()["status"] == "stopped"
    assert "I stopped the plan, as you asked." in turn.text


@pytest.mark.parametrize(("stop", "go_on"), [("pause the plan", "continue the plan"), ("暂停计划", "继续执行计划")])
def test_the_plan_is_paused_and_resumed_in_the_chat(service: PlanService, stop: str, go_on: str) -> None:
    with service.owner.chat(THREE) as turn:
        planned = Planned(service, turn)
        with service.owner.chat(stop, thread_id=planned.thread_id) as said:
            service.gate.open()
            said.until("plan_paused")
        assert service.owner.names() == ["One"]
        with service.owner.chat(go_on, thread_id=planned.thread_id) as said:
            said.finish()
    assert service.owner.names() == ["One", "Two", "三 🗂️"]


def test_a_command_in_the_chat_shows_nothing_of_what_is_not_shared_any_more(
    service: PlanService, monkeypatch: pytest.MonkeyPatch
) -> None:
    with service.owner.chat(THREE) as turn:
        planned = Planned(service, turn)
        planned.paused()
    monkeypatch.setattr(Withholding, "hidden", AsyncMock(return_value=True))
    with service.owner.chat("continue the plan", thread_id=planned.thread_id) as said:
        said.finish()
    results = [event["result"] for event in said.of("tool_call_end")]
    assert set(results) == {withheld_text("en")}


def test_only_who_may_write_changes_it_and_nobody_else_sees_it(service: PlanService) -> None:
    reader, bob = service.owner.with_key("r", "read"), service.owner.add("bob@example.com")
    with service.owner.chat(THREE) as turn:
        planned = Planned(service, turn)
        assert reader.get(planned.path)["version"] == 1
        for what in ("pause", "resume", "stop"):
            assert reader.http.post(f"{planned.path}/{what}").json()["code"] == "missing_scope"
            assert bob.http.post(f"{planned.path}/{what}").status_code == 404
        assert reader.http.patch(planned.path, json={"version": 1, "steps": []}).status_code == 403
        assert bob.http.get(planned.path).status_code == 404
        assert bob.http.patch(planned.path, json={"version": 1, "steps": []}).status_code == 404
        service.gate.open()
        turn.finish()
    reader.close()
    bob.close()


def test_a_thread_without_a_plan_has_none(service: PlanService) -> None:
    with service.owner.chat("hello there, nothing to do") as turn:
        thread_id = turn.until("run")["thread_id"]
        turn.finish()
    assert service.owner.http.get(f"/api/threads/{thread_id}/plan").status_code == 404


def test_a_thread_whose_plan_is_paused_can_be_deleted(service: PlanService) -> None:
    with service.owner.chat(THREE) as turn:
        planned = Planned(service, turn)
        planned.paused()
        assert service.owner.http.delete(f"/api/threads/{planned.thread_id}").status_code == 204
    assert service.owner.http.get(planned.path).status_code == 404


def test_a_paused_run_can_be_cancelled_and_its_plan_says_so(service: PlanService) -> None:
    with service.owner.chat(THREE) as turn:
        planned = Planned(service, turn)
        planned.paused()
        assert service.owner.http.post(f"/api/runs/{planned.run_id}/cancel").status_code == 200
    assert planned.plan()["status"] == "interrupted"
    assert planned.post("resume").json()["code"] == "plan_over"
