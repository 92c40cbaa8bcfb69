"""Rights are inherited, and what takes them away holds at once and everywhere, with an answer that tells nothing.

Each thing that Bob can do by a folder shared with him is done once, then the share is taken back, and it is done again
over the very session that was open before: what comes back is what an id that never was gives.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp.shared.exceptions import McpError
from mcp.types import PromptReference, ResourceTemplateReference

from drive_server.kernel.access import Actor, Scope
from drive_server.kernel.errors import NotFoundError, UnauthenticatedError
from drive_server.mcp.resources import INDEX
from drive_server.services.sharing.links import LinkTerms
from tests.drive_server.hosts import host_of
from tests.drive_server.protocol.listener import listening, settled

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from drive_server.drive import Drive
    from drive_server.models.items import Item

BOB = "bob@example.com"
NEVER = "f" * 32
HERE = "10.0.0.1"
FILE_TEMPLATE = ResourceTemplateReference(type="ref/resource", uri="drive://files/{file_id}")


@dataclass
class Shared:
    """Alice's `Reports/In/plan.md`: the folder `Reports` is shared with Bob, who edits."""

    drive: Drive
    alice: Actor
    bob: Actor
    top: Item
    inner: Item
    file: Item

    async def revoke(self) -> None:
        await self.drive.sharing.revoke(self.alice, self.top.id, BOB)


@pytest.fixture
async def shared(drive: Drive, alice: Actor, bob: Actor) -> Shared:
    top = (await drive.files.create_folder(alice, "root", "Reports")).value
    inner = (await drive.files.create_folder(alice, top.id, "In")).value
    file = (await drive.documents.create(alice, inner.id, "plan.md", "zanzibar is mentioned once")).value
    file = (await drive.documents.write_text(alice, file.id, "zanzibar is mentioned twice")).value
    for name in ("a.md", "b.md", "c.md"):
        await drive.documents.create(alice, inner.id, name, "x")
    await drive.sharing.share(alice, top.id, BOB, "editor")
    await drive.ingester.drain()
    return Shared(drive, alice, bob, top, inner, file)


CALLS: dict[str, dict[str, Any]] = {
    "list_folder": {"folder_id": "{inner}"},
    "get_folder_tree": {"folder_id": "{inner}"},
    "get_file_info": {"item_id": "{file}"},
    "read_file": {"file_id": "{file}"},
    "list_versions": {"file_id": "{file}"},
    "diff_versions": {"file_id": "{file}", "from_version": 1},
    "get_download_url": {"file_id": "{file}"},
    "list_shares": {"item_id": "{file}"},
    "list_changes": {"item_id": "{file}"},
    "search_files": {"query": "plan", "folder_id": "{inner}"},
    "semantic_search_files": {"query": "zanzibar", "folder_id": "{inner}"},
    "find_related_files": {"file_id": "{file}"},
    "append_to_file": {"file_id": "{file}", "content": "x"},
    "write_file": {"file_id": "{file}", "content": "y"},
    "patch_file": {"file_id": "{file}", "edits": [{"find": "y", "replace": "z"}]},
    "restore_version": {"file_id": "{file}", "version": 1},
    "create_file": {"folder_id": "{inner}", "name": "new.md", "content": "x"},
    "create_folder": {"folder_id": "{inner}", "name": "New"},
    "rename_item": {"item_id": "{file}", "name": "renamed.md"},
    "move_item": {"item_id": "{file}", "folder_id": "{top}"},
    "copy_item": {"item_id": "{file}", "folder_id": "root"},
    "trash_item": {"item_id": "{file}"},
    "restore_item": {"item_id": "{file}"},
}


def filled(arguments: dict[str, Any], places: dict[str, str]) -> dict[str, Any]:
    return {name: value.format_map(places) if isinstance(value, str) else value for name, value in arguments.items()}


