"""From above: a model that makes the right calls does all tasks on the real service."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.evaluation.task import LANGUAGES, SETS, Task, load_tasks
from tests.benchmarks.evaluation.perfect_model import PerfectModel
from tests.e2e.soaking import AT_NIGHT

if TYPE_CHECKING:
    from tests.benchmarks.evaluation.shared_drives import SharedDrives
    from tests.fakes.openai_server import OpenAIServer

TASKS = [task for task_set in SETS for language in LANGUAGES for task in load_tasks(language, task_set)]
EACH_TIME = 7
"""Every seventh task is done each time, the others at night."""
ASKED = [
    pytest.param(task, id=f"{task.language}-{task.id}", marks=() if number % EACH_TIME == 0 else AT_NIGHT)
    for number, task in enumerate(TASKS)
]


@pytest.mark.parametrize("task", ASKED)
def test_a_model_that_does_it_passes(drives: SharedDrives, task: Task) -> None:
    result = drives.run(task, PerfectModel(task))
    assert result.faults == []
    assert result.spent.errors == []
    assert result.spent.calls >= 1
    assert result.spent.seconds > 0
    assert result.spent.tokens["total_tokens"] > 0
    assert result.refused == (task.id == "nothing-to-add-up")


@pytest.mark.parametrize(("language", "day"), [("en", "Thursday 2026-11-19 23:30"), ("zh", "Friday 2026-11-20 06:30")])
def test_models_are_told_the_day_of_the_evaluation_where_the_person_is(
    model: OpenAIServer, drives: SharedDrives, language: str, day: str
) -> None:
    task = next(one for one in TASKS if (one.language, one.id) == (language, "older-than-two-weeks"))
    drives.run(task, PerfectModel(task))
    assert all(day in str(request["messages"]) for request in model.requests)
