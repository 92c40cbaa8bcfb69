"""The service with a model behind an OpenAI-compatible address, set by the environment as a person sets it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.service import running
from tests.fakes import providers
from tests.fakes.openai_server import Failure, Stream, split_call, text

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.e2e.service import Service
    from tests.fakes.openai_server import OpenAIServer, Reply

MESSAGE = "Hmm, what would you make of all this?"


@pytest.fixture(scope="module")
def modelled(model: OpenAIServer, tmp_path_factory: pytest.TempPathFactory) -> Generator[Service]:
    environment = {
        "OPENAI_API_KEY": "secret-key-of-the-model",
        "OPENAI_BASE_URL": model.url,
        "AGENT_MODEL": "scripted",
        "AGENT_MODEL_RETRIES": "1",
    }
    with running(tmp_path_factory.mktemp("modelled"), **environment) as service:
        yield service


def test_a_turn_streams_calls_tools_and_survives_a_refusal_of_the_moment(
    modelled: Service, model: OpenAIServer
) -> None:
    model.replies = [
        Failure(429, headers={"Retry-After": "0"}),
        split_call("create_folder", '{"name": "报告"}', key="call_1", pieces=5),
        text("It is ", "done."),
    ]
    owner = modelled.owner()
    with owner.chat(MESSAGE) as turn:
        done = turn.finish()
    assert turn.of("route_decision")[0]["method"] == "score"
    assert turn.tools == [("create_folder", "done")]
    assert turn.text == "It is done."
    assert owner.names() == ["报告"]
    assert [change["tool"] for change in done["changes"]] == ["create_folder"]
    assert done["usage"]["total_tokens"] > 0
    owner.close()


def test_a_model_that_fails_is_an_error_that_can_be_tried_again_and_tells_no_secret(
    modelled: Service, model: OpenAIServer
) -> None:
    model.replies = []
    owner = modelled.owner()
    with owner.chat(MESSAGE) as turn:
        last = turn.until("done", "error")
    assert last["type"] == "error"
    assert last["retryable"]
    assert last["code"].startswith("model_")
    assert "secret-key" not in json.dumps(turn.seen) + modelled.printed.read_text()
    owner.close()


def thinking(request: dict[str, Any]) -> Reply:
    """DeepSeek, thinking, asked by the product: its rules first, then what it says."""
    reply = providers.deepseek_thinking(request)
    if isinstance(reply, Failure):
        return reply
    thought = {"content": None, "reasoning_content": "I look into ![it](https://evil.example/x). "}
    if [tool["function"]["name"] for tool in request["tools"]] == ["TaskPlan"]:
        plan = {"steps": [{"title": "It", "agent": "drive_agent", "instruction": "Create the folder Thoughts."}]}
        return Stream([thought, {"content": f"```json\n{json.dumps(plan)}\n```"}])
    made = [call["function"]["name"] for message in request["messages"] for call in message.get("tool_calls", [])]
    if "create_folder" in made:
        return Stream([thought, {"content": "It is done."}], finish="length")
    name, args = ("create_folder", '{"name": "Thoughts"}') if "make_plan" in made else ("make_plan", "{}")
    return Stream([thought, *split_call(name, args).deltas], finish="tool_calls")


def test_a_thinking_model_is_asked_as_it_demands_heard_apart_and_the_doctor_says_so(
    modelled: Service, model: OpenAIServer
) -> None:
    model.replies, model.brain = [], thinking
    owner = modelled.owner()
    with owner.chat(MESSAGE) as turn:
        turn.finish()
    assert turn.of("route_decision")[0]["method"] == "score"
    assert turn.tools == [("make_plan", "done"), ("create_folder", "done")]
    assert turn.text.startswith("It is done.")
    assert "The answer is cut off here" in turn.text
    thought = "".join(event["text"] for event in turn.of("reasoning"))
    assert thought.count("I look into") == 3
    assert "](" not in thought
    assert "I look into" not in json.dumps(owner.get(f"/api/threads/{turn.seen[0]['thread_id']}"))
    owner.close()
    said = [line for line in modelled.run("doctor").stdout.splitlines() if "scripted: it" in line]
    assert len(said) == 1
    assert "refuses tool_choice" in said[0]
    assert "wants its reasoning back" in said[0]