def without_id(error: dict[str, Any]) -> dict[str, Any]:
    """Leave out the requested id, which the answer repeats."""
    return {**error, "details": {key: value for key, value in error["details"].items() if key != "id"}}


async def test_every_tool_of_an_open_session_refuses_as_for_what_never_was(shared: Shared) -> None:
    ids = {"top": shared.top.id, "inner": shared.inner.id, "file": shared.file.id}
    never = dict.fromkeys(ids, NEVER)
    async with host_of(shared.drive, shared.bob) as bobs:
        for tool, arguments in CALLS.items():
            await bobs.call(tool, **filled(arguments, ids))

        await shared.revoke()

        for tool, arguments in CALLS.items():
            refused = await bobs.refused(tool, **filled(arguments, ids))
            unknown = await bobs.refused(tool, **filled(arguments, never))
            assert refused["code"] == "not_found", tool
            assert without_id(refused) == without_id(unknown), tool


async def test_paths_lead_nowhere_any_more(shared: Shared) -> None:
    async with host_of(shared.drive, shared.bob) as bobs:
        await bobs.call("read_file", file_id="/Shared with me/Reports/In/plan.md")
        await shared.revoke()
        for path in ("/Shared with me/Reports", "/Shared with me/Reports/In/plan.md"):
            refused = await bobs.refused("get_file_info", item_id=path)
            unknown = await bobs.refused("get_file_info", item_id="/Shared with me/Never")
            assert without_id(refused) == without_id(unknown)


async def test_lists_and_searches_forget_it(shared: Shared) -> None:
    async with host_of(shared.drive, shared.bob) as bobs:

        async def seen() -> list[int]:
            listed = await bobs.call("list_shared_with_me")
            place = await bobs.call("list_folder", folder_id="shared")
            names = await bobs.call("search_files", query="plan")
            words = await bobs.call("search_files", query="zanzibar")
            passages = await bobs.call("semantic_search_files", query="zanzibar twice")
            lists = [listed["items"], place["items"], names["hits"], words["hits"], passages["hits"]]
            return [len(entries) for entries in lists]

        before = await seen()
        await shared.revoke()
        assert min(before) > 0
        assert await seen() == [0] * 5


async def test_a_page_that_was_begun_is_not_gone_on_with(shared: Shared) -> None:
    async with host_of(shared.drive, shared.bob) as bobs:
        folder = await bobs.call("list_folder", folder_id=shared.inner.id, limit=1)
        versions = await bobs.call("list_versions", file_id=shared.file.id, limit=1)
        assert folder["cursor"]
        assert versions["cursor"]

        await shared.revoke()

        for tool, arguments, page in (
            ("list_folder", {"folder_id": shared.inner.id}, folder),
            ("list_versions", {"file_id": shared.file.id}, versions),
        ):
            refused = await bobs.refused(tool, **arguments, cursor=page["cursor"])
            unknown = await bobs.refused(tool, **dict.fromkeys(arguments, NEVER))
            assert without_id(refused) == without_id(unknown)


async def test_a_page_of_what_was_shared_is_gone_on_with_without_it(shared: Shared) -> None:
    later = (await shared.drive.files.create_folder(shared.alice, "root", "Zebra")).value
    await shared.drive.sharing.share(shared.alice, later.id, BOB, "viewer")
    async with host_of(shared.drive, shared.bob) as bobs:
        page = await bobs.call("list_shared_with_me", limit=1)
        await shared.drive.sharing.revoke(shared.alice, later.id, BOB)
        assert (await bobs.call("list_shared_with_me", limit=1, cursor=page["cursor"]))["items"] == []


