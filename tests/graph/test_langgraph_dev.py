"""`langgraph dev`, as a person starts it for Studio: offline, without a key, on a drive of its own."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import ConflictError, NotFoundError

from drive_server.connect import ALL_SCOPES, Actor, Drive, DriveSettings, open_drive

pytestmark = pytest.mark.timeout(180)

ROOT = Path(__file__).parents[2]
HANDBOOK = "# Staff handbook\n\n## Parental leave\n\nEveryone may take 16 weeks of leave.\n"
STARTED_WITHIN_SECONDS = 90
STOPPED_WITHIN_SECONDS = 20


async def seed(drive: Drive) -> None:
    user, _ = await drive.identity.ensure_local_user()
    actor = Actor(await drive.identity.principal_for(user.id, ALL_SCOPES))
    await drive.documents.create(actor, "root", "Staff handbook.md", HANDBOOK)
    await drive.files.create_folder(actor, "root", "Old")
    for name in ("a.txt", "b.txt"):
        await drive.documents.create(actor, "/Old", name, name)
    await drive.ingester.drain()


async def names_in_old(data: Path) -> list[str]:
    return await names_in(data, "/Old")


async def names_in(data: Path, folder: str) -> list[str]:
    async with open_drive(DriveSettings(data_dir=data)) as drive:
        user, _ = await drive.identity.ensure_local_user()
        actor = Actor(await drive.identity.principal_for(user.id, ALL_SCOPES))
        return [item.name for item in (await drive.files.list_folder(actor, folder)).items]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("drive")

    async def fill() -> None:
        async with open_drive(DriveSettings(data_dir=directory)) as drive:
            await seed(drive)

    anyio.run(fill)
    return directory


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


@pytest.fixture(scope="module")
def studio(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The address of a running dev server."""
    with serving(data, tmp_path_factory.mktemp("studio")) as url:
        yield url


