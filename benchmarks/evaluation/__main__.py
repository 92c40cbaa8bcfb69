"""`make eval`: forty tasks on a real model, scored by the state of the drive, with cost and calls.

Works with any OpenAI-compatible service: `OPENAI_API_KEY`, `OPENAI_BASE_URL`, `AGENT_MODEL`, as for the service itself.
Each task has a service and a drive of its own. What a task costs is worked out by the prices of the models, as the
settings or `graph/limits/model_table.py` have them.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.evaluation.conversation import Spent, converse
from benchmarks.evaluation.drive import EvaluatedDrive
from benchmarks.evaluation.scoring import faults
from benchmarks.evaluation.task import LANGUAGES, Task, load_tasks
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
    """What came of a task. `faults`: what is wrong with the drive; empty: it passed."""

    task: str
    language: str
    faults: Sequence[str]
    spent: Spent
    cost: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tasks; return 0 if they were run, whatever came of them, 2 without a model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", choices=LANGUAGES, help="only the tasks in this language")
    parser.add_argument("--task", action="append", default=[], help="only the task of this id")
    parser.add_argument("--json", type=Path, help="write the results to this file as well")
    given = parser.parse_args(arguments)
    settings = AgentSettings()
    if settings.resolved_model == OFFLINE:
        print(NOT_SET, file=sys.stderr)
        return WRONG_USAGE
    languages = [given.language] if given.language else LANGUAGES
    results = list(_run(settings, languages, given.task))
    _print(results, settings)
    if given.json:
        given.json.write_text(json.dumps([asdict(result) for result in results], ensure_ascii=False, indent=1))
    return 0


def evaluate(task: Task, language: str, settings: AgentSettings) -> Result:
    """Run one task on a drive of its own."""
    with serving(settings) as client:
        drive = EvaluatedDrive(client)
        drive.seed(task)
        before = drive.state()
        spent = converse(drive, task)
        found = faults(before, drive.state(), task)
    return Result(task.id, language, found, spent, _cost(spent, settings))


def _run(settings: AgentSettings, languages: Sequence[str], ids: Sequence[str]) -> Iterator[Result]:
    for language in languages:
        for task in load_tasks(language):
            if ids and task.id not in ids:
                continue
            result = evaluate(task, language, settings)
            verdict = "; ".join([*result.faults, *result.spent.errors]) or "passed"
            print(f"{language}  {task.id}: {verdict}", flush=True)
            yield result


def _cost(spent: Spent, settings: AgentSettings) -> float:
    return cost_of(spent.tokens, prices_of(settings, settings.resolved_model) or Prices())


def _print(results: Sequence[Result], settings: AgentSettings) -> None:
    rows: list[list[str]] = []
    for language in (*LANGUAGES, ""):
        counted = [result for result in results if language in ("", result.language)]
        if not counted:
            continue
        passed = sum(not result.faults for result in counted)
        rows.append(
            [
                language or "all",
                f"{passed} of {len(counted)}",
                str(sum(result.spent.calls for result in counted)),
                str(sum(result.spent.approvals for result in counted)),
                str(sum(result.spent.tokens.get("total_tokens", 0) for result in counted)),
                f"{sum(result.cost for result in counted):.4f}",
            ]
        )
    header = ["", "passed", "tool calls", "questions", "tokens", "cost"]
    print_table(f"{settings.resolved_model}, scored by the state of the drive", header, rows)


if __name__ == "__main__":
    sys.exit(main())
