from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.access import Scope
from tests.drive_server.actors import with_scopes
from tests.drive_server.hosts import Host, Person, asking_host_of, host_of, text_of

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor

KEY = {"drive-agent/idempotency-key": "call-1"}
DRY_RUN = {"drive-agent/dry-run": True}


async def test_a_person_gets_a_role_gets_another_and_loses_it(assistant: Host, bobs: Host) -> None:
    plan = await assistant.call("create_file", name="plan.md", content="x")

    given = await assistant.call("share_item", item_id=plan["id"], email="Bob@Example.com", role="viewer")
    assert (await bobs.refused("write_file", file_id=plan["id"], content="y"))["code"] == "forbidden"
    await assistant.call("share_item", item_id=plan["id"], email="bob@example.com", role="editor")
    await bobs.call("write_file", file_id=plan["id"], content="y")
    taken = await assistant.call("revoke_share", item_id=plan["id"], email="bob@example.com")

    assert (given["email"], given["role"], given["created_by"]) == ("bob@example.com", "viewer", "alice@example.com")
    assert taken["role"] == "editor"
    assert (await bobs.refused("read_file", file_id=plan["id"]))["code"] == "not_found"


async def test_shares_are_listed_with_where_they_come_from(assistant: Host, alices: Host) -> None:
    await assistant.call("create_folder", name="A")
    inner = await assistant.call("create_folder", name="B", folder_id="/A")
    await assistant.call("share_item", item_id="/A", email="bob@example.com")

    listed = await alices.result("list_shares", item_id=inner["id"])

    assert listed.structuredContent is not None
    (share,) = listed.structuredContent["shares"]
    assert (share["email"], share["inherited_from"]) == ("bob@example.com", "/A")
    assert text_of(listed) == "Shared with 1 person.\n- person bob@example.com: viewer, from /A"
    assert text_of(await alices.result("list_shares", item_id="root")) == "Shared with nobody."


async def test_an_inherited_role_is_taken_back_where_it_was_given(assistant: Host) -> None:
    await assistant.call("create_folder", name="A")
    await assistant.call("create_folder", name="B", folder_id="/A")
    await assistant.call("share_item", item_id="/A", email="bob@example.com")

    error = await assistant.refused("revoke_share", item_id="/A/B", email="bob@example.com")

    assert error["code"] == "state_conflict"
    assert "/A" in error["hint"]


async def test_only_who_gives_a_role_is_told_that_nobody_has_the_email_yet(assistant: Host, bobs: Host) -> None:
    await assistant.call("create_folder", name="A")

    known = await assistant.result("share_item", item_id="/A", email="bob@example.com")
    unknown = await assistant.result("share_item", item_id="/A", email="nobody@example.com")
    listed = await assistant.call("list_shares", item_id="/A")

    del bobs
    assert known.structuredContent is not None
    assert unknown.structuredContent is not None
    assert (known.structuredContent["has_account"], "account" in text_of(known)) == (True, False)
    assert (unknown.structuredContent["has_account"], "no account" in text_of(unknown)) == (False, True)
    assert [share["has_account"] for share in listed["shares"]] == [None, None]


async def test_only_viewer_and_editor_can_be_given(assistant: Host) -> None:
    error = await assistant.refused("share_item", item_id="root", email="bob@example.com", role="owner")

    assert error["code"] == "invalid_argument"
    assert error["details"]["errors"][0]["argument"] == "role"


async def test_a_link_is_made_listed_changed_and_ended(assistant: Host, alices: Host) -> None:
    plan = await assistant.call("create_file", name="plan.md", content="x")
    await assistant.call("share_item", item_id=plan["id"], email="bob@example.com")

    made = await assistant.call(
        "create_share_link", item_id=plan["id"], expires_in_hours=24, password="correct horse", max_downloads=3
    )
    listed = await alices.result("list_shares", item_id=plan["id"])
    changed = await assistant.call("update_share", item_id=plan["id"], link_id=made["id"], remove=["password", "limit"])
    ended = await assistant.call("revoke_share", item_id=plan["id"], link_id=made["id"])

    assert (made["kind"], made["role"], made["has_password"], made["max_downloads"]) == ("link", "viewer", True, 3)
    assert made["url"].startswith("http://127.0.0.1:8000/s/")
    assert listed.structuredContent is not None
    assert [(entry["kind"], entry.get("url")) for entry in listed.structuredContent["shares"]] == [
        ("person", None),
        ("link", made["url"]),
    ]
    assert text_of(listed).startswith("Shared with 1 person and by 1 link.\n- person bob@example.com: viewer\n- link ")
    assert made["url"] in text_of(listed)
    assert (changed["has_password"], changed["max_downloads"], changed["expires_at"]) == (
        False,
        None,
        made["expires_at"],
    )
    assert ended["id"] == made["id"]
    left = (await assistant.call("list_shares", item_id=plan["id"]))["shares"]
    assert [entry["kind"] for entry in left] == ["person"]


async def test_the_address_of_a_link_is_for_the_owner_with_a_key_that_may_share(
    assistant: Host, bobs: Host, drive: Drive, alice: Actor
) -> None:
    plan = await assistant.call("create_file", name="plan.md", content="x")
    await assistant.call("share_item", item_id=plan["id"], email="bob@example.com", role="editor")
    made = await assistant.call("create_share_link", item_id=plan["id"], role="editor")

    seen = await bobs.result("list_shares", item_id=plan["id"])
    async with host_of(drive, with_scopes(alice, Scope.READ)) as reader:
        read_only = await reader.result("list_shares", item_id=plan["id"])

    token = made["url"].rpartition("/")[2]
    for listed in (seen, read_only):
        assert token not in listed.model_dump_json()
        assert listed.structuredContent is not None
        assert listed.structuredContent["shares"][-1]["id"] == made["id"]


