"""One drive for all tasks that begin alike: after each, the product's own undo makes it what it was."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from benchmarks.evaluation.__main__ import attempt
from benchmarks.evaluation.drive import EvaluatedDrive, new_person

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import httpx

    from benchmarks.evaluation.own_servers import OwnServers
    from benchmarks.evaluation.report import Result
    from benchmarks.evaluation.scoring import DriveState
    from benchmarks.evaluation.task import Task
    from graph.settings import AgentSettings
    from tests.fakes.openai_server import OpenAIServer, Stream


class SharedDrives(ExitStack):
    """Runs tasks; where an undo does not bring everything back, the next task gets a new drive."""

    def __init__(self, owner: httpx.Client, servers: OwnServers, model: OpenAIServer, settings: AgentSettings) -> None:
        super().__init__()
        self._owner, self._servers, self._model, self._settings = owner, servers, model, settings
        self._seeded: dict[str, tuple[EvaluatedDrive, DriveState]] = {}

    def run(self, task: Task, brain: Callable[[dict[str, Any]], Stream]) -> Result:
        """Have the model do the task."""
        kind = repr((task.language, sorted(task.files), task.shares, task.trashed, task.remembered, task.servers))
        drive, before = self._seeded.pop(kind, None) or self._seed(task)
        self._model.forget()
        self._model.brain = brain
        result = attempt(drive, before, task, self._settings)
        drive.client.post(f"/api/threads/{result.spent.thread_id}/undo", json={})  # 404: there is nothing to undo
        if drive.state() == before:
            self._seeded[kind] = drive, before
        return result

    def _seed(self, task: Task) -> tuple[EvaluatedDrive, DriveState]:
        drive = self.enter_context(new_person(self._owner, self._servers))
        drive.seed(task)
        drive.wait_for_index()
        return drive, drive.state()
