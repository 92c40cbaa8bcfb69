"""A small graph with parallel steps, a question and a removed message, and what the library reads of its threads."""

import os
import signal
import sqlite3
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Annotated, Any, NotRequired, TypedDict

import anyio
import psycopg
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send, interrupt

from api.storage.threads import PackingSerializer, open_threads
from graph.state import MESSAGES

ROUNDS = 6
MESSAGES_OF_A_TURN = ROUNDS + 2
CONFIG: Any = {"configurable": {"thread_id": "t1"}}
KILLED_AT = "KILLED_AT"
"""The environment's name for the round in which a process that talks kills itself."""
OTHER: Any = {"configurable": {"thread_id": "t2"}}


class Talk(TypedDict):
    messages: Annotated[list[AnyMessage], MESSAGES]
    round: int
    note: NotRequired[str]


def work(state: Any) -> dict[str, Any]:
    number, turn = state["round"], len(state["messages"])
    if state["messages"][-1].text == "ask":
        interrupt("may I?")
    if str(number) == os.environ.get(KILLED_AT):
        os.kill(os.getpid(), signal.SIGKILL)
    return {"messages": [AIMessage(f"step {number}", id=f"{turn}-{number}")], "round": number + 1}


def both(state: Any) -> dict[str, Any]:
    return {"messages": [AIMessage("at once", id=f"{len(state['messages'])}-{state['round']}")]}


def again(state: Any) -> Any:
    if state["round"] % ROUNDS:
        return "work"
    return [Send("both", {**state, "round": 100 + number}) for number in range(2)]


def drop(state: Any) -> dict[str, Any]:
    return {"messages": [RemoveMessage(id=str(state["messages"][-1].id))], "round": 0}


def graph_on(saver: Any) -> Any:
    graph = StateGraph(Talk)
    for name, node in (("work", work), ("both", both), ("drop", drop)):
        graph.add_node(name, node)
    graph.add_edge(START, "work")
    graph.add_conditional_edges("work", again, ["work", "both"])
    graph.add_edge("both", "drop")
    graph.add_edge("drop", END)
    return graph.compile(checkpointer=saver)


async def say(graph: Any, text: str, config: Any = CONFIG, **also: str) -> None:
    await graph.ainvoke({"messages": [HumanMessage(text)], "round": 0, **also}, config, durability="sync")


async def said(saver: Any, config: Any = CONFIG) -> list[tuple[Any, str]]:
    snapshot = await graph_on(saver).aget_state(config)
    return [(message.id, message.text) for message in snapshot.values.get("messages", [])]


@asynccontextmanager
async def plain_saver(url: str) -> AsyncGenerator[Any]:
    """Open the library's own saver."""
    if url.startswith("postgresql:"):
        async with AsyncPostgresSaver.from_conn_string(url) as saver:
            yield saver
    else:
        async with AsyncSqliteSaver.from_conn_string(url.partition("///")[2]) as saver:
            yield saver


async def fresh(url: str, config: Any = CONFIG) -> list[tuple[Any, str]]:
    """Read the thread as the library's own saver does, without anything remembered."""
    async with plain_saver(url) as plain:
        plain.serde = PackingSerializer()
        return await said(plain, config)


def rows_of(url: str, thread_id: str) -> Mapping[str, int]:
    """Count a thread's rows in each table that has threads."""
    tables: tuple[str, ...] = ("checkpoints", "writes")
    connect: Any = sqlite3.connect
    place, sign = url.partition("///")[2], "?"
    if url.startswith("postgresql:"):
        tables = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
        connect, place, sign = psycopg.connect, url, "%s"
    connection = connect(place)
    try:
        query = "SELECT count(*) FROM {} WHERE thread_id = {}"
        return {table: connection.execute(query.format(table, sign), (thread_id,)).fetchone()[0] for table in tables}
    finally:
        connection.close()


def main(arguments: list[str]) -> None:
    """Say something in a thread."""

    async def run() -> None:
        url, text = arguments
        async with open_threads(url) as storage:
            await say(graph_on(storage.saver), text)

    anyio.run(run)
