"""A conversation's own model, from those that the operator allows; over the real service and a scripted provider."""

from collections.abc import Generator

import pytest

from api.app import create_app
from drive_server.kernel.settings import DriveSettings
from graph.settings import AgentSettings
from tests.api.serving import RunningApp
from tests.e2e.person import Person
from tests.fakes.openai_server import OpenAIServer, running_server, text

ASK = "search my files for the contract"


@pytest.fixture(scope="module")
def provider() -> Generator[OpenAIServer]:
    with running_server() as server:
        server.brain = lambda request: text(f"I am {request['model']}.")
        yield server


@pytest.fixture(scope="module")
def owner(provider: OpenAIServer, tmp_path_factory: pytest.TempPathFactory) -> Generator[Person]:
    data = tmp_path_factory.mktemp("models")
    agent = AgentSettings.model_validate(
        {"model": "gpt-4.1", "models": "gpt-5, ours", "openai_api_key": "k", "openai_base_url": provider.url}
    )
    app = RunningApp(create_app(DriveSettings(data_dir=data, embedding_model="none"), agent)).start()
    person = Person.owner(app.url, data)
    yield person
    person.close()
    app.stop()


def say(person: Person, *, thread_id: str | None = None, model: str | None = None) -> tuple[str, str]:
    """Return the thread, and what was answered."""
    with person.chat(ASK, thread_id=thread_id, model=model) as turn:
        turn.finish()
    answer = "".join(event["text"] for event in turn.seen if event["type"] == "content")
    return turn.seen[0]["thread_id"], answer.strip()


def test_the_allowed_models_are_listed_with_their_sizes_and_prices(owner: Person) -> None:
    listed = owner.get("/api/models")["items"]
    assert [(model["name"], model["is_default"]) for model in listed] == [
        ("gpt-4.1", True),
        ("gpt-5", False),
        ("ours", False),
    ]
    assert listed[0]["context_tokens"] == 1_000_000
    assert listed[1]["input_price"] == 1.25
    assert listed[2]["input_price"] is None


def test_a_thread_keeps_the_model_that_was_chosen_for_it(owner: Person) -> None:
    thread, answer = say(owner)
    assert answer == "I am gpt-4.1."
    assert say(owner, thread_id=thread, model="gpt-5") == (thread, "I am gpt-5.")
    assert say(owner, thread_id=thread) == (thread, "I am gpt-5.")
    assert owner.get(f"/api/threads/{thread}")["model"] == "gpt-5"
    assert say(owner)[1] == "I am gpt-4.1."
    assert say(owner, thread_id=thread, model="gpt-4.1") == (thread, "I am gpt-4.1.")


def test_a_new_thread_may_begin_with_one(owner: Person) -> None:
    thread, answer = say(owner, model="ours")
    assert answer == "I am ours."
    assert next(one for one in owner.get("/api/threads")["items"] if one["thread_id"] == thread)["model"] == "ours"


@pytest.mark.parametrize("name", ["gpt-6", "GPT-5", "gpt-5,ours", "offline", " gpt-5"])
def test_a_model_that_is_not_allowed_is_refused_and_nothing_begins(owner: Person, name: str) -> None:
    before = owner.get("/api/threads")["items"]
    refused = owner.http.post("/api/chat", json={"message": ASK, "model": name})
    assert refused.status_code == 422
    assert refused.json()["code"] == "model_not_allowed"
    assert "GET /api/models" in refused.json()["hint"]
    assert owner.get("/api/threads")["items"] == before


def test_what_a_turn_cost_is_counted_by_the_prices_of_its_own_model(owner: Person) -> None:
    with owner.chat(ASK, model="gpt-5") as turn:
        turn.finish()
    assert turn.seen[-1]["usage"] == {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10, "cost_micros": 39}
