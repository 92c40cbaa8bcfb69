"""The main stories, in English and in Chinese, with the offline model, over real HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.waiting import wait_until_indexed

if TYPE_CHECKING:
    from tests.e2e.person import Person, Turn

HANDBOOK_EN = """# Staff handbook

## Working hours

Core hours are ten to four. Everything else is agreed within the team.

## Parental leave

Every parent may take 16 weeks of paid parental leave after the birth or adoption of a child. The leave can be taken \
in one piece or in two parts within the first year. Notice of 30 days is required, in writing, to the people team.

## Travel

Book trains before planes. Keep the receipts.
"""
HANDBOOK_ZH = """# 员工手册

## 工作时间

核心工作时间为上午十点到下午四点,其余时间由团队商定。

## 育儿假

员工在孩子出生或收养后可以享受16周的带薪育儿假。育儿假可以一次休完,也可以在一年内分两次休完。申请育儿假须提前30天书面通知人事部门。

## 差旅

优先乘坐火车,并保留票据。
"""
CAFETERIA = "# Cafeteria\n\nThe menu changes every week. Soup is served from noon on.\n"


def routed_to(turn: Turn) -> str:
    return turn.of("route_decision")[0]["agent"]


@pytest.mark.parametrize(
    ("name", "text", "message", "passage"),
    [
        (
            "Staff handbook.md",
            HANDBOOK_EN,
            "find the document about parental leave and summarise it",
            "16 weeks of paid parental leave",
        ),
        ("员工手册.md", HANDBOOK_ZH, "找到关于育儿假的文档并总结一下", "16周的带薪育儿假"),
    ],
)
def test_story_1_a_document_is_found_and_summarised_with_its_source(
    alice: Person, name: str, text: str, message: str, passage: str
) -> None:
    alice.upload(name, text)
    alice.upload("Cafeteria.md", CAFETERIA)
    wait_until_indexed(alice)
    with alice.chat(message) as turn:
        done = turn.finish()
    assert routed_to(turn) == "search_agent"
    assert ("semantic_search_files", "done") in turn.tools
    assert ("read_file", "done") in turn.tools
    assert name in turn.text
    assert passage in turn.text
    assert "Soup" not in turn.text
    assert done["changes"] == []


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("files changed in 2001", "old.txt"),
        ("2001年修改的文件", "old.txt"),
        ("which files did I add today", "new.txt"),
        ("今天添加的文件有哪些", "new.txt"),
    ],
)
def test_files_are_listed_by_their_dates_alone(alice: Person, message: str, name: str) -> None:
    alice.upload("new.txt", "new")
    old = alice.http.post(
        "/api/drive/files", params={"name": "old.txt"}, content=b"old", headers={"X-OC-Mtime": "981169506"}
    )
    assert old.json()["modified_at"].startswith("2001-02-03")
    with alice.chat(message) as turn:
        turn.finish()
    assert name in turn.text


@pytest.mark.parametrize(
    ("message", "folder", "file"),
    [
        (
            "create a folder Reports, move the summary there and share it with bob@example.com",
            "Reports",
            "summary of parental leave.md",
        ),
        ("新建文件夹报告,把总结移到那里,并共享给bob@example.com", "报告", "育儿假总结.md"),
    ],
)
def test_story_2_a_plan_runs_and_the_share_waits_for_the_person(
    alice: Person, bob: Person, message: str, folder: str, file: str
) -> None:
    uploaded = alice.upload(file, "Sixteen weeks, notice of 30 days.\n")
    with alice.chat(message) as turn:
        approval = turn.until("approval_needed")
        assert [action["name"] for action in approval["actions"]] == ["share_item"]
        assert alice.children(alice.children()[0]["id"])[0]["id"] == uploaded["id"]
        assert not shared_files(bob, uploaded["id"])
        action = approval["actions"][0]
        assert action["risk"] == "share"
        assert "bob@example.com" in str(action["preview"])
        answered = alice.answer(approval, "edit", args={**action["args"], "role": "editor"})
        assert answered.status_code == 200, answered.text
        turn.finish()
    plan = turn.of("task_plan")[0]
    assert len(plan["steps"]) == 3
    finished = {event["step_id"] for event in turn.of("task_step_update") if event["status"] == "completed"}
    assert finished == {step["id"] for step in plan["steps"]}
    assert alice.names() == [folder]
    assert [item["role"] for item in shared_files(bob, uploaded["id"])] == ["editor"]


@pytest.mark.parametrize(
    ("name", "text", "first", "second", "folder"),
    [
        (
            "Staff handbook.md",
            HANDBOOK_EN,
            "find the document about parental leave and summarise it",
            "create a folder Reports, move the summary there and share it with bob@example.com",
            "Reports",
        ),
        (
            "员工手册.md",
            HANDBOOK_ZH,
            "找到关于育儿假的文档并总结一下",
            "新建文件夹报告,把总结移到那里,并共享给bob@example.com",
            "报告",
        ),
    ],
)
def test_story_2_after_story_1_saves_the_summary_that_was_given(
    alice: Person, bob: Person, name: str, text: str, first: str, second: str, folder: str
) -> None:
    alice.upload(name, text)
    wait_until_indexed(alice)
    with alice.chat(first) as turn:
        turn.finish()
    summary, thread_id = turn.text, turn.of("run")[0]["thread_id"]
    with alice.chat(second, thread_id=thread_id) as turn:
        approval = turn.until("approval_needed")
        # The thread has read a file, and the person did not name the new one.
        assert [action["name"] for action in approval["actions"]] == ["create_file"]
        assert alice.answer(approval, "approve").status_code == 200
        approval = turn.until("approval_needed")
        args = approval["actions"][0]["args"]
        assert alice.answer(approval, "edit", args={**args, "role": "editor"}).status_code == 200
        turn.finish()
    made = next(item for item in alice.children() if item["name"] == folder)
    (saved,) = alice.children(made["id"])
    assert saved["id"] == args["item_id"]
    assert "16" in alice.content(saved["id"])
    assert "16" in summary
    assert [item["role"] for item in shared_files(bob, saved["id"])] == ["editor"]
    assert sorted(alice.names()) == sorted([folder, name])


def shared_files(person: Person, item_id: str) -> list[dict[str, Any]]:
    response = person.http.get(f"/api/drive/items/{item_id}")
    assert response.status_code in {200, 404}, response.text
    return [response.json()] if response.status_code == 200 else []


@pytest.mark.parametrize(
    ("name", "text", "message", "after"),
    [
        (
            "Staff handbook.md",
            HANDBOOK_EN,
            "replace 30 days with 45 days in this document",
            HANDBOOK_EN.replace("30 days", "45 days"),
        ),
        ("员工手册.md", HANDBOOK_ZH, "把这份文档里的30天改成45天", HANDBOOK_ZH.replace("30天", "45天")),
    ],
)
def test_story_3_an_edit_shows_its_diff_and_makes_a_version(
    alice: Person, name: str, text: str, message: str, after: str
) -> None:
    file = alice.upload(name, text)
    with alice.chat(message, file_id=file["id"]) as turn:
        approval = turn.until("approval_needed")
        assert [action["name"] for action in approval["actions"]] == ["patch_file"]
        preview = str(approval["actions"][0]["preview"])
        assert "30" in preview
        assert "45" in preview
        assert alice.content(file["id"]) == text
        assert alice.answer(approval, "approve").status_code == 200
        turn.finish()
    assert routed_to(turn) == "document_agent"
    assert alice.content(file["id"]) == after
    assert alice.get(f"/api/drive/items/{file['id']}")["version"] == 2


@pytest.mark.parametrize("message", ["delete everything in Old", "删除Old里的所有内容"])
def test_story_4_a_rejected_deletion_changes_nothing(alice: Person, message: str) -> None:
    old = alice.folder("Old")
    names = ["a.txt", "b.txt", "图片.txt"]
    for name in names:
        alice.upload(name, name, old["id"])
    with alice.chat(message) as turn:
        approval = turn.until("approval_needed")
        assert len(turn.of("approval_needed")) == 1
        listed = str(approval["actions"])
        assert all(name in listed for name in names)
        assert all(action["risk"] == "delete" and action["reversible"] for action in approval["actions"])
        assert alice.answer(approval, "reject").status_code == 200
        done = turn.finish()
    assert sorted(alice.names(old["id"])) == sorted(names)
    assert done["changes"] == []
    assert {status for name, status in turn.tools if name == "trash_item"} == {"rejected"}


@pytest.mark.parametrize(
    ("first", "second"),
    [("delete everything in Old", "undo that"), ("删除Old里的所有内容", "撤销刚才的操作")],
)
def test_story_5_what_the_last_run_did_is_taken_back_after_a_preview(alice: Person, first: str, second: str) -> None:
    old = alice.folder("Old")
    for name in ("a.txt", "b.txt"):
        alice.upload(name, name, old["id"])
    with alice.chat(first) as turn:
        assert alice.answer(turn.until("approval_needed"), "approve").status_code == 200
        turn.finish()
    assert alice.names(old["id"]) == []
    thread_id = turn.of("run")[0]["thread_id"]
    with alice.chat(second, thread_id=thread_id) as turn:
        approval = turn.until("approval_needed")
        assert [action["name"] for action in approval["actions"]] == ["undo_changes"]
        assert "a.txt" in str(approval["actions"][0]["preview"])
        assert alice.names(old["id"]) == []
        assert alice.answer(approval, "approve").status_code == 200
        turn.finish()
    assert alice.names(old["id"]) == ["a.txt", "b.txt"]
