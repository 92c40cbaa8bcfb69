"""The service is told to end while a person still has to answer: it ends in time, and the question waits."""

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


def test_an_approval_that_waits_does_not_keep_the_service_from_ending_and_is_there_again(own_service: Service) -> None:
    owner = own_service.owner()
    old = owner.folder("Old")
    owner.upload("a.txt", "a", old["id"])
    with owner.chat("delete everything in Old") as turn:
        approval = turn.until("approval_needed")
        assert own_service.end() == 0
    owner.close()

    own_service.start()
    owner = own_service.owner()
    assert [entry["approval_id"] for entry in owner.get("/api/approvals")["items"]] == [approval["approval_id"]]
    assert owner.names(old["id"]) == ["a.txt"]
    owner.close()
