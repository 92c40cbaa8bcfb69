"""Questions of a person's own server in the middle of a call: asked once, answered once, the call never sent again."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.store.sqlite.aio import AsyncSqliteStore
from mcp.types import ElicitRequestFormParams, ElicitRequestURLParams

from graph.context import RunContext
from graph.drive.connections import ConnectionPool
from graph.servers.choices import Choice
from graph.servers.pool import ServerPool
from graph.settings import AgentSettings
from tests.fakes.chat_model import ScriptedChatModel, tool_call, tool_calls
from tests.fakes.clock import SettableClock
from tests.fakes.notes_server import NotesServer
from tests.graph.assistant import Assistant, Seen, approve, assemble, reject
from tests.graph.servers.conftest import PoolMaker

NOTE, OTHER = "mcp__notes__note", "mcp__more__note"
FORM = ElicitRequestFormParams(
    message="Which city?\u200b",
    requestedSchema={
        "type": "object",
        "properties": {
            "city": {"type": "string", "title": "City", "minLength": 2},
            "days": {"type": "integer", "minimum": 1, "default": 3},
        },
        "required": ["city"],
    },
)
URL = ElicitRequestURLParams(message="Sign the form.", url="https://b\u00fccher.example/form?id=1", elicitationId="e1")


class Chosen:
    """What the person has chosen."""

    def __init__(self, *servers: Any) -> None:
        self.choice = Choice(servers=servers)

    async def chosen(self, user: RunContext) -> Choice:
        """Return it, whoever asks."""
        del user
        return self.choice


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[NotesServer, NotesServer]]:
    servers = NotesServer().start(), NotesServer().start()
    yield servers
    for server in servers:
        server.stop()


@pytest.fixture
def notes(running: tuple[NotesServer, NotesServer]) -> NotesServer:
    running[0].reset()
    return running[0]


@pytest.fixture
def more(running: tuple[NotesServer, NotesServer]) -> NotesServer:
    running[1].reset()
    return running[1]


@pytest.fixture
def servers(make_pool: PoolMaker) -> ServerPool:
    return make_pool()


@pytest.fixture
def assistant(
    model: ScriptedChatModel,
    pool: ConnectionPool,
    saver: AsyncSqliteSaver,
    store: AsyncSqliteStore,
    clock: SettableClock,
    servers: ServerPool,
    notes: NotesServer,
    more: NotesServer,
) -> Assistant:
    allowed = {"auto_approve_tools": frozenset({"note"})}
    chosen = Chosen(notes.definition(**allowed), more.definition(id="s2", name="more", **allowed))
    others: dict[str, Any] = {"servers": chosen, "server_pool": servers, "store": store, "clock": clock}
    return assemble(model, pool, saver, settings=AgentSettings(), **others)


def fill(key: str = "n1", **fields: Any) -> dict[str, Any]:
    """Return an answer that fills in the form."""
    return {"decisions": [{"tool_call_id": key, "type": "edit", "args": fields}]}


def question(seen: Seen) -> Mapping[str, Any]:
    """Return the question that waits."""
    assert seen.asked is not None
    return seen.asked["actions"][0]["question"]


def heard(server: NotesServer) -> list[tuple[str, Any]]:
    """(action, content) of each answer that the server got."""
    return [(one.action, one.content) for one in server.heard]


async def test_a_form_is_shown_like_an_approval_and_its_answer_goes_to_the_server_and_not_to_the_model(
    assistant: Assistant, model: ScriptedChatModel, notes: NotesServer, servers: ServerPool
) -> None:
    notes.asks = [FORM]
    model.script = [tool_call(NOTE, "n1", text="hello"), "It is noted."]
    seen = await assistant.say("list my files, then note hello")
    assert seen.asked is not None
    action = seen.asked["actions"][0]
    assert (action["name"], action["code"], action["args"]) == (NOTE, "question", {"days": 3})
    assert seen.asked["review_configs"][0]["allowed_decisions"] == ["edit", "reject"]
    assert seen.asked["review_configs"][0]["args_schema"]["required"] == ["city"]
    assert question(seen)["message"] == "Which city?"
    assert "> Which city?\n" in action["preview"]
    assert seen.ends == []

    done = await assistant.answer(fill(city="Kingfisher", days="4"))
    assert heard(notes) == [("accept", {"city": "Kingfisher", "days": 4})]
    assert len(notes.calls) == 1
    assert done.ends == [(NOTE, "done")]
    assert done.results["n1"] == "noted"
    assert [event["status"] for event in done.of("approval_resolved")] == ["resolved"]
    assert not any("Kingfisher" in message.text for request in model.requests for message in request)
    assert len(servers.held) == 0


async def test_several_questions_of_one_call_are_asked_one_after_the_other(
    assistant: Assistant, model: ScriptedChatModel, notes: NotesServer
) -> None:
    notes.asks = [FORM, URL, FORM]
    model.script = [tool_call(NOTE, "n1", text="hello"), "It is noted."]
    first = await assistant.say("list my files, then note hello")
    second = await assistant.answer(fill(city="Oslo"))
    assert question(second)["mode"] == "url"
    third = await assistant.answer(approve("n1"))
    assert question(third)["mode"] == "form"
    done = await assistant.answer(fill(city="Rome"))
    asked = [seen.asked["approval_id"] for seen in (first, second, third) if seen.asked]
    assert len(set(asked)) == 3
    assert heard(notes) == [("accept", {"city": "Oslo"}), ("accept", None), ("accept", {"city": "Rome"})]
    assert len(notes.calls) == 1
    assert done.ends == [(NOTE, "done")]


async def test_an_address_is_shown_with_its_host_in_ascii(
    assistant: Assistant, model: ScriptedChatModel, notes: NotesServer
) -> None:
    notes.asks = [URL]
    model.script = [tool_call(NOTE, "n1", text="hello"), "It is noted."]
    seen = await assistant.say("list my files, then note hello")
    assert question(seen)["host"] == "xn--bcher-kva.example"
    assert question(seen)["url"] == "https://xn--bcher-kva.example/form?id=1"
    assert seen.asked is not None
    assert seen.asked["review_configs"][0]["allowed_decisions"] == ["approve", "reject"]
    await assistant.answer(reject("n1"))
    assert heard(notes) == [("decline", None)]


@pytest.mark.parametrize(
    "answer",
    [
        {"approve_all": True},
        approve("n1"),
        fill(city="O"),
        fill(city="Oslo", days="many"),
        fill(city="Oslo", other=1),
        {"decisions": [{"tool_call_id": "n1", "type": "respond", "message": "Oslo"}]},
        "Oslo",
    ],
)
async def test_what_is_no_answer_leaves_the_question_open(
    assistant: Assistant, model: ScriptedChatModel, notes: NotesServer, answer: Any
) -> None:
    notes.asks = [FORM]
    model.script = [tool_call(NOTE, "n1", text="hello"), "It is noted."]
    await assistant.say("list my files, then note hello")
    again = await assistant.answer(answer)
    assert heard(notes) == []
    assert question(again)["problem"]
    await assistant.answer(fill(city="Oslo"))
    assert heard(notes) == [("accept", {"city": "Oslo"})]
    assert len(notes.calls) == 1


async def test_a_declined_question_is_noted_in_the_record(
    assistant: Assistant, model: ScriptedChatModel, notes: NotesServer
) -> None:
    notes.asks = [FORM]
    model.script = [tool_call(NOTE, "n1", text="hello"), "It is noted."]
    await assistant.say("list my files, then note hello")
    done = await assistant.answer(reject("n1"))
    assert heard(notes) == [("decline", None)]
    assert "they declined to answer" in done.results["n1"]


async def test_a_question_that_nobody_answered_in_time_is_cancelled(
    assistant: Assistant, model: ScriptedChatModel, notes: NotesServer, clock: SettableClock
) -> None:
    notes.asks = [FORM]
    model.script = [tool_call(NOTE, "n1", text="hello"), "It is noted."]
    await assistant.say("list my files, then note hello")
    clock.advance(seconds=301)
    done = await assistant.answer(fill(city="Oslo"))
    assert heard(notes) == [("cancel", None)]
    assert "Nobody answered in time" in done.results["n1"]
    assert [event["status"] for event in done.of("approval_resolved")] == ["expired"]


async def test_a_run_that_nobody_watches_is_asked_nothing(
    assistant: Assistant, model: ScriptedChatModel, notes: NotesServer
) -> None:
    assistant.who = replace(assistant.who, mode="unattended")
    notes.asks = [FORM]
    model.script = [tool_call(NOTE, "n1", text="hello"), "It is noted."]
    seen = await assistant.say("list my files, then note hello")
    assert seen.asked is None
    assert heard(notes) == [("decline", None)]
    assert "Nobody watches this run" in seen.results["n1"]


async def test_a_server_that_asks_without_end_gets_no_more_answers(
    assistant: Assistant, model: ScriptedChatModel, notes: NotesServer
) -> None:
    notes.asks = [FORM] * 7
    model.script = [tool_call(NOTE, "n1", text="hello"), "It is noted."]
    seen = await assistant.say("list my files, then note hello")
    for _ in range(5):
        assert seen.asked is not None
        seen = await assistant.answer(fill(city="Oslo"))
    assert seen.asked is None
    assert [one.action for one in notes.heard] == ["accept"] * 5 + ["decline"] * 2
    assert "too many questions" in seen.results["n1"]


async def test_two_servers_ask_at_once_and_other_calls_of_the_turn_are_made_once(
    assistant: Assistant, model: ScriptedChatModel, notes: NotesServer, more: NotesServer
) -> None:
    notes.asks, more.asks = [FORM], [URL]
    model.script = [
        tool_calls(tool_call(NOTE, "n1", text="a"), tool_call(OTHER, "m1", text="b"), tool_call("list_folder", "l1")),
        "Both are noted.",
    ]
    seen = await assistant.say("list my files, then note a and b")
    modes: list[str] = []
    for _ in range(2):
        assert seen.asked is not None
        modes.append(question(seen)["mode"])
        key = seen.asked["actions"][0]["tool_call_id"]
        seen = await assistant.answer(fill(key, city="Oslo") if modes[-1] == "form" else approve(key))
    assert sorted(modes) == ["form", "url"]
    assert (len(notes.calls), len(more.calls)) == (1, 1)
    assert (heard(notes), heard(more)) == ([("accept", {"city": "Oslo"})], [("accept", None)])
    assert {key: seen.results[key] for key in ("n1", "m1")} == {"n1": "noted", "m1": "noted"}
    assert seen.state["messages"][-1].text.strip() == "Both are noted."


async def test_two_calls_of_one_server_that_both_ask_are_both_answered(
    assistant: Assistant, model: ScriptedChatModel, notes: NotesServer, servers: ServerPool
) -> None:
    notes.asks = [FORM]
    model.script = [tool_calls(tool_call(NOTE, "n1", text="a"), tool_call(NOTE, "n2", text="b")), "Both."]
    seen = await assistant.say("list my files, then note a and b")
    for _ in range(2):
        assert seen.asked is not None
        seen = await assistant.answer(fill(seen.asked["actions"][0]["tool_call_id"], city="Oslo"))
    assert seen.asked is None
    assert len(notes.calls) == 2
    assert heard(notes) == [("accept", {"city": "Oslo"})] * 2
    assert {seen.results[key] for key in ("n1", "n2")} == {"noted"}
    assert len(servers.held) == 0


async def test_a_call_whose_process_has_ended_is_not_made_again_and_the_turn_goes_on(
    assistant: Assistant, model: ScriptedChatModel, notes: NotesServer, servers: ServerPool
) -> None:
    notes.asks = [FORM]
    model.script = [tool_call(NOTE, "n1", text="hello"), "I don't know."]
    await assistant.say("list my files, then note hello")
    await servers.held.aclose()
    done = await assistant.answer(fill(city="Oslo"))
    assert len(notes.calls) == 1
    assert done.ends == [(NOTE, "error")]
    assert "was not sent again" in done.results["n1"]
    assert [event["status"] for event in done.of("approval_resolved")] == ["cancelled"]
    assert done.state["messages"][-1].text.strip() == "I don't know."


async def test_a_run_that_ends_takes_its_questions_and_its_calls_with_it(
    assistant: Assistant, model: ScriptedChatModel, notes: NotesServer, servers: ServerPool
) -> None:
    notes.asks = [FORM]
    model.script = [tool_call(NOTE, "n1", text="hello")]
    await assistant.say("list my files, then note hello")
    call = servers.held.get(assistant.who.run_id, "n1")
    assert call is not None
    servers.held.drop_run(assistant.who.run_id)
    await asyncio.wait({call.task})
    assert call.task.cancelled()
    assert len(servers.held) == 0


async def test_a_server_that_wants_an_address_opened_first_is_called_again_only_as_another_call(
    assistant: Assistant, model: ScriptedChatModel, notes: NotesServer
) -> None:
    notes.required = [URL]
    model.script = [tool_call(NOTE, "n1", text="hello"), "You have been there."]
    seen = await assistant.say("list my files, then note hello")
    assert question(seen)["mode"] == "url"
    done = await assistant.answer(approve("n1"))
    assert len(notes.calls) == 1
    assert done.ends == [(NOTE, "error")]
    assert "you may make the call again" in done.results["n1"]


async def test_an_address_that_was_not_opened_is_not_tried_again(
    assistant: Assistant, model: ScriptedChatModel, notes: NotesServer
) -> None:
    notes.required = [URL]
    model.script = [tool_call(NOTE, "n1", text="hello"), "You have not been there."]
    await assistant.say("list my files, then note hello")
    done = await assistant.answer(reject("n1"))
    assert "don't repeat it" in done.results["n1"]


async def test_a_connection_that_is_closed_takes_its_question_with_it(
    assistant: Assistant, model: ScriptedChatModel, notes: NotesServer, servers: ServerPool
) -> None:
    notes.asks = [FORM]
    model.script = [tool_call(NOTE, "n1", text="hello"), "I don't know."]
    await assistant.say("list my files, then note hello")
    call = servers.held.get(assistant.who.run_id, "n1")
    assert call is not None
    await servers.close("u1", "s1")
    await asyncio.wait({call.task})
    done = await assistant.answer(fill(city="Oslo"))
    assert len(notes.calls) == 1
    assert "may or may not have been carried out" in done.results["n1"]
    assert [event["status"] for event in done.of("approval_resolved")] == ["resolved"]
    assert len(servers.held) == 0


@pytest.mark.parametrize("name", ["password", "apiKey", "user_token", "密码"])
async def test_a_form_that_wants_a_secret_comes_with_a_warning_that_names_the_server(
    assistant: Assistant, model: ScriptedChatModel, notes: NotesServer, name: str
) -> None:
    schema = {"type": "object", "properties": {name: {"type": "string"}, "city": {"type": "string"}}}
    notes.asks = [ElicitRequestFormParams(message="Sign in.", requestedSchema=schema)]
    model.script = [tool_call(NOTE, "n1", text="hello"), "It is noted."]
    seen = await assistant.say("list my files, then note hello")
    assert question(seen)["warning"].startswith(f"Careful: notes seems to want a password or a key ({name})")
    assert question(seen)["warning"] in (seen.asked or {})["actions"][0]["preview"]


async def test_a_run_in_chinese_is_asked_in_chinese(
    assistant: Assistant, model: ScriptedChatModel, notes: NotesServer
) -> None:
    notes.asks = [FORM]
    model.script = [tool_call(NOTE, "n1", text="hello"), "已记下。"]
    seen = await assistant.say("列出我的文件")
    assert question(seen)["language"] == "zh"
    assert "原话" in (seen.asked or {})["actions"][0]["preview"]
