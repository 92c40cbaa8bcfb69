from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import McpError
from mcp.types import Completion, PromptReference, ResourceTemplateReference

from tests.drive_server.hosts import host_of

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor

FILE = ResourceTemplateReference(type="ref/resource", uri="drive://files/{file_id}")
FOLDER = ResourceTemplateReference(type="ref/resource", uri="drive://folders/{folder_id}")


def prompt(name: str) -> PromptReference:
    return PromptReference(type="ref/prompt", name=name)


async def test_the_variables_of_templates_are_completed_with_what_can_be_read(drive: Drive, alice: Actor) -> None:
    await drive.files.create_folder(alice, "root", "Plans")
    await drive.documents.create(alice, "/Plans", "plan.md", "x")
    async with host_of(drive, alice) as host:
        files = (await host.session.complete(FILE, {"name": "file_id", "value": "pla"})).completion
        folders = (await host.session.complete(FOLDER, {"name": "folder_id", "value": "pla"})).completion
        uri: Any = f"drive://files/{files.values[0]}"
        read = await host.session.read_resource(uri)

    assert (files.values, files.total, files.hasMore) == (["/Plans/plan.md"], 1, False)
    assert folders.values == ["/Plans"]
    assert read.contents[0].text == "x"  # pyright: ignore[reportAttributeAccessIssue] - it is text


async def test_the_arguments_of_prompts_are_completed_by_what_they_name(drive: Drive, alice: Actor, bob: Actor) -> None:
    folder = (await drive.files.create_folder(alice, "root", "Plans")).value
    await drive.documents.create(alice, "/Plans", "plan.md", "x")
    await drive.sharing.share(alice, folder.id, bob.principal.email, "viewer")
    asked = [
        ("summarise_file", "file", "pla", ["/Plans/plan.md"]),
        ("summarise_file_zh", "file", "pla", ["/Plans/plan.md"]),
        ("compare_documents", "second", "/Plans/", ["/Plans/plan.md"]),
        ("tidy_folder", "folder", "pla", ["/Plans"]),
        ("what_changed_this_week", "person", "bo", ["bob@example.com"]),
        ("summarise_file", "language", "", ["en", "zh"]),
        ("summarise_file", "language", "Z", ["zh"]),
    ]
    async with host_of(drive, alice) as host:
        for name, argument, value, expected in asked:
            found = await host.session.complete(prompt(name), {"name": argument, "value": value})
            assert found.completion.values == expected, (name, argument)


async def test_rights_are_respected(drive: Drive, alice: Actor, bob: Actor) -> None:
    item = (await drive.documents.create(alice, "root", "plan.md", "x")).value
    await drive.sharing.share(alice, item.id, bob.principal.email, "viewer")
    async with host_of(drive, bob) as host:
        shared = await host.session.complete(FILE, {"name": "file_id", "value": "plan"})
        await drive.sharing.revoke(alice, item.id, bob.principal.email)
        revoked = await host.session.complete(FILE, {"name": "file_id", "value": "plan"})

    assert shared.completion.values == ["/Shared with me/plan.md"]
    assert revoked.completion.values == []


@pytest.mark.parametrize(
    ("reference", "argument"),
    [
        (FILE, "folder_id"),
        (ResourceTemplateReference(type="ref/resource", uri="drive://keys/{id}"), "id"),
        (prompt("summarise_file"), "x"),
        (prompt("no_such_prompt"), "file"),
    ],
)
async def test_what_there_is_not_is_an_invalid_argument(
    drive: Drive, alice: Actor, reference: Any, argument: str
) -> None:
    async with host_of(drive, alice) as host:
        with pytest.raises(McpError) as refused:
            await host.session.complete(reference, {"name": argument, "value": ""})

    assert refused.value.error.code == -32602
    assert refused.value.error.data is not None
    assert refused.value.error.data["code"] == "invalid_argument"


async def test_plain_prompts_are_completed_by_their_own_function(drive: Drive, alice: Actor) -> None:
    @drive.server.completion()
    async def complete(reference: Any, argument: Any, context: Any) -> Completion | None:
        del context
        known = isinstance(reference, PromptReference) and reference.name == "plain"
        return Completion(values=[argument.value + "!"]) if known else None

    assert complete
    async with host_of(drive, alice) as host:
        plain = await host.session.complete(prompt("plain"), {"name": "x", "value": "a"})
        other = await host.session.complete(prompt("other"), {"name": "x", "value": "a"})
        own = await host.session.complete(prompt("summarise_file"), {"name": "language", "value": "e"})

    assert (plain.completion.values, other.completion.values, own.completion.values) == (["a!"], [], ["en"])
