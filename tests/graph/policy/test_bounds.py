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
    counted,
    covers,
    from_data,
    spent,
    to_data,
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
    assert covers(spent(INVOICES, 2), "write", [DEEP], NOW)
    assert not covers(spent(INVOICES, 2), "write", [DEEP, DEEP], NOW)
    assert not covers(spent(INVOICES, 3), "write", [DEEP], NOW)
    assert spent(INVOICES, 5).left == 0


def test_a_folder_counts_with_all_that_is_in_it_and_a_destination_does_not_count() -> None:
    assert counted([replace(DEEP, items=40), PLACE]) == 40
    assert not covers(INVOICES, "move", [replace(DEEP, items=4)], NOW)


def test_every_action_counts_as_one_item_at_least() -> None:
    assert counted([PLACE]) == 1
    assert not covers(spent(INVOICES, 3), "write", [PLACE], NOW)


@pytest.mark.parametrize(
    ("tool", "args", "kind"),
    [
        ("move_item", {}, "move"),
        ("move_items", {}, "move"),
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
    bounds = spent(replace(INVOICES, folders=frozenset({"发票", "🗂", "invoices"})), 1)
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
