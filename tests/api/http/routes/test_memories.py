"""The memory over HTTP: facts, long results, and the messages that models saw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.api.real_service import real_client
from tests.fakes.chat_model import ScriptedChatModel, tool_call

if TYPE_CHECKING:
    from pathlib import Path

    from httpx import AsyncClient

LONG = "The contract ends in March. 合同三月到期。" * 300


async def say(client: AsyncClient, text: str) -> dict[str, str]:
    """Say something in a new thread; return the ids of the run and the thread."""
    answer = await client.post("/api/chat", json={"message": text})
    assert '"status":"success"' in answer.text, answer.text[-1_000:]
    return {name: answer.text.split(f'"{name}":"', 1)[1].split('"', 1)[0] for name in ("run_id", "thread_id")}


async def other_person(client: AsyncClient) -> dict[str, str]:
    made = await client.post("/api/users", json={"email": "bob@example.com"})
    return {"Authorization": f"Bearer {made.json()['key']}"}


@pytest.fixture
def model() -> ScriptedChatModel:
    return ScriptedChatModel()


async def test_facts_are_listed_read_edited_and_forgotten(tmp_path: Path, model: ScriptedChatModel) -> None:
    async with real_client(tmp_path, model) as client:
        model.script = [tool_call("remember", "m1", fact="my accountant is Li Wei"), "ok"]
        ids = await say(client, "list my files and remember that my accountant is Li Wei")
        (fact,) = (await client.get("/api/memories")).json()["items"]
        assert fact["text"] == "my accountant is Li Wei"
        assert fact["source"]["thread_id"] == ids["thread_id"]
        assert fact["source"]["message_id"] == ids["run_id"]
        path = f"/api/memories/{fact['id']}"
        edited = await client.patch(path, json={"text": "我的会计是王芳 👩"})
        assert edited.json()["text"] == "我的会计是王芳 👩"
        assert (await client.get(path)).json() == edited.json()
        assert (await client.delete(path)).status_code == 204
        assert (await client.delete(path)).status_code == 404
        assert (await client.get(path)).status_code == 404
        assert (await client.get("/api/memories")).json()["items"] == []


@pytest.mark.parametrize("body", [{}, {"text": ""}, {"text": " \n"}, {"text": "x" * 501}, {"text": 7}, {"x": "y"}])
async def test_a_text_that_is_none_is_refused(tmp_path: Path, model: ScriptedChatModel, body: Any) -> None:
    async with real_client(tmp_path, model) as client:
        model.script = [tool_call("remember", "m1", fact="I like tea"), "ok"]
        await say(client, "list my files, remember that I like tea")
        (fact,) = (await client.get("/api/memories")).json()["items"]
        assert (await client.patch(f"/api/memories/{fact['id']}", json=body)).status_code == 422


async def test_nobody_gets_at_anothers(tmp_path: Path, model: ScriptedChatModel) -> None:
    async with real_client(tmp_path, model) as client:
        made = await client.post("/api/drive/files", params={"name": "a.txt"}, content=LONG.encode())
        model.script = [
            tool_call("remember", "m1", fact="I like tea"),
            tool_call("read_file", "r1", file_id=made.json()["id"]),
            "ok",
        ]
        ids = await say(client, "search my files, remember that I like tea")
        (fact,) = (await client.get("/api/memories")).json()["items"]
        bob = await other_person(client)
        assert (await client.get("/api/memories", headers=bob)).json()["items"] == []
        for method, path in (
            ("GET", f"/api/memories/{fact['id']}"),
            ("DELETE", f"/api/memories/{fact['id']}"),
            ("GET", f"/api/runs/{ids['run_id']}/context"),
            ("GET", f"/api/threads/{ids['thread_id']}/results/r1"),
        ):
            assert (await client.request(method, path, headers=bob)).status_code == 404, path
        assert (await client.get(f"/api/threads/{ids['thread_id']}/results/r1")).status_code == 200


async def test_a_key_that_only_reads_changes_nothing(tmp_path: Path, model: ScriptedChatModel) -> None:
    async with real_client(tmp_path, model) as client:
        key = (await client.post("/api/auth/keys", json={"name": "r", "scopes": ["read"]})).json()["key"]
        reader = {"Authorization": f"Bearer {key}"}
        assert (await client.get("/api/memories", headers=reader)).status_code == 200
        assert (await client.delete("/api/memories/x", headers=reader)).status_code == 403
        assert (await client.patch("/api/memories/x", json={"text": "y"}, headers=reader)).status_code == 403


async def test_what_the_models_of_a_run_saw_is_shown_to_the_letter(tmp_path: Path, model: ScriptedChatModel) -> None:
    async with real_client(tmp_path, model) as client:
        made = await client.post("/api/drive/files", params={"name": "a.txt"}, content=LONG.encode())
        model.script = [tool_call("read_file", "r1", file_id=made.json()["id"]), "It ends in March."]
        ids = await say(client, "search my files for the contract")
        shown = (await client.get(f"/api/runs/{ids['run_id']}/context")).json()
        assert [[message["text"] for message in call["messages"]] for call in shown["calls"]] == [
            [message.text for message in request] for request in model.requests
        ]
        assert [message["role"] for message in shown["calls"][1]["messages"]] == ["system", "user", "assistant", "tool"]
        whole = (await client.get(f"/api/threads/{ids['thread_id']}/results/r1")).json()
        assert LONG[:1_000] in whole["text"]
        thread = (await client.get(f"/api/threads/{ids['thread_id']}")).json()
        assert all(len(message["text"]) < 2_000 for message in thread["messages"])
        assert (await client.get(f"/api/threads/{ids['thread_id']}/results/none")).status_code == 404
