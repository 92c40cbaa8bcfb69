"""`make eval`: tasks on a real model, scored by the state of the drive and the answers, with their cost.

Works with any OpenAI-compatible service: `OPENAI_API_KEY`, `OPENAI_BASE_URL`, `AGENT_MODEL`, as for the service itself;
with `AGENT_MODEL=offline` the built-in model is asked. Each task has a person of its own, with a drive of their own,
which is indexed with the packaged embedding models before the first request. All tasks are run three times. What a task
costs is worked out by the prices of the models, as the settings or `graph/limits/model_table.py` have them.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import get_args

import httpx

from benchmarks.evaluation.answers import is_refusal
from benchmarks.evaluation.clock import FixedClock
from benchmarks.evaluation.conversation import Spent, converse
from benchmarks.evaluation.drive import EvaluatedDrive, new_person
from benchmarks.evaluation.own_servers import OwnServers, own_servers
from benchmarks.evaluation.report import HEADER, Result, rows_of, spread_of
from benchmarks.evaluation.scoring import DriveState, faults
from benchmarks.evaluation.task import LANGUAGES, SETS, Kind, Task, load_tasks
from benchmarks.fixtures.serving import serving
from benchmarks.fixtures.table import print_table
from graph.limits.budget import Prices, cost_of
from graph.limits.model_table import prices_of
from graph.settings import OFFLINE, AgentSettings

NOT_SET = """Set OPENAI_API_KEY, and for another service than OpenAI's OPENAI_BASE_URL and AGENT_MODEL, e.g.
  OPENAI_API_KEY=... OPENAI_BASE_URL=https://api.deepseek.com/v1 AGENT_MODEL=deepseek-chat make eval
AGENT_MODEL=offline asks the built-in model."""
WRONG_USAGE = 2
RUNS = 3
LOOPBACK = "127.0.0.1"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tasks; return 0 if they were run, whatever came of them, 2 without a model."""
    given = _parsed(arguments)
    settings = settings_of(AgentSettings())
    if settings.resolved_model == OFFLINE and settings.model != OFFLINE:
        print(NOT_SET, file=sys.stderr)
        return WRONG_USAGE
    tasks = _chosen(given)
    with serving(settings, FixedClock(), embedding_model="local") as owner, own_servers() as servers:
        results = [one for run in range(given.runs) for one in _run(owner, servers, settings, tasks, run)]
    print_table(f"{settings.resolved_model}: means of {given.runs} runs", HEADER, rows_of(results))
    print(f"\n{spread_of(results)}")
    if given.json:
        given.json.write_text(json.dumps([asdict(result) for result in results], ensure_ascii=False, indent=1))
    return 0


def settings_of(settings: AgentSettings) -> AgentSettings:
    """Return settings with which people's own servers of this machine can be reached."""
    return settings.model_copy(update={"mcp_private_hosts": LOOPBACK})


def evaluate(owner: httpx.Client, servers: OwnServers, task: Task, settings: AgentSettings) -> Result:
    """Run one task for a new person on the owner's service."""
    with new_person(owner, servers) as drive:
        drive.seed(task)
        drive.wait_for_index()
        return attempt(drive, drive.state(), task, settings)


def attempt(drive: EvaluatedDrive, before: DriveState, task: Task, settings: AgentSettings) -> Result:
    """Run a task on a drive that is as it begins with."""
    spent = converse(drive, task)
    found = faults(before, drive.state(), task, spent.said, spent.approvals)
    wanted = task.expect.answer
    refused = not found and wanted is not None and bool(wanted.figure) and is_refusal(spent.said, task.requests)
    cost = _cost(spent, settings)
    return Result(task.id, task.task_set, task.language, found, refused, spent, cost, task.kind)


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", choices=LANGUAGES, help="only the tasks in this language")
    parser.add_argument("--set", choices=SETS, help="only this set: the first forty, everyday life, or the office")
    parser.add_argument("--kind", choices=get_args(Kind), help="only the tasks of this kind")
    parser.add_argument("--task", action="append", default=[], help="only the task of this id")
    parser.add_argument("--runs", type=int, default=RUNS, help="how often each task is run")
    parser.add_argument("--json", type=Path, help="write the results to this file as well")
    return parser.parse_args(arguments)


def _chosen(given: argparse.Namespace) -> list[Task]:
    sets = [given.set] if given.set else SETS
    languages = [given.language] if given.language else LANGUAGES
    tasks = [task for name in sets for language in languages for task in load_tasks(language, name)]
    return [
        task
        for task in tasks
        if (not given.task or task.id in given.task) and (not given.kind or task.kind == given.kind)
    ]


def _run(
    owner: httpx.Client, servers: OwnServers, settings: AgentSettings, tasks: Sequence[Task], run: int
) -> Iterator[Result]:
    for task in tasks:
        result = replace(evaluate(owner, servers, task, settings), run=run)
        passed = "refused, which is right" if result.refused else "passed"
        verdict = "; ".join([*result.faults, *result.spent.errors]) or passed
        print(f"{task.language}  {task.id}: {verdict}", flush=True)
        yield result


def _cost(spent: Spent, settings: AgentSettings) -> float:
    return cost_of(spent.tokens, prices_of(settings, settings.resolved_model) or Prices())


if __name__ == "__main__":
    sys.exit(main())
