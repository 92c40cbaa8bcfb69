from __future__ import annotations

from tests.drive_server.hosts import Host, text_of


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
    inner = await assistant.call("create_folder", name="B", parent_id="/A")
    await assistant.call("share_item", item_id="/A", email="bob@example.com")

    listed = await alices.result("list_shares", item_id=inner["id"])

    assert listed.structuredContent is not None
    (share,) = listed.structuredContent["shares"]
    assert (share["email"], share["inherited_from"]) == ("bob@example.com", "/A")
    assert text_of(listed) == "Shared with 1 person.\n- bob@example.com: viewer"
    assert text_of(await alices.result("list_shares", item_id="root")) == "Shared with nobody."


async def test_an_inherited_role_is_taken_back_where_it_was_given(assistant: Host) -> None:
    await assistant.call("create_folder", name="A")
    await assistant.call("create_folder", name="B", parent_id="/A")
    await assistant.call("share_item", item_id="/A", email="bob@example.com")

    error = await assistant.refused("revoke_share", item_id="/A/B", email="bob@example.com")

    assert error["code"] == "state_conflict"
    assert "/A" in error["hint"]


async def test_whether_an_email_has_an_account_is_not_told(assistant: Host, bobs: Host) -> None:
    await assistant.call("create_folder", name="A")

    known = await assistant.call("share_item", item_id="/A", email="bob@example.com")
    unknown = await assistant.call("share_item", item_id="/A", email="nobody@example.com")

    del bobs
    assert {key: known[key] for key in known.keys() - {"email", "created_at"}} == {
        key: unknown[key] for key in unknown.keys() - {"email", "created_at"}
    }


async def test_only_viewer_and_editor_can_be_given(assistant: Host) -> None:
    error = await assistant.refused("share_item", item_id="root", email="bob@example.com", role="owner")

    assert error["code"] == "invalid_argument"
    assert error["details"]["errors"][0]["argument"] == "role"