async def test_resources_and_completions_forget_it(shared: Shared) -> None:
    async with host_of(shared.drive, shared.bob) as bobs:

        async def completed() -> list[list[str]]:
            argument = {"name": "file_id", "value": "plan"}
            answers = [await bobs.session.complete(FILE_TEMPLATE, argument)]
            for prompt in (await bobs.session.list_prompts()).prompts:
                for one in prompt.arguments or []:
                    reference = PromptReference(type="ref/prompt", name=prompt.name)
                    answers.append(await bobs.session.complete(reference, {"name": one.name, "value": "plan"}))
            return [answer.completion.values for answer in answers]

        addresses: list[Any] = [f"drive://files/{shared.file.id}", f"drive://folders/{shared.inner.id}"]
        for address in addresses:
            assert (await bobs.session.read_resource(address)).contents
        before, listed = await completed(), (await bobs.session.list_resources()).resources
        assert before[0]
        assert listed[:-1]

        await shared.revoke()

        told: list[tuple[int, str]] = []
        never: list[Any] = [f"drive://files/{NEVER}", f"drive://folders/{NEVER}"]
        for address in [*addresses, *never]:
            with pytest.raises(McpError) as caught:
                await bobs.session.read_resource(address)
            told.append((caught.value.error.code, caught.value.error.message))
        assert len(set(told)) == 1
        assert not [
            value for values in await completed() for value in values if "plan" in value or shared.file.id in value
        ]
        (left,) = (await bobs.session.list_resources()).resources
        assert left.uri == INDEX.uri


async def test_a_subscription_is_silent_from_then_on(shared: Shared) -> None:
    address: Any = f"drive://files/{shared.file.id}"
    async with listening(shared.drive, shared.bob) as (session, heard):
        await session.subscribe_resource(address)
        await shared.drive.documents.write_text(shared.alice, shared.file.id, "before")
        await settled(shared.drive, heard)
        before = list(heard.updated)

        await shared.revoke()
        await shared.drive.documents.write_text(shared.alice, shared.file.id, "after")
        await settled(shared.drive, heard)

        assert before == [str(address)]
        assert heard.updated == before
        with pytest.raises(McpError) as caught:
            await session.subscribe_resource(address)
        never: Any = f"drive://files/{NEVER}"
        with pytest.raises(McpError) as unknown:
            await session.subscribe_resource(never)
        assert (caught.value.error.code, caught.value.error.message) == (
            unknown.value.error.code,
            unknown.value.error.message,
        )


async def test_an_address_to_download_from_ends_with_the_right(shared: Shared) -> None:
    downloads = shared.drive.downloads
    tokens = [
        (await downloads.create(shared.bob, shared.file.id, version)).value.url.rpartition("/")[2]
        for version in (None, 1)
    ]
    for token in tokens:
        assert (await downloads.open(token)).item.id == shared.file.id
    await shared.revoke()
    told: list[dict[str, Any]] = []
    for token in [*tokens, "never"]:
        with pytest.raises(NotFoundError) as caught:
            await downloads.open(token)
        told.append(caught.value.to_dict())
    assert all(answer == told[0] for answer in told)


async def test_a_role_that_was_lowered_is_lower_in_the_open_session(shared: Shared) -> None:
    async with host_of(shared.drive, shared.bob) as bobs:
        await bobs.call("write_file", file_id=shared.file.id, content="y")
        await shared.drive.sharing.update(shared.alice, shared.top.id, BOB, "viewer")
        assert (await bobs.refused("write_file", file_id=shared.file.id, content="z"))["code"] == "forbidden"
        assert (await bobs.call("read_file", file_id=shared.file.id))["text"] == "y"


async def test_what_is_moved_out_of_a_shared_folder_is_no_longer_shared(shared: Shared) -> None:
    async with host_of(shared.drive, shared.bob) as bobs:
        await bobs.call("read_file", file_id=shared.file.id)
        await shared.drive.files.move(shared.alice, shared.file.id, "root")
        assert (await bobs.refused("read_file", file_id=shared.file.id))["code"] == "not_found"


