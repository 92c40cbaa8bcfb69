"""The calls of one round use up a contract and grants."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import pytest
from langgraph.store.memory import InMemoryStore

from graph.approvals.coverage import Coverage, contract_of, with_contract
from graph.policy.bounds import Bounds, Target, Touched, to_data, with_used
from graph.policy.grants import give, list_grants, withdraw
from graph.policy.rules import PLAN, Situation
from tests.graph.facts import facts_of

if TYPE_CHECKING:
    from graph.state import Plan

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
BOUNDS = Bounds(frozenset({"old"}), frozenset({"trash"}), 2, NOW + timedelta(hours=1))
INSIDE = Touched((Target("a", inside=("old", "root"), mine=True),), others=False, gains=False)
SITUATION = Situation(language="en", now=NOW)


async def covered(coverage: Coverage, key: str, touched: Touched | None = INSIDE) -> str | None:
    judgement = await coverage.judge(key, facts_of("trash_item"), {"item_id": "a"}, touched)
    assert (judgement.verdict == "allow") is (judgement.covered_by is not None)
    return judgement.covered_by


async def test_a_contract_is_used_before_grants_and_then_they_are() -> None:
    store = InMemoryStore()
    grant = await give(store, "u", replace(BOUNDS, max_items=1), approval_id="a", now=NOW)
    coverage = Coverage(replace(SITUATION, contract=BOUNDS), "u", "run", store, "abcd")
    assert [await covered(coverage, key) for key in "abcd"] == [PLAN, PLAN, grant.grant_id, None]
    assert coverage.contract == with_used(BOUNDS, 2)


async def test_a_grant_that_was_used_up_meanwhile_gives_way_to_the_next_one() -> None:
    store = InMemoryStore()
    first = await give(store, "u", BOUNDS, approval_id="a", now=NOW)
    second = await give(store, "u", BOUNDS, approval_id="b", now=NOW + timedelta(minutes=1))
    coverage = Coverage(SITUATION, "u", "run", store, "abcd")
    assert await covered(coverage, "a") == second.grant_id
    await withdraw(store, "u", second.grant_id)
    assert await covered(coverage, "b") == first.grant_id


async def test_a_round_that_is_judged_again_after_a_crash_counts_once() -> None:
    store = InMemoryStore()
    await give(store, "u", BOUNDS, approval_id="a", now=NOW)
    for _ in range(3):
        coverage = Coverage(SITUATION, "u", "run", store, "abcd")
        assert [await covered(coverage, key) is not None for key in "ab"] == [True, True]
    assert (await list_grants(store, "u", NOW))[0].bounds.left == 0


@pytest.mark.parametrize("touched", [None, Touched((Target("a", inside=None),), others=False, gains=False)])
async def test_what_cant_be_located_uses_nothing(touched: Touched | None) -> None:
    store = InMemoryStore()
    await give(store, "u", BOUNDS, approval_id="a", now=NOW)
    assert await covered(Coverage(SITUATION, "u", "run", store, "abcd"), "a", touched) is None
    assert (await list_grants(store, "u", NOW))[0].bounds.used == 0


async def test_without_a_store_there_are_no_grants() -> None:
    assert await covered(Coverage(SITUATION, "u", "run", None, "a"), "a") is None


@pytest.mark.parametrize(
    "contract", [None, {}, "all", [], {"folders": ["root"]}, {**to_data(BOUNDS), "kinds": ["share"]}, {"until": "ever"}]
)
def test_what_is_no_contract_covers_nothing(contract: Any) -> None:
    assert contract_of(cast("Plan", {"plan_id": "p", "steps": [], "contract": contract})) is None


def test_a_plan_keeps_what_is_used_of_its_contract() -> None:
    plan: Plan = {"plan_id": "p", "steps": []}
    kept = cast("Plan", with_contract(plan, with_used(BOUNDS, 1)))
    assert contract_of(kept) == with_used(BOUNDS, 1)
    assert contract_of(plan) is None
    assert contract_of(None) is None
