"""Between two steps: takes what people changed about the plan meanwhile, and begins the next step, pauses, or ends it.

It is the only place where a step begins, and it does so in one transaction with the plan that people edit: what has
begun can't be edited any more, and what was edited is what begins.
"""

from typing import Any

from langchain_core.runnables import RunnableConfig

from graph.dependencies import GraphDependencies
from graph.events import emit
from graph.messages.written import add_messages, say
from graph.planning.plan import announce
from graph.planning.progress import advance_plan, changed_steps, merge_plans
from graph.planning.texts import closing
from graph.planning.views import edited_event
from graph.state import Plan, State, Update, running_turn


def make_begin_step(deps: GraphDependencies) -> Any:
    """Return the node."""

    async def begin_step(state: State, config: RunnableConfig) -> Update:
        plan = state.get("plan")
        if plan is None:
            return {}
        last = state["messages"][-1].id

        def change(shared: Plan | None) -> Plan:
            return advance_plan(merge_plans(plan, shared), last)

        following = await exchange_plan(deps, config, state, change)
        _announce(plan, following)
        update: Update = {"plan": following, "failure": None}
        told = closing(following, running_turn(state)["language"]) if following.get("status") in _ENDS else ""
        return {**add_messages([say(told)]), **update} if told else update

    return begin_step


_ENDS = frozenset({"done", "stopped"})


async def exchange_plan(deps: GraphDependencies, config: RunnableConfig, state: State, change: Any) -> Plan:
    """Return the plan that `change` makes of the copy that people edit; without a service, there is no such copy."""
    if deps.plans is None:
        return change(None)
    thread_id = str(config.get("configurable", {}).get("thread_id", ""))
    return await deps.plans.exchange(thread_id, running_turn(state)["run_id"], change)


def _announce(before: Plan, plan: Plan) -> None:
    was, now = before.get("status"), plan.get("status")
    plan_id, version = plan["plan_id"], plan.get("version", 1)
    if now == "paused" and was != "paused":
        emit({"type": "plan_paused", "plan_id": plan_id, "version": version})
    if was == "paused" and now != "paused":
        emit({"type": "plan_resumed", "plan_id": plan_id, "version": version})
    if before.get("version", 1) != version and _texts(before) != _texts(plan):
        emit(edited_event(plan))
    for step in changed_steps(before, plan):
        announce(step)


def _texts(plan: Plan) -> list[tuple[str, str, str]]:
    return [(step["id"], step["title"], step["instruction"]) for step in plan["steps"]]
