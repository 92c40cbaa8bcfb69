"""What one would write in an afternoon: a service over langchain's prebuilt agent, to measure ours beside."""

import json
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from langchain_core.messages import AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from pydantic import BaseModel

# The extra `bench`, which lint and types do without.
create_agent: Any = import_module("langchain.agents").create_agent

PROMPT = "You are an assistant that helps with a person's files. Use the tools. Be brief."


@tool
async def list_folder(folder_id: str = "root") -> str:
    """List a folder's items."""
    return json.dumps({"folder_id": folder_id, "items": []})


@tool
async def read_file(file_id: str, start: int = 0) -> str:
    """Read a file's text."""
    return f"{file_id} from {start}: nothing"


@tool
async def create_folder(name: str, parent_id: str = "root") -> str:
    """Create a folder."""
    return f"{name} in {parent_id}"


def make_agent(url: str, model: str, saver: Any = None) -> Any:
    """Return the prebuilt agent with three tools of its own process."""
    chat_model = ChatOpenAI(model=model, base_url=url, api_key=lambda: "none", streaming=True, stream_usage=True)
    tools: list[Any] = [list_folder, read_file, create_folder]
    return create_agent(chat_model, tools, system_prompt=PROMPT, checkpointer=saver)


class Chat(BaseModel):
    """A message."""

    message: str
    thread_id: str


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
    """Open the checkpoints and build the agent."""
    async with AsyncSqliteSaver.from_conn_string(os.environ["CHECKPOINTS"]) as saver:
        app.state.agent = make_agent(os.environ["MODEL_URL"], os.environ["MODEL"], saver)
        yield


app = FastAPI(lifespan=lifespan)


@app.post("/chat")
async def chat(body: Chat) -> StreamingResponse:
    """Stream the turn as server-sent events."""

    async def events() -> AsyncIterator[str]:
        yield f"event: run\ndata: {json.dumps({'thread_id': body.thread_id})}\n\n"
        config = {"configurable": {"thread_id": body.thread_id}}
        asked = {"messages": [HumanMessage(body.message)]}
        async for message, _ in app.state.agent.astream(asked, config, stream_mode="messages"):
            if isinstance(message, AIMessageChunk) and message.text:
                yield f"event: content\ndata: {json.dumps({'text': message.text})}\n\n"
            elif isinstance(message, AIMessageChunk | ToolMessage):
                yield f"event: tool\ndata: {json.dumps({'id': message.id})}\n\n"
        yield "event: done\ndata: {}\n\n"

    return StreamingResponse(events(), media_type="text/event-stream")
