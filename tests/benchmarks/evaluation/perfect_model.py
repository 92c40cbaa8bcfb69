"""A model that makes the calls of a task's solution, request by request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.benchmarks.evaluation.scripted import Turn, structured, work

if TYPE_CHECKING:
    from benchmarks.evaluation.task import Task
    from tests.fakes.openai_server import Stream

IN_TRASH, REMEMBERED = "trash:", "memory:"
LISTED_ID = re.compile(r"^- ([0-9a-f]+) ", re.MULTILINE)


class PerfectModel:
    """Knows the solution."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def __call__(self, request: dict[str, Any]) -> Stream:
        """Answer a request."""
        solution = self._task.solution
        if answer := structured(request, solution.agent):
            return answer
        turn = Turn.of(request, self._task.requests)
        wanted = [(call.name, _with_ids(call.args, turn)) for call in solution.calls[turn.number]]
        return work(turn, wanted, (*solution.says, *["Done."] * len(solution.calls))[turn.number])


def _with_ids(args: dict[str, Any], turn: Turn) -> dict[str, Any]:
    """Fill in the id of what is in the trash, or of a fact, once a listing has told it."""
    if str(args.get("item_id", "")).startswith(IN_TRASH):
        ids = [found for listing in turn.results for found in LISTED_ID.findall(listing)]
        return {**args, "item_id": ids[0]} if ids else args
    if str(fact := args.get("memory_id", "")).startswith(REMEMBERED):
        words = str(fact).removeprefix(REMEMBERED)
        ids = [found for listing in turn.results for found in re.findall(rf"([0-9a-f-]{{6,}})[^\n]*{words}", listing)]
        return {**args, "memory_id": ids[0]} if ids else args
    return args
