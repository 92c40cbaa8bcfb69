"""The lean client beside LangChain's, which stays what it is measured by: same server, same answers, same requests."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, AsyncCallbackManager, BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.tool import invalid_tool_call, tool_call
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tools import tool
from pydantic import BaseModel, Field

from graph.errors import ModelError
from graph.model_factory import Clients, build_models
from graph.models.asking import ask, dialect_of
from graph.models.dialects import JSON_SCHEMA
from graph.models.structured import ask_for
from graph.settings import AgentSettings
from tests.fakes.openai_server import Failure, OpenAIServer, Pieces, Reply, Stream, split_call, text

Ask = Callable[[Reply, Callable[[BaseChatModel], Awaitable[Any]]], Awaitable[list[Any]]]

HI: list[BaseMessage] = [HumanMessage("hi")]
USAGE = {
    "prompt_tokens": 70,
    "completion_tokens": 30,
    "total_tokens": 100,
    "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": None},
    "completion_tokens_details": {"reasoning_tokens": 12},
}


@tool
def patch(find: str, replace: str) -> None:
    """Patch."""


class Choice(BaseModel):
    """A choice."""

    name: str = Field(description="its name")
    agent: str | None = None


@pytest.fixture
def both(server: OpenAIServer, clients: Clients) -> Ask:
    """Return what asks each client the same, of a server that answers both the same, and gives both results.

    The lean one is asked in both its ways, with somebody who hears LangChain's callbacks and with nobody.
    """

    async def ask_both(reply: Reply, asking: Callable[[BaseChatModel], Awaitable[Any]]) -> list[Any]:
        server.requests.clear()
        found: list[Any] = []
        nobody, somebody = list[BaseCallbackHandler](), list[BaseCallbackHandler]([AsyncCallbackHandler()])
        for kind, handlers in (("lean", somebody), ("lean", nobody), ("openai", nobody)):
            server.replies = [reply]
            settings = {"model": "scripted", "openai_api_key": "k", "openai_base_url": server.url, "model_retries": 0}
            model = build_models(AgentSettings.model_validate({**settings, "chat_client": kind}), clients)["agent"]
            try:
                var_child_runnable_config.set({"callbacks": AsyncCallbackManager(handlers)})
                found.append(_told(await asking(model)))
            except ModelError as error:
                found.append(type(error))
        heard, unheard, full = server.requests
        for request in (heard, unheard):
            # Only the lean one asks for it: the services of the other do so by themselves.
            assert request.pop("parallel_tool_calls", True) is True
        assert heard == unheard == full
        assert found[0] == found[1]
        return found[1:]

    return ask_both


def _told(answer: Any) -> Any:
    return answer.model_dump(exclude={"id"}) if isinstance(answer, AIMessage) else answer


def chunk(delta: dict[str, Any], finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "scripted-2026",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}],
        **fields,
    }


def body(*chunks: dict[str, Any], end: str = "\n\n", done: bool = True) -> bytes:
    lines = [f"data: {json.dumps(part, ensure_ascii=False)}" for part in chunks] + ["data: [DONE]"] * done
    return "".join(line + end for line in lines).encode()


def parallel_calls() -> bytes:
    def call(index: int, arguments: str, **named: Any) -> dict[str, Any]:
        function = {"arguments": arguments, **({"name": named.pop("name")} if "name" in named else {})}
        return chunk({"tool_calls": [{"index": index, "function": function, **named}]})

    return body(
        chunk({"role": "assistant", "content": None}),
        call(0, "", id="call_a", type="function", name="patch"),
        call(0, '{"find": "三'),
        call(1, '{"find"', id="call_b", type="function", name="patch"),
        call(0, '十", "replace": "\\n"}'),
        call(1, ': "b", "replace": ""}'),
        chunk({}, "tool_calls", system_fingerprint="fp_1", service_tier="default"),
        {**chunk({}), "choices": [], "usage": USAGE},
    )


WHOLE = body(
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "四十五 "}),
    chunk({"content": "👩‍🚀 "}),
    chunk({"content": "مرحبا"}),
    chunk({}, "stop", system_fingerprint="fp_1"),
    {**chunk({}), "choices": [], "usage": USAGE},
)

ANSWERS: dict[str, Reply] = {
    "text": text("Hel", "lo", "", " there"),
    "a call": split_call("patch", '{"find": "30", "replace": "四十五"}', pieces=7),
    "a call without arguments": split_call("patch", ""),
    "calls in turns": Pieces([parallel_calls()]),
    "text, then a call": Stream(
        [
            {"content": "Let me look."},
            {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "patch", "arguments": "{}"}}]},
        ],
        finish="tool_calls",
    ),
    "malformed arguments": split_call("patch", '{"find": nope}'),
    "arguments that are a list": split_call("patch", "[1]"),
    "stopped at its length": Stream([{"content": "and so"}], finish="length"),
    "filtered": Stream([{"content": "and so"}], finish="content_filter"),
    "one body": Pieces([WHOLE]),
    "single bytes": Pieces([WHOLE[n : n + 1] for n in range(len(WHOLE))]),
    "odd pieces": Pieces([WHOLE[n : n + 7] for n in range(0, len(WHOLE), 7)]),
    "returns and line feeds": Pieces([WHOLE.replace(b"\n", b"\r\n")]),
    "comments between": Pieces([b": processing\n\n", WHOLE, b": bye\n\n"]),
    "priority": Pieces([body(chunk({"content": "x"}, "stop", service_tier="priority", usage=USAGE))]),
    "usage in every chunk": Pieces(
        [body(chunk({"content": "x"}, usage=None), chunk({"content": "y"}, "stop", usage=USAGE))]
    ),
    "no end mark": Pieces([body(chunk({"content": "x"}, "stop"), done=False)]),
    "nothing said": Stream([]),
}


@pytest.mark.parametrize("reply", ANSWERS.values(), ids=ANSWERS)
async def test_an_answer_is_the_same_message(both: Ask, reply: Reply) -> None:
    lean, full = await both(reply, lambda model: ask(model.bind_tools([patch]), HI))
    assert lean == full


async def test_an_answer_at_once_is_the_same_message(both: Ask) -> None:
    lean, full = await both(Pieces([parallel_calls()]), lambda model: model.ainvoke(HI))
    assert lean == full


CONVERSATION: list[BaseMessage] = [
    SystemMessage("Be brief."),
    HumanMessage("Patch it", name="me"),
    AIMessage("", tool_calls=[tool_call(name="patch", args={"find": "四", "replace": '"'}, id="call_a")]),
    ToolMessage("done", tool_call_id="call_a", name="patch"),
    AIMessage("Once more", invalid_tool_calls=[invalid_tool_call(name="patch", args="{", id="b", error="cut")]),
    ToolMessage([{"type": "text", "text": "no", "index": 0}], tool_call_id="b", status="error"),
    AIMessage([{"type": "text", "text": "Done"}, {"type": "thinking", "thinking": "hm"}]),
    HumanMessage(
        [
            {"type": "text", "text": "And this"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
            {"type": "image", "base64": "AA==", "mime_type": "image/png"},
        ]
    ),
    HumanMessage(""),
]


async def test_a_conversation_is_sent_as_the_same_body(both: Ask) -> None:
    lean, full = await both(text("Yes"), lambda model: ask(model.bind_tools([patch]), CONVERSATION))
    assert lean == full


@pytest.mark.parametrize("choice", ["any", "auto", "none", "patch", True, False, None])
async def test_tools_and_their_choice_are_sent_alike(both: Ask, choice: Any) -> None:
    await both(text("Yes"), lambda model: ask(model.bind_tools([patch, Choice], tool_choice=choice), HI))


async def test_options_are_sent_alike(both: Ask) -> None:
    await both(text("Yes"), lambda model: ask(model.bind(max_tokens=9, temperature=0, stop=["x"]), HI))


@pytest.mark.parametrize("reply", [split_call("Choice", '{"name": "x"}'), text('```json\n{"name": "x"}\n```')])
async def test_a_structured_answer_is_the_same(both: Ask, reply: Reply) -> None:
    async def asking(model: BaseChatModel) -> Choice:
        dialect_of(model).learn(JSON_SCHEMA)
        return await ask_for(model, Choice, HI)

    lean, full = await both(reply, asking)
    assert lean == full == Choice(name="x")


FAILURES: dict[str, Reply] = {
    **{str(status): Failure(status) for status in (400, 401, 403, 404, 409, 413, 422, 429, 500, 502, 503, 529)},
    "too long": Failure(400, code="context_length_exceeded"),
    "too long, said otherwise": Failure(400, "This model's maximum context length is 4096 tokens."),
    "an error inside": Pieces([b'data: {"error": {"message": "overloaded", "code": "server_error"}}\n\n']),
    "an error after text": Pieces([body(chunk({"content": "x"}), {"error": {"message": "no"}})]),
    "no JSON": Pieces([b"data: {not json\n\n"]),
    "a page": Pieces([b"<html>Please log in</html>"], media_type="text/html"),
    "nothing": Pieces([b""]),
    "only the end": Pieces([b"data: [DONE]\n\n"]),
    "a lost connection": Pieces([body(chunk({"content": "Hel"}), done=False)], cut=True),
}


@pytest.mark.parametrize("reply", FAILURES.values(), ids=FAILURES)
async def test_a_failure_is_the_same_of_our_errors(both: Ask, reply: Reply) -> None:
    lean, full = await both(reply, lambda model: ask(model, HI))
    assert isinstance(lean, type)
    assert lean == full


class Counting(AsyncCallbackHandler):
    """Counts the tokens that it is told of."""

    told = 0

    async def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        del kwargs
        self.told += bool(token)


async def test_callbacks_are_called_where_somebody_hears_them_and_only_there(
    server: OpenAIServer, clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = AgentSettings.model_validate({"model": "x", "openai_base_url": server.url, "chat_client": "lean"})
    model, counting = build_models(settings, clients)["agent"].bind_tools([patch]), Counting()
    server.replies = [text("Hel", "lo"), text("Hel", "lo")]

    var_child_runnable_config.set({"callbacks": AsyncCallbackManager([counting])})
    assert (await ask(model, HI)).text == "Hello"
    assert counting.told > 0
    monkeypatch.delattr(BaseChatModel, "astream")
    var_child_runnable_config.set({"callbacks": AsyncCallbackManager([])})
    assert (await ask(model, HI)).text == "Hello"
