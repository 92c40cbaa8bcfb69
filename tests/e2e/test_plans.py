"""A paused plan outlives a kill: the installed service, its offline model, both languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.service import Service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def own_service(tmp_path: Path) -> Iterator[Service]:
    service = Service(tmp_path / "data")
    service.data_dir.mkdir()
    yield service.start()
    service.stop()


@pytest.mark.parametrize(
    "message",
    [
        "create a folder First, share First with bob@example.com, then create a folder Last",
        "新建文件夹First，把First共享给bob@example.com，然后新建文件夹Last",
    ],
)
def test_a_paused_plan_waits_over_a_kill_and_then_does_the_rest_once(own_service: Service, message: str) -> None:
    own_service.add_person("bob@example.com").close()
    owner = own_service.owner()
    with owner.chat(message) as turn:
        begun = turn.until("run")
        approval = turn.until("approval_needed")
        plan = f"/api/threads/{begun['thread_id']}/plan"
        assert owner.http.post(f"{plan}/pause").status_code == 200
        assert owner.answer(approval, "approve").status_code == 200
        turn.until("plan_paused")
        own_service.kill()
    owner.close()

    own_service.start()
    owner = own_service.owner()
    assert owner.get(plan)["status"] == "paused"
    assert owner.names() == ["First"]
    assert owner.http.post(f"{plan}/resume").status_code == 200
    with owner.follow(begun["run_id"]) as turn:
        done = turn.finish()
    assert owner.names() == ["First", "Last"]
    assert [step["status"] for step in owner.get(plan)["steps"]] == ["completed"] * 3
    assert len(done["changes"]) == 3
    owner.close()


@pytest.mark.parametrize(
    "message", ["summarise each file in Notes, then the whole", "总结Notes文件夹里的每个文件，再给一个整体总结"]
)
def test_each_file_and_then_the_whole(own_service: Service, message: str) -> None:
    owner = own_service.owner()
    notes = owner.folder("Notes")
    for number in range(5):
        owner.upload(f"{number}.md", f"The note number {number} is about the rent.\n", notes["id"])
    with owner.chat(message) as turn:
        turn.finish()
    assert len(turn.of("map_progress")) == 5
    assert "5 of 5 read." in turn.text or "共 5 个文件，已读 5 个。" in turn.text
    owner.close()
