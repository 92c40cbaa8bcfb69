"""The drive's own language model: an OpenAI-compatible service over real HTTP, which answers well and badly."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from drive_server.connect import open_drive
from drive_server.services.map_reduce import language_model
from drive_server.services.map_reduce.language_model import ChatCompletions, ModelBusyError, ModelError, ModelLostError
from tests.drive_server.actors import new_person
from tests.drive_server.hosts import host_of
from tests.fakes.openai_server import Failure, Garbage, OpenAIServer, Reply, running_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from drive_server.kernel.settings import DriveSettings

KEY = "sk-secret"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with running_server() as server:
        yield server


@pytest.fixture
async def model(server: OpenAIServer) -> AsyncIterator[ChatCompletions]:
    model = ChatCompletions(server.url, KEY, "small", seconds=5)
    yield model
    await model.close()


def saying(content: Any) -> Garbage:
    message = {"role": "assistant", "content": content}
    body = {"id": "1", "object": "chat.completion", "choices": [{"index": 0, "message": message}]}
    return Garbage(json.dumps(body), "application/json")


async def test_instructions_and_text_go_out_and_the_answer_comes_back(
    server: OpenAIServer, model: ChatCompletions
) -> None:
    server.replies = [saying("  短。🙂 ")]

    assert await model.complete("Be brief.", "长。", 50) == "短。🙂"
    assert server.requests == [
        {
            "model": "small",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "长。"}],
            "max_tokens": 50,
        }
    ]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


async def test_what_a_model_thinks_aloud_is_no_part_of_its_answer(server: OpenAIServer, model: ChatCompletions) -> None:
    server.replies = [saying("<think>\nHm.\n</think>\n\nYes.")]
    assert await model.complete("s", "t", 5) == "Yes."


async def test_a_service_that_knows_only_the_newer_name_of_the_limit_is_asked_by_it(
    server: OpenAIServer, model: ChatCompletions
) -> None:
    wrong = Failure(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    server.replies = [wrong, saying("a"), saying("b")]

    assert [await model.complete("s", "t", 5), await model.complete("s", "t", 5)] == ["a", "b"]
    assert ["max_tokens" in request for request in server.requests] == [True, False, False]


@pytest.mark.parametrize(
    ("reply", "kind", "retry_after"),
    [
        (Failure(429, headers={"Retry-After": "7"}), ModelBusyError, 7),
        (Failure(429, headers={"Retry-After": "999999"}), ModelBusyError, 30),
        (Failure(503, headers={"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"}), ModelBusyError, None),
        (Failure(500), ModelBusyError, None),
        (Garbage("<html>", "text/html"), ModelBusyError, None),
        (Garbage("{}", "application/json"), ModelBusyError, None),
        (saying(None), ModelBusyError, None),
        (saying(""), ModelBusyError, None),
        (saying([{"type": "text"}]), ModelBusyError, None),
    ],
)
async def test_what_may_pass_says_when_to_ask_again(
    server: OpenAIServer, model: ChatCompletions, reply: Reply, kind: type[ModelBusyError], retry_after: float | None
) -> None:
    server.replies = [reply]
    with pytest.raises(kind) as failed:
        await model.complete("s", "t", 5)
    assert failed.value.retry_after == retry_after


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_a_wrong_key_or_name_is_the_end(server: OpenAIServer, model: ChatCompletions, status: int) -> None:
    server.replies = [Failure(status, f"bad key {KEY}")]
    with pytest.raises(ModelLostError) as failed:
        await model.complete("s", "t", 5)
    assert KEY not in failed.value.reason


async def test_a_text_that_is_not_taken_fails_alone(server: OpenAIServer, model: ChatCompletions) -> None:
    server.replies = [Failure(400, "maximum context length is 8192 tokens")]
    with pytest.raises(ModelError) as failed:
        await model.complete("s", "t", 5)
    assert not isinstance(failed.value, ModelBusyError | ModelLostError)


async def test_nobody_there_is_told_without_the_address() -> None:
    model = ChatCompletions("http://127.0.0.1:9/v1", "", "small", seconds=5)
    with pytest.raises(ModelBusyError) as failed:
        await model.complete("s", "t", 5)
    assert failed.value.reason == "the model can't be reached"
    await model.close()


async def test_a_host_without_a_model_uses_that_of_the_drive(
    server: OpenAIServer, drive_settings: DriveSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language_model, "PAUSES", (0.0, 0.0))
    server.replies = [Failure(429), saying("It is short.\nQUOTE: Short."), Failure(429, headers={"Retry-After": "0"})]
    server.replies.append(saying("It is long."))
    settings = drive_settings.model_copy(
        update={"language_url": server.url, "language_key": SecretStr(KEY), "bulk_concurrency": 1}
    )
    async with open_drive(settings) as drive:
        alice = await new_person(drive.identity, "alice@example.com")
        for name in ("a.md", "b.md"):
            await drive.documents.create(alice, "root", name, "Short.")
        async with host_of(drive, alice) as host:
            one = await host.call("map_reduce_files", instruction="How long?", file_ids=["/a.md"])
            two = await host.call("map_reduce_files", instruction="How long?", file_ids=["/b.md"])

    assert (one["results"][0]["quote"], one["model"]) == ("Short.", "gpt-4.1-mini")
    assert two["results"][0]["answer"] == "It is long."


@pytest.mark.parametrize(
    "update",
    [
        {},
        {"language_model": "none", "language_key": SecretStr(KEY)},
        {"language_model": "offline", "openai_api_key": SecretStr(KEY)},
        {"language_model": "anthropic:claude-sonnet-5", "openai_api_key": SecretStr(KEY)},
        {"language_url": "http://127.0.0.1:9/v1"},
    ],
)
async def test_without_the_settings_for_one_the_drive_has_no_model(
    drive_settings: DriveSettings, update: dict[str, Any]
) -> None:
    async with open_drive(drive_settings.model_copy(update=update)) as drive:
        assert drive.language_model is None


@pytest.mark.parametrize(("name", "asked"), [("openai:gpt-5", "gpt-5"), ("qwen3:30b", "qwen3:30b")])
async def test_the_name_that_the_service_is_asked_for_has_no_provider(
    drive_settings: DriveSettings, name: str, asked: str
) -> None:
    update = {"language_model": name, "openai_api_key": SecretStr(KEY)}
    async with open_drive(drive_settings.model_copy(update=update)) as drive:
        assert drive.language_model is not None
        assert drive.language_model.name == asked
