from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import McpError
from mcp.types import EmbeddedResource, TextContent, TextResourceContents

from drive_server.mcp import prompts as module
from tests.drive_server.actors import with_scopes
from tests.drive_server.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp import ClientSession
    from mcp.types import GetPromptResult

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor

NAMES = ["summarise_file", "compare_documents", "tidy_folder", "what_changed_this_week"]


@pytest.fixture
async def session(drive: Drive, alice: Actor) -> AsyncIterator[ClientSession]:
    async with host_of(drive, alice) as host:
        yield host.session


def text_of(result: GetPromptResult) -> str:
    content = result.messages[0].content
    assert isinstance(content, TextContent)
    return content.text


def attached_to(result: GetPromptResult) -> list[TextResourceContents]:
    found: list[TextResourceContents] = []
    for message in result.messages[1:]:
        assert message.role == "user"
        assert isinstance(message.content, EmbeddedResource)
        assert isinstance(message.content.resource, TextResourceContents)
        found.append(message.content.resource)
    return found


async def refused(session: ClientSession, name: str, **arguments: str) -> tuple[int, dict[str, Any]]:
    with pytest.raises(McpError) as failed:
        await session.get_prompt(name, arguments)
    assert failed.value.error.data is not None
    return failed.value.error.code, failed.value.error.data


async def test_each_prompt_is_listed_in_english_and_in_chinese(session: ClientSession) -> None:
    prompts = {prompt.name: prompt for prompt in (await session.list_prompts()).prompts}

    assert list(prompts) == [*NAMES, *(f"{name}_zh" for name in NAMES)]
    for name in NAMES:
        english, chinese = prompts[name], prompts[f"{name}_zh"]
        assert [one.name for one in english.arguments or []] == [one.name for one in chinese.arguments or []]
        for prompt, is_chinese in ((english, False), (chinese, True)):
            shown = [prompt.title, prompt.description, *(one.description for one in prompt.arguments or [])]
            for text in shown:
                assert text
                assert any("\u4e00" <= char <= "\u9fff" for char in text) == is_chinese or "/报告" in text


async def test_a_file_is_attached_with_the_word_that_it_need_not_be_read_again(
    drive: Drive, alice: Actor, session: ClientSession
) -> None:
    item = (await drive.documents.create(alice, "root", "plan {x}.md", "We meet on Monday. {file}")).value
    result = await session.get_prompt("summarise_file", {"file": "/plan {x}.md"})
    (contents,) = attached_to(result)

    assert text_of(result).startswith("Summarise the document /plan {x}.md for me.")
    assert "don't read it again with read_file" in text_of(result)
    assert (str(contents.uri), contents.text) == (f"drive://files/{item.id}", "We meet on Monday. {file}")
    assert contents.mimeType == "text/markdown"


async def test_the_language_is_the_one_asked_for_else_that_of_the_files(
    drive: Drive, alice: Actor, session: ClientSession
) -> None:
    await drive.documents.create(alice, "root", "plan.md", "We meet on Monday.")
    await drive.documents.create(alice, "root", "计划.md", "我们星期一见面。")
    asked = [
        ("summarise_file", {"file": "/plan.md"}, "en"),
        ("summarise_file", {"file": "/计划.md"}, "zh"),
        ("summarise_file", {"file": "/计划.md", "language": "en"}, "en"),
        ("summarise_file", {"file": "/plan.md", "language": "zh-CN"}, "zh"),
        ("summarise_file_zh", {"file": "/plan.md"}, "zh"),
        ("summarise_file_zh", {"file": "/plan.md", "language": "EN"}, "en"),
        ("compare_documents", {"first": "/plan.md", "second": "/plan.md"}, "en"),
        ("compare_documents", {"first": "/计划.md", "second": "/计划.md"}, "zh"),
        ("tidy_folder", {"language": "zh"}, "zh"),
        ("tidy_folder", {"language": "en"}, "en"),
        ("what_changed_this_week", {"language": "en"}, "en"),
        ("what_changed_this_week_zh", {}, "zh"),
    ]
    for name, arguments, language in asked:
        text = text_of(await session.get_prompt(name, arguments))
        is_chinese = any(text.startswith(start) for start in ("请为我总结", "请比较", "请帮我整理", "请告诉我"))
        assert is_chinese == (language == "zh"), (name, arguments)
        assert ("不要再用 read_file 读取" in text) == (is_chinese and bool({"file", "first"} & arguments.keys()))


