"""The report: means of the runs, their spread, and what they took."""

from __future__ import annotations

from benchmarks.evaluation.conversation import Spent
from benchmarks.evaluation.report import HEADER, Result, rows_of, spread_of

TOKENS = {"input_tokens": 900, "cached_tokens": 600, "output_tokens": 50}


def outcome(task: str, run: int, *faults: str) -> Result:
    spent = Spent(calls=2, approvals=1, seconds=1.5, tokens=dict(TOKENS))
    return Result(task, "office", "en", faults, refused=False, spent=spent, cost=0.01, kind="memory", run=run)


RESULTS = [
    outcome("a", 0),
    outcome("a", 1),
    outcome("b", 0, "wrong"),
    outcome("b", 1),
    outcome("b", 2),
    outcome("a", 2),
]


def test_rows_have_the_means_and_the_least_and_the_most_of_the_runs() -> None:
    rows = {row[0]: dict(zip(HEADER, row, strict=True)) for row in rows_of(RESULTS)}
    assert list(rows) == ["office, en", "memory", "all"]
    row = rows["all"]
    assert (row["passed"], row["least"], row["most"]) == ("1.66667 of 2", "1", "2")
    assert (row["calls"], row["questions"], row["seconds"], row["cost"]) == ("4", "2", "3", "0.0200")
    assert (row["input"], row["cached"], row["output"]) == ("1800", "1200", "100")


def test_the_spread_names_the_tasks_that_pass_only_sometimes() -> None:
    assert spread_of(RESULTS) == ("83.3 % passed in 3 runs, standard deviation 28.9; not the same in all runs: en b")
    assert spread_of([outcome("a", 0)]) == "100.0 % passed in 1 run"
