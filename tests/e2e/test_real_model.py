"""The service with a model behind an OpenAI-compatible address, set by the environment as a person sets it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.e2e.service import running
from tests.fakes.openai_server import Failure, split_call, text

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.e2e.service import Service
    from tests.fakes.openai_server import OpenAIServer

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
    route = {"agent": "drive_agent", "needs_plan": False, "confidence": 0.7, "reason": "It is about the drive."}
    model.replies = [
        split_call("RouteDecision", json.dumps(route), key="call_route"),
        Failure(429, headers={"Retry-After": "0"}),
        split_call("create_folder", '{"name": "报告"}', key="call_1", pieces=5),
        text("It is ", "done."),
    ]
    owner = modelled.owner()
    with owner.chat(MESSAGE) as turn:
        done = turn.finish()
    assert turn.of("route_decision")[0]["method"] == "model"
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
