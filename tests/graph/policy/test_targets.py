"""What a call touches, from what the drive's dry run says."""

from typing import Any

import pytest

from graph.policy.bounds import counted, touched_by


def touch(item_id: str = "bill", **changed: Any) -> dict[str, Any]:
    where = {"inside": ["invoices", "root"], "was_inside": ["invoices", "root"]}
    flags = {"mine": True, "others": False, "gains": False}
    return {"id": item_id, "name": item_id, "path": f"/Invoices/{item_id}", "items": 1, **where, **flags, **changed}


def effect(*touches: Any, **changed: Any) -> dict[str, Any]:
    return {"summary": "Do it", "count": len(touches), "touches": [*touches], **changed}


def count_of(found: dict[str, Any]) -> int:
    touched = touched_by(found)
    assert touched is not None
    return counted(touched.targets)


def test_what_stays_where_it_is_has_one_place() -> None:
    touched = touched_by(effect(touch()))
    assert touched is not None
    [target] = touched.targets
    assert (target.item_id, target.inside, target.mine, target.items) == ("bill", ("invoices", "root"), True, 1)


def test_what_moves_is_judged_by_both_places() -> None:
    touched = touched_by(effect(touch(was_inside=["old", "root"])))
    assert touched is not None
    assert [target.inside for target in touched.targets] == [("old", "root"), ("invoices", "root")]
    assert counted(touched.targets) == 1


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
