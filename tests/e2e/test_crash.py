"""The service is killed while an approval waits: the action still happens, exactly once."""

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


@pytest.mark.parametrize("message", ["delete everything in Old", "删除Old里的所有内容"])
def test_story_6_an_approved_action_happens_once_though_the_service_was_killed(
    own_service: Service, message: str
) -> None:
    owner = own_service.owner()
    old = owner.folder("Old")
    kept = owner.upload("kept.txt", "kept")
    for name in ("a.txt", "b.txt"):
        owner.upload(name, name, old["id"])
    with owner.chat(message) as turn:
        run_id = turn.until("run")["run_id"]
        approval = turn.until("approval_needed")
        own_service.kill()
    owner.close()

    own_service.start()
    owner = own_service.owner()
    waiting = owner.get("/api/approvals")["items"]
    assert [entry["approval_id"] for entry in waiting] == [approval["approval_id"]]
    assert sorted(owner.names(old["id"])) == ["a.txt", "b.txt"]
    assert owner.answer(approval, "approve").status_code == 200
    with owner.follow(run_id) as turn:
        done = turn.finish()
    assert owner.names(old["id"]) == []
    assert owner.names() == ["Old", kept["name"]]
    assert len(done["changes"]) == 2
    assert len(owner.get(f"/api/runs/{run_id}/changes")["items"]) == 2
    assert owner.answer(approval, "approve").status_code == 409
    ids = [int(event["_id"]) for event in turn.seen]
    assert ids == sorted(set(ids))
    owner.close()