@pytest.fixture(scope="module")
def locked(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The address of one that asks for a key of the drive."""
    with serving(data, tmp_path_factory.mktemp("locked"), AGENT_DEV_LOGIN="true") as url:
        yield url


@contextmanager
def serving(data: Path, place: Path, **settings: str) -> Generator[str]:
    """Run a dev server in a place, over a data directory."""
    port = free_port()
    own = {key: value for key, value in os.environ.items() if not key.startswith(("OPENAI_", "AGENT_", "LANGSMITH_"))}
    command = [
        *(str(Path(sys.executable).parent / "langgraph"), "dev", "--no-browser", "--no-reload"),
        *("--port", str(port), "--config", str(ROOT / "langgraph.json"), "--n-jobs-per-worker", "4"),
    ]
    with (place / "log").open("w") as log:
        server = subprocess.Popen(
            command,
            cwd=place,
            env={**own, "DRIVE_DATA_DIR": str(data), "LANGGRAPH_CLI_NO_ANALYTICS": "1", **settings},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            wait_until_up(url, server, place / "log")
            yield url
        finally:
            server.terminate()
            server.wait(STOPPED_WITHIN_SECONDS)


def wait_until_up(url: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + STARTED_WITHIN_SECONDS
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"{url}/ok").is_success:
                return
        except httpx.TransportError:
            try:
                server.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
            break
    pytest.fail(f"langgraph dev did not start:\n{log.read_text()[-5_000:]}")


async def say(client: LangGraphClient, thread_id: str, **step: Any) -> list[Any]:
    """Run the graph; return its custom events."""
    stream = client.runs.stream(thread_id, "drive_agent", stream_mode=["custom", "messages-tuple"], **step)
    parts = [part async for part in stream]
    assert not [part.data for part in parts if part.event == "error"]
    return [part.data for part in parts if part.event == "custom"]


def human(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


async def test_a_document_is_found_and_summarised(studio: str) -> None:
    client = get_client(url=studio)
    thread = await client.threads.create()
    events = await say(
        client, thread["thread_id"], input=human("find the document about parental leave and summarise it")
    )
    assert events[0]["agent"] == "search_agent"
    state: Any = await client.threads.get_state(thread["thread_id"])
    answer = state["values"]["messages"][-1]["content"]
    assert "Staff handbook.md" in answer
    assert "16 weeks" in answer
    await client.aclose()


async def test_a_deletion_waits_and_a_rejection_changes_nothing(studio: str, data: Path) -> None:
    client = get_client(url=studio)
    thread_id = (await client.threads.create())["thread_id"]
    await say(client, thread_id, input=human("delete everything in Old"))
    assert (await client.threads.get(thread_id))["status"] == "interrupted"
    state: Any = await client.threads.get_state(thread_id)
    asked = state["tasks"][0]["interrupts"][0]["value"]
    assert {request["name"] for request in asked["action_requests"]} == {"trash_item"}
    assert "a.txt" in str(asked["actions"])
    decisions = [{"type": "reject", "message": "keep them"} for _ in asked["action_requests"]]
    events = await say(client, thread_id, command={"resume": {"decisions": decisions}})
    ends = [event["status"] for event in events if event["type"] == "tool_call_end"]
    assert set(ends) == {"rejected"}
    assert (await client.threads.get(thread_id))["status"] == "idle"
    assert await names_in_old(data) == ["a.txt", "b.txt"]
    await client.aclose()


async def test_studio_sees_the_whole_graph_and_what_it_may_send(studio: str) -> None:
    client = get_client(url=studio)
    assistant = (await client.assistants.search(graph_id="drive_agent"))[0]["assistant_id"]
    drawn = await client.assistants.get_graph(assistant)
    assert {"begin", "plan", "drive_agent", "approve", "act", "advance"} <= {node["id"] for node in drawn["nodes"]}
    schemas: Any = await client.assistants.get_schemas(assistant)
    assert set(schemas["input_schema"]["properties"]) == {"messages", "place"}
    await client.aclose()


async def test_a_place_that_somebody_makes_up_and_a_foreign_context_change_nothing(studio: str) -> None:
    client = get_client(url=studio)
    thread_id = (await client.threads.create())["thread_id"]
    stranger = {"user_id": "root", "email": "root@example.com", "scopes": ["read"]}
    place = {"file_id": "../../etc/passwd", "folder_id": "nope"}
    await say(client, thread_id, input={**human("list my files"), "place": place}, context=stranger)
    state: Any = await client.threads.get_state(thread_id)
    assert state["values"]["messages"][-1]["type"] == "ai"
    await client.aclose()


async def test_the_context_is_a_form_whose_scopes_count(studio: str, data: Path) -> None:
    client = get_client(url=studio)
    graph = (await client.assistants.search(graph_id="drive_agent"))[0]["assistant_id"]
    form: Any = (await client.assistants.get_schemas(graph))["context_schema"]
    assert {*form["properties"]} == {"scopes", "time_zone"}
    context: Any = {"scopes": ["read"]}
    reader = await client.assistants.create("drive_agent", context=context, name="reader")
    outcomes: list[str] = []
    for assistant in (reader["assistant_id"], graph):
        thread_id = (await client.threads.create())["thread_id"]
        made = human(f"create a folder called Made by {assistant}")
        parts = [part async for part in client.runs.stream(thread_id, assistant, input=made, stream_mode=["custom"])]
        outcomes += [part.data["status"] for part in parts if part.data.get("type") == "tool_call_end"]
    assert outcomes == ["error", "done"]
    assert await names_in(data, "root") == [f"Made by {graph}", "Old", "Staff handbook.md"]
    await client.aclose()


async def test_the_second_protocol_has_words_calls_and_our_events(studio: str) -> None:
    async with get_client(url=studio) as client, client.threads.stream(assistant_id="drive_agent") as thread:
        await thread.run.start(input=human("find the document about parental leave and summarise it"))
        async with asyncio.timeout(40):
            streams = [stream async for stream in thread.messages]
            words = [await stream.text for stream in streams]
            values: Any = await thread.output
        read = await told(studio, thread.thread_id)
    assert any("16 weeks" in text for text in words), words
    assert "16 weeks" in str(values["messages"][-1]["content"])
    calls = [event["params"]["data"]["event"] for event in read if event["method"] == "tools"]
    assert {*calls} == {"tool-started", "tool-finished"}
    kinds = [event["params"]["data"]["type"] for event in read if event["method"] == "custom"]
    assert {"route_decision", "tool_call_start", "tool_call_end"} <= {*kinds}


async def told(studio: str, thread_id: str) -> list[Any]:
    """Return the events of a thread up to the end of its run."""
    found: list[Any] = []
    body = {"channels": ["tools", "custom", "lifecycle"], "since": 0}
    async with (
        asyncio.timeout(40),
        httpx.AsyncClient(base_url=studio) as http,
        http.stream("POST", f"/threads/{thread_id}/stream/events", json=body) as answer,
    ):
        async for line in answer.aiter_lines():
            if line.startswith("data:"):
                found.append(json.loads(line[5:]))
                if found[-1]["params"]["data"].get("event") == "completed":
                    return found
    return found


@pytest.mark.parametrize("strategy", ["reject", "enqueue", "interrupt", "rollback"])
async def test_each_strategy_for_a_message_that_comes_too_early(studio: str, strategy: Any) -> None:
    client = get_client(url=studio)
    thread_id = (await client.threads.create())["thread_id"]
    first = await client.runs.create(thread_id, "drive_agent", input=human("find the document about parental leave"))
    wanted: Any = {"input": human("list my files"), "multitask_strategy": strategy}
    if strategy == "reject":
        with pytest.raises(ConflictError):
            await client.runs.create(thread_id, "drive_agent", **wanted)
        await client.runs.join(thread_id, first["run_id"])
    else:
        second = await client.runs.create(thread_id, "drive_agent", **wanted)
        await client.runs.join(thread_id, second["run_id"])
        assert (await client.runs.get(thread_id, second["run_id"]))["status"] == "success"
    state: Any = await client.threads.get_state(thread_id)
    said = [message["content"] for message in state["values"]["messages"] if message["type"] == "human"]
    assert len(said) == {"reject": 1, "enqueue": 2, "interrupt": len(said), "rollback": 1}[strategy], said
    await client.aclose()


@pytest.fixture(scope="module")
def keys(data: Path) -> dict[str, str]:
    """Keys of two people, and one of the first that may only read."""
    made: dict[str, str] = {}

    async def make() -> None:
        async with open_drive(DriveSettings(data_dir=data)) as drive:
            _, token = await drive.identity.ensure_local_user()
            actor = Actor(await drive.identity.authenticate(token))
            other, _ = await drive.identity.create_user(actor, "bob@example.com")
            them = Actor(await drive.identity.principal_for(other.id, ALL_SCOPES))
            for name, whose, scopes in (
                ("alice", actor, ["read", "write"]),
                ("reader", actor, ["read"]),
                ("bob", them, ["read", "write"]),
            ):
                _, made[name] = await drive.identity.create_key(whose, name, scopes)

    anyio.run(make)
    return made


async def make_folder(client: LangGraphClient, name: str, **more: Any) -> list[str]:
    """Have a folder made; return how the calls ended."""
    thread_id = (await client.threads.create())["thread_id"]
    wanted = human(f"create a folder called {name}")
    parts = [part async for part in client.runs.stream(thread_id, "drive_agent", input=wanted, **more)]
    assert not [part.data for part in parts if part.event == "error"]
    return [part.data["status"] for part in parts if part.event == "custom" and part.data["type"] == "tool_call_end"]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer drv_made_up"},
        {"x-api-key": "made up"},
        {"x-auth-scheme": "langsmith"},
        {"x-auth-scheme": "langsmith", "x-api-key": "lsv2_made_up", "x-user-id": "root", "x-tenant-id": "root"},
    ],
)
async def test_with_a_login_nothing_is_answered_without_a_key(locked: str, headers: dict[str, str]) -> None:
    async with httpx.AsyncClient(base_url=locked, headers=headers, timeout=60) as http:
        for path in ("/threads", "/threads/search", "/assistants/search", "/store/items/search", "/runs/wait"):
            body = {"assistant_id": "drive_agent", "input": human("list my files")}
            assert (await http.post(path, json=body)).status_code == 401, path


async def test_with_a_login_the_key_says_who_it_is_and_what_they_may_do(
    locked: str, keys: dict[str, str], data: Path
) -> None:
    context: Any = {"scopes": ["read", "write", "share", "delete", "admin"], "user_id": "root"}
    forged: Any = {"configurable": {"user_id": "root", "scopes": ["write"]}}
    async with get_client(url=locked, api_key=keys["reader"]) as reader:
        assert await make_folder(reader, "Forbidden", context=context, stream_mode="custom") == ["error"]
        assert await make_folder(reader, "Forbidden", config=forged, stream_mode="custom") == ["error"]
    headers = {"Authorization": f"Bearer {keys['bob']}"}
    async with get_client(url=locked, headers=headers, api_key=None) as bob:
        assert await make_folder(bob, "Of Bob", stream_mode="custom") == ["done"]
        assert await make_folder(bob, "Narrowed", context={"scopes": ["read"]}, stream_mode="custom") == ["error"]
    async with get_client(url=locked, api_key=keys["alice"]) as alice:
        assert await make_folder(alice, "Of Alice", stream_mode="custom") == ["done"]
    owned = await names_in(data, "root")
    assert "Of Alice" in owned
    assert not {"Of Bob", "Forbidden", "Narrowed"} & {*owned}


async def test_with_a_login_threads_and_stored_values_are_their_owners_alone(locked: str, keys: dict[str, str]) -> None:
    async with (
        get_client(url=locked, api_key=keys["alice"]) as alice,
        get_client(url=locked, api_key=keys["bob"]) as bob,
    ):
        thread_id = (await alice.threads.create(metadata={"owner": "bob"}))["thread_id"]
        await alice.runs.wait(thread_id, "drive_agent", input=human("list my files"))
        for ask in (
            bob.threads.get(thread_id),
            bob.threads.get_state(thread_id),
            bob.runs.list(thread_id),
            bob.threads.delete(thread_id),
            bob.runs.wait(thread_id, "drive_agent", input=human("hello")),
        ):
            with pytest.raises((NotFoundError, httpx.HTTPStatusError)):
                await ask
        assert thread_id not in [thread["thread_id"] for thread in await bob.threads.search(limit=100)]
        assert thread_id in [thread["thread_id"] for thread in await alice.threads.search(limit=100)]
        await alice.store.put_item(["notes"], "a", {"text": "hers"})
        assert (await bob.store.search_items(["notes"]))["items"] == []
        assert (await alice.store.get_item(["notes"], "a"))["value"] == {"text": "hers"}
        assert [one["graph_id"] for one in await bob.assistants.search()] == ["drive_agent"]


async def test_without_a_login_studio_comes_in_as_before(studio: str) -> None:
    async with httpx.AsyncClient(base_url=studio, headers={"x-auth-scheme": "langsmith"}, timeout=60) as http:
        assert (await http.post("/assistants/search", json={})).status_code == 200
        assert (await http.post("/threads", json={})).status_code == 200
