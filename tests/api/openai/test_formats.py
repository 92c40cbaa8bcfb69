"""Answers in JSON: `response_format`, and a response's `text.format`, of the model without tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import openai
import pytest

from graph.model_factory import Clients, build_models
from graph.offline.model import OfflineChatModel
from graph.settings import AgentSettings
from tests.api.openai.asking import MODEL, threads_of, user
from tests.api.openai.test_recorded import LIBRECHAT
from tests.api.real_service import RealService
from tests.fakes.openai_server import Failure, OpenAIServer, Stream, running_server, split_call, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from langchain_core.language_models import BaseChatModel

    from tests.e2e.person import Person

TEXT: Final = f"{MODEL}:text"
TITLES: Final = ("title structured", "title functions")
SCHEMA: Final[Any] = {
    "type": "object",
    "properties": {"title": {"type": "string", "maxLength": 20}, "tags": {"type": "array"}},
    "required": ["title"],
}
FORMAT: Final[Any] = {"type": "json_schema", "json_schema": {"name": "extract", "schema": SCHEMA}}
OBJECT: Final[Any] = {"type": "json_object"}


@pytest.fixture(scope="module")
def scripted() -> Iterator[OpenAIServer]:
    with running_server() as server:
        yield server


@pytest.fixture
def server(scripted: OpenAIServer) -> OpenAIServer:
    """The model's service, without a script."""
    scripted.forget()
    return scripted


def served(tmp_path_factory: pytest.TempPathFactory, model: BaseChatModel) -> Iterator[Person]:
    service = RealService(tmp_path_factory.mktemp("formats"), model).start()
    person = service.owner()
    yield person
    person.close()
    service.stop()


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory, scripted: OpenAIServer) -> Iterator[Person]:
    """The owner of a service whose model is that of the scripted one."""
    settings: dict[str, Any] = {"openai_api_key": "k", "openai_base_url": scripted.url, "model_retries": 0}
    model = build_models(AgentSettings(model="scripted", **settings), Clients())["agent"]
    yield from served(tmp_path_factory, model)


@pytest.fixture(scope="module")
def person_offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Person]:
    yield from served(tmp_path_factory, OfflineChatModel())


def client_of(person: Person) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{person.http.base_url}/v1", api_key=person.token, max_retries=0, timeout=30)


def ask(person: Person, said: str, wanted: Any, **options: Any) -> Any:
    asked: dict[str, Any] = {"model": TEXT, "messages": [user(said)], "response_format": wanted, **options}
    with client_of(person) as client:
        return client.chat.completions.create(**asked)


def object_of(made: Any) -> Any:
    return json.loads(made.choices[0].message.content)


@pytest.mark.parametrize("wanted", [FORMAT, OBJECT])
def test_a_wish_for_json_reaches_the_model_as_it_came(person: Person, server: OpenAIServer, wanted: Any) -> None:
    server.replies = [text('{"title": ', '"One plum"}')]
    made = ask(person, "one plum", wanted)
    assert object_of(made) == {"title": "One plum"}
    assert made.usage.total_tokens == 10
    assert server.requests[0]["response_format"] == wanted


def test_a_stream_has_the_object_whole(person: Person, server: OpenAIServer) -> None:
    server.replies = [text('Here it is: {"title": "One plum"}')]
    body: dict[str, Any] = {"model": TEXT, "messages": [user("one plum")], "stream": True, "response_format": FORMAT}
    with client_of(person) as client:
        chunks = [*client.chat.completions.create(**body)]
    said = [chunk.choices[0].delta.content for chunk in chunks]
    assert [json.loads(words) for words in said if words] == [{"title": "One plum"}]


def test_a_response_has_it_too(person: Person, server: OpenAIServer) -> None:
    server.replies = [text('{"title": "One plum"}')]
    wanted: Any = {"format": {"type": "json_schema", "name": "extract", "schema": SCHEMA, "strict": False}}
    with client_of(person) as client:
        made = client.responses.create(model=TEXT, input="one plum", text=wanted)
    assert json.loads(made.output_text) == {"title": "One plum"}
    sent = {"name": "extract", "schema": SCHEMA, "strict": False}
    assert server.requests[0]["response_format"] == {"type": "json_schema", "json_schema": sent}


def test_an_answer_that_does_not_fit_is_asked_for_again_and_never_passed_on(
    person: Person, server: OpenAIServer
) -> None:
    server.replies = [text('{"title": 3}'), text('{"title": "Three"}')]
    assert object_of(ask(person, "three plums", FORMAT)) == {"title": "Three"}
    assert "is not of type 'string'" in server.requests[1]["messages"][-1]["content"]
    server.replies = [text('{"title": 3}'), text("no")]
    with pytest.raises(openai.InternalServerError) as caught:
        ask(person, "three plums", FORMAT)
    assert caught.value.code == "model_output"


