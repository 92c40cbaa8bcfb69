"""The time zone of a message: what the models are shown, also over the command line."""

from pathlib import Path

import pytest

from api.cli.chat.conversation import Conversation, TerminalPlace
from tests.api.real_service import real_client
from tests.fakes.chat_model import ScriptedChatModel, prompt_of, tool_call


async def test_a_message_names_the_zone_that_its_days_and_its_tools_are_in(tmp_path: Path) -> None:
    model = ScriptedChatModel(script=[tool_call("whoami", "w"), "It is late."])
    async with real_client(tmp_path, model) as client:
        said = {"message": "list my files", "time_zone": "Pacific/Kiritimati"}
        answer = await client.post("/api/chat", json=said)
        refused = await client.post("/api/chat", json={**said, "time_zone": "Mars/Base"})

    assert "event: done" in answer.text
    assert '"time_zone":"Pacific/Kiritimati (UTC+14:00)"' in prompt_of(model.requests[0])
    assert "+1400 Pacific/Kiritimati" in model.requests[1][-1].text
    assert refused.status_code == 422
    assert "no such time zone" in refused.text


async def test_a_message_without_a_zone_is_in_the_one_of_the_profile(tmp_path: Path) -> None:
    model = ScriptedChatModel(script=[tool_call("whoami", "w"), "It is late."])
    async with real_client(tmp_path, model) as client:
        await client.patch("/api/auth/me", json={"time_zone": "Pacific/Kiritimati", "name": "Teretia"})
        answer = await client.post("/api/chat", json={"message": "list my files"})

    assert "event: done" in answer.text
    assert '"time_zone":"Pacific/Kiritimati (UTC+14:00)"' in prompt_of(model.requests[0])
    assert "+1400 Pacific/Kiritimati" in model.requests[1][-1].text
    assert "Teretia" in model.requests[1][-1].text


def test_the_command_line_names_its_own_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    sent: list[dict[str, object]] = []

    def shown(*_: object) -> bool:
        return True

    class Stream:
        thread_id = run_id = ""

        def __init__(self, *_: object) -> None: ...

        def start(self, body: dict[str, object]) -> list[dict[str, object]]:
            sent.append(body)
            return []

    monkeypatch.setattr("api.cli.chat.conversation.EventStream", Stream)
    monkeypatch.setattr(Conversation, "_show", shown)
    parts: dict[str, object] = {"thread_id": "", "place": TerminalPlace(), "yes_to": None, "json": False}
    Conversation(None, None, **parts).say("hi")  # pyright: ignore[reportArgumentType] - neither is used before a turn
    assert sent == [{"message": "hi", "time_zone": "Asia/Tokyo"}]
