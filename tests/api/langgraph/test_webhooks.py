"""Webhooks at the end of clients' runs: to listed hosts only, once for each run, over restarts, with the values."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest
from langgraph_sdk import get_sync_client

from api.runs.webhook_hosts import WebhookHosts
from api.runs.webhooks import RETRIES_AFTER_SECONDS
from graph.settings import AgentSettings
from tests.api.command_model import command
from tests.api.fakes import Gate, ManualClock
from tests.api.hooked import Hooked
from tests.api.langgraph.talking import AGENT, WAIT, WaitingModel, new_thread, said, texts
from tests.api.real_service import RealService
from tests.api.serving import execute
from tests.fakes.chat_model import words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from langchain_core.messages import AIMessage, BaseMessage

    from tests.e2e.person import Person

LISTED = "127.0.0.1"
FAIL = "fail here"


class FailingModel(WaitingModel):
    """Fails for a message that says so."""

    def _answer(self, messages: Sequence[BaseMessage], offered: Sequence[str]) -> AIMessage:
        if words_of(messages[-1]).strip() == FAIL:
            raise RuntimeError(FAIL)
        return super()._answer(messages, offered)


class Served:
    """The real service over a data directory, its owner and their client."""

    def __init__(self, data_dir: Path, hosts: str = LISTED) -> None:
        self.data_dir = data_dir
        self.clock = ManualClock()
        self.model = FailingModel(gate=Gate())
        settings = AgentSettings(model="offline", webhook_hosts=hosts)
        self.service = RealService(data_dir, self.model, clock=self.clock, agent=settings).start()
        self.owner = self.service.owner()
        self.client: Any = get_sync_client(url=self.service.url, api_key=self.owner.token)

    def stop(self) -> None:
        """End it."""
        self.client.close()
        self.owner.close()
        self.service.stop()

    def rows(self, run_id: str) -> list[Any]:
        """Return the attempts, the delivery flag and the stored body of each webhook of a run."""
        return execute(self.data_dir, "SELECT attempts, is_delivered, body FROM webhooks WHERE id = ?", f"msg_{run_id}")

    def until(self, run_id: str, is_reached: Callable[[list[Any]], bool]) -> list[Any]:
        """Return the rows once they are so: the outcome is noted after the receiver has answered."""
        for _ in range(6_000):
            if is_reached(found := self.rows(run_id)):
                return found
            threading.Event().wait(0.01)
        raise AssertionError(self.rows(run_id))

    def ended(self, run_id: str) -> list[Any]:
        """Return the rows once they are delivered or given up."""
        return self.until(run_id, lambda found: bool(found) and found[0][1] is not None)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = Served(tmp_path_factory.mktemp("webhooks"))
    yield running
    running.model.gate.open()
    running.stop()


@pytest.fixture
def client(served: Served) -> Any:
    return served.client


@pytest.fixture
def hooked() -> Iterator[Hooked]:
    server = Hooked()
    yield server
    server.close()


def told_to(hooked: Hooked) -> Any:
    """Return the body of the next delivery."""
    return json.loads(hooked.wait().body)


def test_the_end_of_a_run_is_told_with_its_values(served: Served, client: Any, hooked: Hooked) -> None:
    thread_id = new_thread(client)
    run = client.runs.create(thread_id, AGENT, input=said("hello"), webhook=hooked.url, metadata={"by": "me"})
    delivery = hooked.wait()
    told = json.loads(delivery.body)
    assert (told["run_id"], told["thread_id"], told["status"]) == (run["run_id"], thread_id, "success")
    assert told["metadata"]["by"] == "me"
    assert texts(told["values"]) == [("human", "hello"), ("ai", "You said hello")]
    assert told["values"] == client.threads.get_state(thread_id)["values"]
    assert {"assistant_id", "created_at", "updated_at", "kwargs", "multitask_strategy"} <= told.keys()
    assert told["run_started_at"] <= told["run_ended_at"] <= told["webhook_sent_at"]
    assert "error" not in told
    assert delivery.headers["content-type"] == "application/json"
    assert delivery.headers["webhook-id"] == f"msg_{run['run_id']}"
    assert delivery.headers["webhook-signature"] is None
    assert served.ended(run["run_id"]) == [(1, 1, "")]


def test_each_way_to_begin_a_run_has_a_webhook(client: Any, hooked: Hooked) -> None:
    thread_id = new_thread(client)
    client.runs.wait(thread_id, AGENT, input=said("one"), webhook=hooked.url)
    assert told_to(hooked)["values"]["messages"][-1]["content"] == "You said one"
    assert [*client.runs.stream(thread_id, AGENT, input=said("two"), webhook=hooked.url)]
    assert told_to(hooked)["values"]["messages"][-1]["content"] == "You said two"
    client.runs.create_batch([{"assistant_id": AGENT, "input": said("three"), "webhook": hooked.url}])
    assert told_to(hooked)["values"]["messages"][-1]["content"] == "You said three"
    assert len(hooked.deliveries) == 3


def test_a_failure_is_told_with_its_error(served: Served, client: Any, hooked: Hooked) -> None:
    thread_id = new_thread(client)
    client.runs.create(thread_id, AGENT, input=said(FAIL), webhook=hooked.url)
    told = told_to(hooked)
    assert told["status"] == "error"
    assert set(told["error"]) == {"error", "message"}
    assert "Traceback" not in hooked.deliveries[0].body.decode()
    assert str(served.data_dir) not in hooked.deliveries[0].body.decode()


def test_a_run_that_is_stopped_is_told_as_interrupted_and_one_that_waited_for_it_too(
    client: Any, hooked: Hooked
) -> None:
    thread_id = new_thread(client)
    first = client.runs.create(thread_id, AGENT, input=said(WAIT), webhook=hooked.url)
    second = client.runs.create(thread_id, AGENT, input=said("behind it"), webhook=hooked.url)
    assert second["status"] == "pending"
    client.runs.cancel(thread_id, first["run_id"])
    for _ in range(2):
        hooked.wait()
    told = [json.loads(delivery.body) for delivery in hooked.deliveries]
    assert {one["run_id"]: one["status"] for one in told} == {
        first["run_id"]: "interrupted",
        second["run_id"]: "success",
    }


def test_a_question_is_told_and_the_end_after_its_answer_is_another(
    served: Served, client: Any, hooked: Hooked
) -> None:
    file = served.owner.upload("asked.txt", "x")
    thread_id = new_thread(client)
    message = said(command("trash_item", item_id=file["id"]))
    client.runs.create(thread_id, AGENT, input=message, webhook=hooked.url)
    asked = told_to(hooked)
    assert asked["status"] == "success"
    assert asked["values"]["__interrupt__"][0]["value"]["action_requests"][0]["name"] == "trash_item"
    answer = {"resume": {"decisions": [{"type": "approve"}]}}
    run = client.runs.create(thread_id, AGENT, command=answer, webhook=hooked.url)
    told = told_to(hooked)
    assert (told["run_id"], told["status"]) == (run["run_id"], "success")
    assert "__interrupt__" not in told["values"]
    assert "asked.txt" not in served.owner.names()


def test_a_run_without_a_thread_is_told_after_its_thread_has_gone(served: Served, client: Any) -> None:
    hooked = Hooked(500, 204)
    run = client.runs.create(None, AGENT, input=said("alone"), webhook=hooked.url)
    hooked.wait()
    while execute(served.data_dir, "SELECT id FROM threads WHERE id = ?", run["thread_id"]):
        threading.Event().wait(0.01)
    served.clock.advance(RETRIES_AFTER_SECONDS[0])
    assert texts(told_to(hooked)["values"]) == [("human", "alone"), ("ai", "You said alone")]
    assert served.ended(run["run_id"]) == [(2, 1, "")]
    hooked.close()


def test_a_redirect_is_not_followed(served: Served, client: Any) -> None:
    hooked = Hooked(307, 204)
    run = client.runs.create(new_thread(client), AGENT, input=said("hello"), webhook=hooked.url)
    hooked.wait()
    served.until(run["run_id"], lambda found: found[0][0] == 1)
    served.clock.advance(RETRIES_AFTER_SECONDS[0])
    hooked.wait()
    assert {delivery.path for delivery in hooked.deliveries} == {"/hook"}
    assert len({delivery.headers["webhook-id"] for delivery in hooked.deliveries}) == 1
    assert served.ended(run["run_id"]) == [(2, 1, "")]
    hooked.close()


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "The end of a run is told to listed hosts only, and this one is not listed: 169.254.169.254."),
        ("zh-CN", "运行结束的通知只能发往列表中的主机，而此主机不在列表中：169.254.169.254。"),
    ],
)
def test_a_host_that_is_not_listed_is_refused_before_anything_begins(
    served: Served, client: Any, language: str, sentence: str
) -> None:
    thread_id = new_thread(client)
    wanted = {"assistant_id": AGENT, "input": said("x"), "webhook": "http://169.254.169.254/latest"}
    headers = {"Accept-Language": language}
    for path in (f"/threads/{thread_id}/runs", f"/threads/{thread_id}/runs/stream", "/runs", "/runs/wait"):
        answer = served.owner.http.post(path, json=wanted, headers=headers)
        assert (answer.status_code, answer.json()["detail"]) == (422, sentence)
        assert "AGENT_WEBHOOK_HOSTS" in answer.json()["hint"]
    assert client.runs.list(thread_id) == []
    assert client.threads.get_state(thread_id)["values"] == {}


def test_no_host_is_listed_by_default(owner: Person) -> None:
    wanted = {"assistant_id": AGENT, "input": said("x"), "webhook": "https://example.com/hook"}
    assert owner.http.post("/runs", json=wanted).status_code == 422


def test_a_listed_name_does_not_lead_to_a_private_address(tmp_path: Path, hooked: Hooked) -> None:
    port = hooked.url.split(":")[2].split("/")[0]
    served = Served(tmp_path, f"localhost:{port}")
    run = served.client.runs.create(None, AGENT, input=said("x"), webhook=f"http://localhost:{port}/hook")
    served.until(run["run_id"], lambda found: bool(found) and found[0][0] == 1)
    for pause in RETRIES_AFTER_SECONDS:
        attempts = served.rows(run["run_id"])[0][0]
        served.clock.advance(pause)
        served.until(run["run_id"], lambda found, before=attempts: found[0][0] > before)
    assert served.ended(run["run_id"]) == [(len(RETRIES_AFTER_SECONDS) + 1, 0, "")]
    assert hooked.deliveries == []
    served.stop()


def test_what_is_not_delivered_goes_with_its_thread_and_with_the_key_that_wanted_it(
    served: Served, client: Any
) -> None:
    hooked = Hooked(500)
    made = served.owner.http.post("/api/auth/keys", json={"name": "k", "scopes": ["read", "write"]}).json()
    thread_id = new_thread(client)
    first = client.runs.create(thread_id, AGENT, input=said("one"), webhook=hooked.url)
    hooked.wait()
    with get_sync_client(url=served.service.url, api_key=made["key"]) as program:
        second = program.runs.create(new_thread(program), AGENT, input=said("two"), webhook=hooked.url)
        hooked.wait()
    served.until(first["run_id"], lambda found: found[0][0] == 1)
    client.threads.delete(thread_id)
    assert served.rows(first["run_id"]) == []
    assert served.rows(second["run_id"])
    assert served.owner.http.delete(f"/api/auth/keys/{made['id']}").is_success
    served.until(second["run_id"], lambda found: found == [])
    hooked.close()


def test_a_crash_between_the_end_of_a_run_and_its_webhook_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    hooked = Hooked(503, 204)
    first = Served(tmp_path)
    thread_id = new_thread(first.client)
    run = first.client.runs.create(thread_id, AGENT, input=said("hello"), webhook=hooked.url)
    hooked.wait()
    first.client.runs.join(thread_id, run["run_id"])
    first.stop()
    # As a process leaves it that dies as soon as the last event of the run is stored.
    execute(tmp_path, "UPDATE client_runs SET status = 'running', last_seq = NULL")
    execute(tmp_path, "UPDATE webhooks SET body = '', attempts = 0")
    second = Served(tmp_path)
    told = told_to(hooked)
    assert (told["run_id"], told["status"]) == (run["run_id"], "success")
    assert texts(told["values"]) == [("human", "hello"), ("ai", "You said hello")]
    assert second.ended(run["run_id"]) == [(1, 1, "")]
    assert execute(tmp_path, "SELECT COUNT(*) FROM webhooks") == [(1,)]
    second.stop()
    hooked.close()


def test_a_restart_sends_what_failed_before_unless_its_host_is_not_listed_any_more(tmp_path: Path) -> None:
    hooked = Hooked(503, 503, 204)
    first = Served(tmp_path)
    runs = [
        first.client.runs.create(new_thread(first.client), AGENT, input=said(text), webhook=url)["run_id"]
        for text, url in (("one", hooked.url), ("two", hooked.url.replace("hook", "other")))
    ]
    for _ in range(2):
        hooked.wait()
    first.stop()
    execute(tmp_path, "UPDATE webhooks SET url = 'http://10.0.0.1/' WHERE id = ?", f"msg_{runs[1]}")
    execute(tmp_path, "UPDATE webhooks SET due_at = created_at")
    second = Served(tmp_path)
    assert told_to(hooked)["run_id"] == runs[0]
    assert second.ended(runs[0]) == [(2, 1, "")]
    assert second.ended(runs[1]) == [(2, 0, "")]
    second.stop()
    hooked.close()


@pytest.mark.parametrize(
    ("url", "is_allowed"),
    [
        ("https://example.com/x?a=b", True),
        ("http://EXAMPLE.com./", True),
        ("https://example.com:443/", True),
        ("https://example.com:8443/", False),
        ("https://a.example.org/", True),
        ("https://example.org/", False),
        ("http://n8n:5678/webhook", True),
        ("http://n8n/", False),
        ("http://10.1.2.3:9/", True),
        ("http://[::1]:8/", True),
        ("http://192.168.0.1/", False),
        ("http://[::ffff:10.1.2.3]/", False),
        ("http://me:secret@example.com/", False),
        ("http://example.com\\@evil.example/", False),
        ("http://example.com@evil.example/", False),
        ("http://evil.example#example.com", False),
        ("ftp://example.com/", False),
        ("/relative", False),
        ("http://0x0a.1/", False),
        ("http://167838211/", False),
        ("http://exam\nple.com/", False),
        ("http://", False),
        ("", False),
    ],
)
def test_hosts_are_listed_by_name_and_by_network(url: str, is_allowed: bool) -> None:
    hosts = WebhookHosts("example.com, *.example.org, n8n:5678, 10.0.0.0/8, ::1")
    assert hosts.allows(url) is is_allowed


@pytest.mark.parametrize("listed", ["https://example.com", "example.com/hooks", "*", "a b", "*.*.com"])
def test_an_entry_that_is_no_host_is_refused_at_the_start(listed: str) -> None:
    with pytest.raises(ValueError, match="AGENT_WEBHOOK_HOSTS"):
        WebhookHosts(listed)
