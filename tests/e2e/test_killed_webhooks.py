"""The service is killed while it tells of the end of a run: the next one tells it, with the same id."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

from langgraph_sdk import get_sync_client

from tests.api.hooked import Delivery, Hooked
from tests.e2e.person import Person
from tests.e2e.service import running

if TYPE_CHECKING:
    from pathlib import Path

WITHIN_SECONDS = 60


class Holding(Hooked):
    """Holds its first answer back until told."""

    def __init__(self) -> None:
        self.came = threading.Event()
        self.goes = threading.Event()
        super().__init__()

    def _take(self, delivery: Delivery) -> int:
        if not self.came.is_set():
            self.came.set()
            self.goes.wait(WITHIN_SECONDS)
        return super()._take(delivery)


def test_a_kill_during_the_delivery_has_it_made_again(tmp_path: Path) -> None:
    receiver = Holding()
    with running(tmp_path, AGENT_WEBHOOK_HOSTS="127.0.0.1", DRIVE_EMBEDDING_MODEL="none") as service:
        owner = Person.owner(service.url, service.data_dir)
        with get_sync_client(url=service.url, api_key=owner.token) as client:
            run = client.runs.create(None, "drive_agent", input={"messages": "hello"}, webhook=receiver.url)
        assert receiver.came.wait(WITHIN_SECONDS)
        service.kill()
        owner.close()
        receiver.goes.set()
        receiver.wait()
        service.start()
        told = json.loads(receiver.wait().body)
    assert (told["run_id"], told["status"]) == (run["run_id"], "success")
    assert told["values"]["messages"][0]["content"] == "hello"
    assert {delivery.headers["webhook-id"] for delivery in receiver.deliveries} == {f"msg_{run['run_id']}"}
    receiver.close()
