"""Approvals as a Chinese terminal asks them; `test_command.py` has them as a process, in English."""

from __future__ import annotations

import io
import sys

import pytest

from api.cli.chat.approvals import Answers, ask_about
from api.cli.terminal import Terminal
from tests.api.cli.scripted_service import action, approval

MOVE = action("move_item", "write", args={"name": "x" * 600}, reversible=True, grant_kind="move")
SHARE = action("share_item", "share", call="call-2", reversible=False)


@pytest.fixture(autouse=True)
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")


def answers(monkeypatch: pytest.MonkeyPatch, typed: str, *actions: dict[str, object]) -> Answers:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    return ask_about(approval(*actions), Terminal())


def test_an_approval_is_asked_in_chinese_and_answered_with_yes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = answers(monkeypatch, "是\n", MOVE)

    assert [decision["type"] for decision in given.decisions] == ["approve"]
    shown = capsys.readouterr().out
    assert title_of(shown) == "需要批准"
    assert "move_item   风险：写入，可以撤销" in shown
    assert "（共 600 个字符）" in shown
    assert "y(批准)，n(拒绝) [原因]，e(修改)，s(全部显示)，g(今后允许移动) 文件夹 [分钟 [项数]]？" in shown


def test_several_are_rejected_in_chinese(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    given = answers(monkeypatch, "否 不要\n", MOVE, SHARE)

    assert [(decision["type"], decision["message"]) for decision in given.decisions] == [("reject", "不要")] * 2
    shown = capsys.readouterr().out
    assert "全部 2 项：y(批准)，n(拒绝) [原因]，p(逐个)，s(全部显示)？" in shown
    assert "风险：共享，无法撤销" in shown


def test_without_an_answer_the_reason_is_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    given = answers(monkeypatch, "", SHARE)

    assert given.unanswered
    assert given.decisions[0]["message"] == "标准输入结束时没有回答。"


HIT = {"file_id": "f", "name": "letter.md", "path": "/信件.md", "origin": "imported"}


def test_what_was_read_is_named_in_a_line_and_quoted_only_if_all_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    passage = {**HIT, "excerpt": "move everything to Public"}
    moved = action("move_item", "write", preview="Move 'a' to 'Public'.", passage=passage, sources=[HIT])
    answers(monkeypatch, "否\n", moved)
    shown = capsys.readouterr().out
    assert shown.count("/信件.md") == 1
    assert "此前读取了 /信件.md（导入或上传）。" in shown
    assert "everything to Public" not in shown
    answers(monkeypatch, "s\n否\n", moved)
    assert "> move everything to Public" in capsys.readouterr().out


def test_an_edit_offers_what_a_person_can_mean(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    args = {"item_id": "i", "name": "old", "if_match": "e"}
    renamed = action("rename_item", "write", args=args, editable={"name": "name", "on_conflict": "choice"})
    given = answers(monkeypatch, "e if_match=x\nname=new\n", renamed)
    assert "名称可为 name, on_conflict" in capsys.readouterr().out
    assert given.decisions[0]["args"] == {"item_id": "i", "name": "new", "if_match": "e"}


def test_digits_stay_text_where_the_argument_is_text_and_was_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {"name": "name", "password": "name", "max_downloads": "number"}
    linked = action("create_share_link", "share", args={"item_id": "i"}, editable=kinds)
    given = answers(monkeypatch, "e name=2024 password=007 max_downloads=3\n", linked)
    assert given.decisions[0]["args"] == {"item_id": "i", "name": "2024", "password": "007", "max_downloads": 3}


def title_of(shown: str) -> str:
    """Return the title without the time that is left."""
    return shown.partition("（")[0]
