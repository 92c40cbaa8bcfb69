from datetime import timedelta
from typing import Any

import pytest

from graph.policy.grant_offers import bounds_for, check_grant, grantable, read_grant
from tests.fakes.clock import START
from tests.graph.facts import facts_of


def action(name: str = "move_item", **changed: Any) -> dict[str, Any]:
    args = {"item_id": "a", "folder_id": "f", **changed.pop("args", {})}
    kind = facts_of(name).action_for(args)
    asked = {"tool_call_id": "1", "name": name, "args": args, "risk": "write", "reversible": True, "action": kind}
    asked |= changed
    return {**asked, "grant_kind": grantable(asked)}


def test_a_grant_covers_the_kind_of_the_approved_action_in_its_folder_for_its_time() -> None:
    bounds = bounds_for(action(), read_grant({"folder_id": "invoices", "minutes": 60, "max_items": 50}), START)
    assert (bounds.folders, bounds.kinds) == ({"invoices"}, {"move"})
    assert (bounds.max_items, bounds.until, bounds.used) == (50, START + timedelta(hours=1), 0)


def test_what_is_not_said_is_an_hour_and_fifty_items() -> None:
    assert read_grant({"folder_id": "f"}) == {"folder_id": "f", "minutes": 60, "max_items": 50}


@pytest.mark.parametrize(
    "value",
    [
        None,
        "f",
        [],
        {},
        {"folder_id": ""},
        {"folder_id": 5},
        {"folder_id": "f" * 65},
        {"folder_id": "f", "minutes": 0},
        {"folder_id": "f", "minutes": 10_081},
        {"folder_id": "f", "minutes": True},
        {"folder_id": "f", "minutes": 1.5},
        {"folder_id": "f", "minutes": "soon"},
        {"folder_id": "f", "minutes": "９"},
        {"folder_id": "f", "minutes": "9" * 5000},
        {"folder_id": "f", "max_items": 10_001},
        {"folder_id": "f", "kinds": ["delete"]},
        {"folder_id": "f", "until": "9999-01-01"},
    ],
)
def test_what_is_no_grant_is_refused_with_a_sentence(value: object) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        read_grant(value)


@pytest.mark.parametrize(
    "asked",
    [
        action("delete_item", risk="delete"),
        action("empty_trash", risk="delete"),
        action("share_item", risk="share"),
        action("create_share_link", risk="share"),
        action("get_download_url", risk="share"),
        action("undo_changes"),
        action("made_up"),
        action(reversible=False),
        action(risk="share"),
        action(args={"item_id": "a", "folder_id": "f", "on_conflict": "replace"}),
        action(effect={"gains_access": ["bob@example.com"], "loses_access": []}),
        action(effect={"gains_access": [], "loses_access": ["bob@example.com"]}),
    ],
)
def test_what_is_final_or_reaches_others_is_never_granted(asked: dict[str, Any]) -> None:
    assert grantable(asked) is None
    assert check_grant({"actions": [asked]}, "1", {"folder_id": "f"}, START)


def test_a_grant_for_no_action_is_none() -> None:
    assert check_grant({"actions": [action()]}, "2", {"folder_id": "f"}, START)
    assert check_grant({"actions": [action()]}, "1", {"folder_id": "f"}, START) is None
