"""A service that refuses a request for its length: the specialist asks once more with less, then says what to do."""

from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.store.sqlite.aio import AsyncSqliteStore

from graph.drive.connections import ConnectionPool
from graph.errors import ModelContextError
from graph.messages.tokens import tokens_of
from graph.model_factory import Clients, build_models
from graph.settings import AgentSettings
from tests.fakes.openai_server import Failure, OpenAIServer, calls, text
from tests.fakes.tiny_drive import TinyDrive
from tests.graph.assistant import Assistant, assemble

LONG = "The contract ends in March. 合同三月到期。" * 400
REQUEST = "search my files for the contract"
REFUSALS = {
    "openai": Failure(400, "Your input exceeds the context window of this model.", code="context_length_exceeded"),
    "deepseek": Failure(400, "This model's maximum context length is 65536 tokens. However, you requested 70000"),
    "qwen": Failure(400, "Range of input length should be [1, 30720]", code="invalid_parameter_error"),
    "anthropic": Failure(400, "prompt is too long: 210000 tokens > 200000 maximum", code="invalid_request_error"),
    "ollama": Failure(500, "the request exceeds the available context size (32768 tokens), try increasing it"),
    "mistral": Failure(400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"),
    "a proxy": Failure(413, "Payload Too Large"),
    "tokens a minute": Failure(
        429, "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 33000"
    ),
}


@pytest.fixture(params=["lean", "openai"])
def assistant(
    request: pytest.FixtureRequest,
    clients: Clients,
    server: OpenAIServer,
    pool: ConnectionPool,
    saver: AsyncSqliteSaver,
    store: AsyncSqliteStore,
    drive: TinyDrive,
) -> Assistant:
    drive.texts["a"] = LONG
    given: dict[str, Any] = {
        "model": "gpt-4.1",
        "openai_api_key": "k",
        "openai_base_url": server.url,
        "chat_client": request.param,
        "model_retries": 0 if request.param == "openai" else 3,
    }
    settings = AgentSettings(**given)
    return assemble(build_models(settings, clients), pool, saver, settings=settings, store=store)


def sent(request: dict[str, Any]) -> list[str]:
    """Return the texts of a request's messages after the system's, without what the product says before them."""
    return [str(message["content"]).rpartition("</moment>\n\n")[2] for message in request["messages"][1:]]


@pytest.mark.parametrize("service", REFUSALS)
async def test_a_refused_request_is_made_shorter_once_and_asked_again(
    assistant: Assistant, server: OpenAIServer, service: str
) -> None:
    server.replies = [calls(("read_file", {"file_id": "a"})), REFUSALS[service], text("It ends in March.")]
    seen = await assistant.say(REQUEST)
    assert seen.text.strip() == "It ends in March."
    refused, retried = server.requests[1:]
    assert LONG[:5_000] in sent(refused)[-1]
    assert 'read_result, reference "call_0"' in sent(retried)[-1]
    assert sum(map(tokens_of, sent(retried))) <= sum(map(tokens_of, sent(refused))) / 2
    assert len(server.requests) == 3


async def test_the_turns_that_no_longer_fit_are_summarised_and_the_thread_stays_short(
    assistant: Assistant, server: OpenAIServer
) -> None:
    server.replies = [text("Long. " * 1_000), text("Longer. " * 1_000)]
    first = await assistant.say("search my files for the lease")
    second = await assistant.say("search my files for the rent")
    before = [message.id for message in second.state["messages"]]
    server.replies = [REFUSALS["openai"], text("They asked about the lease and the rent."), text("ok"), text("fine")]
    seen = await assistant.say(REQUEST)
    (summary,) = seen.state["summaries"]
    assert summary["text"] == "They asked about the lease and the rent."
    assert (summary["first"], summary["last"]) == (before[0], before[-1])
    assert f"messages {before[0]} to {before[-1]}" in str(server.requests[-1]["messages"])
    assert sent(server.requests[-1]) == [REQUEST]
    window = seen.state["narrowed"]["tokens"]
    later = await assistant.say("search my files for it again")
    assert later.state["narrowed"]["tokens"] == window < AgentSettings().window_tokens
    assert len(first.state["messages"]) == 2


async def test_a_service_that_names_its_limit_gets_no_more_than_that(
    assistant: Assistant, server: OpenAIServer
) -> None:
    limit = Failure(400, "This model's maximum context length is 9000 tokens. However, you requested 20000 tokens.")
    server.replies = [calls(("read_file", {"file_id": "a"})), limit, text("ok")]
    seen = await assistant.say(REQUEST)
    assert seen.state["narrowed"]["tokens"] < 9_000 - 9_000 // 4


async def test_a_service_that_refuses_the_shorter_one_too_is_not_asked_again_and_the_error_says_what_to_do(
    assistant: Assistant, server: OpenAIServer
) -> None:
    server.replies = [REFUSALS["anthropic"], REFUSALS["anthropic"]]
    with pytest.raises(ModelContextError) as refused:
        await assistant.say(REQUEST)
    assert len(server.requests) == 2
    assert "start a new conversation" in refused.value.in_language("en").sentence
    assert "新建一个对话" in refused.value.in_language("zh").sentence