async def test_another_role_on_the_way_still_holds(shared: Shared) -> None:
    await shared.drive.sharing.share(shared.alice, shared.inner.id, BOB, "viewer")
    await shared.revoke()
    async with host_of(shared.drive, shared.bob) as bobs:
        assert (await bobs.call("get_file_info", item_id=shared.file.id))["role"] == "viewer"
        assert (await bobs.refused("get_file_info", item_id=shared.top.id))["code"] == "not_found"


async def test_a_key_that_lost_its_scope_or_was_revoked_is_out_of_its_addresses(shared: Shared) -> None:
    identity, downloads = shared.drive.identity, shared.drive.downloads
    key, secret = await identity.create_key(shared.bob, "narrow", ["read", "share"])
    token = (await downloads.create(Actor(await identity.authenticate(secret)), shared.file.id)).value.url
    token = token.rpartition("/")[2]
    for scopes in ([Scope.SHARE, Scope.WRITE], [Scope.READ]):
        await identity.change_scopes(shared.bob, key.id, scopes)
        with pytest.raises(NotFoundError):
            await downloads.open(token)
    await identity.change_scopes(shared.bob, key.id, [Scope.READ, Scope.SHARE])
    assert (await downloads.open(token)).item.id == shared.file.id
    await identity.revoke_key(shared.bob, key.id)
    with pytest.raises(NotFoundError):
        await downloads.open(token)


async def test_a_link_that_is_revoked_is_no_way_in_for_a_visit_that_is_going_on(shared: Shared) -> None:
    drive = shared.drive
    link = (await drive.links.create(shared.alice, shared.top.id, LinkTerms(role="editor"))).value
    assert link.url is not None
    visit = await drive.visits.open(link.url.rpartition("/")[2], HERE)
    page = await drive.files.list_folder(visit.actor, shared.inner.id, limit=1)

    ways: list[Callable[[], Awaitable[object]]] = [
        lambda: drive.files.get(visit.actor, shared.file.id),
        lambda: drive.files.list_folder(visit.actor, shared.inner.id, cursor=page.cursor),
        lambda: drive.documents.open_content(visit.actor, shared.file.id),
        lambda: drive.documents.create(visit.actor, shared.inner.id, "new.md", "x"),
    ]
    for way in ways:
        await way()
    await drive.links.revoke(shared.alice, shared.top.id, link.id)
    for way in ways:
        with pytest.raises(NotFoundError):
            await way()


ELSEWHERE = """
import sys
from sqlalchemy import create_engine, text
with create_engine(sys.argv[1]).begin() as drive:
    print(drive.execute(text(sys.argv[2]), {"id": sys.argv[3]}).rowcount)
"""


async def elsewhere(drive: Drive, statement: str, row_id: str) -> None:
    """Change one row of the database in another process."""
    url = drive.settings.resolved_database_url.replace("sqlite+aiosqlite", "sqlite")
    done = await anyio.run_process([sys.executable, "-c", ELSEWHERE, url, statement, row_id])
    assert done.stdout.split() == [b"1"]


async def test_a_share_that_another_process_takes_back_holds_no_longer_in_the_next_call(shared: Shared) -> None:
    async with host_of(shared.drive, shared.bob) as bobs:
        assert len((await bobs.call("list_folder", folder_id=shared.inner.id))["items"]) == 4

        await elsewhere(shared.drive, "DELETE FROM shares WHERE node_id = :id", shared.top.id)

        refused = await bobs.refused("list_folder", folder_id=shared.inner.id)
        unknown = await bobs.refused("list_folder", folder_id=NEVER)
        assert without_id(refused) == without_id(unknown)


async def test_a_key_that_another_process_revokes_opens_nothing_any_more(drive: Drive) -> None:
    user, secret = await drive.identity.ensure_local_user()
    assert (await drive.identity.authenticate(secret)).user_id == user.id

    await elsewhere(drive, "UPDATE api_keys SET revoked_at = '2026-01-01 00:00:00.000000' WHERE user_id = :id", user.id)

    with pytest.raises(UnauthenticatedError):
        await drive.identity.authenticate(secret)
