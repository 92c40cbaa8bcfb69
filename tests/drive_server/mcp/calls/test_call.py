from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest

from drive_server.kernel.access import ALL_SCOPES, Actor, Principal
from drive_server.mcp.calls.call import answer
from drive_server.mcp.results import ListResult
from drive_server.services.files import copying
from tests.drive_server.gates import Gate
from tests.drive_server.hosts import Host, text_of

if TYPE_CHECKING:
    from mcp.types import CallToolResult

DRY_RUN = {"drive-agent/dry-run": True}
KEY = {"drive-agent/idempotency-key": "call-1"}


async def test_a_change_answers_its_number_in_the_journal(assistant: Host) -> None:
    made = await assistant.result("create_folder", name="A")

    assert made.meta is not None
    (change,) = (await assistant.call("list_changes"))["changes"]
    number = {"drive-agent/change-id": change["id"], "drive-agent/replayed": False}
    assert made.meta == {**number, "drive-agent/foreign": []}


async def test_a_repeated_key_answers_what_was_recorded_and_does_nothing(assistant: Host) -> None:
    first = await assistant.result("create_folder", KEY, name="A")
    again = await assistant.result("create_folder", KEY, name="A")
    other = await assistant.refused("create_folder", KEY, name="B")

    assert first.meta is not None
    assert again.meta == {**first.meta, "drive-agent/replayed": True}
    assert again.structuredContent == first.structuredContent
    assert "made before" in text_of(again)
    assert other["code"] == "idempotency_conflict"
    assert (await assistant.call("list_folder"))["total"] == 1


async def test_a_dry_run_answers_the_effect_and_changes_nothing(assistant: Host) -> None:
    made = await assistant.call("create_file", name="a.md", content="30 days\n")

    rehearsed = await assistant.result(
        "patch_file", DRY_RUN, file_id=made["id"], edits=[{"find": "30", "replace": "45"}]
    )

    assert rehearsed.meta is not None
    assert rehearsed.structuredContent is not None
    effect = rehearsed.meta["drive-agent/effect"]
    assert "-30 days\n+45 days\n" in effect["diff"]
    assert (effect["etag"], effect["reversible"], effect["count"]) == (made["etag"], True, 1)
    assert "drive-agent/change-id" not in rehearsed.meta
    assert rehearsed.structuredContent["version"] == 2
    assert text_of(rehearsed).startswith("Nothing was changed.")
    assert (await assistant.call("get_file_info", item_id=made["id"]))["etag"] == made["etag"]


async def test_the_etag_that_was_approved_is_checked_for_every_change(assistant: Host) -> None:
    made = await assistant.call("create_file", name="a.md", content="x")
    approved = {"drive-agent/if-match": made["etag"]}
    await assistant.call("rename_item", item_id=made["id"], name="b.md")

    for tool, arguments in (
        ("share_item", {"item_id": made["id"], "email": "bob@example.com"}),
        ("trash_item", {"item_id": made["id"]}),
        ("write_file", {"file_id": made["id"], "content": "y"}),
        ("restore_version", {"file_id": made["id"], "version": 1}),
    ):
        assert (await assistant.refused(tool, approved, **arguments))["code"] == "etag_mismatch"


async def test_who_approved_is_taken_from_the_assistant_and_from_nobody_else(assistant: Host, alices: Host) -> None:
    claim = {"drive-agent/approved-by": "boss@example.com"}

    await assistant.call("create_folder", claim, name="A")
    await alices.call("create_folder", claim, name="B")

    changes = (await assistant.call("list_changes"))["changes"]
    assert [(change["summary"][:22], change["approved_by"]) for change in changes] == [
        ("Created the folder 'B'", None),
        ("Created the folder 'A'", "boss@example.com"),
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("drive-agent/run-id", 7),
        ("drive-agent/run-id", ""),
        ("drive-agent/run-id", "x" * 65),
        ("drive-agent/idempotency-key", "x" * 256),
        ("drive-agent/if-match", ["a"]),
        ("drive-agent/approved-by", "x" * 321),
        ("drive-agent/dry-run", "yes"),
        ("drive-agent/dry-run", 1),
    ],
)
async def test_a_meta_value_of_the_wrong_form_is_refused_by_its_name(assistant: Host, key: str, value: Any) -> None:
    error = await assistant.refused("create_folder", {key: value}, name="A")

    assert error["code"] == "invalid_argument"
    assert key in error["message"]
    assert (await assistant.call("list_folder"))["items"] == []


async def test_a_call_repeated_while_the_first_is_at_work_waits_for_its_answer(
    assistant: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    await assistant.call("create_folder", name="A")
    await assistant.call("create_folder", name="B", folder_id="/A")
    gate = Gate()
    monkeypatch.setattr(copying, "_insert", gate.after(copying._insert))  # pyright: ignore[reportPrivateUsage] - nothing else is half-way
    results: list[CallToolResult] = []

    async def copy() -> None:
        results.append(await assistant.result("copy_item", KEY, item_id="/A", folder_id="root", name="Copy"))

    async with anyio.create_task_group() as group:
        group.start_soon(copy)
        await gate.reached.wait()
        group.start_soon(copy)
        await assistant.session.send_ping()
        assert results == []
        gate.open()

    first, again = results
    assert first.meta is not None
    assert again.meta == {**first.meta, "drive-agent/replayed": True}
    assert again.structuredContent == first.structuredContent
    assert [item["name"] for item in (await assistant.call("list_folder"))["items"]] == ["A", "Copy"]


def test_the_text_for_hosts_that_show_only_texts_is_made_for_them_alone() -> None:
    made: list[str] = []

    def lines() -> str:
        made.append("lines")
        return "- a.txt"

    def shown(method: str) -> str:
        actor = Actor(Principal("u", "ana@example.com", ALL_SCOPES, method))
        return text_of(answer(actor, "1 item.", ListResult(items=[], cursor=None, total=0), lines))

    assert (shown("in_process"), made) == ("1 item.", [])
    assert (shown("api_key"), made) == ("1 item.\n- a.txt", ["lines"])


def test_where_there_is_nothing_more_to_say_no_line_is_added() -> None:
    actor = Actor(Principal("u", "ana@example.com", ALL_SCOPES, "api_key"))
    result = ListResult(items=[], cursor=None, total=0)

    assert text_of(answer(actor, "0 items.", result, lambda: "")) == "0 items."
    assert text_of(answer(actor, "0 items.", result)) == "0 items."
