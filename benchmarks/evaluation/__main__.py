"""`make eval`: eighty tasks on a real model, scored by the state of the drive, with cost and calls.

Works with any OpenAI-compatible service: `OPENAI_API_KEY`, `OPENAI_BASE_URL`, `AGENT_MODEL`, as for the service itself.
Each task has a person of its own, with a drive of their own. What a task costs is worked out by the prices of the
models, as the settings or `graph/limits/model_table.py` have them.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx

from benchmarks.evaluation.answers import is_refusal
from benchmarks.evaluation.clock import FixedClock
from benchmarks.evaluation.conversation import Spent, converse
from benchmarks.evaluation.drive import EvaluatedDrive, new_person
from benchmarks.evaluation.scoring import DriveState, faults
from benchmarks.evaluation.task import LANGUAGES, SETS, Task, load_tasks
from benchmarks.fixtures.serving import serving
from benchmarks.fixtures.table import print_table
from graph.limits.budget import Prices, cost_of
from graph.limits.model_table import prices_of
from graph.settings import OFFLINE, AgentSettings

NOT_SET = """Set OPENAI_API_KEY, and for another service than OpenAI's OPENAI_BASE_URL and AGENT_MODEL, e.g.
  OPENAI_API_KEY=... OPENAI_BASE_URL=https://api.deepseek.com/v1 AGENT_MODEL=deepseek-chat make eval"""
WRONG_USAGE = 2


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a task. `faults`: what is wrong, if it failed. `refused`: it passed by saying that it can't."""

    task: str
    task_set: str
    language: str
    faults: Sequence[str]
    refused: bool
    spent: Spent
    cost: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tasks; return 0 if they were run, whatever came of them, 2 without a model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", choices=LANGUAGES, help="only the tasks in this language")
    parser.add_argument("--set", choices=SETS, help="only this set: the first forty, or those of everyday life")
    parser.add_argument("--task", action="append", default=[], help="only the task of this id")
    parser.add_argument("--json", type=Path, help="write the results to this file as well")
    given = parser.parse_args(arguments)
    settings = AgentSettings()
    if settings.resolved_model == OFFLINE:
        print(NOT_SET, file=sys.stderr)
        return WRONG_USAGE
    sets = [given.set] if given.set else SETS
    languages = [given.language] if given.language else LANGUAGES
    tasks = [task for name in sets for language in languages for task in load_tasks(language, name)]
    wanted = [task for task in tasks if not given.task or task.id in given.task]
    with serving(settings, FixedClock()) as owner:
        results = list(_run(owner, settings, wanted))
    _print(results, settings)
    if given.json:
        given.json.write_text(json.dumps([asdict(result) for result in results], ensure_ascii=False, indent=1))
    return 0


def evaluate(owner: httpx.Client, task: Task, settings: AgentSettings) -> Result:
    """Run one task for a new person on the owner's service."""
    with new_person(owner) as drive:
        drive.seed(task)
        return attempt(drive, drive.state(), task, settings)


def attempt(drive: EvaluatedDrive, before: DriveState, task: Task, settings: AgentSettings) -> Result:
    """Run a task on a drive that is as it begins with."""
    spent = converse(drive, task)
    found = faults(before, drive.state(), task, spent.said, spent.approvals)
    refused = not found and task.expect.answer is not None and is_refusal(spent.said, task.requests)
    return Result(task.id, task.task_set, task.language, found, refused, spent, _cost(spent, settings))


def _run(owner: httpx.Client, settings: AgentSettings, tasks: Sequence[Task]) -> Iterator[Result]:
    for task in tasks:
        result = evaluate(owner, task, settings)
        passed = "refused, which is right" if result.refused else "passed"
        verdict = "; ".join([*result.faults, *result.spent.errors]) or passed
        print(f"{task.language}  {task.id}: {verdict}", flush=True)
        yield result


def _cost(spent: Spent, settings: AgentSettings) -> float:
    return cost_of(spent.tokens, prices_of(settings, settings.resolved_model) or Prices())


def _print(results: Sequence[Result], settings: AgentSettings) -> None:
    groups = [(f"{name}, {language}", _of(results, name, language)) for name in SETS for language in LANGUAGES]
    rows = [_row(name, counted) for name, counted in [*groups, ("all", results)] if counted]
    header = ["", "passed", "refused", "tool calls", "questions", "tokens", "cost"]
    print_table(f"{settings.resolved_model}, scored by the state of the drive", header, rows)


def _of(results: Sequence[Result], task_set: str, language: str) -> list[Result]:
    return [result for result in results if (result.task_set, result.language) == (task_set, language)]


def _row(name: str, results: Sequence[Result]) -> list[str]:
    return [
        name,
        f"{sum(not result.faults for result in results)} of {len(results)}",
        str(sum(result.refused for result in results)),
        str(sum(result.spent.calls for result in results)),
        str(sum(result.spent.approvals for result in results)),
        str(sum(result.spent.tokens.get("total_tokens", 0) for result in results)),
        f"{sum(result.cost for result in results):.4f}",
    ]


if __name__ == "__main__":
    sys.exit(main())