async def test_pages_of_the_list_hold_every_entry_once_and_a_foreign_cursor_is_refused(
    assistant: Host, bobs: Host, alices: Host
) -> None:
    plan = await assistant.call("create_file", name="plan.md", content="x")
    for number in range(4):
        await assistant.call("share_item", item_id=plan["id"], email=f"p{number}@example.com")
        await assistant.call("create_share_link", item_id=plan["id"])

    found: list[str] = []
    cursor = None
    while True:
        page = await alices.call("list_shares", item_id=plan["id"], limit=3, cursor=cursor)
        found += [entry.get("email") or entry["id"] for entry in page["shares"]]
        cursor = page["cursor"] or cursor
        if page["cursor"] is None:
            break

    assert len(found) == len(set(found)) == page["total"] == 8
    assert found[:4] == [f"p{number}@example.com" for number in range(4)]
    await assistant.call("share_item", item_id=plan["id"], email="bob@example.com", role="editor")
    with pytest.raises(Exception, match="not one that this list gave"):
        await bobs.result("list_shares", item_id=plan["id"], cursor=cursor)


async def test_a_repeated_key_makes_one_link_and_tells_its_address_again(assistant: Host) -> None:
    plan = await assistant.call("create_file", name="plan.md", content="x")
    arguments = {"item_id": plan["id"], "password": "correct horse"}

    first = await assistant.call("create_share_link", KEY, **arguments)
    again = await assistant.call("create_share_link", KEY, **arguments)
    other = await assistant.refused("create_share_link", KEY, **{**arguments, "password": "another horse"})

    assert again["url"] == first["url"]
    assert other["code"] == "idempotency_conflict"
    assert (await assistant.call("list_shares", item_id=plan["id"]))["total"] == 1


async def test_a_rehearsed_link_says_who_gains_access_and_has_no_address(assistant: Host) -> None:
    plan = await assistant.call("create_file", name="plan.md", content="x")

    made = await assistant.result("create_share_link", DRY_RUN, item_id=plan["id"], expires_in_hours=1)

    assert made.meta is not None
    assert made.structuredContent is not None
    effect = made.meta["drive-agent/effect"]
    assert effect["gains_access"] == ["anyone with the link"]
    assert effect["summary"].startswith("Create a link to 'plan.md' for anyone who has it: viewer, until ")
    assert made.structuredContent["url"] is None
    assert (await assistant.call("list_shares", item_id=plan["id"]))["shares"] == []


async def test_a_person_is_asked_before_a_link_is_made_changed_or_ended(
    drive: Drive, alice: Actor, assistant: Host
) -> None:
    plan = await assistant.call("create_file", name="plan.md", content="x")
    person = Person("decline", "accept", "decline", "accept", "accept", "decline")

    async with asking_host_of(drive, alice, person) as host:
        assert (await host.refused("create_share_link", item_id=plan["id"]))["code"] == "declined"
        link = await host.call("create_share_link", item_id=plan["id"])
        where = {"item_id": plan["id"], "link_id": link["id"]}
        assert (await host.refused("update_share", **where, role="editor"))["code"] == "declined"
        await host.call("update_share", **where, role="viewer", password="correct horse")
        await host.call("update_share", **where, remove=["password"])
        assert (await host.refused("revoke_share", **where))["code"] == "declined"

    assert person.answers == []
    assert "anyone with the link" in person.questions[0]
    assert "without a password" in person.questions[4]
    assert (await assistant.call("list_shares", item_id=plan["id"]))["total"] == 1


async def test_a_role_is_changed_only_where_there_is_one(assistant: Host) -> None:
    await assistant.call("create_folder", name="A")
    inner = await assistant.call("create_folder", name="B", folder_id="/A")
    await assistant.call("share_item", item_id="/A", email="bob@example.com")

    changed = await assistant.call("update_share", item_id="/A", email="bob@example.com", role="editor")
    inherited = await assistant.refused("update_share", item_id=inner["id"], email="bob@example.com", role="viewer")
    nobody = await assistant.refused("update_share", item_id="/A", email="eve@example.com", role="viewer")

    assert changed["role"] == "editor"
    assert (inherited["code"], nobody["code"]) == ("state_conflict", "not_found")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"email": "bob@example.com", "link_id": "1"},
        {"email": "bob@example.com"},
        {"email": "bob@example.com", "role": "viewer", "max_downloads": 1},
        {"link_id": "1"},
        {"link_id": "1", "password": "correct horse", "remove": ["password"]},
        {"link_id": "1", "password": "short"},
        {"link_id": "1", "remove": ["role"]},
        {"link_id": "1", "expires_in_hours": 0},
        {"link_id": "1", "max_downloads": True},
    ],
)
async def test_changes_that_make_no_sense_are_refused(assistant: Host, arguments: dict[str, object]) -> None:
    await assistant.call("create_folder", name="A")

    error = await assistant.refused("update_share", item_id="/A", **arguments)

    assert error["code"] == "invalid_argument"


async def test_what_others_shared_is_listed_page_by_page(assistant: Host, bobs: Host) -> None:
    for name in ("a", "b", "c"):
        await assistant.call("create_folder", name=name)
        await assistant.call("share_item", item_id=f"/{name}", email="bob@example.com")

    first = await bobs.call("list_shared_with_me", limit=2)
    rest = await bobs.call("list_shared_with_me", limit=2, cursor=first["cursor"])

    assert [item["name"] for item in first["items"] + rest["items"]] == ["a", "b", "c"]
    assert rest["cursor"] is None
    assert {item["owner"] for item in first["items"]} == {"alice@example.com"}
    assert (await assistant.call("list_shared_with_me"))["items"] == []
