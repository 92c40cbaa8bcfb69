"""A plan that is paused waits here, for as long as it takes. Anything resumes it; `{"action": "stop"}` ends it."""

from collections.abc import Mapping
from typing import Any

from langgraph.types import interrupt

from graph.planning.views import PLAN_PAUSED, views
from graph.state import Plan, State, Update


async def pause(state: State) -> Update:
    """The node. It starts again from its top when it is resumed, so it only reads before the interrupt."""
    plan = state.get("plan")
    if plan is None:
        return {}
    answer = interrupt(
        {
            "type": PLAN_PAUSED,
            "plan_id": plan["plan_id"],
            "version": plan.get("version", 1),
            "steps": views(plan),
        }
    )
    told: Mapping[str, Any] = answer if isinstance(answer, Mapping) else {}
    version = told.get("version")
    going: Plan = {**plan, "wanted": "stop" if told.get("action") == "stop" else "run"}
    return {"plan": {**going, "version": version} if isinstance(version, int) else going}
