"""The bounds of a plan, where they meet the policy."""

from datetime import UTC, datetime, timedelta

import pytest

from graph.policy.bounds import Target, Touched, from_data
from graph.policy.contract import HOURS, agreed, card, needed
from graph.policy.rules import PLAN, Situation, judge
from tests.graph.facts import facts_of

NOW = datetime(2026, 11, 1, tzinfo=UTC)
ARGS = {"folders": ["f"], "kinds": ["trash", "write"], "max_items": 3}


def touching(target: Target) -> Touched:
    return Touched(targets=(target,), others=False, gains=False)


INSIDE = touching(Target("x", inside=("f",), mine=True))


def judged(
    tool: str, *, now: datetime = NOW, tainted: bool = False, touched: Touched = INSIDE
) -> tuple[str, str | None]:
    contract = from_data(agreed(ARGS, NOW))
    situation = Situation(language="en", contract=contract, now=now, tainted=tainted, touched=touched)
    judgement = judge(facts_of(tool), {"item_id": "x", "file_id": "x"}, situation)
    return judgement.verdict, judgement.covered_by


def test_what_lies_inside_runs_by_the_plan() -> None:
    assert judged("trash_item") == ("allow", PLAN)
    assert judged("patch_file") == ("allow", PLAN)


@pytest.mark.parametrize("tool", ["share_item", "create_share_link", "delete_item", "empty_trash", "get_download_url"])
def test_what_reaches_out_or_can_not_be_undone_asks_all_the_same(tool: str) -> None:
    assert judged(tool)[0] == "ask"


def test_in_a_tainted_thread_it_covers_no_removal() -> None:
    assert judged("trash_item", tainted=True) == ("ask", None)


def test_it_ends_by_itself_and_does_not_reach_other_folders() -> None:
    assert judged("trash_item", now=NOW + timedelta(hours=HOURS)) == ("ask", None)
    assert judged("trash_item", touched=touching(Target("x", inside=("g",), mine=True))) == ("ask", None)
    assert judged("trash_item", touched=touching(Target("x", inside=None))) == ("ask", None)


@pytest.mark.parametrize(
    "args",
    [
        {"folders": [], "kinds": ["trash"], "max_items": 1},
        {"folders": ["f"], "kinds": ["share"], "max_items": 1},
        {"folders": ["f"], "kinds": [], "max_items": 1},
        {"folders": ["f"], "kinds": ["trash"], "max_items": 10**9},
    ],
)
def test_bounds_that_make_no_sense_are_none(args: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        agreed(args, NOW)


def test_it_is_asked_for_only_where_it_spares_questions() -> None:
    assert needed(["trash"], reads=False)
    assert not needed(["create", "move"], reads=False)
    assert needed(["move"], reads=True)


def test_the_card_needs_the_scope_of_what_it_lets_through() -> None:
    assert card("p", [{"id": "f", "path": "/f"}], ["trash"], 1, "en")["risk"] == "delete"
    assert card("p", [{"id": "f", "path": "/f"}], ["write"], 1, "zh")["risk"] == "write"
