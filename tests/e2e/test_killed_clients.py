"""A service that is killed while a client of LangGraph's API waits: the client joins its run again, and it is whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest
from langgraph_sdk import get_sync_client

from tests.e2e.killed import Victim

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.timeout(180)
NAME = "Kept"


@pytest.mark.parametrize("place", [34])
def test_a_run_is_joined_after_the_service_was_killed(tmp_path: Path, place: int) -> None:
    thread_id = run_id = ""
    with Victim(tmp_path, place) as victim:
        person = victim.person()
        with person.http, get_sync_client(url=victim.url, api_key=person.token) as client:
            thread_id = client.threads.create()["thread_id"]
            run_id = client.runs.create(thread_id, "drive_agent", input=said(), stream_resumable=True)["run_id"]
            with pytest.raises(httpx.TransportError):
                # The client of LangGraph would try again by itself, with a warning.
                person.http.get(f"/threads/{thread_id}/runs/{run_id}/join")
    with Victim(tmp_path) as victim:
        person = victim.person()
        with person.http, get_sync_client(url=victim.url, api_key=person.token) as client:
            values: Any = client.runs.join(thread_id, run_id)
            assert client.runs.get(thread_id, run_id)["status"] == "success"
            state: Any = client.threads.get_state(thread_id)
            assert state["interrupts"] == values.pop("__interrupt__")
            assert state["values"] == values
            assert client.threads.get_history(thread_id, limit=1)[0]["checkpoint"] == state["checkpoint"]
            parts = [*client.runs.join_stream(thread_id, run_id, stream_mode=["custom"], last_event_id="-1")]
            kinds = [part.data["type"] for part in parts if part.event == "custom"]
            assert (kinds.count("run"), kinds.count("approval_needed"), kinds[-1]) == (1, 1, "approval_needed")
            values = client.runs.wait(thread_id, "drive_agent", command={"resume": {"approve_all": True}})
            calls = [call["id"] for one in values["messages"] for call in one.get("tool_calls", ())]
            results = [one["tool_call_id"] for one in values["messages"] if one["type"] == "tool"]
            assert sorted(calls) == sorted(results)
            assert person.names().count(NAME) == 1


def said() -> dict[str, Any]:
    return {"messages": [{"type": "human", "content": NAME, "id": "from-the-client"}]}
