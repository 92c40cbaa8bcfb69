"""One of everything that the routes of the assistant's service name, made by its owner, and a request for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graph.settings import AgentSettings
from tests.api.command_model import CommandModel, command
from tests.api.fakes import Gate
from tests.api.plan_model import PlanModel, folder, plan_message
from tests.api.real_service import RealService
from tests.fakes.small_mcp import ECHO, small_server

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import ExitStack
    from pathlib import Path

    from langchain_core.messages import AIMessage, BaseMessage

    from tests.e2e.person import Person, Turn

FACT = {
    "id": "f1",
    "text": "I like tea.",
    "source": {"kind": "said"},
    "created_at": "2026-11-05T09:00:00Z",
    "updated_at": "2026-11-05T09:00:00Z",
}
THREAD = {
    "export_id": "e2",
    "thread_id": "t1",
    "title": "Old",
    "created_at": "2026-11-05T09:00:00Z",
    "updated_at": "2026-11-05T09:00:00Z",
    "messages": [{"id": "1", "role": "user", "text": "Hello"}],
}

OTHERS = {
    "POST /runs/{run_id}/cancel": {"run_id": "waiting_run"},
    "POST /messages/{message_id}/tool-confirm": {"message_id": "asking_message"},
}
"""Routes about something else than the others that have such an id."""


class PlanOrCommandModel(PlanModel, CommandModel):
    """Plans for a message that is a list of steps, and does any other message to the letter."""

    def _answer(self, messages: Sequence[BaseMessage], offered: Sequence[str]) -> AIMessage:
        planned = any(message.type == "human" and message.text.startswith("[") for message in messages)
        answer = PlanModel._answer if planned else CommandModel._answer
        return answer(self, messages, offered)


@dataclass(frozen=True)
class World:
    """The service, its owner, and the ids of what they made."""

    running: RealService
    owner: Person
    ids: dict[str, str]

    def path_of(self, route: str) -> str:
        """Return the address of a route, about what the owner made."""
        names = {**self.ids, **OTHERS.get(route, {})}
        path = route.split(" ")[1]
        names["thread_id"] = self.ids["planned_thread" if "/plan" in path else "talked_thread"]
        for name in names:
            path = path.replace(f"{{{name}}}", self.ids.get(names[name], names[name]))
        return f"/api{path}"

    def body_of(self, route: str) -> Any:
        """Return a body that does something."""
        name, ids = route.replace("{", "").replace("}", ""), self.ids
        approve = {"decisions": [{"tool_call_id": ids["call"], "type": "approve"}]}
        tools = {"tools": [{"name": ECHO["name"], "isAutoApprove": True}]}
        automatic: dict[str, Any] = {"auto_approve_tools": [ECHO["name"]]}
        bodies: dict[str, Any] = {
            "POST /chat": {"message": "hi"},
            "POST /approvals/approval_id": approve,
            "POST /messages/message_id/tool-confirm": {"toolCallId": ids["call"], "approved": True},
            "PATCH /threads/thread_id": {"title": "Renamed"},
            "POST /threads/thread_id/messages/message_id/edit": {"message": "hello"},
            "PATCH /threads/thread_id/plan": {"version": 1, "steps": []},
            "POST /threads/import": THREAD,
            "PATCH /memories/memory_id": {"text": "I like coffee."},
            "POST /memories/import": {"export_id": "e2", "items": [{**FACT, "id": "f2", "text": "I like milk."}]},
            "POST /mcp-servers": {"name": "More", "base_url": "http://127.0.0.1:9/mcp", **automatic},
            "POST /mcp-servers/import": {"mcpServers": {"time": {"url": "http://127.0.0.1:9/mcp"}}},
            "PUT /mcp-servers/server_id": {"name": "Other", **automatic},
            "PUT /mcp-servers/server_id/tools": tools,
            "POST /mcp-servers/server_id/prompts": {"name": "none"},
            "POST /assistants": {"name": "Archivist"},
            "PATCH /assistants/assistant_id": {"name": "Renamed"},
            "PUT /assistants/assistant_id/mcp-servers": {"server_ids": [ids["server_id"]]},
        }
        return bodies.get(name)

    def params_of(self, route: str) -> dict[str, str]:
        """Return the query of a route that has to have one."""
        return {"state": "x", "code": "x"} if route == "POST /mcp-servers/{server_id}/callback" else {}

    def state(self) -> dict[str, Any]:
        """Return all that the routes could change, as the owner sees it."""
        ids, owner = self.ids, self.owner
        threads = [self.ids[name] for name in ("waiting_thread", "planned_thread", "talked_thread")]
        paths = ["/api/memories", "/api/grants", "/api/approvals", "/api/mcp-servers", "/api/assistants"]
        paths += [f"/api/mcp-servers/{ids['server_id']}/tools", f"/api/threads/{ids['planned_thread']}/plan"]
        paths += [f"/api/assistants/{ids['assistant_id']}/mcp-servers", "/api/auth/keys", "/api/drive/changes"]
        paths += [f"/api/threads/{thread}" for thread in threads]
        found = {path: owner.get(path) for path in paths}
        for key in found["/api/auth/keys"]["items"]:
            key["last_used_at"] = None
        return {**found, "names": owner.names(), "trash": owner.names("trash")}


def make_world(folder_of_world: Path, stack: ExitStack) -> World:
    """Start a service, and make one of everything. What waits there waits until the stack is closed."""
    gate, small = Gate(), stack.enter_context(small_server())
    agent = AgentSettings(model="offline", mcp_private_hosts="127.0.0.1")
    service = RealService(folder_of_world, PlanOrCommandModel(gate=gate), agent=agent).start()
    stack.callback(service.stop)
    stack.callback(gate.open)
    owner = service.owner()
    stack.callback(owner.close)
    ids = {**_imported(owner), **_served(owner, small.url), **_talked(owner, stack), **_planned(owner, stack, gate)}
    return World(service, owner, ids)


def _imported(owner: Person) -> dict[str, str]:
    taken = owner.http.post("/api/memories/import", json={"export_id": "e1", "items": [FACT]})
    assert taken.status_code == 201, taken.text
    assistant = owner.http.post("/api/assistants", json={"name": "Mine"}).json()
    return {"memory_id": owner.get("/api/memories")["items"][0]["id"], "assistant_id": assistant["id"]}


def _served(owner: Person, url: str) -> dict[str, str]:
    made = owner.http.post("/api/mcp-servers", json={"name": "Small", "base_url": url}).json()
    assert owner.http.post(f"/api/mcp-servers/{made['id']}/connect").json()["status"] == "connected"
    return {"server_id": made["id"]}


def _talked(owner: Person, stack: ExitStack) -> dict[str, str]:
    """Talk, give a grant with an approval, and leave another approval waiting."""
    inbox = owner.folder("Inbox")
    granted, guarded = owner.upload("granted.txt", "x", inbox["id"]), owner.upload("guarded.txt", "x")
    with owner.chat(command("trash_item", item_id=granted["id"])) as turn:
        asked = turn.until("approval_needed")
        terms = {"folder_id": inbox["id"], "minutes": 60, "max_items": 5}
        assert owner.answer(asked, "approve", grant=terms).status_code == 200
        done = turn.finish()
    talked = turn.seen[0]
    turn = stack.enter_context(owner.chat(command("trash_item", item_id=guarded["id"])))
    begun, approval = turn.until("run"), turn.until("approval_needed")
    messages = owner.get(f"/api/threads/{begun['thread_id']}")["messages"]
    return {
        "talked_thread": talked["thread_id"],
        "waiting_thread": begun["thread_id"],
        "message_id": done["run_id"],
        "run_id": done["run_id"],
        "waiting_run": begun["run_id"],
        "asking_message": messages[-1]["id"],
        "approval_id": approval["approval_id"],
        "call": approval["actions"][0]["tool_call_id"],
        "grant_id": owner.get("/api/grants")["items"][0]["grant_id"],
        "reference": "none",
    }


def _planned(owner: Person, stack: ExitStack, gate: Gate) -> dict[str, str]:
    steps = [{"instruction": folder("One", wait=True)}, {"instruction": folder("Two")}]
    turn: Turn = stack.enter_context(owner.chat(plan_message(*steps)))
    begun = turn.until("run")
    turn.until("task_step_update")
    assert gate.reached.wait(60)
    return {"planned_thread": begun["thread_id"]}
