"""`make eval` from its arguments to its table and its file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks.evaluation.__main__ import main
from benchmarks.evaluation.task import EVERYDAY, load_tasks
from tests.benchmarks.evaluation.perfect_model import PerfectModel

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.fakes.openai_server import OpenAIServer


def test_it_runs_the_chosen_tasks_and_counts_refusals_apart(
    model: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    task = next(one for one in load_tasks("zh", EVERYDAY) if one.id == "nothing-to-add-up")
    model.brain = PerfectModel(task)
    for name, value in {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model.url, "AGENT_MODEL": "scripted"}.items():
        monkeypatch.setenv(name, value)
    written = tmp_path / "results.json"

    assert (
        main(["--set", "everyday", "--language", "zh", "--task", task.id, "--runs", "2", "--json", str(written)]) == 0
    )

    shown = capsys.readouterr().out
    assert "zh  nothing-to-add-up: refused, which is right" in shown
    assert [line.split()[:7] for line in shown.splitlines() if "1 of 1" in line] == [
        ["everyday,", "zh", "1", "of", "1", "1", "1"],
        ["changes", "1", "of", "1", "1", "1", "1"],
        ["all", "1", "of", "1", "1", "1", "1"],
    ]
    assert "100.0 % passed in 2 runs, standard deviation 0.0" in shown
    results = json.loads(written.read_text())
    assert [(one["task_set"], one["refused"], one["faults"], one["run"]) for one in results] == [
        ("everyday", True, [], 0),
        ("everyday", True, [], 1),
    ]
