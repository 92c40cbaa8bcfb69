"""From above: a model that makes the right calls does all eighty tasks on the real service."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.evaluation.task import LANGUAGES, SETS, Task, load_tasks
from tests.benchmarks.evaluation.perfect_model import PerfectModel

if TYPE_CHECKING:
    from tests.benchmarks.evaluation.shared_drives import SharedDrives

TASKS = [task for task_set in SETS for language in LANGUAGES for task in load_tasks(language, task_set)]
IDS = [f"{task.language}-{task.id}" for task in TASKS]


@pytest.mark.parametrize("task", TASKS, ids=IDS)
def test_a_model_that_does_it_passes(drives: SharedDrives, task: Task) -> None:
    result = drives.run(task, PerfectModel(task))
    assert result.faults == []
    assert result.spent.errors == []
    assert result.spent.calls >= 1
    assert result.spent.tokens["total_tokens"] > 0
    assert result.refused == (task.id == "nothing-to-add-up")
