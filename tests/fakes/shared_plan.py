"""The copy of a plan that people edit, kept in memory."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from graph.planning.editing import StepEdit, apply_edits
from graph.state import Plan


@dataclass
class SharedPlans:
    """A `PlanControl` of one plan. `meanwhile` is done by a person right before the graph comes by the next time."""

    plan: Plan | None = None
    seen: list[Plan] = field(default_factory=list[Plan])
    meanwhile: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    async def exchange(self, thread_id: str, run_id: str, change: Callable[[Plan | None], Plan]) -> Plan:
        """Store and return what `change` makes of the copy."""
        assert thread_id
        assert run_id
        if self.plan and self.meanwhile:
            self.meanwhile.pop(0)()
        self.plan = change(self.plan)
        self.seen.append(self.plan)
        return self.plan

    def want(self, wish: Literal["run", "pause", "stop"]) -> None:
        """Pause, resume or stop."""
        assert self.plan
        self.plan = {**self.plan, "wanted": wish, "version": self.plan.get("version", 1) + 1}

    def edit(self, *steps: StepEdit) -> None:
        """Change the steps that have not begun."""
        assert self.plan
        self.plan = {**apply_edits(self.plan, steps), "version": self.plan.get("version", 1) + 1}
