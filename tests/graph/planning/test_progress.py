"""The progress of a plan, and the changes that people may make to it meanwhile."""

from typing import Any

import pytest

from graph.planning.editing import MAX_EDITED_STEPS, PlanEditError, StepEdit, apply_edits
from graph.planning.progress import advance_plan, merge_plans, with_step, without_dependents
from graph.planning.shape import new_step
from graph.state import Plan, Step


def step(key: str, *needs: str, **values: Any) -> Step:
    made: Any = {**new_step(key, f"title {key}", "drive_agent", f"do {key}"), "depends_on": [*needs], **values}
    return made


def plan(*steps: Step, **values: Any) -> Plan:
    made: Any = {"plan_id": "p", "steps": [*steps], "version": 1, "revision": 0, "wanted": "run", **values}
    return made


def ids(made: Plan) -> list[str]:
    return [one["id"] for one in made["steps"]]


DONE = step("a", status="completed", attempts=1)


def test_the_next_pending_step_begins_after_the_last_message() -> None:
    following = advance_plan(plan(DONE, step("b"), step("c")), "m7")
    assert [(one["status"], one["attempts"]) for one in following["steps"]] == [
        ("completed", 1),
        ("in-progress", 1),
        ("pending", 0),
    ]
    assert following["steps"][1]["after"] == "m7"


@pytest.mark.parametrize(
    ("wanted", "status", "begun"), [("pause", "paused", "pending"), ("stop", "stopped", "skipped")]
)
def test_a_wish_counts_before_the_next_step(wanted: str, status: str, begun: str) -> None:
    following = advance_plan(plan(DONE, step("b"), wanted=wanted), None)
    assert following.get("status") == status
    assert following["steps"][1]["status"] == begun


def test_a_plan_whose_steps_have_all_ended_is_done_whatever_is_wished() -> None:
    assert advance_plan(plan(DONE, wanted="pause"), None).get("status") == "done"


@pytest.mark.parametrize(
    ("going", "kept"),
    [
        (plan(DONE, step("b")), True),
        (plan(DONE, step("b"), wanted="pause"), True),
        (plan(DONE, step("b"), wanted="stop"), False),
        (plan(DONE, step("b", question="Which one?")), False),
        (plan(DONE), False),
    ],
    ids=["goes on", "paused", "stopped", "asks", "done"],
)
def test_what_was_agreed_ends_with_the_plan(going: Plan, *, kept: bool) -> None:
    following = advance_plan({**going, "contract": {"kinds": ["trash"]}}, None)
    assert bool(following.get("contract")) is kept


def test_what_needs_a_failed_step_is_skipped_with_the_reason() -> None:
    failed = step("a", status="failed", attempts=3)
    following = without_dependents(plan(failed, step("b", "a"), step("c", "b"), step("d")), "a", "because")
    assert [(one["status"], one["error"]) for one in following["steps"]] == [
        ("failed", None),
        ("skipped", "because"),
        ("skipped", "because"),
        ("pending", None),
    ]


def test_an_edit_counts_and_what_was_done_stays() -> None:
    mine = plan(DONE, step("b"), step("c"))
    shared = apply_edits(mine, [{"id": "c"}, {"id": "b", "instruction": "do it well"}])
    joined = merge_plans(mine, {**shared, "version": 2})
    assert ids(joined) == ["a", "c", "b"]
    assert joined["steps"][0] == {**DONE, "wave": 1, "parallel": True}
    assert joined["steps"][2]["instruction"] == "do it well"
    assert joined.get("version") == 2


def test_a_step_that_was_begun_by_a_process_that_is_gone_begins_anew_once() -> None:
    mine = plan(DONE, step("b"))
    shared = advance_plan(mine, "m1")
    following = advance_plan(merge_plans(mine, shared), "m1")
    assert following["steps"][1]["attempts"] == 1
    assert following["steps"][1]["status"] == "in-progress"


def test_a_step_that_was_removed_is_gone_and_one_that_ended_is_not_edited() -> None:
    mine = plan(step("a", status="failed", attempts=3), step("b"))
    shared = plan(step("a", title="other"), version=3)
    assert ids(merge_plans(mine, shared)) == ["a"]
    assert merge_plans(mine, shared)["steps"][0]["title"] == "title a"


def test_what_the_planner_made_anew_replaces_the_copy_but_not_the_wish() -> None:
    joined = merge_plans(plan(DONE, step("n"), revision=1), plan(DONE, step("b"), wanted="pause", version=4))
    assert ids(joined) == ["a", "n"]
    assert (joined.get("wanted"), joined.get("version")) == ("pause", 5)


def test_another_turns_copy_is_let_be() -> None:
    mine = plan(step("a"))
    assert merge_plans(mine, {**plan(step("z")), "plan_id": "q"}) == mine
    assert merge_plans(mine, None) == mine


def test_an_attempt_that_failed_begins_again_with_its_number() -> None:
    again = with_step(plan(step("a")), step("a", attempts=1, error="why"))
    following = advance_plan(again, None)
    assert following["steps"][0]["attempts"] == 2
    assert following["steps"][0]["error"] == "why"


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        ([{"id": "b", "depends_on": ["b"]}], "circle"),
        ([{"id": "b", "depends_on": ["zzz"]}, {"id": "c"}], "no step"),
        ([{"id": "c", "depends_on": ["b"]}, {"id": "b"}], "before a step"),
        ([{"id": "b", "depends_on": ["x"]}], "did not succeed"),
        ([{"id": "b", "kind": "map"}], "search_agent"),
        ([{"instruction": "more"}], "needs an agent"),
        ([{"agent": "drive_agent", "instruction": " "}], "needs an agent"),
        ([{"id": "b"}, {"id": "b"}], "two steps"),
        ([{"agent": "drive_agent", "instruction": "x"}] * (MAX_EDITED_STEPS + 1), "at most"),
    ],
)
def test_an_edit_that_makes_no_plan_is_refused(edits: list[StepEdit], words: str) -> None:
    lost = step("x", status="skipped", attempts=1)
    with pytest.raises(PlanEditError) as refused:
        apply_edits(plan(DONE, lost, step("b"), step("c")), edits)
    assert words in "; ".join(refused.value.problems)


def test_a_step_that_has_begun_can_not_be_edited() -> None:
    with pytest.raises(PlanEditError) as refused:
        apply_edits(plan(DONE, step("b")), [{"id": "a", "title": "x"}, {"id": "b"}])
    assert refused.value.begun == ["a"]


def test_new_steps_get_ids_of_their_own_and_may_depend_on_one_another() -> None:
    following = apply_edits(
        plan(DONE, step("b")),
        [
            {"id": "mine", "agent": "drive_agent", "instruction": "新建文件夹 🗂️", "depends_on": ["a"]},
            {"agent": "search_agent", "instruction": "find it", "depends_on": ["mine"]},
        ],
    )
    _, first, second = following["steps"]
    assert len(first["id"]) == 36
    assert second.get("depends_on") == [first["id"]]
    assert first["title"] == "新建文件夹 🗂️"
    assert [one.get("wave") for one in following["steps"]] == [1, 2, 3]
