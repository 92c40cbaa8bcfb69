"""`drive-agent plan` beside a service: a plan is seen, changed, paused and resumed."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

from api.cli import main
from tests.api.test_plans import THREE, Planned, PlanService, pending

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PlanService]:
    service = PlanService(tmp_path / "data")
    monkeypatch.setenv("DRIVE_AGENT_URL", service.running.url)
    monkeypatch.setenv("DRIVE_AGENT_TOKEN", service.owner.token)
    yield service
    service.gate.open()
    service.stop()


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run one command; return its exit code and what it printed."""
    try:
        code = main(["plan", *arguments])
    except SystemExit as ended:
        code = int(ended.code or 0)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_a_plan_is_paused_changed_and_resumed(service: PlanService, capsys: pytest.CaptureFixture[str]) -> None:
    with service.owner.chat(THREE) as turn:
        planned = Planned(service, turn)
        code, out, _ = run(capsys, "show", planned.thread_id)
        assert code == 0
        assert "running, version 1" in out
        assert "  1 … " in out
        assert "[drive]  (beside others)" in out

        code, _, err = run(capsys, "pause", planned.thread_id)
        assert code == 0
        assert "after the running step" in err
        service.gate.open()
        turn.until("plan_paused")

        code, _, err = run(capsys, "edit", planned.thread_id, "--step", "1", "--title", "x")
        assert code == 1
        assert "has begun" in err
        assert run(capsys, "edit", planned.thread_id, "--step", "2", "--remove")[0] == 0
        code, out, _ = run(capsys, "edit", planned.thread_id, "--step", "2", "--title", "改名", "--json")
        assert code == 0
        assert [step["title"] for step in json.loads(out)["steps"]][1:] == ["改名"]

        code, out, _ = run(capsys, "resume", planned.thread_id)
        assert code == 0
        turn.finish()
    assert service.owner.names() == ["One", "三 🗂️"]
    code, _, err = run(capsys, "stop", planned.thread_id)
    assert code == 1
    assert "over" in err


def test_a_whole_list_of_steps_comes_from_standard_input(
    service: PlanService, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def pipe(text: str) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO(text))

    with service.owner.chat(THREE) as turn:
        planned = Planned(service, turn)
        second, third = pending(planned.plan())
        pipe(json.dumps([third, second]))
        assert run(capsys, "edit", planned.thread_id, "--stdin")[0] == 0
        assert pending(planned.plan()) == [third, second]
        pipe("no list")
        assert run(capsys, "edit", planned.thread_id, "--stdin")[0] == 1
        service.gate.open()
        turn.finish()
