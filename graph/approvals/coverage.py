"""Cover a round of calls by earlier consent of the person: the plan's contract and their grants."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from langgraph.store.base import BaseStore

from graph.policy.bounds import Bounds, Touched, count_items, from_data, to_data, with_used
from graph.policy.grants import claim_of, list_grants, use
from graph.policy.rules import PLAN, Judgement, Situation, judge
from graph.policy.tools import ToolFacts
from graph.state import Plan


class Coverage:
    """Judges calls one after the other, so that two of them never use the same last item.

    `calls` are all of the round, by tool_call_id: a call may claim again after a crash the items that it had claimed.
    """

    def __init__(
        self, situation: Situation, user_id: str, run_id: str, store: BaseStore | None, calls: Iterable[str]
    ) -> None:
        self._situation = situation
        self._user_id = user_id
        self._run_id = run_id
        self.store = store
        self._claims = frozenset(claim_of(run_id, key) for key in calls)
        self._grants: dict[str, Bounds] | None = None
        self.contract = situation.contract

    async def judge(
        self, tool_call_id: str, tool: ToolFacts, args: Mapping[str, Any], touched: Touched | None, about: str = ""
    ) -> Judgement:
        """Return the verdict; the grant or plan that covers the call has counted it. `about`: the fact it is about."""
        while True:
            grants = await self._open_grants(self._situation.now) if touched else {}
            situation = replace(self._situation, grants=grants, contract=self.contract, touched=touched, about=about)
            judgement = judge(tool, args, situation)
            if judgement.covered_by is None or touched is None:
                return judgement
            if await self._count(judgement.covered_by, tool_call_id, count_items(touched.targets)):
                return judgement
            del grants[judgement.covered_by]

    async def _open_grants(self, now: datetime) -> dict[str, Bounds]:
        if self._grants is None:
            self._grants = {}
            if self.store is not None:
                found = await list_grants(self.store, self._user_id, now, without=self._claims)
                self._grants = {grant.grant_id: grant.bounds for grant in found}
        return self._grants

    async def _count(self, covered_by: str, tool_call_id: str, items: int) -> bool:
        if covered_by == PLAN and self.contract:
            self.contract = with_used(self.contract, items)
            return True
        grants = await self._open_grants(self._situation.now)
        claim = claim_of(self._run_id, tool_call_id)
        now = self._situation.now
        if self.store is None or not await use(
            self.store, self._user_id, covered_by, claim=claim, items=items, now=now
        ):
            return False
        grants[covered_by] = with_used(grants[covered_by], items)
        return True


def contract_of(plan: Plan | None) -> Bounds | None:
    """Return the bounds that the person agreed to for the plan; None if they agreed to none."""
    agreed: Any = plan.get("contract") if plan else None
    if not isinstance(agreed, Mapping):
        return None
    try:
        return from_data(agreed)
    except ValueError:
        return None


def with_contract(plan: Plan, contract: Bounds) -> dict[str, Any]:
    """Return the plan with the usage of its contract."""
    return {**plan, "contract": to_data(contract)}
