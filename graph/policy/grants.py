"""Grants: permissions that a person gives for a while, so that the assistant need not ask each time.

Grants are in the graph's store, by user, and survive restarts. Claims count the used items, one record per
call: a call that is tried again after a crash claims once. A claim is written first and then all of them are counted,
so that calls at the same moment, even of several processes, never use more than was given; in one process they take
turns, and the last item goes to one of them. A call that the drive refuses gives back its claim; one without an
answer does not, as it may have happened.
"""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import uuid4
from weakref import WeakKeyDictionary

from langgraph.store.base import BaseStore

from graph.policy.bounds import MAX_ITEMS, Bounds, BoundsData, from_data, to_data

MAX_GRANTS: Final = 100
ROOT: Final = "gateway"
"""First label of the namespaces of the gateway: nothing that a client may write to belongs there."""

_turns: WeakKeyDictionary[BaseStore, asyncio.Lock] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Grant:
    """A grant. `bounds.until` is when it expires; `approval_id` is the approval that it was given with."""

    grant_id: str
    bounds: Bounds
    given_at: datetime
    approval_id: str


class TooManyGrantsError(ValueError):
    """The person has as many grants as they can oversee."""


async def give(store: BaseStore, user_id: str, bounds: Bounds, *, approval_id: str, now: datetime) -> Grant:
    """Store a new grant, and delete expired ones. Raises `ValueError` and `TooManyGrantsError`."""
    if now >= bounds.until:
        raise ValueError("the end of a grant lies ahead")
    async with _turn(store):
        await _forget_expired(store, user_id, now)
        if len(await _all(store, user_id)) >= MAX_GRANTS:
            raise TooManyGrantsError(f"there are {MAX_GRANTS} grants already")
        grant = Grant(uuid4().hex, replace(bounds, used=0), now, approval_id)
        await store.aput(_grants(user_id), grant.grant_id, _to_value(grant), index=False)
    return grant


async def list_grants(store: BaseStore, user_id: str, now: datetime, *, without: Collection[str] = ()) -> list[Grant]:
    """Return the grants that hold now, with the usage of each (`without` some claims), the newest first."""
    valid = [grant for grant in await _all(store, user_id) if now < grant.bounds.until]
    counted = await asyncio.gather(*(_with_used(store, user_id, grant, without) for grant in valid))
    return sorted(counted, key=lambda grant: grant.given_at, reverse=True)


async def withdraw(store: BaseStore, user_id: str, grant_id: str) -> bool:
    """End the grant now; False if the person has none of that id."""
    async with _turn(store):
        if await _find(store, user_id, grant_id) is None:
            return False
        await _forget(store, user_id, grant_id)
    return True


async def use(store: BaseStore, user_id: str, grant_id: str, *, claim: str, items: int, now: datetime) -> bool:
    """Claim items of the grant for a call, once per `claim`; False if it is withdrawn, over or has too few left."""
    async with _turn(store):
        if await _find(store, user_id, grant_id) is None:
            return False
        claims = _claims(user_id, grant_id)
        is_claimed = await store.aget(claims, claim) is not None
        await store.aput(claims, claim, {"items": items}, index=False)
        # Read after the claim was written: a withdrawal, or claims of others, at the same moment count.
        grant = await _find(store, user_id, grant_id)
        if grant and now < grant.bounds.until and await _used(store, user_id, grant_id) <= grant.bounds.max_items:
            return True
        if not is_claimed:
            await store.adelete(claims, claim)
    return False


async def holds(store: BaseStore, user_id: str, grant_id: str, *, claim: str, now: datetime) -> bool:
    """Say whether the claimed action is still allowed: a call can wait for the person's answer about another one."""
    grant = await _find(store, user_id, grant_id)
    if grant is None or now >= grant.bounds.until:
        return False
    return await store.aget(_claims(user_id, grant_id), claim) is not None


def claim_of(run_id: str, tool_call_id: str) -> str:
    """Return the name of a call's claim."""
    return f"{run_id}:{tool_call_id}"


async def give_back(store: BaseStore, user_id: str, grant_id: str, claim: str) -> None:
    """Take a claim back, of a call that was refused."""
    await store.adelete(_claims(user_id, grant_id), claim)


def _turn(store: BaseStore) -> asyncio.Lock:
    return _turns.setdefault(store, asyncio.Lock())


async def forget_person(store: BaseStore, user_id: str) -> None:
    """Delete all that the gateway has stored of a person: grants, their use, and texts of their own."""
    while items := await store.asearch((ROOT, label(user_id)), limit=MAX_GRANTS):
        for item in items:
            await store.adelete(tuple(item.namespace), item.key)


def _grants(user_id: str) -> tuple[str, ...]:
    return (ROOT, label(user_id), "grants")


def _claims(user_id: str, grant_id: str) -> tuple[str, ...]:
    return (ROOT, label(user_id), "claims", grant_id)


def label(user_id: str) -> str:
    """Return the id as a label of a namespace, which may be neither empty nor have a dot in it."""
    return f"user-{user_id.replace('.', '%2E')}"


async def _all(store: BaseStore, user_id: str) -> list[Grant]:
    found = await store.asearch(_grants(user_id), limit=10 * MAX_GRANTS)
    return [_from_value(item.key, item.value) for item in found]


async def _find(store: BaseStore, user_id: str, grant_id: str) -> Grant | None:
    item = await store.aget(_grants(user_id), grant_id) if grant_id else None
    return _from_value(item.key, item.value) if item else None


async def _used(store: BaseStore, user_id: str, grant_id: str, without: Collection[str] = ()) -> int:
    claims = await store.asearch(_claims(user_id, grant_id), limit=2 * MAX_ITEMS)
    return sum(int(claim.value["items"]) for claim in claims if claim.key not in without)


async def _with_used(store: BaseStore, user_id: str, grant: Grant, without: Collection[str]) -> Grant:
    used = await _used(store, user_id, grant.grant_id, without)
    return replace(grant, bounds=replace(grant.bounds, used=used))


async def _forget_expired(store: BaseStore, user_id: str, now: datetime) -> None:
    for grant in await _all(store, user_id):
        if now >= grant.bounds.until:
            await _forget(store, user_id, grant.grant_id)


async def _forget(store: BaseStore, user_id: str, grant_id: str) -> None:
    await store.adelete(_grants(user_id), grant_id)
    claims = _claims(user_id, grant_id)
    for claim in await store.asearch(claims, limit=2 * MAX_ITEMS):
        await store.adelete(claims, claim.key)


def _to_value(grant: Grant) -> dict[str, Any]:
    bounds: BoundsData = to_data(grant.bounds)
    return {"bounds": dict(bounds), "given_at": grant.given_at.isoformat(), "approval_id": grant.approval_id}


def _from_value(grant_id: str, value: Mapping[str, Any]) -> Grant:
    given_at = datetime.fromisoformat(value["given_at"])
    return Grant(grant_id, from_data(value["bounds"]), given_at, value["approval_id"])
