"""`drive-agent index` in this process, with a service that can't build its index anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from api.cli import main
from api.cli.client import ServiceClient

if TYPE_CHECKING:
    import pytest

    from tests.e2e.service import Service


def test_a_rebuild_that_leaves_a_damaged_index_fails(
    service: Service, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = ServiceClient.get

    def degraded(client: ServiceClient, path: str, **options: Any) -> Any:
        found = answer(client, path, **options)
        return {**found, "health": "degraded"} if path == "/api/drive/index" else found

    monkeypatch.setattr(ServiceClient, "get", degraded)
    monkeypatch.setenv("DRIVE_DATA_DIR", str(service.data_dir))
    assert main(["index", "--rebuild", "--url", service.url]) == 1
    assert "The search index could not be built anew." in capsys.readouterr().err
    assert main(["index", "--status", "--url", service.url]) == 0
