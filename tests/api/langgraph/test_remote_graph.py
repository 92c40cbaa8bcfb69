"""LangGraph's RemoteGraph on the service: graphs of other programs use ours."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command, interrupt
from langgraph_sdk import get_client
from langgraph_sdk.errors import UnprocessableEntityError

from tests.api.command_model import command
from tests.api.langgraph.conftest import client_of
from tests.api.langgraph.talking import AGENT, new_thread, said, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.person import Person

YES: dict[str, Any] = {"decisions": [{"type": "approve"}]}
MODES = ["values", "updates", "messages", "custom", "tasks", "checkpoints", "debug"]


@pytest.fixture
def remote(owner: Person) -> Iterator[RemoteGraph]:
    with client_of(owner) as sync:
        yield RemoteGraph(AGENT, url=str(owner.http.base_url), api_key=owner.token, sync_client=sync)


def place(thread_id: str) -> Any:
    return {"configurable": {"thread_id": thread_id}}


def test_it_is_invoked_and_shows_its_state(client: Any, remote: RemoteGraph) -> None:
    config = place(new_thread(client))
    values = remote.invoke(said("Good morning"), config)
    assert texts(values) == [("human", "Good morning"), ("ai", "You said Good morning")]
    state = remote.get_state(config)
    assert (state.values["messages"], state.next, state.interrupts) == (values["messages"], (), ())
    history = [*remote.get_state_history(config, limit=5)]
    assert history[0].config == state.config
    assert [*remote.get_state_history(config, before=history[0].config, limit=1)] == history[1:2]
    assert remote.get_state(history[1].config).config == history[1].config


def test_it_is_invoked_without_a_thread(remote: RemoteGraph) -> None:
    assert texts(remote.invoke(said("Hello")))[-1] == ("ai", "You said Hello")


def test_it_is_drawn(remote: RemoteGraph) -> None:
    assert {"approve", "act"} <= set(remote.get_graph().nodes)


@pytest.mark.parametrize("mode", MODES)
def test_it_streams_in_each_mode(client: Any, remote: RemoteGraph, mode: Any) -> None:
    config = place(new_thread(client))
    parts: list[Any] = [*remote.stream(said(command("create_folder", name=f"By {mode}")), config, stream_mode=mode)]
    assert bool(parts) == (mode not in {"tasks", "debug"}), parts
    if mode == "values":
        assert texts(parts[-1])[-1][0] == "ai"
    if mode == "updates":
        assert [node for part in parts for node in part] == ["drive_agent", "act", "drive_agent"]
    if mode == "messages":
        assert "".join(piece["content"] for piece, _ in parts if piece["type"] == "AIMessageChunk")
    if mode == "custom":
        assert parts[-1]["type"] == "done"


def test_it_streams_in_several_modes_at_once(client: Any, remote: RemoteGraph) -> None:
    modes: Any = ["values", "custom"]
    parts: list[Any] = [*remote.stream(said("Hello"), place(new_thread(client)), stream_mode=modes)]
    assert {part.event for part in parts} == {"values", "custom"}


async def test_it_streams_the_events_of_the_second_protocol(owner: Person) -> None:
    async with asyncio.timeout(40), get_client(url=str(owner.http.base_url), api_key=owner.token) as client:
        remote = RemoteGraph(AGENT, client=client)
        async with await remote.astream_events(said("Good morning"), version="v3") as run:
            streams = [stream async for stream in run.messages]
            words = [await stream.text for stream in streams]
            values = await run.output()
    assert words == ["You said Good morning"]
    assert texts(values)[-1] == ("ai", "You said Good morning")


def test_a_question_is_an_interrupt_and_a_resume_answers_it(client: Any, remote: RemoteGraph, owner: Person) -> None:
    file = owner.upload("by remote.txt", "x")
    config = place(new_thread(client))
    values = remote.invoke(said(command("trash_item", item_id=file["id"])), config)
    (asked,) = values["__interrupt__"]
    (waiting,) = remote.get_state(config).interrupts
    assert waiting.id == asked["id"]
    assert waiting.value["action_requests"][0]["name"] == "trash_item"
    assert "by remote.txt" in owner.names()
    resumed = remote.invoke(Command(resume={waiting.id: YES}), config)
    assert "__interrupt__" not in resumed
    assert "by remote.txt" not in owner.names()


def test_its_state_takes_human_messages_and_nothing_else(client: Any, remote: RemoteGraph) -> None:
    config = place(new_thread(client))
    with pytest.raises(UnprocessableEntityError):
        remote.update_state(config, {"route": {"agent": "drive_agent"}})
    remote.update_state(config, {"messages": [{"type": "human", "content": "Remember the milk."}]})
    values = remote.invoke(said("Good morning"), config)
    assert texts(values)[0] == ("human", "Remember the milk.\n\nGood morning")


def outer(*nodes: Any) -> Any:
    graph = StateGraph(MessagesState)
    for number, node in enumerate(nodes):
        graph.add_node(str(number), node)
        graph.add_edge(str(number - 1) if number else START, str(number))
    return graph.compile(checkpointer=InMemorySaver())


def test_it_is_a_node_of_another_graph_which_sends_the_whole_conversation_each_time(
    client: Any, remote: RemoteGraph
) -> None:
    graph, config = outer(remote), place(new_thread(client))
    graph.invoke(said("Good morning"), config)
    values = graph.invoke(said("And now?"), config)
    spoken = ["Good morning", "You said Good morning", "And now?", "You said And now?"]
    assert [message.content for message in values["messages"]] == spoken
    assert [text for _, text in texts(remote.get_state(config).values)] == spoken
    parts = [*graph.stream(said("Bye"), config, stream_mode=["messages", "updates"], subgraphs=True)]
    assert "messages" in {mode for _, mode, _ in parts}


def test_its_question_interrupts_the_graph_around_it(client: Any, remote: RemoteGraph, owner: Person) -> None:
    file = owner.upload("from around.txt", "x")
    graph, config = outer(remote), place(new_thread(client))
    (asked,) = graph.invoke(said(command("trash_item", item_id=file["id"])), config)["__interrupt__"]
    assert asked.value["action_requests"][0]["name"] == "trash_item"
    assert graph.invoke(Command(resume=YES), config)["__interrupt__"] == [asked]
    assert "from around.txt" in owner.names()
    remote.invoke(Command(resume=YES), config)
    values = graph.invoke(Command(resume="decided"), config)
    assert "from around.txt" not in owner.names()
    assert [message.type for message in values["messages"]] == ["human", "ai", "tool", "ai"]
    assert len(client.runs.list(config["configurable"]["thread_id"])) == 2


def test_a_node_may_put_its_question_and_send_the_answer_on(client: Any, remote: RemoteGraph, owner: Person) -> None:
    file = owner.upload("sent on.txt", "x")
    there = place(new_thread(client))

    def ask(state: MessagesState) -> Any:
        values = remote.invoke({"messages": state["messages"]}, there)
        while asked := values.get("__interrupt__"):
            values = remote.invoke(Command(resume=interrupt(asked[0]["value"])), there)
        return {"messages": values["messages"]}

    graph, config = outer(ask), place(str(uuid4()))
    assert graph.invoke(said(command("trash_item", item_id=file["id"])), config)["__interrupt__"]
    values = graph.invoke(Command(resume=YES), config)
    assert "sent on.txt" not in owner.names()
    assert [message.type for message in values["messages"]] == ["human", "ai", "tool", "ai"]


def test_a_message_that_is_sent_again_is_said_once(client: Any, owner: Person) -> None:
    thread_id = new_thread(client)
    message = {"type": "human", "content": command("create_folder", name="Only one"), "id": str(uuid4())}
    first = client.runs.wait(thread_id, AGENT, input={"messages": [message]})
    assert first["messages"][0]["id"] == message["id"]
    again = client.runs.create(thread_id, AGENT, input={"messages": [message]})
    assert (again["status"], len(client.runs.list(thread_id))) == ("success", 1)
    assert client.runs.wait(thread_id, AGENT, input={"messages": first["messages"][:1]}) == first
    edited = {**message, "content": "Other words"}
    values = client.runs.wait(thread_id, AGENT, input={"messages": [*first["messages"], edited]})
    assert texts(values)[-2:] == [("human", "Other words"), ("ai", "You said Other words")]
    assert owner.names().count("Only one") == 1
    ids = [one["id"] for one in values["messages"]]
    assert len({*ids}) == len(ids)
    assert message["id"] in ids
