"""Grants on real stores: in memory, and in SQLite as the service has it."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

from graph.policy import grants
from graph.policy.bounds import Bounds
from graph.policy.grants import Grant, TooManyGrantsError, give, give_back, holds, list_grants, use, withdraw

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
BOUNDS = Bounds(frozenset({"invoices"}), frozenset({"move"}), 3, NOW + HOUR)


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[BaseStore]:
    if request.param == "memory":
        yield InMemoryStore()
        return
    async with AsyncSqliteStore.from_conn_string(str(tmp_path / "store.db")) as store:
        await store.setup()
        yield store


async def given(store: BaseStore, user: str = "ana", bounds: Bounds = BOUNDS, now: datetime = NOW) -> Grant:
    return await give(store, user, bounds, approval_id="a1", now=now)


async def take(store: BaseStore, grant: Grant, claim: str, items: int = 1, **also: Any) -> bool:
    return await use(store, also.get("user", "ana"), grant.grant_id, claim=claim, items=items, now=also.get("now", NOW))


async def test_a_grant_is_listed_with_what_is_used_and_where_it_came_from(store: BaseStore) -> None:
    grant = await given(store)
    assert await take(store, grant, "run:c1", 2)
    [listed] = await list_grants(store, "ana", NOW)
    assert listed == replace(grant, bounds=replace(BOUNDS, used=2))
    assert (listed.approval_id, listed.given_at, listed.bounds.left) == ("a1", NOW, 1)


async def test_a_new_grant_begins_unused_whatever_the_bounds_say(store: BaseStore) -> None:
    grant = await given(store, bounds=replace(BOUNDS, used=3))
    assert await take(store, grant, "c", 3)


async def test_the_newest_is_listed_first_and_the_expired_not_at_all(store: BaseStore) -> None:
    first = await given(store, bounds=replace(BOUNDS, until=NOW + 3 * HOUR))
    await given(store)
    last = await given(store, bounds=replace(BOUNDS, until=NOW + 3 * HOUR), now=NOW + timedelta(minutes=1))
    assert [grant.grant_id for grant in await list_grants(store, "ana", NOW + HOUR)] == [last.grant_id, first.grant_id]


async def test_nobody_sees_uses_or_withdraws_anothers_grant(store: BaseStore) -> None:
    grant = await given(store)
    assert await list_grants(store, "ben", NOW) == []
    assert not await take(store, grant, "c", user="ben")
    assert not await withdraw(store, "ben", grant.grant_id)
    assert await take(store, grant, "c")


@pytest.mark.parametrize("user", ["", "a.b", "王", "user with spaces", "grants"])
async def test_any_user_id_has_grants_of_its_own(store: BaseStore, user: str) -> None:
    await given(store, user)
    assert len(await list_grants(store, user, NOW)) == 1
    assert await list_grants(store, "other", NOW) == []


async def test_what_is_used_up_is_used_up(store: BaseStore) -> None:
    grant = await given(store)
    assert await take(store, grant, "c1", 2)
    assert not await take(store, grant, "c2", 2)
    assert await take(store, grant, "c3")
    assert not await take(store, grant, "c4")


async def test_a_call_that_is_tried_again_after_a_crash_counts_once(store: BaseStore) -> None:
    grant = await given(store)
    for _ in range(5):
        assert await take(store, grant, "run:c1", 3)
    assert (await list_grants(store, "ana", NOW))[0].bounds.left == 0


async def test_of_calls_at_the_same_moment_one_gets_the_last_item(store: BaseStore) -> None:
    grant = await given(store)
    assert await take(store, grant, "first", 2)
    got = await asyncio.gather(*(take(store, grant, f"c{number}") for number in range(8)))
    assert sorted(got) == [False] * 7 + [True]
    assert (await list_grants(store, "ana", NOW))[0].bounds.used == 3


def no_turns(_store: BaseStore) -> asyncio.Lock:
    return asyncio.Lock()


async def test_even_without_turns_no_more_is_used_than_was_given(
    store: BaseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other processes take no turns with this one."""
    monkeypatch.setattr(grants, "_turn", no_turns)
    grant = await given(store)
    got = await asyncio.gather(*(take(store, grant, f"c{number}") for number in range(8)))
    assert sum(got) <= 3
    assert (await list_grants(store, "ana", NOW))[0].bounds.used == sum(got)


async def test_what_was_refused_is_given_back(store: BaseStore) -> None:
    grant = await given(store)
    assert await take(store, grant, "c1", 3)
    await give_back(store, "ana", grant.grant_id, "c1")
    assert await take(store, grant, "c2", 3)


async def test_a_withdrawn_grant_covers_nothing_from_then_on(store: BaseStore) -> None:
    grant = await given(store)
    await take(store, grant, "c1")
    assert await withdraw(store, "ana", grant.grant_id)
    assert not await take(store, grant, "c2")
    assert not await take(store, grant, "c1")
    assert await list_grants(store, "ana", NOW) == []
    assert not await withdraw(store, "ana", grant.grant_id)


async def test_what_was_claimed_holds_until_the_grant_is_withdrawn_or_over(store: BaseStore) -> None:
    grant = await given(store)
    await take(store, grant, "c1")
    assert await holds(store, "ana", grant.grant_id, claim="c1", now=NOW)
    assert not await holds(store, "ana", grant.grant_id, claim="c2", now=NOW)
    assert not await holds(store, "ana", grant.grant_id, claim="c1", now=NOW + HOUR)
    await withdraw(store, "ana", grant.grant_id)
    assert not await holds(store, "ana", grant.grant_id, claim="c1", now=NOW)


async def test_nothing_is_used_after_the_end(store: BaseStore) -> None:
    grant = await given(store)
    assert await take(store, grant, "c1", now=NOW + HOUR - timedelta(seconds=1))
    assert not await take(store, grant, "c2", now=NOW + HOUR)


async def test_what_is_over_is_not_given(store: BaseStore) -> None:
    with pytest.raises(ValueError, match="ahead"):
        await given(store, now=NOW + HOUR)


async def test_there_is_an_end_to_how_many_grants_somebody_has(
    store: BaseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grants, "MAX_GRANTS", 2)
    await given(store)
    await given(store)
    with pytest.raises(TooManyGrantsError):
        await given(store)
    await given(store, bounds=replace(BOUNDS, until=NOW + 3 * HOUR), now=NOW + 2 * HOUR)


@pytest.mark.parametrize("grant_id", ["", "nothing", "../claims", "x.y"])
async def test_a_grant_that_is_not_there_covers_nothing(store: BaseStore, grant_id: str) -> None:
    assert not await use(store, "ana", grant_id, claim="c", items=1, now=NOW)
    assert not await withdraw(store, "ana", grant_id)


async def test_grants_and_what_is_used_survive_a_restart(tmp_path: Path) -> None:
    for used in (0, 1):
        async with AsyncSqliteStore.from_conn_string(str(tmp_path / "store.db")) as store:
            await store.setup()
            grant = (await list_grants(store, "ana", NOW))[0] if used else await given(store)
            assert grant.bounds.used == used
            await take(store, grant, f"c{used}")