def test_a_service_that_takes_no_schema_is_asked_by_a_tool_and_keeps_its_name_for_others(
    person: Person, server: OpenAIServer
) -> None:
    for _ in range(2):
        server.replies = [Failure(400, "Invalid schema for response_format"), split_call("extract", '{"title": "A"}')]
        assert object_of(ask(person, "one plum", FORMAT)) == {"title": "A"}
    assert ["response_format" in request for request in server.requests] == [True, False, True, False]
    assert server.requests[1]["tools"][0]["function"]["name"] == "extract"


def test_links_of_the_answer_are_filtered_also_where_json_hides_them(person: Person, server: OpenAIServer) -> None:
    bad = "![x](https:\\u002f\\u002fevil.example\\u002f?q=1)"
    server.replies = [text(f'{{"title": "a", "{bad}": [["{bad}"]]}}')]
    said = ask(person, "one plum", OBJECT).choices[0].message.content
    assert "](" not in json.dumps(json.loads(said))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array"},
        {"type": "nothing"},
        {"type": "object", "properties": 5},
        {"type": "object", "patternProperties": {"(a+)+$": {}}, "additionalProperties": False},
    ],
)
def test_a_schema_that_is_of_no_use_is_refused(person: Person, server: OpenAIServer, schema: Any) -> None:
    with pytest.raises(openai.BadRequestError, match="schema of the answer"):
        ask(person, "one plum", {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}})
    assert server.requests == []


@pytest.mark.parametrize(
    ("schema", "is_right"),
    [
        ({"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}, True),
        ({"type": "object", "properties": {"a": {"$ref": "https://evil.example/schema.json"}}}, False),
        ({"type": "object", "$ref": "#"}, False),
    ],
)
def test_a_hostile_schema_keeps_nobody_busy_and_fetches_nothing(
    person: Person, server: OpenAIServer, schema: Any, *, is_right: bool
) -> None:
    server.replies = [text(f'{{"a": "{"a" * 40}!"}}')] * 2
    wanted = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}
    if is_right:
        assert object_of(ask(person, "one plum", wanted))
        return
    with pytest.raises(openai.InternalServerError):
        ask(person, "one plum", wanted)


def test_the_assistant_itself_answers_in_words_alone(person: Person, server: OpenAIServer) -> None:
    before = threads_of(person)
    with pytest.raises(openai.BadRequestError, match="NAME:text"):
        ask(person, "one plum", FORMAT, model=MODEL)
    with client_of(person) as client, pytest.raises(openai.BadRequestError, match="助手只用文字回答"):
        client.responses.create(model=MODEL, input="一个李子", text={"format": OBJECT})
    assert threads_of(person) == before
    assert server.requests == []


def test_a_wish_for_words_means_nothing_more(person: Person, server: OpenAIServer) -> None:
    server.replies = [text("A plum.")]
    assert ask(person, "one plum", {"type": "text"}).choices[0].message.content == "A plum."
    assert "response_format" not in server.requests[0]


@pytest.mark.parametrize("name", TITLES)
def test_titles_that_librechat_asked_for_fit_its_schema(person: Person, server: OpenAIServer, name: str) -> None:
    before = threads_of(person)
    server.replies = [text('{"title": "One Plum"}')]
    assert _sent(person, name) == {"title": "One Plum"}
    assert server.requests[0]["response_format"] == LIBRECHAT[name]["body"]["response_format"]
    assert threads_of(person) == before


@pytest.mark.parametrize("name", TITLES)
def test_the_built_in_model_names_a_conversation_in_its_own_words(person_offline: Person, name: str) -> None:
    assert _sent(person_offline, name) == {"title": "one plum"}


def _sent(person: Person, name: str) -> Any:
    request = LIBRECHAT[name]
    answer = person.http.post("/v1/chat/completions", json=request["body"], headers=request["headers"])
    assert answer.is_success, answer.text
    return json.loads(answer.json()["choices"][0]["message"]["content"])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("said", "wanted"),
    [("User: one plum", OBJECT), ("a title please", FORMAT)],
)
def test_the_built_in_model_says_which_forms_are_beyond_it(
    person_offline: Person, said: str, wanted: Any, *, stream: bool
) -> None:
    with pytest.raises(openai.BadRequestError, match="built-in model can't answer in this form"):
        ask(person_offline, said, wanted, stream=stream)


@pytest.mark.parametrize("wanted", [None, FORMAT])
def test_a_client_that_leaves_a_model_without_tools_stops_it(person: Person, server: OpenAIServer, wanted: Any) -> None:
    server.replies = [Stream([{"content": "A very "}, {"content": "long answer "}], stalls=True)]
    body: dict[str, Any] = {"model": TEXT, "messages": [user("tell me")], "stream": True, "response_format": wanted}
    with person.http.stream("POST", "/v1/chat/completions", json=body) as answer:
        next(answer.iter_lines())
    assert server.left.wait(20)