async def test_two_documents_are_attached_in_the_order_asked_for(
    drive: Drive, alice: Actor, session: ClientSession
) -> None:
    for name in ("b.md", "a.md"):
        await drive.documents.create(alice, "root", name, name)
    result = await session.get_prompt("compare_documents", {"second": "/a.md", "first": "/b.md"})

    assert [contents.text for contents in attached_to(result)] == ["b.md", "a.md"]
    assert "/b.md and /a.md" in text_of(result)


async def test_a_folder_is_attached_as_its_list(drive: Drive, alice: Actor, session: ClientSession) -> None:
    await drive.files.create_folder(alice, "root", "Reports")
    await drive.documents.create(alice, "/Reports", "plan.md", "x")
    result = await session.get_prompt("tidy_folder", {"folder": "/Reports"})
    root = await session.get_prompt("tidy_folder")
    (contents,) = attached_to(result)

    assert [item["name"] for item in json.loads(contents.text)["listing"]["items"]] == ["plan.md"]
    assert "wait for my answer before you change anything" in text_of(result)
    assert "the folder my drive" in text_of(root)


async def test_the_changes_of_the_week_are_attached(
    drive: Drive, alice: Actor, bob: Actor, session: ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    await drive.files.create_folder(alice, "root", "Reports")
    await drive.documents.create(alice, "/Reports", "plan.md", "x")
    theirs = (await drive.documents.create(bob, "root", "theirs.md", "x")).value
    await drive.sharing.share(bob, theirs.id, alice.principal.email, "viewer")
    (everything,) = attached_to(await session.get_prompt("what_changed_this_week", {"language": "en"}))
    below = await session.get_prompt("what_changed_this_week", {"folder": "/Reports", "person": "bob@example.com"})
    monkeypatch.setattr(module, "WEEK", -timedelta(seconds=1))
    (nothing,) = attached_to(await session.get_prompt("what_changed_this_week", {"language": "en"}))

    assert "/Reports/plan.md" in everything.text
    assert "/Shared with me/theirs.md" in everything.text
    assert "Created the folder 'Reports'" in everything.text
    assert f"{datetime.now(UTC):%Y}" in everything.text
    assert "theirs.md" not in attached_to(below)[0].text
    assert "Changes by bob@example.com in your drive" in attached_to(below)[0].text
    assert "as far as bob@example.com changed it" in text_of(below)
    assert nothing.text.count("(nothing)") == 2


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("no_such_prompt", {}, "invalid_argument"),
        ("summarise_file", {}, "invalid_argument"),
        ("summarise_file", {"file": ""}, "invalid_argument"),
        ("summarise_file", {"file": "/plan.md", "person": "x"}, "invalid_argument"),
        ("summarise_file", {"file": "/plan.md", "language": "fr"}, "invalid_argument"),
        ("summarise_file", {"file": "x" * 10_000}, "invalid_argument"),
        ("summarise_file", {"file": "/no/such.md"}, "not_found"),
        ("summarise_file", {"file": "\0"}, "not_found"),
        ("summarise_file", {"file": "root"}, "invalid_argument"),
        ("summarise_file", {"file": "/data.bin"}, "unsupported_content"),
        ("summarise_file", {"file": "/secret.md"}, "not_found"),
        ("tidy_folder", {"folder": "/plan.md"}, "invalid_argument"),
        ("what_changed_this_week", {"person": "nobody"}, "invalid_argument"),
        ("compare_documents", {"first": "/plan.md"}, "invalid_argument"),
    ],
)
async def test_wrong_arguments_are_told_as_such(
    drive: Drive, alice: Actor, bob: Actor, session: ClientSession, name: str, arguments: dict[str, str], code: str
) -> None:
    await drive.documents.create(alice, "root", "plan.md", "x")
    await drive.documents.create(alice, "root", "data.bin", b"\0\1\2")
    await drive.documents.create(bob, "root", "secret.md", "x")
    number, error = await refused(session, name, **arguments)

    assert (number, error["code"]) == (-32602, code)
    assert error["message"]
    assert error["hint"]


async def test_without_the_scope_no_prompt_is_filled_in(drive: Drive, alice: Actor) -> None:
    async with host_of(drive, with_scopes(alice)) as host:
        number, error = await refused(host.session, "tidy_folder")

    assert (number, error["code"]) == (-32000, "missing_scope")


async def test_plain_prompts_stand_beside_the_drives_own(drive: Drive, session: ClientSession) -> None:
    @drive.server.prompt()
    def greet(name: str) -> str:
        return f"Hello {name}"

    assert greet
    listed = [prompt.name for prompt in (await session.list_prompts()).prompts]
    text = text_of(await session.get_prompt("greet", {"name": "Alice"}))

    assert listed[-1] == "greet"
    assert text == "Hello Alice"
    number, error = await refused(session, "greet")
    assert (number, error["message"]) == (-32602, "name is missing.")
