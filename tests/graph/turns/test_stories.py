"""The main stories with the offline model on the real drive, in both languages, below any HTTP."""

from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from drive_server.connect import Actor, Drive
from graph.drive.connections import ConnectionPool
from graph.model_factory import build_models
from graph.settings import AgentSettings
from tests.graph.assistant import Assistant, Seen, assemble, names, person

HANDBOOK_EN = (
    "# Staff handbook\n\n## Parental leave\n\nEveryone may take 16 weeks of leave. Notice of 30 days is required.\n"
)
HANDBOOK_ZH = "# 员工手册\n\n## 育儿假\n\n员工可以享受16周的带薪育儿假。申请须提前30天书面通知人事部门。\n"


@pytest.fixture
def offline(real_pool: ConnectionPool, actor: Actor, saver: AsyncSqliteSaver) -> Assistant:
    return assemble(build_models(AgentSettings()), real_pool, saver, person(actor))


async def decide(assistant: Assistant, seen: Seen, kind: str, **other: Any) -> Seen:
    assert seen.asked is not None
    keys = [action["tool_call_id"] for action in seen.asked["actions"]]
    return await assistant.answer({"decisions": [{"tool_call_id": key, "type": kind, **other} for key in keys]})


@pytest.mark.parametrize(
    ("name", "text", "message", "passage"),
    [
        ("Handbook.md", HANDBOOK_EN, "find the document about parental leave and summarise it", "16 weeks"),
        ("员工手册.md", HANDBOOK_ZH, "找到关于育儿假的文档并总结一下", "16周"),
    ],
)
async def test_a_document_is_found_read_and_summarised_with_its_source(
    offline: Assistant, real_drive: Drive, actor: Actor, name: str, text: str, message: str, passage: str
) -> None:
    await real_drive.documents.create(actor, "root", name, text)
    await real_drive.documents.create(actor, "root", "Cafeteria.md", "# Cafeteria\n\nSoup is served from noon on.\n")
    await real_drive.ingester.drain()
    seen = await offline.say(message)
    assert seen.of("route_decision")[0]["agent"] == "search_agent"
    assert {("semantic_search_files", "done"), ("read_file", "done")} <= set(seen.ends)
    assert name in seen.text
    assert passage in seen.text
    assert "Soup" not in seen.text


@pytest.mark.parametrize(
    ("message", "folder", "file"),
    [
        (
            "create a folder Reports, move the summary there and share it with bob@example.com",
            "Reports",
            "summary of leave.md",
        ),
        ("新建文件夹报告,把总结移到那里,并共享给bob@example.com", "报告", "育儿假总结.md"),
    ],
)
async def test_a_plan_runs_and_the_share_waits_and_takes_the_edited_role(
    offline: Assistant, real_drive: Drive, actor: Actor, message: str, folder: str, file: str
) -> None:
    created = await real_drive.documents.create(actor, "root", file, "Sixteen weeks.\n")
    await real_drive.ingester.drain()
    seen = await offline.say(message)
    assert len(seen.of("task_plan")[0]["steps"]) == 3
    assert seen.asked is not None
    assert [action["name"] for action in seen.asked["actions"]] == ["share_item"]
    assert await names(real_drive, actor, f"/{folder}") == [file]
    args = {**seen.asked["actions"][0]["args"], "role": "editor"}
    seen = await decide(offline, seen, "edit", args=args)
    shares = await real_drive.sharing.list_shares(actor, created.value.id)
    assert [(share.email, share.role) for share in shares] == [("bob@example.com", "editor")]
    plan = seen.state["plan"]
    assert [step["status"] for step in plan["steps"]] == ["completed"] * 3


@pytest.mark.parametrize(
    ("text", "message", "after"),
    [
        (HANDBOOK_EN, "replace 30 days with 45 days in this document", HANDBOOK_EN.replace("30 days", "45 days")),
        (HANDBOOK_ZH, "把这份文档里的30天改成45天", HANDBOOK_ZH.replace("30天", "45天")),
    ],
)
async def test_an_edit_shows_its_difference_and_makes_a_version(
    offline: Assistant, real_drive: Drive, actor: Actor, text: str, message: str, after: str
) -> None:
    file = (await real_drive.documents.create(actor, "root", "Handbook.md", text)).value
    seen = await offline.say(message, file_id=file.id)
    assert seen.asked is not None
    assert [action["name"] for action in seen.asked["actions"]] == ["patch_file"]
    assert "45" in seen.asked["actions"][0]["preview"]
    await decide(offline, seen, "approve")
    assert (await real_drive.documents.read_text(actor, file.id)).text == after


@pytest.mark.parametrize(
    ("delete", "undo"),
    [("delete everything in Old", "undo that"), ("删除Old里的所有内容", "撤销刚才的操作")],
)
async def test_a_deletion_is_rejected_then_approved_then_undone(
    offline: Assistant, real_drive: Drive, actor: Actor, delete: str, undo: str
) -> None:
    await real_drive.files.create_folder(actor, "root", "Old")
    files = ["a.txt", "图片.txt"]
    for name in files:
        await real_drive.documents.create(actor, "/Old", name, name)
    seen = await offline.say(delete)
    assert all(name in str(seen.asked) for name in files)
    seen = await decide(offline, seen, "reject")
    assert await names(real_drive, actor, "/Old") == files
    assert set(seen.ends) == {("trash_item", "rejected")}
    await decide(offline, await offline.say(delete), "approve")
    assert await names(real_drive, actor, "/Old") == []
    seen = await offline.say(undo)
    assert seen.asked is not None
    assert "a.txt" in seen.asked["actions"][0]["preview"]
    await decide(offline, seen, "approve")
    assert await names(real_drive, actor, "/Old") == files
