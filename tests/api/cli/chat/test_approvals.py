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


def title_of(shown: str) -> str:
    """Return the title without the time that is left."""
    return shown.partition("（")[0]
