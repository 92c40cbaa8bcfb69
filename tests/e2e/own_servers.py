"""A person's own MCP servers, as tests of the whole service use them: everything goes over real HTTP."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from anyio.from_thread import start_blocking_portal
from pydantic import Field

from tests.api.command_model import CommandModel, command
from tests.e2e.person import read_events
from tests.graph.servers.real import everything

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from langchain_core.messages import AIMessage, BaseMessage

    from graph.servers.definition import ServerType
    from tests.e2e.person import Event, Person, Turn

SERVERS = "/api/mcp-servers"
BUILT_IN = "drive_agent"
RECORD = "assistant.toolCall.updated"


class ObservedModel(CommandModel):
    """Records the names of the tools that it was offered, request by request."""

    offered: list[list[str]] = Field(default_factory=list[list[str]])

    def _answer(self, messages: Sequence[BaseMessage], offered: Sequence[str]) -> AIMessage:
        self.offered.append([*offered])
        return super()._answer(messages, offered)


class OwnServer:
    """A server that a person has defined; `fields` as in `POST /api/mcp-servers`."""

    def __init__(self, person: Person, name: str, **fields: Any) -> None:
        made = person.http.post(SERVERS, json={"name": name, **fields})
        assert made.status_code == 201, made.text
        self.person = person
        self.name = name
        self.id = str(made.json()["id"])

    def connect(self) -> dict[str, Any]:
        """Test it."""
        tested = self.person.http.post(f"{SERVERS}/{self.id}/connect")
        assert tested.json().get("status") == "connected", tested.text
        return tested.json()

    def decide(self, tool: str, **decision: Any) -> None:
        """Decide about one of its tools."""
        body = {"tools": [{"name": tool, **decision}]}
        decided = self.person.http.put(f"{SERVERS}/{self.id}/tools", json=body)
        assert decided.is_success, decided.text

    @property
    def view(self) -> dict[str, Any]:
        """Return it as the service shows it."""
        return self.person.get(f"{SERVERS}/{self.id}")

    def command(self, tool: str, **args: Any) -> str:
        """Return the message that has the model call one of its tools."""
        return command(f"mcp__{self.name}__{tool}", **args)

    @contextmanager
    def states(self) -> Generator[Iterator[Event]]:
        """Yield the events of its state, from what it is now on."""
        with self.person.http.stream("GET", f"{SERVERS}/events") as response:
            yield (event for event in read_events(response.iter_lines()) if event["server_id"] == self.id)


def choose(person: Person, *servers: OwnServer, assistant_id: str = BUILT_IN) -> None:
    """Have the person's assistant use these servers."""
    body = {"server_ids": [server.id for server in servers]}
    chosen = person.http.put(f"/api/assistants/{assistant_id}/mcp-servers", json=body)
    assert chosen.is_success, chosen.text


def chosen_server(person: Person, name: str, **fields: Any) -> OwnServer:
    """Define a server, test it, and choose it alone for the built-in assistant."""
    server = OwnServer(person, name, **fields)
    server.connect()
    choose(person, server)
    return server


def approve_all(person: Person, asked: Event) -> None:
    """Approve what is asked."""
    answered = person.http.post(f"/api/approvals/{asked['approval_id']}", json={"approve_all": True})
    assert answered.is_success, answered.text


def say(person: Person, *commands: str, asks: bool = False) -> Turn:
    """Have these calls made in a new thread, and return the turn; `asks`: it asks once, and all is approved."""
    with person.chat("\n".join(commands)) as turn:
        if asks:
            approve_all(person, turn.until("approval_needed"))
        turn.finish()
    assert asks or turn.of("approval_needed") == []
    return turn


def records(turn: Turn) -> list[dict[str, Any]]:
    """Return the records of the turn's outside calls as they were last."""
    return list({event["toolCall"]["id"]: event["toolCall"] for event in turn.of(RECORD)}.values())


def stored_records(turn: Turn, person: Person) -> list[dict[str, Any]]:
    """Return the records that stand in the thread of a turn, as a reload shows them."""
    view = person.get(f"/api/threads/{turn.of('run')[0]['thread_id']}")
    return [one for message in view["messages"] for one in message["toolCalls"]]


def instructions(turn: Turn, person: Person) -> list[str]:
    """Return the system messages that the models of the turn were sent, in order."""
    calls = person.get(f"/api/runs/{turn.of('run')[0]['run_id']}/context")["calls"]
    return [message["text"] for call in calls for message in call["messages"] if message["role"] == "system"]


@contextmanager
def everything_over_http(kind: ServerType, port: int) -> Generator[None]:
    """Run server-everything, and kill it in the end."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(everything(kind, port)):
        yield
