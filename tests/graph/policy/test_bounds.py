"""The bounds of a call, read from the drive's dry run."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graph.policy.bounds import (
    ACTION_KINDS,
    ActionKind,
    Bounds,
    Target,
    count_items,
    covers,
    from_data,
    to_data,
    touched_by,
    with_used,
)
from tests.graph.facts import facts_of

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
INVOICES = Bounds(frozenset({"invoices"}), frozenset({"move", "write"}), 3, NOW + timedelta(hours=1))
DEEP = Target("bill", "bill.pdf", "/Invoices/2026/bill.pdf", inside=("y2026", "invoices", "root"))
PLACE = Target("y2027", "2027", "/Invoices/2027", inside=("y2027", "invoices", "root"), items=0)


def test_what_lies_deep_in_a_bounded_folder_is_covered() -> None:
    assert covers(INVOICES, "move", [DEEP, PLACE], NOW)


@pytest.mark.parametrize("kind", [kind for kind in ACTION_KINDS if kind not in INVOICES.kinds])
def test_a_kind_that_was_not_agreed_to_is_not_covered(kind: ActionKind) -> None:
    assert not covers(INVOICES, kind, [DEEP], NOW)


def test_what_has_no_kind_is_never_covered() -> None:
    everything = replace(INVOICES, kinds=frozenset(ACTION_KINDS))
    assert not covers(everything, None, [DEEP], NOW)


@pytest.mark.parametrize(
    "outside",
    [
        Target("letter", inside=("letters", "root")),
        Target("invoices", inside=("root",)),
        Target("nowhere", inside=()),
        Target("unknown", inside=None),
        Target("elsewhere", inside=("elsewhere", "root"), items=0),
    ],
    ids=lambda target: target.item_id,
)
def test_one_target_outside_is_enough_to_be_asked(outside: Target) -> None:
    assert not covers(INVOICES, "move", [DEEP, outside], NOW)


def test_nothing_is_covered_without_a_target() -> None:
    assert not covers(INVOICES, "move", [], NOW)


def test_the_end_itself_is_too_late() -> None:
    assert covers(INVOICES, "move", [DEEP], INVOICES.until - timedelta(microseconds=1))
    assert not covers(INVOICES, "move", [DEEP], INVOICES.until)


def test_the_number_of_items_runs_out() -> None:
    assert covers(with_used(INVOICES, 2), "write", [DEEP], NOW)
    assert not covers(with_used(INVOICES, 2), "write", [DEEP, DEEP], NOW)
    assert not covers(with_used(INVOICES, 3), "write", [DEEP], NOW)
    assert with_used(INVOICES, 5).left == 0


def test_a_folder_counts_with_all_that_is_in_it_and_a_destination_does_not_count() -> None:
    assert count_items([replace(DEEP, items=40), PLACE]) == 40
    assert not covers(INVOICES, "move", [replace(DEEP, items=4)], NOW)


def test_every_action_counts_as_one_item_at_least() -> None:
    assert count_items([PLACE]) == 1
    assert not covers(with_used(INVOICES, 3), "write", [PLACE], NOW)


@pytest.mark.parametrize(
    ("tool", "args", "kind"),
    [
        ("move_item", {}, "move"),
        ("move_items", {}, "move"),
        ("organize_items", {}, "move"),
        ("rename_items", {}, "rename"),
        ("fill_template", {}, "create"),
        ("create_file", {}, "create"),
        ("create_file", {"on_conflict": "replace"}, "write"),
        ("move_item", {"on_conflict": "replace"}, None),
        ("copy_item", {"on_conflict": "replace"}, None),
        ("trash_item", {}, "trash"),
        ("delete_item", {}, None),
        ("empty_trash", {}, None),
        ("share_item", {}, None),
        ("create_share_link", {}, None),
        ("update_share", {}, None),
        ("get_download_url", {}, None),
        ("undo_changes", {}, None),
        ("mоve_item", {}, None),
        ("MOVE_ITEM", {}, None),
        ("", {}, None),
    ],
)
def test_only_what_can_be_taken_back_has_a_kind(tool: str, args: dict[str, Any], kind: ActionKind | None) -> None:
    assert facts_of(tool).action_for(args) == kind


def test_they_survive_json() -> None:
    bounds = with_used(replace(INVOICES, folders=frozenset({"发票", "🗂", "invoices"})), 1)
    assert from_data(json.loads(json.dumps(to_data(bounds)))) == bounds


@pytest.mark.parametrize(
    "wrong",
    [
        {"folders": []},
        {"folders": [""]},
        {"folders": "invoices"},
        {"folders": [1]},
        {"folders": [str(number) for number in range(101)]},
        {"kinds": []},
        {"kinds": ["share"]},
        {"kinds": ["delete"]},
        {"kinds": None},
        {"max_items": 0},
        {"max_items": -1},
        {"max_items": 10_001},
        {"max_items": True},
        {"max_items": "5"},
        {"max_items": None},
        {"until": "2026-11-21T13:00:00"},
        {"until": "never"},
        {"until": 1},
        {"used": -1},
    ],
    ids=str,
)
def test_bounds_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        from_data({**to_data(INVOICES), **wrong})


def test_nothing_is_no_bounds() -> None:
    with pytest.raises(ValueError, match="folders"):
        from_data({})


def touch(item_id: str = "bill", **changed: Any) -> dict[str, Any]:
    where = {"inside": ["invoices", "root"], "was_inside": ["invoices", "root"]}
    flags = {"mine": True, "others": False, "gains": False}
    return {"id": item_id, "name": item_id, "path": f"/Invoices/{item_id}", "items": 1, **where, **flags, **changed}


def effect(*touches: Any, **changed: Any) -> dict[str, Any]:
    return {"summary": "Do it", "count": len(touches), "touches": [*touches], **changed}


def count_of(found: dict[str, Any]) -> int:
    touched = touched_by(found)
    assert touched is not None
    return count_items(touched.targets)


def test_what_stays_where_it_is_has_one_place() -> None:
    touched = touched_by(effect(touch()))
    assert touched is not None
    [target] = touched.targets
    assert (target.item_id, target.inside, target.mine, target.items) == ("bill", ("invoices", "root"), True, 1)


def test_what_moves_is_judged_by_both_places() -> None:
    touched = touched_by(effect(touch(was_inside=["old", "root"])))
    assert touched is not None
    assert [target.inside for target in touched.targets] == [("old", "root"), ("invoices", "root")]
    assert count_items(touched.targets) == 1


def test_what_is_new_is_judged_by_where_it_comes() -> None:
    touched = touched_by(effect(touch(was_inside=None)))
    assert touched is not None
    assert [target.inside for target in touched.targets] == [("invoices", "root")]


def test_a_folder_counts_with_what_is_in_it_and_the_larger_number_holds() -> None:
    assert count_of(effect(touch(items=7))) == 7
    assert count_of(effect(touch(), count=40)) == 40
    assert count_of(effect(touch("a"), touch("b"))) == 2


@pytest.mark.parametrize(
    ("touches", "others", "gains", "mine"),
    [
        ([touch(), touch("b", others=True)], True, False, True),
        ([touch(gains=True, others=True)], True, True, True),
        ([touch(), touch("b", mine=False, others=True)], True, False, False),
    ],
)
def test_one_item_that_others_see_is_enough(touches: list[Any], others: bool, gains: bool, mine: bool) -> None:
    touched = touched_by(effect(*touches))
    assert touched is not None
    assert (touched.others, touched.gains, touched.all_mine) == (others, gains, mine)


def test_whoever_gains_access_counts_even_if_no_item_says_so() -> None:
    touched = touched_by(effect(touch(), gains_access=["eve@evil.example"]))
    assert touched is not None
    assert touched.gains


@pytest.mark.parametrize(
    "found",
    [
        None,
        {},
        {"touches": None},
        {"touches": []},
        {"touches": "bill"},
        effect("bill"),
        effect(touch(inside=None)),
        effect(touch(inside="root")),
        effect(touch(inside=[1])),
        effect(touch(was_inside=[None])),
        effect(touch(mine="yes")),
        effect(touch(others=None)),
        effect({key: value for key, value in touch().items() if key != "gains"}),
        effect({**touch(), "id": 5}),
        effect(touch(), touch(inside=None)),
    ],
    ids=str,
)
def test_what_cant_be_relied_on_tells_nothing(found: Any) -> None:
    assert touched_by(found) is None


@pytest.mark.parametrize("items", [0, -5, None, "9"])
def test_a_number_of_items_that_makes_no_sense_is_one(items: Any) -> None:
    assert count_of(effect(touch(items=items))) == 1
