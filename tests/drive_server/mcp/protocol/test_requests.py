"""The answers to malformed requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from mcp.types import INVALID_PARAMS, METHOD_NOT_FOUND

from tests.drive_server.raw import raw_client

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


async def refused(drive: Drive, actor: Actor, method: str, params: dict[str, Any] | None) -> Any:
    async with raw_client(drive, actor) as client:
        await client.ask(1, method, params)
        *_, answer = await client.until_answered(1)
        await client.ask(1, "ping")
        await client.until_answered(1)  # the id is free again
    return answer.error


@pytest.mark.parametrize(
    ("method", "params", "place"),
    [
        ("tools/list", {"cursor": 5}, "params.cursor"),
        ("resources/list", {"cursor": {}}, "params.cursor"),
        ("resources/read", {"uri": "drive://[files/x"}, "params.uri"),
        ("resources/subscribe", {"uri": None}, "params.uri"),
        ("tasks/get", {}, "params.taskId"),
        ("tools/call", {"name": "copy_item", "task": {"ttl": "soon"}}, "params.task.ttl"),
        ("tools/call", None, "params"),
        ("logging/setLevel", {"level": "loud"}, "params.level"),
        ("completion/complete", {"ref": {"type": "ref/x"}, "argument": {}}, "params.ref.PromptReference.type"),
    ],
)
async def test_wrong_parameters_are_named(
    drive: Drive, alice: Actor, method: str, params: dict[str, Any] | None, place: str
) -> None:
    error = await refused(drive, alice, method, params)

    assert error.code == INVALID_PARAMS
    assert error.data["code"] == "invalid_argument"
    assert place in {problem["argument"] for problem in error.data["details"]["problems"]}


async def test_their_values_are_not_repeated(drive: Drive, alice: Actor) -> None:
    error = await refused(drive, alice, "tools/call", {"name": ["dak_secret"], "arguments": "dak_secret"})

    assert "dak_secret" not in str(error)


@pytest.mark.parametrize("method", ["no/such", "", "tools/listen", "rpc.discover"])
async def test_an_unknown_method_is_told_as_such(drive: Drive, alice: Actor, method: str) -> None:
    error = await refused(drive, alice, method, {})

    assert error.code == METHOD_NOT_FOUND
    assert error.data["code"] == "invalid_argument"
    assert error.data["messages"]["message"]["zh"] == "没有这个方法。"
    assert error.data["messages"]["hint"]["zh"] == "请使用已声明的能力中的方法。"


async def test_an_unknown_tool_has_a_sentence_of_its_own_in_both_languages(drive: Drive, alice: Actor) -> None:
    error = await refused(drive, alice, "tools/call", {"name": "format_disk", "arguments": {}})

    assert (error.code, error.message) == (INVALID_PARAMS, "There is no such tool.")
    assert error.data["messages"]["message"]["zh"] == "没有这个工具。"
    assert error.data["messages"]["hint"]["zh"] == "请列出工具，查看它们的名称。"
