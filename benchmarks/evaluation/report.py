"""The tables of an evaluation: the share that passed in each run, and the cost. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import get_args

from benchmarks.evaluation.conversation import Spent
from benchmarks.evaluation.task import LANGUAGES, SETS, Kind

HEADER = (
    "",
    "passed",
    "least",
    "most",
    "refused",
    "calls",
    "questions",
    "input",
    "cached",
    "output",
    "seconds",
    "cost",
)
CACHED = "cached_tokens"


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a task. `faults` are none if it passed. `refused`: it passed by a refusal."""

    task: str
    task_set: str
    language: str
    faults: Sequence[str]
    refused: bool
    spent: Spent
    cost: float
    kind: Kind = "changes"
    run: int = 0

    @property
    def passed(self) -> bool:
        """True if nothing is wrong."""
        return not self.faults


def rows_of(results: Sequence[Result]) -> list[list[str]]:
    """Return a row for each set and language, each kind of task, and all.

    Everything but `least` and `most`, which are of one run, is the mean of the runs; tokens, seconds and cost are of
    all tasks of the row together.
    """
    return [_row(name, part) for name, part in _groups(results) if part]


def spread_of(results: Sequence[Result]) -> str:
    """Return a sentence about the runs: the share that passed, its standard deviation, and the unsteady tasks."""
    runs = _by_run(results)
    shares = [100 * sum(one.passed for one in part) / len(part) for part in runs]
    unsteady = sorted(f"{language} {task}" for language, task in _unsteady(results))
    deviation = f", standard deviation {stdev(shares):.1f}" if len(shares) > 1 else ""
    named = f"; not the same in all runs: {', '.join(unsteady)}" if unsteady else ""
    return f"{fmean(shares):.1f} % passed in {len(shares)} run{'s' * (len(shares) > 1)}{deviation}{named}"


def _groups(results: Sequence[Result]) -> Iterator[tuple[str, Sequence[Result]]]:
    for name in SETS:
        for language in LANGUAGES:
            yield f"{name}, {language}", [one for one in results if (one.task_set, one.language) == (name, language)]
    for kind in get_args(Kind):
        yield kind, [one for one in results if one.kind == kind]
    yield "all", results


def _row(name: str, results: Sequence[Result]) -> list[str]:
    runs = _by_run(results)
    passed = [sum(one.passed for one in part) for part in runs]
    spent = [one.spent for one in results]
    counts = [
        *(sum(one.refused for one in part) / len(runs) for part in [results]),
        sum(one.calls for one in spent) / len(runs),
        sum(one.approvals for one in spent) / len(runs),
        *(
            sum(one.tokens.get(key, 0) for one in spent) / len(runs)
            for key in ("input_tokens", CACHED, "output_tokens")
        ),
        sum(one.seconds for one in spent) / len(runs),
    ]
    cost = sum(one.cost for one in results) / len(runs)
    of = len(runs[0])
    return [
        name, f"{fmean(passed):g} of {of}", str(min(passed)), str(max(passed)), *map(_short, counts), f"{cost:.4f}"
    ]  # fmt: skip


def _short(count: float) -> str:
    return f"{count:.0f}" if count == round(count) or count >= 10 else f"{count:.1f}"


def _by_run(results: Sequence[Result]) -> list[list[Result]]:
    numbers = dict.fromkeys(one.run for one in results)
    return [[one for one in results if one.run == number] for number in numbers]


def _unsteady(results: Sequence[Result]) -> set[tuple[str, str]]:
    passed = {(one.language, one.task) for one in results if one.passed}
    return passed & {(one.language, one.task) for one in results if not one.passed}
